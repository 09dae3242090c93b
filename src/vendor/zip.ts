export { ZipFile } from 'yazl'
