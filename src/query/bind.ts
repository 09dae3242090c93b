import { closest, hintWith, listed } from '../contract/closest.ts'
import { Problem } from '../contract/errors.ts'
import { instantOf, momentIn } from '../json/index.ts'
import { likeTest } from './like.ts'
import { type Arithmetic, type Comparison, columnsOf, type Expression, usesOf, type Where } from './parse.ts'
import { badQuery } from './tokens.ts'

/** Types of columns, as the API names them. */
export type QueryType = 'number' | 'text' | 'boolean' | 'date' | 'datetime' | 'json' | 'empty'

export interface QueryColumn {
  name: string
  type: QueryType
}

/**
 * A value of a row: dates and times are ms since 1970, whole numbers that a double cannot hold are exact, and arrays and
 * objects are `COMPOUND`, which equals nothing. Unknown is null.
 */
export type Scalar = number | bigint | string | boolean | null | typeof COMPOUND
export const COMPOUND = Symbol('array or object')

/** Whether a row passes. `row`: the values of `columns`, in that order. */
export interface RowTest {
  columns: readonly string[]
  test: (row: readonly Scalar[]) => boolean
  /** Comparisons and other steps that the test of a row takes at most. */
  steps: number
  /** The steps that it takes for each character of `columns`, of which the values can be long texts. */
  reads: readonly number[]
}

type Kind = 'number' | 'text' | 'boolean' | 'moment' | 'any' | 'null'
type Run = (row: readonly Scalar[]) => Scalar
interface Bound {
  kind: Kind
  run: Run
  /** The value, where it is the same for all rows. */
  constant?: Scalar
}

const kindOfColumn: Record<QueryType, Kind> = {
  number: 'number',
  text: 'text',
  boolean: 'boolean',
  date: 'moment',
  datetime: 'moment',
  json: 'any',
  empty: 'any',
}
const words: Record<Kind, string> = {
  number: 'a number',
  text: 'text',
  boolean: 'true or false',
  moment: 'a date',
  any: 'any value',
  null: 'null',
}

/**
 * Returns the test of rows that an expression is. Throws `unknown_column`, and `invalid_query` for
 * comparisons of values of different types, which are never equal by accident.
 */
export function boundWhere({ text, expression }: Where, columns: readonly QueryColumn[]): RowTest {
  const names = columnsOf(expression)
  for (const name of names) columnNamed(name, columns)
  const binder = new Binder(text, names, columns)
  const bound = binder.bind(expression)
  if (bound.kind !== 'boolean' && bound.kind !== 'any' && bound.kind !== 'null')
    throw badQuery(
      'where',
      text,
      expression.at,
      `this is ${words[bound.kind]}, not a condition`,
      "For example: temp > 20 and city = 'Oslo'",
    )
  const uses = usesOf(expression)
  return {
    columns: names,
    test: (row) => bound.run(row) === true,
    steps: uses.all,
    reads: names.map((name) => uses.columns.get(name)!),
  }
}

/** Returns the column of a name. Throws `unknown_column` with the name that was probably meant. */
export function columnNamed<C extends { name: string }>(
  name: string,
  columns: readonly C[],
  field: 'where' | 'sort' = 'where',
): C {
  const found = columns.find((column) => column.name === name)
  if (found) return found
  const names = columns.map((column) => column.name)
  const what =
    field === 'sort'
      ? '. A minus sign means descending: -date'
      : `. If it is a text, write it in single quotes: '${name.replaceAll("'", "''")}'`
  throw new Problem('unknown_column', `the grid has no column ${JSON.stringify(name)}`, {
    field,
    hint: `${hintWith(meantBy(name, names), `Its columns are: ${listed(names)}`)}${what}`,
  })
}

/** Returns the name that was probably meant: a similar one, or one that begins so. */
function meantBy(name: string, names: readonly string[]): string | undefined {
  const start = name.toLowerCase()
  return closest(name, names) ?? names.find((one) => one.toLowerCase().startsWith(start))
}

class Binder {
  constructor(
    private readonly text: string,
    private readonly names: readonly string[],
    private readonly columns: readonly QueryColumn[],
  ) {}

  private wrong(at: number, message: string, hint?: string): Problem {
    return badQuery('where', this.text, at, message, hint)
  }

