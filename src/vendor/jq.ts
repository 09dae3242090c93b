export { raw } from 'jq-wasm'
