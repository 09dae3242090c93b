// Operators of `where`, one row each. The tokenizer, the parser and the binder read these tables.

/**
 * A value of a row. Dates and times are ms since 1970; integers that a double cannot represent are bigints;
 * arrays and objects are `COMPOUND`, which equals nothing. null is unknown.
 */
export type Scalar = number | bigint | string | boolean | null | typeof COMPOUND
export const COMPOUND = Symbol('array or object')

/** A test of two values of the same type. */
export type ComparisonTest = (left: never, right: never) => boolean

/** Comparisons. `aliases`: other spellings. */
export const COMPARISONS = {
  // An integer can be a number or a bigint.
  '=': {
    aliases: ['=='],
    test: (left: Scalar, right: Scalar) => left === right || isSameInteger(left, right),
  },
  '<>': {
    aliases: ['!='],
    test: (left: Scalar, right: Scalar) => left !== right && !isSameInteger(left, right),
  },
  '<': { aliases: [], test: (left: number, right: number) => left < right },
  '<=': { aliases: [], test: (left: number, right: number) => left <= right },
  '>': { aliases: [], test: (left: number, right: number) => left > right },
  '>=': { aliases: [], test: (left: number, right: number) => left >= right },
} satisfies Record<string, { aliases: readonly string[]; test: ComparisonTest }>
export type Comparison = keyof typeof COMPARISONS

/** Operators between two numbers. Those of a product bind closer than those of a sum. */
export const ARITHMETIC = {
  '+': { level: 'sum', compute: createOperation((a, b) => a + b) },
  '-': { level: 'sum', compute: createOperation((a, b) => a - b) },
  '*': { level: 'product', compute: createOperation((a, b) => a * b) },
  '/': { level: 'product', compute: createOperation((a, b) => a / b) },
  '%': { level: 'product', compute: createOperation((a, b) => a % b) },
} satisfies Record<string, { level: 'sum' | 'product'; compute: (left: Scalar, right: Scalar) => Scalar }>
export type Arithmetic = keyof typeof ARITHMETIC

/** Words that can follow a value, and that `not` can precede. The parser has a function for each. */
export const PREDICATES = ['in', 'like', 'ilike', 'between'] as const
export type PredicateWord = (typeof PREDICATES)[number]

/** Spellings of comparisons, with the comparison that they mean. */
export const COMPARISON_BY_SPELLING: ReadonlyMap<string, Comparison> = new Map(
  (Object.keys(COMPARISONS) as Comparison[]).flatMap((name) =>
    [name, ...COMPARISONS[name].aliases].map((spelling) => [spelling, name] as const),
  ),
)

/** Reserved words. A column of such a name is written in double quotes. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...PREDICATES,
  ...['and', 'or', 'not', 'is', 'null', 'true', 'false'],
])

/** Returns the opposite of true and false; null for other values. */
export function negate(value: Scalar): Scalar {
  return typeof value === 'boolean' ? !value : null
}

/** Returns false if one value is false, true if both are true, else null. */
export function logicalAnd(left: Scalar, right: Scalar): Scalar {
  if (left === false || right === false) return false
  return left === true && right === true ? true : null
}

/** Compares two values; null if one is null, or if their types differ. */
export function compareValues(left: Scalar, right: Scalar, test: ComparisonTest): Scalar {
  if (left === null || right === null || left === COMPOUND || right === COMPOUND) return null
  const isComparable = typeof left === typeof right || (isNumber(left) && isNumber(right))
  return isComparable ? test(left as never, right as never) : null
}

function isNumber(value: Scalar): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function isSameInteger(left: Scalar, right: Scalar): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint with a number exactly
  return typeof left !== typeof right && left == (right as number)
}

/**
 * Creates an operation on numbers; null for other values and results that are not finite, such as a division
 * by zero.
 */
function createOperation(compute: (a: number, b: number) => number): (left: Scalar, right: Scalar) => Scalar {
  return (left, right) => {
    if (!isNumber(left) || !isNumber(right)) return null
    const value = compute(Number(left), Number(right))
    return Number.isFinite(value) ? value : null
  }
}
