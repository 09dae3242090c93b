// Language of `where` and `sort`, for the API, pages, charts and commands. See docs/filtering.md.
export {
  boundWhere,
  COMPOUND,
  columnNamed,
  type QueryColumn,
  type QueryType,
  type RowTest,
  type Scalar,
} from './bind.ts'
export { parseSort, type SortKey, sortText } from './order.ts'
export { columnsOf, nameText, numberOf, parseWhere, renamedWhere, type Where } from './parse.ts'
