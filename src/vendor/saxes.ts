export { SaxesParser, type SaxesTagPlain } from 'saxes'
