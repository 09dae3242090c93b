// Compiles rules for single values to tests (docs/checks.md).
import type { Checks, CheckType, ColumnRule, ValueRule } from '../../../checks/index.ts'
import { errorMessageOf, Problem } from '../../../contract/errors.ts'
import type { Bounds } from '../../../ingest/slices.ts'
import { detectMoment } from '../../../json/index.ts'
import { familyOf, isDateType, mergeTypes } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { outermostDay } from '../column/bounds.ts'
import { identifyBy } from '../column/identify.ts'
import { createMomentComparison } from '../column/value-order.ts'
import { type Automaton, accepts, compileLengths, compilePattern, compileTexts } from './automaton.ts'

/** Test of a rule. */
export interface ValueTest {
  /** Returns whether a value breaks the rule. Not called for missing values. */
  breaks(value: unknown): boolean
  /** True if missing values break the rule. */
  refusesMissing?: boolean
  /** True if `breaks` takes numbers as written. */
  takesNumbersAsText?: boolean
  /** Must be called before `breaks`. */
  prepare?: () => Promise<void>
  /** Accepts only values that satisfy the rule, but not all of them. */
  automaton?: Automaton
  /** Returns whether no value of a chunk with these bounds can break the rule. */
  holdsFor(bounds: Bounds | undefined, rows: number, type: ColumnType): boolean
}

/** Maximum length of a pattern, in characters, and of its compiled program, in instructions. */
const MAX_PATTERN_CHARACTERS = 1000
const MAX_PROGRAM_INSTRUCTIONS = 500
/**
 * Maximum length of a text for the pattern library, in characters. Longer texts match only with an automaton.
 */
const MAX_MATCHED_CHARACTERS = 10_000

type TestFactory<R> = (
  rule: R,
  checks: Pick<Checks, 'missing'>,
  columnType: ColumnType,
) => ValueTest | Promise<ValueTest>

/** Rules for single values. `failures`: predicate of the message for one value, and for several. */
export const VALUE_RULES: {
  readonly [N in ValueRule['rule']]: {
    failures: readonly [string, string]
    createTest: TestFactory<Extract<ValueRule, { rule: N }>>
  }
} = {
  type: {
    failures: ['has the wrong type', 'have the wrong type'],
    createTest: ({ type, texts }) => createTypeTest(type, texts),
  },
  required: {
    failures: ['is missing', 'are missing'],
    createTest: (_, { missing }) => ({
      refusesMissing: true,
      breaks: () => false,
      holdsFor: (bounds) =>
        bounds !== undefined && bounds.nulls === 0 && hasLimits(bounds) && hasNoMissingTexts(bounds, missing),
    }),
  },
  enum: {
    failures: ['is not allowed', 'are not allowed'],
    createTest(rule, _, columnType) {
      const values = new Set(rule.values.map(String))
      // The automaton sees numbers as written, so it can only take those in canonical form: 1.5, not 1.50.
      const canonicalTexts = [...values].filter((text) => !NUMBER.test(text) || String(Number(text)) === text)
      const automaton = compileTexts(canonicalTexts)
      const times = new Set([...values].flatMap((text) => timeNameOf(text, columnType) ?? []))
      const isAllowed = (text: string): boolean =>
        values.has(text) || (times.size > 0 && times.has(timeNameOf(text, columnType) ?? ''))
      return { breaks: (value) => !isAllowed(comparedText(value)), automaton, holdsFor: alwaysFalse }
    },
  },
  pattern: {
    failures: ['does not match', 'do not match'],
    createTest: ({ pattern }) => createPatternTest(pattern),
  },
  length: {
    failures: ['has the wrong length', 'have the wrong length'],
    createTest({ range: { from = 0, to = Number.POSITIVE_INFINITY } }) {
      const breaks = (value: unknown): boolean => {
        const length = codePointCount(comparedText(value))
        return length < from || length > to
      }
      const automaton = compileLengths(Math.ceil(from), Math.floor(to))
      return { breaks, takesNumbersAsText: true, automaton, holdsFor: alwaysFalse }
    },
  },
  minimum: {
    failures: ['is too low', 'are too low'],
    createTest: ({ value, isExclusive }) => createLimitTest(1, value, isExclusive),
  },
  maximum: {
    failures: ['is too high', 'are too high'],
    createTest: ({ value, isExclusive }) => createLimitTest(-1, value, isExclusive),
  },
}

