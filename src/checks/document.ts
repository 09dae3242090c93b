// Parses checks files (docs/checks.md).
import { closest, hintWith, listed } from '../contract/closest.ts'
import { Problem } from '../contract/errors.ts'
import { type Severity, severities } from '../contract/resources/index.ts'
import { checksOfSchema, isTableSchema } from './frictionless.ts'
import { type Checks, type ColumnRule, checkTypes, type TableRule, type WithSeverity } from './types.ts'
import { durationOf, rangeOf, shareOf } from './values.ts'

/** Maximum number of rules, columns, and groups of table rules. */
const MAX_RULES = 50_000
const MAX_COLUMNS = 20_000
const MAX_GROUPS = 100

type Members = Readonly<Record<string, unknown>>

/** Parses a checks file or a Frictionless Table Schema. Throws `bad_checks` with the position. */
export function readChecks(value: unknown): Checks {
  const document = members(value, 'the checks')
  const checks = isTableSchema(document) ? checksOfSchema(document) : ourChecks(document)
  const count = checks.columns.reduce((sum, { rules }) => sum + rules.length, checks.table.length)
  if (count > MAX_RULES) throw bad('the checks', `more than ${MAX_RULES} rules`)
  if (count === 0)
    throw bad('the checks', 'no rules', 'Write rules under columns or table. See: gridline check FILE --init')
  return checks
}

/** Parses a checks file in Gridline's own format. */
function ourChecks(document: Members): Checks {
  known(document, ['columns', 'table', 'severity'], 'the checks')
  const severity = severityOf(document, 'the checks', 'error')
  const columns = columnsOf(document.columns, severity)
  if (columns.length > MAX_COLUMNS) throw bad('columns', `more than ${MAX_COLUMNS} columns`)
  const groups = listOf(document.table, 'table')
  if (groups.length > MAX_GROUPS) throw bad('table', `more than ${MAX_GROUPS} groups of rules`)
  const names = [...new Set(columns.map(({ column }) => column))]
  const table = groups.flatMap((rules) => tableRules(rules, severity, names))
  const severityOfColumns = new Map<string, Severity>()
  for (const column of columns)
    if (severityOfColumns.get(column.column) !== 'error')
      severityOfColumns.set(column.column, column.severity)
  const optional = new Set(columns.filter(({ isOptional }) => isOptional).map(({ column }) => column))
  const exist = names
    .filter((column) => !optional.has(column))
    .map((column) => ({ rule: 'columns' as const, column, severity: severityOfColumns.get(column)! }))
  return { columns, table: [...exist, ...table], missing: [] }
}

/** Parses the rules of columns: a mapping by name, or a list of objects with names. */
function columnsOf(value: unknown, severity: Severity): Checks['columns'] {
  if (value === undefined) return []
  if (Array.isArray(value))
    return value.map((item, k) => {
      const { name, ...rules } = members(item, `columns[${k}]`)
      if (typeof name !== 'string') throw bad(`columns[${k}]`, 'name is missing')
      return columnOf(name, rules, severity)
    })
  return Object.entries(members(value, 'columns')).map(([name, rules]) =>
    columnOf(name, rules === null ? {} : members(rules, `column ${name}`), severity),
  )
}

const COLUMN_RULES: Readonly<Record<string, (value: unknown) => ColumnRule | undefined | false>> = {
  type: (value) => {
    const type = value === 'string' ? 'text' : checkTypes.find((candidate) => candidate === value)
    return type && { rule: 'type', type }
  },
  required: (value) => (value === true ? { rule: 'required' } : value === false ? false : undefined),
  unique: (value) => (value === true ? { rule: 'unique' } : value === false ? false : undefined),
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isScalar)
      ? { rule: 'enum', values: value }
      : undefined,
  pattern: (value) => (typeof value === 'string' ? { rule: 'pattern', pattern: value } : undefined),
  minimum: (value) => limitRule('minimum', value, false),
  maximum: (value) => limitRule('maximum', value, false),
  exclusive_minimum: (value) => limitRule('minimum', value, true),
  exclusive_maximum: (value) => limitRule('maximum', value, true),
  length: (value) => {
    const range = rangeOf(value)
    return range && { rule: 'length', range }
  },
  nulls: (value) => {
    const maxShare = shareOf(value)
    return maxShare === undefined ? undefined : { rule: 'nulls', most: maxShare }
  },
  max_age: (value) => {
    const ms = durationOf(value)
    return ms === undefined ? undefined : { rule: 'max_age', ms, given: String(value) }
  },
}

/** Accepted values of each rule, for messages. */
const TAKES: Readonly<Record<string, string>> = {
  type: `one of ${checkTypes.join(', ')}`,
  required: 'true or false',
  unique: 'true or false',
  enum: 'a list of texts, numbers or booleans',
  pattern: 'a regular expression, as a text',
  minimum: 'a number or a date',
  maximum: 'a number or a date',
  exclusive_minimum: 'a number or a date',
  exclusive_maximum: 'a number or a date',
  length: 'a number or a range, such as 2..10',
  nulls: 'a percentage, such as 5%',
  max_age: 'a duration, such as 36h or 2d',
  key: 'a column or a list of columns',
  rows: 'a number or a range, such as 1.. or 100..200',
  where: 'a condition, such as start <= end, or a list of them',
  extra_columns: 'true (allowed) or false',
  plot_columns: 'true or false',
  'change.rows': 'a range of percentages, such as -10%..+50%',
  'change.removed': 'a percentage, such as 5%',
}

