// Checks of tables: parses checks files into rules, which the service runs. See docs/checks.md.
export { readChecks } from './document.ts'
export { expectedBy } from './expected.ts'
export type { Checks, ColumnRule, TableRule, ValueRule, WithSeverity } from './types.ts'
export { percentText, rangeText } from './values.ts'
