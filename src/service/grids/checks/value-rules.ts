/** Rules of single values, as tests of them. See docs/checks.md. */
import type { Checks, ColumnRule, ValueRule } from '../../../checks/index.ts'
import { Problem } from '../../../contract/errors.ts'
import type { Bounds } from '../../../ingest/index.ts'
import { momentIn } from '../../../json/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { type Automaton, accepts, automatonOf, automatonOfLengths, automatonOfTexts } from './automaton.ts'

export interface ValueTest {
  /** Whether a value breaks the rule. Missing ones are given only if `takesMissing`. */
  breaks(value: unknown): boolean
  takesMissing?: boolean
  /** Numbers are given as they are written. */
  takesTexts?: boolean
  /** To be called before `breaks`, if there is one. */
  prepare?: () => Promise<void>
  /** What it accepts does not break the rule. */
  automaton?: Automaton
  /** Whether no value between these bounds can break it. */
  holdsFor(bounds: Bounds | undefined, rows: number, type: ColumnType): boolean
}

/** The longest pattern, and the most instructions that it may become. */
const MAX_PATTERN = 1000
const MAX_PROGRAM = 500
/** Characters of texts that the library matches: longer ones match a pattern that has an automaton, or none. */
const MAX_MATCHED = 10_000

type TestMaker<R> = (rule: R, checks: Pick<Checks, 'missing'>) => ValueTest | Promise<ValueTest>

/** The rules of single values: what is wrong with one value and with several, and the test. */
export const valueRules: {
  readonly [N in ValueRule['rule']]: {
    failures: readonly [string, string]
    test: TestMaker<Extract<ValueRule, { rule: N }>>
  }
} = {
  type: {
    failures: ['has another type', 'have another type'],
    test: ({ type, texts }) => typeTest(type, texts),
  },
  required: {
    failures: ['is missing', 'are missing'],
    test: (_, { missing }) => ({
      takesMissing: true,
      breaks: () => false,
      holdsFor: (bounds) =>
        bounds !== undefined && bounds.nulls === 0 && isKnown(bounds) && isNeverMissing(bounds, missing),
    }),
  },
  enum: {
    failures: ['is none of these', 'are none of these'],
    test(rule) {
      const values = new Set(rule.values.map(String))
      // Numbers are compared by value: 1.50 is 1.5, and no text.
      const plain = [...values].filter((text) => !NUMBER.test(text) || String(Number(text)) === text)
      const automaton = automatonOfTexts(plain)
      return { breaks: (value) => !values.has(textOf(value)), automaton, holdsFor: never }
    },
  },
  pattern: {
    failures: ['does not match', 'do not match'],
    test: ({ pattern }) => patternTest(pattern),
  },
  length: {
    failures: ['has another length', 'have another length'],
    test({ range: { from = 0, to = Number.POSITIVE_INFINITY } }) {
      const breaks = (value: unknown): boolean => {
        const length = lengthOf(textOf(value))
        return length < from || length > to
      }
      const automaton = automatonOfLengths(Math.ceil(from), Math.floor(to))
      return { breaks, takesTexts: true, automaton, holdsFor: never }
    },
  },
  minimum: {
    failures: ['is too low', 'are too low'],
    test: ({ value, isExclusive }) => limitTest(1, value, isExclusive),
  },
  maximum: {
    failures: ['is too high', 'are too high'],
    test: ({ value, isExclusive }) => limitTest(-1, value, isExclusive),
  },
}

export async function testOf(rule: ValueRule, checks: Pick<Checks, 'missing'>): Promise<ValueTest> {
  return (valueRules[rule.rule].test as TestMaker<ValueRule>)(rule, checks)
}

export function isValueRule(rule: ColumnRule): rule is ValueRule {
  return Object.hasOwn(valueRules, rule.rule)
}

/** Returns whether all values of a column can be compared with the limit of a rule, if it has one. */
export function isComparable(rule: ValueRule, type: string): boolean {
  if (rule.rule !== 'minimum' && rule.rule !== 'maximum') return true
  return typeof rule.value === 'number' ? type === 'number' : type.startsWith('date')
}

function never(): boolean {
  return false
}

/** Whether no text between bounds is missing. */
function isNeverMissing({ low }: Bounds, missing: readonly string[]): boolean {
  return !low?.startsWith('"') || (low !== '""' && missing.length === 0)
}

function isKnown({ low, high }: Bounds): boolean {
  return low !== undefined && high !== undefined
}

/** What is compared with texts. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Code points. */
function lengthOf(text: string): number {
  let length = text.length
  for (let k = 0; k < text.length; k++) {
    const unit = text.charCodeAt(k)
    if (unit >= 0xdc00 && unit <= 0xdfff) length--
  }
  return length
}

const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/
const INTEGER = /^\s*[+-]?\d+\s*$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?$/

