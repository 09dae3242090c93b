export { detectAll } from 'jschardet'
