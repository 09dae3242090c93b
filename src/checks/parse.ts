// Parses checks files (docs/checks.md).

import { Problem } from '../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../contract/message-texts.ts'
import { type Severity, severities } from '../contract/resources/index.ts'
import { convertTableSchema, isTableSchema } from './frictionless.ts'
import { columnSpellings, tableSpellings } from './rules.ts'
import type { Checks, TableRule, WithSeverity } from './types.ts'

/** Maximum number of rules, columns, and groups of table rules. */
const MAX_RULES = 50_000
const MAX_COLUMNS = 20_000
const MAX_GROUPS = 100

type Members = Readonly<Record<string, unknown>>

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
  const place = `column ${column}`
  checkRuleNames(rulesByName, [...Object.keys(columnSpellings), 'severity', 'optional'], place)
  const severity = parseSeverity(rulesByName, place, inherited)
  const rules = parseRules(columnSpellings, rulesByName, { place, severity, columns: [column] })
  checkBounds(rulesByName, place)
  return { column, isOptional: rulesByName.optional === true, severity, rules }
}

/** Throws if the minimum is above the maximum. */
function checkBounds(rulesByName: Members, place: string): void {
  const low = rulesByName.minimum ?? rulesByName.exclusive_minimum
  const high = rulesByName.maximum ?? rulesByName.exclusive_maximum
  const isReversed =
    (typeof low === 'number' && typeof high === 'number' && low > high) ||
    (typeof low === 'string' && typeof high === 'string' && low > high)
  if (isReversed) throw badChecks(place, `the minimum ${low} is above the maximum ${high}`)
}

/** Parses a group of table rules. `inherited`: severity of rules that set none. */
function parseTableRules(
  group: Members,
  inherited: Severity,
  columns: readonly string[],
): WithSeverity<TableRule>[] {
  const { change, ...own } = group
  const changes = change === undefined ? {} : parseMapping(change, 'change')
  const names = Object.keys(tableSpellings)
  const changeNames = names.flatMap((name) => (name.startsWith('change.') ? [name.slice(7)] : []))
  checkRuleNames(own, [...names.filter((name) => !name.startsWith('change.')), 'change', 'severity'], 'table')
  checkRuleNames(changes, changeNames, 'change')
  const severity = parseSeverity(group, 'table', inherited)
  const prefixed = Object.entries(changes).map(([name, value]) => [`change.${name}`, value])
  const values = { ...own, ...Object.fromEntries(prefixed) }
  return parseRules(tableSpellings, values, { place: 'table', severity, columns })
}

/** Parses the rules among `values`. Throws `bad_checks` for a value that a rule does not accept. */
function parseRules<R>(
  spellings: Readonly<
    Record<
      string,
      { accepts: string; parse(value: unknown, columns: readonly string[]): R | readonly R[] | undefined }
    >
  >,
  values: Members,
  { place, severity, columns }: { place: string; severity: Severity; columns: readonly string[] },
): WithSeverity<R>[] {
  return Object.entries(spellings).flatMap(([name, { accepts, parse }]) => {
    const value = values[name]
    if (value === undefined) return []
    const rules = parse(value, columns)
    if (rules === undefined)
      throw badChecks(place, `${name}: ${JSON.stringify(value)?.slice(0, 80)} is not ${accepts}`)
    return [rules].flat().map((rule) => ({ ...(rule as R), severity }))
  })
}

/** Returns the objects of a member that holds one object or several. */
function parseGroups(value: unknown, place: string): Members[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map((item) => parseMapping(item, place)) : [parseMapping(value, place)]
}

/** Returns `value` if it is an object. Throws otherwise. */
function parseMapping(value: unknown, place: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw badChecks(place, 'must be a mapping of names to values')
}

/** Returns `mapping` if it has no other members than `names`. Throws otherwise. */
function checkRuleNames(mapping: Members, names: readonly string[], place: string): Members {
  const unknown = Object.keys(mapping).find((name) => !names.includes(name))
  if (unknown === undefined) return mapping
  throw badChecks(
    place,
    `unknown rule ${JSON.stringify(unknown)}`,
    withSuggestion(findClosest(unknown, names), `Known: ${formatList(names)}.`),
  )
}

/** Returns the severity of an object, or `inherited` if it has none. Throws for unknown ones. */
function parseSeverity({ severity }: Members, place: string, inherited: Severity): Severity {
  if (severity === undefined) return inherited
  const match = severities.find((candidate) => candidate === severity)
  if (!match) throw badChecks(place, `severity: ${JSON.stringify(severity)} is neither error nor warn`)
  return match
}

/** Returns the error for a checks file. `place`: the column, `table` or another part of the file. */
function badChecks(place: string, why: string, hint?: string): Problem {
  return new Problem('bad_checks', place === 'the checks' ? `checks: ${why}` : `checks, ${place}: ${why}`, {
    hint,
  })
}
