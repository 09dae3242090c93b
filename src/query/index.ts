// Language of `where` and `sort`, for the API, pages, charts and commands. See docs/filtering.md.
export {
  bindWhere,
  type QueryColumn,
  type RowTest,
  resolveColumn,
} from './bind.ts'
export { queriedColumns } from './expression.ts'
export { COMPOUND, type Scalar } from './operators.ts'
export { formatSortKey, parseSort, type SortKey } from './order.ts'
export { createOutcomes, type OutcomesOf, TRUE, type ValueRange } from './outcomes.ts'
export {
  parseNumberLiteral,
  parseWhere,
  quoteColumnName,
  renameColumns,
  toSqlCondition,
  type Where,
} from './parse.ts'
