// Conditions of alerts (docs/alerts.md): parses and formats them.
import { formatDuration } from '../../../contract/duration.ts'
import { invalidField, Problem } from '../../../contract/errors.ts'
import type { AlertCondition } from '../../../contract/resources/index.ts'
import { AGGREGATE_FUNCTIONS } from '../../../contract/row-options.ts'
import { parseWhere } from '../../../query/index.ts'
import type { AlertRow } from '../../store/aggregates/alerts.ts'

/** A number of a grid: a function of a column, or the number of rows. */
export interface Measure {
  function: (typeof AGGREGATE_FUNCTIONS)[number]
  /** Undefined: the number of rows. */
  column?: string
}

type Operator = '<' | '<=' | '>' | '>=' | '=' | '<>'

/** A comparison of a measure with a number or a text. */
export interface Comparison {
  measure: Measure
  operator: Operator
  value: number | string
}

/** The number of rows. */
export const ROWS: Measure = { function: 'count' }

/** Other names of functions and operators. */
const FUNCTION_SYNONYMS: Readonly<Record<string, string>> = { avg: 'mean', average: 'mean', rows: 'count' }
const OPERATOR_SYNONYMS: Readonly<Record<string, string>> = { '==': '=', '!=': '<>' }

const MEASURE = /^\s*([a-z]+)\s*\((?:\s*"((?:[^"]|"")+)"\s*|([^()"]*))\)\s*/i
const OPERATOR = /^(<=|>=|<>|!=|==|<|>|=)\s*/
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const EXAMPLE = "For example: max(temp) > 40, count(*) < 100 or last(status) = 'failed'"

/** Parses `max(temp) > 40`. Throws `invalid_field`. */
export function parseWhen(text: string): Comparison {
  const { measure, rest } = readMeasure(text, 'when')
  const operator = OPERATOR.exec(rest)
  if (!operator) throw refused('when', text, 'a comparison is missing')
  const literal = rest.slice(operator[0].length).trim()
  return {
    measure,
    operator: (OPERATOR_SYNONYMS[operator[1]] ?? operator[1]) as Operator,
    value: parseValue(literal, text),
  }
}

/** Parses `sum(amount)`. Throws `invalid_field`. */
export function parseMeasure(text: string): Measure {
  const { measure, rest } = readMeasure(text, 'of')
  if (rest !== '')
    throw refused('of', text, `nothing may follow ${text.slice(0, text.length - rest.length).trim()}`)
  return measure
}

function readMeasure(text: string, field: 'when' | 'of'): { measure: Measure; rest: string } {
  const found = MEASURE.exec(text)
  if (!found) throw refused(field, text, 'a function of a column is missing')
  const [whole, name, quoted, plain = ''] = found
  const lower = name.toLowerCase()
  const known = AGGREGATE_FUNCTIONS.find((one) => one === (FUNCTION_SYNONYMS[lower] ?? lower))
  if (!known)
    throw refused(
      field,
      text,
      `unknown function ${name}; the functions are ${AGGREGATE_FUNCTIONS.join(', ')}`,
    )
  const column = quoted?.replaceAll('""', '"') ?? plain.trim()
  const isRows = column === '' || column === '*'
  if (isRows && known !== 'count') throw refused(field, text, `${name} needs a column`)
  return { measure: isRows ? ROWS : { function: known, column }, rest: text.slice(whole.length) }
}

function parseValue(literal: string, text: string): number | string {
  const quoted = /^'((?:[^']|'')*)'$/.exec(literal)
  if (quoted) return quoted[1].replaceAll("''", "'")
  if (NUMBER.test(literal)) return Number(literal)
  throw refused('when', text, `expected a number, or a text in single quotes, not ${JSON.stringify(literal)}`)
}

function refused(field: 'when' | 'of', text: string, why: string): Problem {
  return new Problem('invalid_request', `${field} ${JSON.stringify(text.slice(0, 200))}: ${why}`, {
    field,
    hint: field === 'when' ? EXAMPLE : 'For example: sum(amount)',
  })
}

/** Maximum length of a text of a condition, in characters. */
const MAX_TEXT_CHARACTERS = 1000
/** Bounds of the time after which a grid is stale, in seconds. */
const MIN_STALE_SECONDS = 60
const MAX_STALE_SECONDS = 366 * 24 * 3600

/** Kinds of conditions; each has one. */
const KINDS = ['when', 'stale_seconds', 'changed_percent', 'failed_checks'] as const

/** Checks that a condition is complete and can be parsed. Throws `invalid_request` and `invalid_query`. */
export function checkCondition(condition: AlertCondition): void {
  const { when, stale_seconds, changed_percent, failed_checks, where, of } = condition
  if (KINDS.filter((kind) => condition[kind] !== undefined).length !== 1)
    throw new Problem('invalid_request', 'give one of when, stale_seconds, changed_percent and failed_checks')
  for (const [field, text] of Object.entries({ when, where, of }))
    if (text !== undefined && text.length > MAX_TEXT_CHARACTERS)
      throw invalidField(field, `longer than ${MAX_TEXT_CHARACTERS} characters`)
  if (when !== undefined) parseWhen(when)
  if (where !== undefined) {
    if (when === undefined && of === undefined) throw invalidField('where', 'needs when or of')
    parseWhere(where)
  }
  if (of !== undefined) {
    if (changed_percent === undefined) throw invalidField('of', 'needs changed_percent')
    parseMeasure(of)
  }
  if (failed_checks === false) throw invalidField('failed_checks', 'must be true')
  if (stale_seconds !== undefined && (stale_seconds < MIN_STALE_SECONDS || stale_seconds > MAX_STALE_SECONDS))
    throw invalidField('stale_seconds', `must be from ${MIN_STALE_SECONDS} to ${MAX_STALE_SECONDS}`)
  if (changed_percent !== undefined && !(changed_percent > 0 && Number.isFinite(changed_percent)))
    throw invalidField('changed_percent', 'must be above 0')
}

/**
 * Returns a condition with what is given: another kind of condition replaces all of it, and an empty `where` or `of` is
 * none.
 */
export function changeCondition(condition: AlertCondition, given: AlertCondition): AlertCondition {
  const isOther = KINDS.some((kind) => given[kind] !== undefined && condition[kind] === undefined)
  const changed = isOther ? { ...given } : { ...condition, ...given }
  for (const name of ['where', 'of'] as const) if (changed[name] === '') delete changed[name]
  return changed
}

/** Returns the condition of an alert. */
export function conditionOf({ condition }: Pick<AlertRow, 'condition'>): AlertCondition {
  return JSON.parse(condition)
}

/** Formats a condition as a phrase: `max(temp) > 40`, `no change for 36 h`. */
export function formatCondition({ when, where, stale_seconds, changed_percent, of }: AlertCondition): string {
  const suffix = where === undefined ? '' : ` where ${where}`
  if (when !== undefined) return `${when}${suffix}`
  if (stale_seconds !== undefined) return `no change for ${formatDuration(stale_seconds)}`
  if (changed_percent !== undefined)
    return `${of ?? 'the number of rows'} changed by ${changed_percent}%${suffix}`
  return 'failed checks'
}
