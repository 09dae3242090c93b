export { default as iconv } from 'iconv-lite'
