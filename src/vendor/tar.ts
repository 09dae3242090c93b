export { extract } from 'tar-stream'
