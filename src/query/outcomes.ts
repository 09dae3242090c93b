// Outcomes that a condition can have in rows of which only the range of their values is known.

import { isMomentType } from '../contract/column-types.ts'
import { parseInstant } from '../json/index.ts'
import type { QueryColumn } from './bind.ts'
import type { Expression } from './expression.ts'
import type { Comparison } from './operators.ts'
import type { Where } from './parse.ts'

/** The values of a column in some rows: those that are not null are from `low` to `high`. */
export interface ValueRange {
  /** Undefined if not known. Dates and times are ms since 1970. */
  limits: readonly [low: number, high: number] | readonly [low: string, high: string] | undefined
  nulls: 'none' | 'some' | 'all'
}

/** Outcomes of a condition: the sum of those that are possible. */
export const TRUE = 1
const FALSE = 2
const NULL = 4
const ANY = TRUE + FALSE + NULL

/** Returns the outcomes that are possible if columns have these values; undefined ranges are not known. */
export type OutcomesOf = (ranges: readonly (ValueRange | undefined)[]) => number

/** Returns the possible outcomes by whether a value can be at most, or at least, the constant. */
const COMPARISON_OUTCOMES: Record<Comparison, (canBeLow: boolean, canBeHigh: boolean) => number> = {
  '=': (canBeLow, canBeHigh) => sumOf(canBeLow && canBeHigh, true),
  '<>': (canBeLow, canBeHigh) => sumOf(true, canBeLow && canBeHigh),
  '<': sumOf,
  '<=': sumOf,
  '>': (canBeLow, canBeHigh) => sumOf(canBeHigh, canBeLow),
  '>=': (canBeLow, canBeHigh) => sumOf(canBeHigh, canBeLow),
}
/** Comparisons with both sides exchanged. */
const MIRRORED: Record<Comparison, Comparison> = {
  '=': '=',
  '<>': '<>',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}
/** Maximum length of a list whose constants are compared one by one. */
const MAX_LISTED = 100

function sumOf(canBeTrue: boolean, canBeFalse: boolean): number {
  return (canBeTrue ? TRUE : 0) + (canBeFalse ? FALSE : 0)
}

/**
 * Creates the function that tells the outcomes of a condition. `columns`: the columns that it reads, in the order of the
 * ranges. `bindWhere` must have accepted it.
 */
export function createOutcomes({ expression }: Where, columns: readonly QueryColumn[]): OutcomesOf {
  return visit(expression, columns)
}

function visit(expression: Expression, columns: readonly QueryColumn[]): OutcomesOf {
  switch (expression.kind) {
    case 'not': {
      const of = visit(expression.of, columns)
      return (ranges) => {
        const outcomes = of(ranges)
        return sumOf((outcomes & FALSE) !== 0, (outcomes & TRUE) !== 0) + (outcomes & NULL)
      }
    }
    case 'and':
      return bothOf(visit(expression.left, columns), visit(expression.right, columns))
    case 'or': {
      const [left, right] = [visit(expression.left, columns), visit(expression.right, columns)]
      return (ranges) => {
        const [a, b] = [left(ranges), right(ranges)]
        return ((a | b) & (TRUE + NULL)) | (a & b & FALSE)
      }
    }
    case 'compare': {
      const { left, right, sign } = expression
      return left.kind === 'literal'
        ? compare(right, MIRRORED[sign], left, columns)
        : compare(left, sign, right, columns)
    }
    case 'between': {
      const { of, low, high } = expression
      return bothOf(compare(of, '>=', low, columns), compare(of, '<=', high, columns))
    }
    case 'in': {
      const { of, list } = expression
      const same = list.length > MAX_LISTED ? [] : list.map((item) => compare(of, '=', item, columns))
      return (ranges) => same.reduce((sum, one) => sum | one(ranges), same.length > 0 ? 0 : ANY)
    }
    case 'null': {
      const column = columnOf(expression.of, columns)
      return (ranges) => {
        const range = ranges[column]
        return range ? sumOf(range.nulls !== 'none', range.nulls !== 'all') : ANY
      }
    }
    default:
      return () => ANY
  }
}

function bothOf(left: OutcomesOf, right: OutcomesOf): OutcomesOf {
  return (ranges) => {
    const [a, b] = [left(ranges), right(ranges)]
    return ((a | b) & (FALSE + NULL)) | (a & b & TRUE)
  }
}

/** Returns the position of a column; −1 for other expressions, whose ranges are not known. */
function columnOf(expression: Expression, columns: readonly QueryColumn[]): number {
  return expression.kind === 'column' ? columns.findIndex(({ name }) => name === expression.name) : -1
}

/** Returns the outcomes of comparing a column with a constant. */
function compare(
  of: Expression,
  sign: Comparison,
  other: Expression,
  columns: readonly QueryColumn[],
): OutcomesOf {
  const column = columnOf(of, columns)
  const constant = column < 0 ? undefined : constantOf(other, columns[column])
  if (constant === undefined) return () => ANY
  return (ranges) => {
    const range = ranges[column]
    if (!range) return ANY
    if (range.nulls === 'all') return NULL
    const [low, high] = range.limits ?? []
    if (typeof low !== typeof constant) return ANY
    // Limits can be rounded: a value that equals one may be a little more or less.
    const outcomes = COMPARISON_OUTCOMES[sign](low! <= constant, high! >= constant)
    return outcomes + (range.nulls === 'some' ? NULL : 0)
  }
}

/** Returns a constant that can be compared with limits; undefined for other expressions. */
function constantOf(expression: Expression, { type }: QueryColumn): number | string | undefined {
  if (expression.kind !== 'literal') return undefined
  const { value } = expression
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' && isMomentType(type)) return parseInstant(value)
  return typeof value === 'number' || typeof value === 'string' ? value : undefined
}