function typeTest(type: string, texts: readonly string[] | undefined): ValueTest {
  const booleans = new Set(texts)
  const tests: Readonly<Record<string, (value: unknown) => boolean>> = {
    text: (value) => typeof value !== 'object',
    number: (value) => typeof value === 'number' || (typeof value === 'string' && NUMBER.test(value)),
    integer: (value) =>
      typeof value === 'number' ? Number.isInteger(value) : typeof value === 'string' && INTEGER.test(value),
    boolean: (value) =>
      typeof value === 'boolean' ||
      (texts ? booleans.has(textOf(value)) : typeof value === 'string' && /^(true|false)$/i.test(value)),
    date: (value) => typeof value === 'string' && momentOf(value) === 'date',
    datetime: (value) => typeof value === 'string' && momentOf(value)?.startsWith('datetime') === true,
    time: (value) => typeof value === 'string' && TIME.test(value),
    json: (value) => typeof value === 'object',
  }
  const isOk = tests[type]
  const automaton = AUTOMATA[type] === undefined ? undefined : automatonOf(AUTOMATA[type])
  return {
    automaton,
    breaks: (value) => !isOk(value),
    holdsFor: (_bounds, _rows, held) => {
      const family = familyOf(held)
      if (family === 'empty') return true
      return type === 'text' ? family !== 'json' : family === type && family !== 'json'
    },
  }
}

/** What values of a type are written like; others may be of it as well. */
const AUTOMATA: Readonly<Record<string, string>> = {
  number: '[+-]?[0-9]+(\\.[0-9]+)?',
  integer: '[+-]?[0-9]+',
  boolean: 'true|false',
}

function momentOf(text: string): ReturnType<typeof momentIn> {
  const bytes = Buffer.from(text)
  return momentIn(bytes, 0, bytes.length)
}

/** `side`: 1 for a minimum, −1 for a maximum. */
function limitTest(side: 1 | -1, limit: number | string, isExclusive: boolean): ValueTest {
  const isNumber = typeof limit === 'number'
  const breaks = (value: unknown): boolean => {
    let difference: number
    if (isNumber) {
      const number = typeof value === 'string' ? (NUMBER.test(value) ? Number(value) : Number.NaN) : value
      if (typeof number !== 'number' || Number.isNaN(number)) return true
      difference = (number - limit) * side
    } else {
      if (typeof value !== 'string') return true
      difference = (value < limit ? -1 : value > limit ? 1 : 0) * side
    }
    return isExclusive ? difference <= 0 : difference < 0
  }
  return {
    breaks,
    holdsFor: (bounds) => {
      if (!bounds || !isKnown(bounds)) return false
      const bound: unknown = JSON.parse((side === 1 ? bounds.low : bounds.high)!)
      return typeof bound === typeof limit && !breaks(bound)
    },
  }
}

/** Of a pattern that has an automaton, the library is loaded when a value has to be looked at again. */
async function patternTest(pattern: string): Promise<ValueTest> {
  const automaton = pattern.length <= MAX_PATTERN ? automatonOf(pattern) : undefined
  let matches: ((text: string) => boolean) | undefined
  const prepare = async (): Promise<void> => {
    const found = await patternOf(pattern)
    // An automaton takes texts of any length.
    matches ??= (text) => found(text) || (automaton !== undefined && accepts(automaton, text))
  }
  if (!automaton) await prepare()
  return {
    breaks: (value) => !matches!(textOf(value)),
    prepare,
    takesTexts: true,
    automaton,
    holdsFor: never,
  }
}

/** A test of whole texts that takes time in proportion to their length, whatever the pattern is. */
async function patternOf(pattern: string): Promise<(text: string) => boolean> {
  if (pattern.length > MAX_PATTERN)
    throw new Problem(
      'bad_checks',
      `checks: a pattern of ${pattern.length} characters; the limit is ${MAX_PATTERN}`,
    )
  const { RE2JS } = await import('../../../vendor/re2.ts')
  try {
    const compiled = RE2JS.compile(pattern)
    if (compiled.programSize() > MAX_PROGRAM) throw new Error('it has too many repeats')
    return (text) => text.length <= MAX_MATCHED && compiled.testExact(text)
  } catch (error) {
    throw new Problem(
      'bad_checks',
      `checks: pattern ${JSON.stringify(pattern)} cannot be used: ${(error as Error).message}`,
      { hint: 'Patterns are regular expressions of RE2: without back references and look-around.' },
    )
  }
}

/** Whether a value is missing. */
export function missingIn({ missing }: Checks): (value: unknown) => boolean {
  if (missing.length === 0) return (value) => value === null || value === ''
  const texts = new Set(missing)
  return (value) => value === null || value === '' || (typeof value === 'string' && texts.has(value))
}
