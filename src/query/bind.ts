// Binds expressions to columns: checks their types, and compiles them to tests of rows.

import { COLUMN_TYPES, type ColumnType } from '../contract/column-types.ts'
import { Problem } from '../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../contract/message-texts.ts'
import { detectMoment, parseInstant } from '../json/index.ts'
import { countUses, type Expression, queriedColumns } from './expression.ts'
import { createLikeTest } from './like.ts'
import {
  ARITHMETIC,
  COMPARISONS,
  type ComparisonTest,
  compareValues,
  logicalAnd,
  negate,
  type Scalar,
} from './operators.ts'
import type { Where } from './parse.ts'
import { queryError } from './tokens.ts'

export interface QueryColumn {
  name: string
  type: ColumnType
}

/** A test of rows. `test` takes the values of `columns`, in that order. */
export interface RowTest {
  columns: readonly string[]
  test: (row: readonly Scalar[]) => boolean
  /** Maximum number of comparisons and other steps per row. */
  steps: number
  /** Number of steps per character of each of `columns`, whose values can be long texts. */
  reads: readonly number[]
}

type Kind = (typeof COLUMN_TYPES)[ColumnType]['compared'] | 'null'
type Evaluate = (row: readonly Scalar[]) => Scalar
interface BoundExpression {
  kind: Kind
  run: Evaluate
  /** The value, if it is the same for all rows. */
  constant?: Scalar
}

const KIND_LABELS: Record<Kind, string> = {
  number: 'a number',
  text: 'text',
  boolean: 'true or false',
  moment: 'a date',
  any: 'any value',
  null: 'null',
}

/**
 * Compiles an expression to a test of rows. Throws `unknown_column`, and `invalid_query` if values of
 * different types are compared.
 */
export function bindWhere({ text, expression }: Where, columns: readonly QueryColumn[]): RowTest {
  const names = queriedColumns(expression)
  for (const name of names) resolveColumn(name, columns)
  const binder = new Binder(text, names, columns)
  const bound = binder.bind(expression)
  if (bound.kind !== 'boolean' && bound.kind !== 'any' && bound.kind !== 'null')
    throw queryError(
      'where',
      text,
      expression.at,
      `this is ${KIND_LABELS[bound.kind]}, not a condition`,
      "For example: temp > 20 and city = 'Oslo'",
    )
  const uses = countUses(expression)
  return {
    columns: names,
    test: (row) => bound.run(row) === true,
    steps: uses.all,
    reads: names.map((name) => uses.columns.get(name)!),
  }
}

/** Returns the column of a name. Throws `unknown_column` with the most similar name. */
export function resolveColumn<C extends { name: string }>(
  name: string,
  columns: readonly C[],
  field: 'where' | 'sort' = 'where',
): C {
  const match = columns.find((column) => column.name === name)
  if (match) return match
  const names = columns.map((column) => column.name)
  const what =
    field === 'sort'
      ? '. A minus sign means descending: -date'
      : `. If it is a text, write it in single quotes: '${name.replaceAll("'", "''")}'`
  throw new Problem('unknown_column', `the grid has no column ${JSON.stringify(name)}`, {
    field,
    hint: `${withSuggestion(findSimilarName(name, names), `Its columns are: ${formatList(names)}`)}${what}`,
  })
}

/** Returns a similar name, or one that begins with this text; undefined if there is none. */
function findSimilarName(name: string, names: readonly string[]): string | undefined {
  const start = name.toLowerCase()
  return findClosest(name, names) ?? names.find((candidate) => candidate.toLowerCase().startsWith(start))
}

/** Compiles the parts of an expression. */
class Binder {
  constructor(
    private readonly text: string,
    private readonly names: readonly string[],
    private readonly columns: readonly QueryColumn[],
  ) {}

  private createError(at: number, message: string, hint?: string): Problem {
    return queryError('where', this.text, at, message, hint)
  }

