export { micromark } from 'micromark'