  bind(one: Expression): Bound {
    switch (one.kind) {
      case 'literal':
        return literal(one.value)
      case 'column': {
        const k = this.names.indexOf(one.name)
        return { kind: kindOfColumn[columnNamed(one.name, this.columns).type], run: (row) => row[k] }
      }
      case 'not': {
        const run = this.condition(one.of)
        return { kind: 'boolean', run: (row) => negated(run(row)) }
      }
      case 'and': {
        const [left, right] = [this.condition(one.left), this.condition(one.right)]
        return { kind: 'boolean', run: (row) => both(left, right, row) }
      }
      case 'or': {
        const [left, right] = [this.condition(one.left), this.condition(one.right)]
        return { kind: 'boolean', run: (row) => either(left, right, row) }
      }
      case 'negative': {
        const run = this.number(one.of)
        return { kind: 'number', run: (row) => arithmetic['-'](0, run(row)) }
      }
      case 'arithmetic': {
        const [left, right] = [this.number(one.left), this.number(one.right)]
        const compute = arithmetic[one.sign]
        return { kind: 'number', run: (row) => compute(left(row), right(row)) }
      }
      case 'compare': {
        const [left, right] = this.comparable(this.bind(one.left), this.bind(one.right), one.left, one.right)
        const test = comparisons[one.sign]
        if (one.left.kind === 'column' && one.right.kind === 'literal')
          return { kind: 'boolean', run: withConstant(this.names.indexOf(one.left.name), right([]), test) }
        return { kind: 'boolean', run: (row) => compared(left(row), right(row), test) }
      }
      case 'between': {
        // Bound once: what is nested would be bound twice at each level.
        const value = this.bind(one.of)
        const [of, low] = this.comparable(value, this.bind(one.low), one.of, one.low)
        const [, high] = this.comparable(value, this.bind(one.high), one.of, one.high)
        const [least, most] = [comparisons['>='], comparisons['<=']]
        return {
          kind: 'boolean',
          run: (row) => {
            const found = of(row)
            return and(compared(found, low(row), least), compared(found, high(row), most))
          },
        }
      }
      case 'in':
        return this.membership(one.of, one.list)
      case 'like': {
        const of = this.bind(one.of)
        if (of.kind !== 'text' && of.kind !== 'any' && of.kind !== 'null')
          throw this.wrong(
            one.of.at,
            `like compares text, and this is ${words[of.kind]}`,
            of.kind === 'moment'
              ? "For a part of a year, use between '2024-01-01' and '2024-01-31'."
              : undefined,
          )
        const test = likeTest(one.pattern, one.anyCase)
        return {
          kind: 'boolean',
          run: (row) => {
            const value = of.run(row)
            return typeof value === 'string' ? test(value) : null
          },
        }
      }
      case 'null': {
        const { run } = this.bind(one.of)
        return { kind: 'boolean', run: (row) => run(row) === null }
      }
    }
  }

  /** Returns an operand of `and`, `or` and `not`. */
  private condition(one: Expression): Run {
    const { kind, run } = this.bind(one)
    if (kind === 'boolean' || kind === 'null') return run
    if (kind !== 'any') throw this.wrong(one.at, `expected a condition, and this is ${words[kind]}`)
    return (row) => {
      const value = run(row)
      return typeof value === 'boolean' ? value : null
    }
  }

  private number(one: Expression): Run {
    const { kind, run } = this.bind(one)
    if (kind !== 'number' && kind !== 'any' && kind !== 'null')
      throw this.wrong(one.at, `expected a number, and this is ${words[kind]}`)
    return run
  }

  private comparable(one: Bound, other: Bound, left: Expression, right: Expression): [Run, Run] {
    if (one.kind === 'moment' && other.kind === 'text') return [one.run, this.moment(other, right)]
    if (other.kind === 'moment' && one.kind === 'text') return [this.moment(one, left), other.run]
    this.assertAlike(one, other, right)
    return [one.run, other.run]
  }

  private assertAlike(one: Bound, other: Bound, right: Expression): void {
    const isFree = [one, other].some(({ kind }) => kind === 'any' || kind === 'null')
    if (isFree || one.kind === other.kind) return
    const hint =
      one.kind === 'number' && other.kind === 'text'
        ? 'Write numbers without quotes, and names of columns in double quotes.'
        : one.kind === 'text' && other.kind === 'number'
          ? "Write texts in single quotes: '12'."
          : undefined
    throw this.wrong(right.at, `${words[one.kind]} cannot be compared with ${words[other.kind]}`, hint)
  }

  /** Returns a text that is compared with dates. */
  private moment({ constant }: Bound, one: Expression): Run {
    const bytes = typeof constant === 'string' ? Buffer.from(constant) : Buffer.alloc(0)
    // A day that is not in the calendar is no date.
    const instant = momentIn(bytes, 0, bytes.length) ? instantOf(constant as string) : Number.NaN
    if (Number.isNaN(instant))
      throw this.wrong(
        one.at,
        'expected a date',
        "Write dates as '2024-01-31', and times as '2024-01-31 09:30' or '2024-01-31T09:30:00Z'.",
      )
    return () => instant
  }