  /** Binds an expression. Throws `invalid_query` if the types of its operands do not fit. */
  bind(expression: Expression): BoundExpression {
    switch (expression.kind) {
      case 'literal':
        return bindLiteral(expression.value)
      case 'column': {
        const k = this.names.indexOf(expression.name)
        return {
          kind: COLUMN_TYPES[resolveColumn(expression.name, this.columns).type].compared,
          run: (row) => row[k],
        }
      }
      case 'not': {
        const run = this.bindCondition(expression.of)
        return { kind: 'boolean', run: (row) => negate(run(row)) }
      }
      case 'and': {
        const [left, right] = [this.bindCondition(expression.left), this.bindCondition(expression.right)]
        return { kind: 'boolean', run: (row) => evaluateAnd(left, right, row) }
      }
      case 'or': {
        const [left, right] = [this.bindCondition(expression.left), this.bindCondition(expression.right)]
        return { kind: 'boolean', run: (row) => evaluateOr(left, right, row) }
      }
      case 'negative': {
        const run = this.bindNumber(expression.of)
        return { kind: 'number', run: (row) => ARITHMETIC['-'].compute(0, run(row)) }
      }
      case 'arithmetic': {
        const [left, right] = [this.bindNumber(expression.left), this.bindNumber(expression.right)]
        const compute = ARITHMETIC[expression.sign].compute
        return { kind: 'number', run: (row) => compute(left(row), right(row)) }
      }
      case 'compare': {
        const [left, right] = this.bindComparable(
          this.bind(expression.left),
          this.bind(expression.right),
          expression.left,
          expression.right,
        )
        const test = COMPARISONS[expression.sign].test
        if (expression.left.kind === 'column' && expression.right.kind === 'literal')
          return {
            kind: 'boolean',
            run: compareWithConstant(this.names.indexOf(expression.left.name), right([]), test),
          }
        return { kind: 'boolean', run: (row) => compareValues(left(row), right(row), test) }
      }
      case 'between': {
        // Bound once: binding it twice would double the work at each level of nesting.
        const value = this.bind(expression.of)
        const [of, low] = this.bindComparable(value, this.bind(expression.low), expression.of, expression.low)
        const [, high] = this.bindComparable(
          value,
          this.bind(expression.high),
          expression.of,
          expression.high,
        )
        const [least, most] = [COMPARISONS['>='].test, COMPARISONS['<='].test]
        return {
          kind: 'boolean',
          run: (row) => {
            const current = of(row)
            return logicalAnd(
              compareValues(current, low(row), least),
              compareValues(current, high(row), most),
            )
          },
        }
      }
      case 'in':
        return this.bindIn(expression.of, expression.list)
      case 'like': {
        const of = this.bind(expression.of)
        if (of.kind !== 'text' && of.kind !== 'any' && of.kind !== 'null')
          throw this.createError(
            expression.of.at,
            `like compares text, found ${KIND_LABELS[of.kind]}`,
            of.kind === 'moment'
              ? "For a part of a year, use between '2024-01-01' and '2024-01-31'."
              : undefined,
          )
        const test = createLikeTest(expression.pattern, expression.anyCase)
        return {
          kind: 'boolean',
          run: (row) => {
            const value = of.run(row)
            return typeof value === 'string' ? test(value) : null
          },
        }
      }
      case 'null': {
        const { run } = this.bind(expression.of)
        return { kind: 'boolean', run: (row) => run(row) === null }
      }
    }
  }

  /** Binds an operand of `and`, `or` and `not`. */
  private bindCondition(expression: Expression): Evaluate {
    const { kind, run } = this.bind(expression)
    if (kind === 'boolean' || kind === 'null') return run
    if (kind !== 'any')
      throw this.createError(expression.at, `expected a condition, found ${KIND_LABELS[kind]}`)
    return (row) => {
      const value = run(row)
      return typeof value === 'boolean' ? value : null
    }
  }

  private bindNumber(expression: Expression): Evaluate {
    const { kind, run } = this.bind(expression)
    if (kind !== 'number' && kind !== 'any' && kind !== 'null')
      throw this.createError(expression.at, `expected a number, found ${KIND_LABELS[kind]}`)
    return run
  }

  /** Binds two operands of a comparison. Throws `invalid_query` if their types differ. */
  private bindComparable(
    leftBound: BoundExpression,
    rightBound: BoundExpression,
    left: Expression,
    right: Expression,
  ): [Evaluate, Evaluate] {
    if (leftBound.kind === 'moment' && rightBound.kind === 'text')
      return [leftBound.run, this.bindMoment(rightBound, right)]
    if (rightBound.kind === 'moment' && leftBound.kind === 'text')
      return [this.bindMoment(leftBound, left), rightBound.run]
    this.assertComparable(leftBound, rightBound, right)
    return [leftBound.run, rightBound.run]
  }

