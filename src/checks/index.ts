// Parses checks files into rules, which the service runs on tables (docs/checks.md).
export { parseChecks } from './parse.ts'
export { describeColumnRule, describeTableRule } from './rules.ts'
export type {
  Checks,
  CheckType,
  ColumnRule,
  TableRule,
  ValueRule,
  WholeColumnRule,
  WithSeverity,
} from './types.ts'
export { formatPercent, formatRange } from './values.ts'