  private membership(of: Expression, list: readonly Expression[]): Bound {
    const one = this.bind(of)
    const others = list.map((item) => {
      const other = this.bind(item)
      if (one.kind === 'moment' && other.kind === 'text') {
        const run = this.moment(other, item)
        return { kind: 'moment', run, constant: run([]) } as Bound
      }
      this.assertAlike(one, other, item)
      return other
    })
    // As many texts as one likes cost as much as one.
    const types = new Set(others.map(({ constant }) => typeof constant))
    const [type] = types
    if (types.size === 1 && (type === 'string' || type === 'number')) {
      const set = new Set(others.map(({ constant }) => constant as Scalar))
      return { kind: 'boolean', run: (row) => isAmong(one.run(row), set, type) }
    }
    return {
      kind: 'boolean',
      run: (row) => {
        const value = one.run(row)
        let found: Scalar = false
        for (const { run } of others) {
          const same = compared(value, run(row), comparisons['='])
          if (same === true) return true
          if (same === null) found = null
        }
        return found
      },
    }
  }
}

function literal(value: number | bigint | string | boolean | null): Bound {
  const kind: Kind =
    value === null
      ? 'null'
      : typeof value === 'string'
        ? 'text'
        : typeof value === 'boolean'
          ? 'boolean'
          : 'number'
  return { kind, run: () => value, constant: value }
}

/**
 * Returns whether a value is one of these, all of which are texts, or numbers. Unknown for values of another
 * type.
 */
function isAmong(value: Scalar, set: ReadonlySet<Scalar>, type: 'string' | 'number'): Scalar {
  if (set.has(value)) return true
  if (typeof value === type) return false
  return typeof value === 'bigint' && type === 'number' ? set.has(exactDouble(value) ?? null) : null
}

/** Returns a whole number as a double, if it is one. */
function exactDouble(value: bigint): number | undefined {
  const double = Number(value)
  return BigInt(double) === value ? double : undefined
}

function negated(value: Scalar): Scalar {
  return typeof value === 'boolean' ? !value : null
}

/** False if one is false; unknown if one is unknown. */
function both(left: Run, right: Run, row: readonly Scalar[]): Scalar {
  const one = left(row)
  return one === false ? false : and(one, right(row))
}

function and(one: Scalar, other: Scalar): Scalar {
  if (one === false || other === false) return false
  return one === true && other === true ? true : null
}

function either(left: Run, right: Run, row: readonly Scalar[]): Scalar {
  const one = left(row)
  if (one === true) return true
  const other = right(row)
  return other === true ? true : one === false && other === false ? false : null
}

type Test = (one: never, other: never) => boolean

const comparisons: Record<Comparison, Test> = {
  // A whole number can be a number or a bigint.
  '=': (one: Scalar, other: Scalar) => one === other || isSame(one, other),
  '<>': (one: Scalar, other: Scalar) => one !== other && !isSame(one, other),
  '<': (one: number, other: number) => one < other,
  '<=': (one: number, other: number) => one <= other,
  '>': (one: number, other: number) => one > other,
  '>=': (one: number, other: number) => one >= other,
}

function isSame(one: Scalar, other: Scalar): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint with a number exactly
  return typeof one !== typeof other && one == (other as number)
}

/** `compared` of a column and a constant, as in most conditions. */
function withConstant(column: number, constant: Scalar, test: Test): Run {
  if (typeof constant !== 'number' && typeof constant !== 'string')
    return (row) => compared(row[column], constant, test)
  const type = typeof constant
  return (row) => {
    const value = row[column]
    return typeof value === type ? test(value as never, constant as never) : compared(value, constant, test)
  }
}

/** Unknown if one value is, or if the values are of different types. */
function compared(one: Scalar, other: Scalar, test: Test): Scalar {
  if (one === null || other === null || one === COMPOUND || other === COMPOUND) return null
  const isComparable = typeof one === typeof other || (isNumber(one) && isNumber(other))
  return isComparable ? test(one as never, other as never) : null
}

function isNumber(value: Scalar): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Numbers only; what is not finite, such as a division by zero, is unknown. */
const computed =
  (compute: (a: number, b: number) => number) =>
  (one: Scalar, other: Scalar): Scalar => {
    if (!isNumber(one) || !isNumber(other)) return null
    const value = compute(Number(one), Number(other))
    return Number.isFinite(value) ? value : null
  }

const arithmetic: Record<Arithmetic, (one: Scalar, other: Scalar) => Scalar> = {
  '+': computed((a, b) => a + b),
  '-': computed((a, b) => a - b),
  '*': computed((a, b) => a * b),
  '/': computed((a, b) => a / b),
  '%': computed((a, b) => a % b),
}