  private assertComparable(leftBound: BoundExpression, rightBound: BoundExpression, right: Expression): void {
    const isFree = [leftBound, rightBound].some(({ kind }) => kind === 'any' || kind === 'null')
    if (isFree || leftBound.kind === rightBound.kind) return
    const hint =
      leftBound.kind === 'number' && rightBound.kind === 'text'
        ? 'Write numbers without quotes, and column names in double quotes.'
        : leftBound.kind === 'text' && rightBound.kind === 'number'
          ? "Write texts in single quotes: '12'."
          : undefined
    throw this.createError(
      right.at,
      `${KIND_LABELS[leftBound.kind]} cannot be compared with ${KIND_LABELS[rightBound.kind]}`,
      hint,
    )
  }

  /** Converts a text that is compared with dates. Throws `invalid_query` if it is not a date. */
  private bindMoment({ constant }: BoundExpression, expression: Expression): Evaluate {
    const bytes = new TextEncoder().encode(typeof constant === 'string' ? constant : '')
    // Days that do not exist are not dates.
    const instant = detectMoment(bytes, 0, bytes.length) ? parseInstant(constant as string) : Number.NaN
    if (Number.isNaN(instant))
      throw this.createError(
        expression.at,
        'expected a date',
        "Write dates as '2024-01-31', and times as '2024-01-31 09:30' or '2024-01-31T09:30:00Z'.",
      )
    return () => instant
  }

  /** Binds `in`. */
  private bindIn(of: Expression, list: readonly Expression[]): BoundExpression {
    const operand = this.bind(of)
    const items = list.map((item) => {
      const boundItem = this.bind(item)
      if (operand.kind === 'moment' && boundItem.kind === 'text') {
        const run = this.bindMoment(boundItem, item)
        return { kind: 'moment', run, constant: run([]) } as BoundExpression
      }
      this.assertComparable(operand, boundItem, item)
      return boundItem
    })
    // A lookup in a set costs the same for any number of constants.
    const types = new Set(items.map(({ constant }) => typeof constant))
    const [type] = types
    if (types.size === 1 && (type === 'string' || type === 'number')) {
      const set = new Set(items.map(({ constant }) => constant as Scalar))
      return { kind: 'boolean', run: (row) => testMembership(operand.run(row), set, type) }
    }
    return {
      kind: 'boolean',
      run: (row) => {
        const value = operand.run(row)
        let result: Scalar = false
        for (const { run } of items) {
          const same = compareValues(value, run(row), COMPARISONS['='].test)
          if (same === true) return true
          if (same === null) result = null
        }
        return result
      },
    }
  }
}

function bindLiteral(value: number | bigint | string | boolean | null): BoundExpression {
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

/** Returns whether a value is in a set of texts, or of numbers; null for values of another type. */
function testMembership(value: Scalar, set: ReadonlySet<Scalar>, type: 'string' | 'number'): Scalar {
  if (set.has(value)) return true
  if (typeof value === type) return false
  return typeof value === 'bigint' && type === 'number' ? set.has(toExactDouble(value) ?? null) : null
}

/** Returns an integer as a double; undefined if that is not exact. */
function toExactDouble(value: bigint): number | undefined {
  const double = Number(value)
  return Number.isFinite(double) && BigInt(double) === value ? double : undefined
}

/** Evaluates `and`: false if one operand is false, else null if one is null. */
function evaluateAnd(left: Evaluate, right: Evaluate, row: readonly Scalar[]): Scalar {
  const leftValue = left(row)
  return leftValue === false ? false : logicalAnd(leftValue, right(row))
}

function evaluateOr(left: Evaluate, right: Evaluate, row: readonly Scalar[]): Scalar {
  const leftValue = left(row)
  if (leftValue === true) return true
  const rightValue = right(row)
  return rightValue === true ? true : leftValue === false && rightValue === false ? false : null
}

/** Compiles the comparison of a column with a constant: the fast path of `compareValues`. */
function compareWithConstant(column: number, constant: Scalar, test: ComparisonTest): Evaluate {
  if (typeof constant !== 'number' && typeof constant !== 'string')
    return (row) => compareValues(row[column], constant, test)
  const type = typeof constant
  return (row) => {
    const value = row[column]
    return typeof value === type
      ? test(value as never, constant as never)
      : compareValues(value, constant, test)
  }
}