/** Parses the rules of one column. `inherited`: severity of rules that set none. */
function columnOf(column: string, rulesByName: Members, inherited: Severity): Checks['columns'][number] {
  const place = `column ${column}`
  known(rulesByName, [...Object.keys(COLUMN_RULES), 'severity', 'optional'], place)
  const severity = severityOf(rulesByName, place, inherited)
  const rules: WithSeverity<ColumnRule>[] = []
  for (const [name, read] of Object.entries(COLUMN_RULES)) {
    if (rulesByName[name] === undefined) continue
    const rule = read(rulesByName[name])
    if (rule === undefined) throw invalid(place, name, rulesByName[name])
    if (rule !== false) rules.push({ ...rule, severity })
  }
  refuseReversed(rulesByName, place)
  return { column, isOptional: rulesByName.optional === true, severity, rules }
}

/** Throws if the minimum is above the maximum. */
function refuseReversed(rulesByName: Members, place: string): void {
  const low = rulesByName.minimum ?? rulesByName.exclusive_minimum
  const high = rulesByName.maximum ?? rulesByName.exclusive_maximum
  const isReversed =
    (typeof low === 'number' && typeof high === 'number' && low > high) ||
    (typeof low === 'string' && typeof high === 'string' && low > high)
  if (isReversed) throw bad(place, `the minimum ${low} is above the maximum ${high}`)
}

/** Parses a group of table rules. `inherited`: severity of rules that set none. */
function tableRules(
  group: Members,
  inherited: Severity,
  columns: readonly string[],
): WithSeverity<TableRule>[] {
  known(group, ['key', 'rows', 'where', 'extra_columns', 'plot_columns', 'change', 'severity'], 'table')
  const severity = severityOf(group, 'table', inherited)
  const rules: WithSeverity<TableRule>[] = []
  const { key, rows, where, extra_columns, plot_columns, change } = group
  if (key !== undefined) {
    const names = Array.isArray(key) ? key : [key]
    const isKey =
      names.length > 0 && names.length <= MAX_GROUPS && names.every((name) => typeof name === 'string')
    if (!isKey || new Set(names).size < names.length) throw invalid('table', 'key', key)
    rules.push({ rule: 'key', columns: names, severity })
  }
  if (rows !== undefined) {
    const range = rangeOf(rows)
    if (!range) throw invalid('table', 'rows', rows)
    rules.push({ rule: 'rows', range, severity })
  }
  if (where !== undefined) {
    const conditions = Array.isArray(where) ? where : [where]
    if (!conditions.every((condition) => typeof condition === 'string' && condition.trim() !== ''))
      throw invalid('table', 'where', where)
    rules.push(
      ...conditions.map((condition) => ({ rule: 'where' as const, where: condition as string, severity })),
    )
  }
  if (!isSwitch(extra_columns)) throw invalid('table', 'extra_columns', extra_columns)
  if (extra_columns === false) rules.push({ rule: 'extra_columns', columns, severity })
  if (!isSwitch(plot_columns)) throw invalid('table', 'plot_columns', plot_columns)
  if (plot_columns === true) rules.push({ rule: 'plot_columns', severity })
  if (change !== undefined) {
    const { rows: growth, removed } = known(members(change, 'change'), ['rows', 'removed'], 'change')
    if (growth !== undefined) {
      const range = rangeOf(growth, true)
      if (!range) throw invalid('table', 'change.rows', growth)
      rules.push({ rule: 'change.rows', range, severity })
    }
    if (removed !== undefined) {
      const maxShare = shareOf(removed)
      if (maxShare === undefined) throw invalid('table', 'change.removed', removed)
      rules.push({ rule: 'change.removed', most: maxShare, severity })
    }
  }
  return rules
}

function isSwitch(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === 'boolean'
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** Returns a rule for a finite number or a date; undefined for other values. */
function limitRule(
  rule: 'minimum' | 'maximum',
  value: unknown,
  isExclusive: boolean,
): ColumnRule | undefined {
  return (typeof value === 'number' && Number.isFinite(value)) ||
    (typeof value === 'string' && /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/.test(value))
    ? { rule, value, isExclusive }
    : undefined
}

/** Returns the objects of a member that holds one object or several. */
function listOf(value: unknown, place: string): Members[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map((item) => members(item, place)) : [members(value, place)]
}

/** Returns `value` if it is an object. Throws otherwise. */
function members(value: unknown, place: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw bad(place, 'must be a mapping of names to values')
}

/** Returns `mapping` if it has no other members than `names`. Throws otherwise. */
function known(mapping: Members, names: readonly string[], place: string): Members {
  const unknown = Object.keys(mapping).find((name) => !names.includes(name))
  if (unknown === undefined) return mapping
  throw bad(
    place,
    `unknown rule ${JSON.stringify(unknown)}`,
    hintWith(closest(unknown, names), `Known: ${listed(names)}.`),
  )
}

/** Returns the severity of an object, or `inherited` if it has none. Throws for unknown ones. */
function severityOf({ severity }: Members, place: string, inherited: Severity): Severity {
  if (severity === undefined) return inherited
  const match = severities.find((candidate) => candidate === severity)
  if (!match) throw bad(place, `severity: ${JSON.stringify(severity)} is neither error nor warn`)
  return match
}

/** Returns the error for a value that a rule does not accept. */
function invalid(place: string, rule: string, value: unknown): Problem {
  return bad(place, `${rule}: ${JSON.stringify(value)?.slice(0, 80)} is not ${TAKES[rule]}`)
}

/** Returns the error for a checks file. `place`: the column, `table` or another part of the file. */
function bad(place: string, why: string, hint?: string): Problem {
  return new Problem('bad_checks', place === 'the checks' ? `checks: ${why}` : `checks, ${place}: ${why}`, {
    hint,
  })
}
