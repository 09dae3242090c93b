/** Decides which columns of a grid a copy for queries has; its name tells which. */
import { readdir } from 'node:fs/promises'
import type { TableColumn } from '../../sql/index.ts'

/** Maximum number of columns of a copy that lacks others: their positions are in the name of the file. */
const MAX_PART_COLUMNS = 30

/** Maximum number of copies with only some columns. The next copy of such a grid has all, unless it has too many columns. */
const MAX_PARTS = 2
const MANY_COLUMNS = 500

/** Returns the positions of the columns that a query with these words can read, at least one. */
export function findPositions(
  columns: readonly TableColumn[],
  words: ReadonlySet<string> | undefined,
): number[] {
  const positions: number[] = []
  for (const [k, { name }] of columns.entries())
    if (!words || words.has(name.toLowerCase()) || !ASCII.test(name)) positions.push(k)
  return positions.length > 0 ? positions : [0]
}

const ASCII = /^[\x20-\x7e]*$/

/**
 * Returns the positions of columns to copy: those that are needed, and those that queries have needed before. If it is
 * more than half of the columns, all: a copy of the whole serves all queries.
 */
export function widen(
  needed: readonly number[],
  kept: readonly (readonly number[])[],
  count: number,
): number[] {
  const positions = [...new Set([...needed, ...kept.flat()])].sort((a, b) => a - b)
  const isOften = kept.length >= MAX_PARTS && count <= MANY_COLUMNS
  const isPart = positions.length * 2 <= count && positions.length <= MAX_PART_COLUMNS && !isOften
  return isPart ? positions : Array.from({ length: count }, (_, k) => k)
}

export function includesAll(positions: readonly number[], needed: readonly number[]): boolean {
  const present = new Set(positions)
  return needed.every((position) => present.has(position))
}

/** Returns the name of the copy of a content that has columns at some positions. */
export function nameCopy(hash: string, positions: readonly number[], count: number): string {
  return positions.length === count ? hash : `${hash}-${positions.join('_')}`
}

/** Lists the positions of the columns that kept copies of a content have, the widest copy first. */
export async function listCopies(folder: string, hash: string, count: number): Promise<number[][]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter((name) => name.startsWith(hash))
    .map((name) => {
      const part = /-([\d_]+)\.parquet$/.exec(name)?.[1]
      return part === undefined ? Array.from({ length: count }, (_, k) => k) : part.split('_').map(Number)
    })
    .sort((a, b) => b.length - a.length)
}
