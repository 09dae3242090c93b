export { isPair, isScalar, parseDocument, stringify, visit } from 'yaml'
