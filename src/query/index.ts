// Language of `where` and `sort`, for the API, pages, charts and commands. See docs/filtering.md.
export {
  bindWhere,
  COMPOUND,
  type QueryColumn,
  type QueryType,
  type RowTest,
  resolveColumn,
  type Scalar,
} from './bind.ts'
export { formatSortKey, parseSort, type SortKey } from './order.ts'
export {
  parseNumberLiteral,
  parseWhere,
  queriedColumns,
  quoteColumnName,
  renameColumns,
  type Where,
} from './parse.ts'