/** Compiles a rule to a test for a column. Throws `bad_checks` for an invalid pattern. */
export async function compileRule(
  rule: ValueRule,
  checks: Pick<Checks, 'missing'>,
  columnType: ColumnType,
): Promise<ValueTest> {
  return (VALUE_RULES[rule.rule].createTest as TestFactory<ValueRule>)(rule, checks, columnType)
}

export function isValueRule(rule: ColumnRule): rule is ValueRule {
  return Object.hasOwn(VALUE_RULES, rule.rule)
}

/** Returns whether values of a column type can be compared with the limit of a rule; true without a limit. */
export function isLimitComparable(rule: ValueRule, type: string): boolean {
  if (rule.rule !== 'minimum' && rule.rule !== 'maximum') return true
  return typeof rule.value === 'number' ? type === 'number' : type.startsWith('date')
}

function alwaysFalse(): boolean {
  return false
}

/** Returns whether no text between the bounds counts as missing. */
function hasNoMissingTexts({ low }: Bounds, missing: readonly string[]): boolean {
  return !low?.startsWith('"') || (low !== '""' && missing.length === 0)
}

function hasLimits({ low, high }: Bounds): boolean {
  return low !== undefined && high !== undefined
}

/** Returns what dates of the same time have in common; undefined for texts that are not compared with a column by time. */
function timeNameOf(text: string, columnType: ColumnType): string | undefined {
  const kind = momentKindOf(text)
  return kind && isDateType(mergeTypes(columnType, kind)) ? identifyBy.moment(`"${text}"`) : undefined
}

/** Converts a value to the text that rules compare. */
function comparedText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Counts the code points of a text. */
function codePointCount(text: string): number {
  let length = text.length
  for (let k = 0; k < text.length; k++) {
    const unit = text.charCodeAt(k)
    if (unit >= 0xdc00 && unit <= 0xdfff) length--
  }
  return length
}

const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const INTEGER = /^\s*[+-]?\d+\s*$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?$/

/** Returns whether a text is an integer, as in a column of numbers: 5, 5.0 and 5e0. */
function isIntegerText(text: string): boolean {
  return INTEGER.test(text) || (NUMBER.test(text) && Number.isInteger(Number(text)))
}

function createTypeTest(type: CheckType, texts: readonly string[] | undefined): ValueTest {
  const booleans = new Set(texts)
  const tests: Record<CheckType, (value: unknown) => boolean> = {
    text: (value) => typeof value !== 'object',
    number: (value) => typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value)),
    integer: (value) =>
      typeof value === 'number' ? Number.isInteger(value) : typeof value === 'string' && isIntegerText(value),
    boolean: (value) =>
      typeof value === 'boolean' ||
      (texts
        ? booleans.has(comparedText(value))
        : typeof value === 'string' && /^(true|false)$/i.test(value)),
    date: (value) => typeof value === 'string' && momentKindOf(value) === 'date',
    datetime: (value) => typeof value === 'string' && momentKindOf(value)?.startsWith('datetime') === true,
    time: (value) => typeof value === 'string' && TIME.test(value),
    json: (value) => typeof value === 'object',
  }
  const isValid = tests[type]
  const automaton = PATTERNS_BY_TYPE[type] === undefined ? undefined : compilePattern(PATTERNS_BY_TYPE[type])
  return {
    automaton,
    breaks: (value) => !isValid(value),
    holdsFor: (_bounds, _rows, columnType) => {
      const family = familyOf(columnType)
      if (family === 'empty') return true
      return type === 'text' ? family !== 'json' : family === type && family !== 'json'
    },
  }
}

