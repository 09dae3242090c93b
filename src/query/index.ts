// Language of `where` and `sort`, for the API, pages, charts and commands. See docs/filtering.md.
export {
  bindWhere as boundWhere,
  COMPOUND,
  type QueryColumn,
  type QueryType,
  type RowTest,
  resolveColumn as columnNamed,
  type Scalar,
} from './bind.ts'
export { formatSortKey as sortText, parseSort, type SortKey } from './order.ts'
export {
  parseNumberLiteral as numberOf,
  parseWhere,
  queriedColumns as columnsOf,
  quoteColumnName as nameText,
  renameColumns as renamedWhere,
  type Where,
} from './parse.ts'
