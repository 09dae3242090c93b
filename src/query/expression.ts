// Parsed `where` expressions.
import { likeStepsPerCharacter } from './like.ts'
import type { Arithmetic, Comparison } from './operators.ts'

/**
 * A parsed expression: comparisons, `and`, `or`, `not`, `in`, `like`, `ilike`, `between`, `is null` and
 * arithmetic. `at`: position in the text, from 0.
 */
export type Expression = { at: number } & (
  | { kind: 'literal'; value: number | bigint | string | boolean | null }
  | { kind: 'column'; name: string }
  | { kind: 'not' | 'negative'; of: Expression }
  | { kind: 'and' | 'or'; left: Expression; right: Expression }
  | { kind: 'compare'; sign: Comparison; left: Expression; right: Expression }
  | { kind: 'arithmetic'; sign: Arithmetic; left: Expression; right: Expression }
  | { kind: 'in'; of: Expression; list: readonly Expression[] }
  | { kind: 'between'; of: Expression; low: Expression; high: Expression }
  | { kind: 'like'; of: Expression; pattern: string; anyCase: boolean }
  | { kind: 'null'; of: Expression }
)
/** Returns the names of the columns that an expression reads, without duplicates. */
export function queriedColumns(expression: Expression): string[] {
  return [...countUses(expression).columns.keys()]
}

/** Counts the nodes of an expression, and the steps per character of each column. */
export function countUses(expression: Expression): { all: number; columns: ReadonlyMap<string, number> } {
  const columns = new Map<string, number>()
  let nodes = 0
  const visit = (node: Expression, steps = 1): void => {
    nodes++
    if (node.kind === 'column') columns.set(node.name, (columns.get(node.name) ?? 0) + steps)
    // A list of constants is a single lookup.
    if (node.kind === 'in' && node.list.every(({ kind }) => kind === 'literal')) visit(node.of)
    else if (node.kind === 'like') visit(node.of, likeStepsPerCharacter(node.pattern, node.anyCase))
    else for (const child of childrenOf(node)) visit(child)
  }
  visit(expression)
  return { all: nodes, columns }
}

/** Returns the operands of an expression, in the order of the text. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'column':
      return []
    case 'not':
    case 'negative':
    case 'like':
    case 'null':
      return [expression.of]
    case 'in':
      return [expression.of, ...expression.list]
    case 'between':
      return [expression.of, expression.low, expression.high]
    case 'and':
    case 'or':
    case 'compare':
    case 'arithmetic':
      return [expression.left, expression.right]
  }
}
