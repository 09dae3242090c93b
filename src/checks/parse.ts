// Parses checks files (docs/checks.md).

import { Problem } from '../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../contract/message-texts.ts'
import { type Severity, severities } from '../contract/resources/index.ts'
import { convertTableSchema, isMembers, isTableSchema, type Members } from './frictionless.ts'
import { COLUMN_RULE_PARSERS, TABLE_RULE_PARSERS } from './rules.ts'
import type { Checks, TableRule, WithSeverity } from './types.ts'

/** Limits of a checks file: rules, columns, and groups of table rules. */
const MAX_RULES = 50_000
const MAX_COLUMNS = 20_000
const MAX_GROUPS = 100

/** Parses a checks file or a Frictionless Table Schema. Throws `bad_checks` with the position. */
export function parseChecks(value: unknown): Checks {
  const document = parseMapping(value, 'the checks')
  const checks = isTableSchema(document) ? convertTableSchema(document) : parseGridlineChecks(document)
  const count = checks.columns.reduce((sum, { rules }) => sum + rules.length, checks.table.length)
  if (count > MAX_RULES) throw badChecks('the checks', `more than ${MAX_RULES} rules`)
  if (count === 0)
    throw badChecks(
      'the checks',
      'no rules',
      'Write rules under columns or table. See: gridline check FILE --init',
    )
  return checks
}

/** Parses a checks file in Gridline's own format. */
function parseGridlineChecks(document: Members): Checks {
  checkRuleNames(document, ['columns', 'table', 'severity'], 'the checks')
  const severity = parseSeverity(document, 'the checks', 'error')
  const columns = parseColumns(document.columns, severity)
  if (columns.length > MAX_COLUMNS) throw badChecks('columns', `more than ${MAX_COLUMNS} columns`)
  const groups = parseGroups(document.table, 'table')
  if (groups.length > MAX_GROUPS) throw badChecks('table', `more than ${MAX_GROUPS} groups of rules`)
  const names = [...new Set(columns.map(({ column }) => column))]
  const table = groups.flatMap((rules) => parseTableRules(rules, severity, names))
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
function parseColumns(value: unknown, severity: Severity): Checks['columns'] {
  if (value === undefined) return []
  if (Array.isArray(value))
    return value.map((item, k) => {
      const { name, ...rules } = parseMapping(item, `columns[${k}]`)
      if (typeof name !== 'string') throw badChecks(`columns[${k}]`, 'name is missing')
      return parseColumn(name, rules, severity)
    })
  return Object.entries(parseMapping(value, 'columns')).map(([name, rules]) =>
    parseColumn(name, rules === null ? {} : parseMapping(rules, `column ${name}`), severity),
  )
}

/** Parses the rules of one column. `inherited`: severity of rules that set none. */
function parseColumn(column: string, rulesByName: Members, inherited: Severity): Checks['columns'][number] {
  const location = `column ${column}`
  checkRuleNames(rulesByName, [...Object.keys(COLUMN_RULE_PARSERS), 'severity', 'optional'], location)
  const severity = parseSeverity(rulesByName, location, inherited)
  const rules = parseRules(COLUMN_RULE_PARSERS, rulesByName, { location, severity, columns: [column] })
  checkBounds(rulesByName, location)
  return { column, isOptional: rulesByName.optional === true, severity, rules }
}

/** Throws if the minimum is above the maximum. */
function checkBounds(rulesByName: Members, location: string): void {
  const low = rulesByName.minimum ?? rulesByName.exclusive_minimum
  const high = rulesByName.maximum ?? rulesByName.exclusive_maximum
  const isReversed =
    (typeof low === 'number' && typeof high === 'number' && low > high) ||
    // Dates in different forms do not sort as texts.
    (typeof low === 'string' && typeof high === 'string' && low.length === high.length && low > high)
  if (isReversed) throw badChecks(location, `the minimum ${low} is above the maximum ${high}`)
}

/** Parses a group of table rules. `inherited`: severity of rules that set none. */
function parseTableRules(
  group: Members,
  inherited: Severity,
  columns: readonly string[],
): WithSeverity<TableRule>[] {
  const { change, ...ownRules } = group
  const changes = change === undefined ? {} : parseMapping(change, 'change')
  const names = Object.keys(TABLE_RULE_PARSERS)
  const changeNames = names.flatMap((name) => (name.startsWith('change.') ? [name.slice(7)] : []))
  checkRuleNames(
    ownRules,
    [...names.filter((name) => !name.startsWith('change.')), 'change', 'severity'],
    'table',
  )
  checkRuleNames(changes, changeNames, 'change')
  const severity = parseSeverity(group, 'table', inherited)
  const prefixed = Object.entries(changes).map(([name, value]) => [`change.${name}`, value])
  const values = { ...ownRules, ...Object.fromEntries(prefixed) }
  return parseRules(TABLE_RULE_PARSERS, values, { location: 'table', severity, columns })
}

/** Parses rules by name. Throws `bad_checks` for a value that a rule does not accept. */
function parseRules<R>(
  spellings: Readonly<
    Record<
      string,
      { accepts: string; parse(value: unknown, columns: readonly string[]): R | readonly R[] | undefined }
    >
  >,
  values: Members,
  { location, severity, columns }: { location: string; severity: Severity; columns: readonly string[] },
): WithSeverity<R>[] {
  return Object.entries(spellings).flatMap(([name, { accepts, parse }]) => {
    const value = values[name]
    if (value === undefined) return []
    const rules = parse(value, columns)
    if (rules === undefined)
      throw badChecks(location, `${name}: ${JSON.stringify(value)?.slice(0, 80)} is not ${accepts}`)
    return [rules].flat().map((rule) => ({ ...(rule as R), severity }))
  })
}

/** Parses one object or a list of objects; an absent member is an empty list. */
function parseGroups(value: unknown, location: string): Members[] {
  if (value === undefined) return []
  return Array.isArray(value)
    ? value.map((item) => parseMapping(item, location))
    : [parseMapping(value, location)]
}

/** Returns `value` if it is an object; throws `bad_checks` otherwise. */
function parseMapping(value: unknown, location: string): Members {
  if (isMembers(value) && !Array.isArray(value)) return value
  throw badChecks(location, 'must be a mapping of names to values')
}

/** Throws `bad_checks` if `mapping` has a member that is not in `names`. */
function checkRuleNames(mapping: Members, names: readonly string[], location: string): Members {
  const unknown = Object.keys(mapping).find((name) => !names.includes(name))
  if (unknown === undefined) return mapping
  throw badChecks(
    location,
    `unknown rule ${JSON.stringify(unknown)}`,
    withSuggestion(findClosest(unknown, names), `Known: ${formatList(names)}.`),
  )
}

/** Parses the member `severity`; `inherited` if it is absent. Throws `bad_checks` for an unknown severity. */
function parseSeverity({ severity }: Members, location: string, inherited: Severity): Severity {
  if (severity === undefined) return inherited
  const match = severities.find((candidate) => candidate === severity)
  if (!match) throw badChecks(location, `severity: ${JSON.stringify(severity)} is neither error nor warn`)
  return match
}

/** Creates a `bad_checks` error. `location`: the column, `table` or another section of the file. */
function badChecks(location: string, why: string, hint?: string): Problem {
  const prefix = location === 'the checks' ? 'checks' : `checks, ${location}`
  return new Problem('bad_checks', `${prefix}: ${why}`, { hint })
}