/** Patterns of the usual forms of a type. Values in other forms are tested one by one. */
const PATTERNS_BY_TYPE: Readonly<Record<string, string>> = {
  number: '[+-]?[0-9]+(\\.[0-9]+)?',
  integer: '[+-]?[0-9]+',
  boolean: 'true|false',
}

function momentKindOf(text: string): ReturnType<typeof detectMoment> {
  const bytes = Buffer.from(text)
  return detectMoment(bytes, 0, bytes.length)
}

/** Creates the test of a limit. `side`: 1 for a minimum, −1 for a maximum. */
function createLimitTest(side: 1 | -1, limit: number | string, isExclusive: boolean): ValueTest {
  const isNumber = typeof limit === 'number'
  const compareToLimit = isNumber ? undefined : createMomentComparison(limit)
  const breaks = (value: unknown): boolean => {
    let difference: number
    if (isNumber) {
      const number = typeof value === 'string' ? (NUMBER.test(value) ? Number(value) : Number.NaN) : value
      if (typeof number !== 'number' || Number.isNaN(number)) return true
      difference = (number - limit) * side
    } else {
      if (typeof value !== 'string') return true
      difference = compareToLimit!(value) * side
    }
    return isExclusive ? difference <= 0 : difference < 0
  }
  return {
    breaks,
    holdsFor: (bounds, _rows, type) => {
      if (!bounds || !hasLimits(bounds)) return false
      const bound: unknown = JSON.parse((side === 1 ? bounds.low : bounds.high)!)
      if (typeof bound !== typeof limit) return false
      const outermost = typeof bound === 'string' ? outermostDay(bound, type, side === 1 ? -1 : 1) : bound
      return outermost !== undefined && !breaks(outermost)
    },
  }
}

/** Creates the test of a pattern. With an automaton, the library is loaded only if a value is rejected. */
async function createPatternTest(pattern: string): Promise<ValueTest> {
  const automaton = pattern.length <= MAX_PATTERN_CHARACTERS ? compilePattern(pattern) : undefined
  let matches: ((text: string) => boolean) | undefined
  const prepare = async (): Promise<void> => {
    const matchesRe2 = await compileRe2(pattern)
    // The automaton has no limit on the length of texts.
    matches ??= (text) => matchesRe2(text) || (automaton !== undefined && accepts(automaton, text))
  }
  if (!automaton) await prepare()
  return {
    breaks: (value) => !matches!(comparedText(value)),
    prepare,
    takesNumbersAsText: true,
    automaton,
    holdsFor: alwaysFalse,
  }
}

/** Compiles a pattern (RE2) to a test of whole texts in linear time. Throws `bad_checks` if it is invalid. */
async function compileRe2(pattern: string): Promise<(text: string) => boolean> {
  if (pattern.length > MAX_PATTERN_CHARACTERS)
    throw new Problem(
      'bad_checks',
      `checks: a pattern of ${pattern.length} characters; the limit is ${MAX_PATTERN_CHARACTERS}`,
    )
  const { RE2JS } = await import('../../../vendor/re2.ts')
  try {
    const compiled = RE2JS.compile(pattern)
    if (compiled.programSize() > MAX_PROGRAM_INSTRUCTIONS) throw new Error('it has too many repeats')
    return (text) => text.length <= MAX_MATCHED_CHARACTERS && compiled.testExact(text)
  } catch (error) {
    throw new Problem(
      'bad_checks',
      `checks: pattern ${JSON.stringify(pattern)} cannot be used: ${errorMessageOf(error)}`,
      { hint: 'Patterns are regular expressions of RE2: without back references and look-around.' },
    )
  }
}

/** Creates a predicate of missing values: null, the empty text, and the texts of the checks file. */
export function createMissingTest({ missing }: Checks): (value: unknown) => boolean {
  if (missing.length === 0) return (value) => value === null || value === ''
  const texts = new Set(missing)
  return (value) => value === null || value === '' || (typeof value === 'string' && texts.has(value))
}
