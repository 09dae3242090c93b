/** What a diff lists: the cells of the first rows that differ. */
import type { DiffRow, DiffValue } from '../../../contract/resources/index.ts'
import type { SnapshotColumn } from '../column/content.ts'
import { type CellReader, canonicalValue } from '../column/kernel/cells.ts'
import { partsOf, readCells } from '../column/parts.ts'
import { isNear } from './cells.ts'
import type { TableDiff } from './diff.ts'
import type { Pair, RowChange, Side } from './wanted.ts'

/** Cells that are listed at most, whatever the limit of rows is. */
const MAX_CELLS = 200_000
/** Longer texts are cut. */
const MAX_TEXT = 2000

/** Of `most` changes: removed rows before changed ones, and these before added ones. They stay in their order. */
function firstByKind(changes: readonly RowChange[], most: number): RowChange[] {
  if (changes.length <= most) return [...changes]
  const kindOf = ({ before, after }: RowChange): number => (after < 0 ? 0 : before < 0 ? 2 : 1)
  const left = [0, 0, 0]
  for (const change of changes) left[kindOf(change)]++
  let room = most
  const taken = left.map((count) => {
    const some = Math.min(count, room)
    room -= some
    return some
  })
  return changes.filter((change) => taken[kindOf(change)]-- > 0)
}

/** The first `limit` rows that differ, with their values: of a changed row, its key or `context`, and what differs. */
export async function listRows(
  reader: CellReader,
  before: Side,
  after: Side,
  { pairs, added, removed, changes, context }: TableDiff,
  { limit, tolerance, removedFirst }: { limit: number; tolerance: number; removedFirst?: boolean },
): Promise<DiffRow[]> {
  const width = Math.max(1, pairs.length + added.length + removed.length)
  const most = Math.min(limit, Math.max(1, Math.floor(MAX_CELLS / width)))
  const some = removedFirst ? firstByKind(changes, most) : changes.slice(0, most)
  const rows = some.map(
    (change): DiffRow => ({
      change: change.before < 0 ? 'added' : change.after < 0 ? 'removed' : 'changed',
      row_before: change.before < 0 ? null : change.before + 1,
      row_after: change.after < 0 ? null : change.after + 1,
      before: change.before < 0 ? null : {},
      after: change.after < 0 ? null : {},
    }),
  )
  const isBoth = ({ before: a, after: b }: RowChange): boolean => a >= 0 && b >= 0
  const cellsOf = (
    side: 'before' | 'after',
    column: SnapshotColumn,
    chosen: (change: RowChange) => boolean,
  ) => readAt(reader, (side === 'before' ? before : after).snap, column, some, side, chosen)
  for (const pair of pairs) {
    const { name } = pair.after
    const old = await cellsOf('before', pair.before, ({ before: row }) => row >= 0)
    const now = await cellsOf('after', pair.after, ({ after: row }) => row >= 0)
    for (const [k, row] of rows.entries()) {
      if (isBoth(some[k]) && !pair.isKey && pair !== context && isSame(pair, old[k]!, now[k]!, tolerance))
        continue
      if (row.before) set(row.before, name, old[k]!)
      if (row.after) set(row.after, name, now[k]!)
    }
  }
  for (const column of removed) {
    const cells = await cellsOf('before', column, ({ after: row }) => row < 0)
    for (const [k, cell] of cells.entries()) if (cell !== undefined) set(rows[k].before!, column.name, cell)
  }
  for (const column of added) {
    const cells = await cellsOf('after', column, ({ before: row }) => row < 0)
    for (const [k, cell] of cells.entries()) if (cell !== undefined) set(rows[k].after!, column.name, cell)
  }
  return rows
}

function isSame({ asText }: Pair, old: string, now: string, tolerance: number): boolean {
  if (tolerance > 0 && !asText) return isNear(old, now, tolerance)
  return old === now || canonicalValue(old, asText) === canonicalValue(now, asText)
}

/** The JSON texts of the chosen rows of a column. */
async function readAt(
  reader: CellReader,
  snap: Side['snap'],
  column: SnapshotColumn,
  changes: readonly RowChange[],
  side: 'before' | 'after',
  chosen: (change: RowChange) => boolean,
): Promise<(string | undefined)[]> {
  const wanted = changes.flatMap((change, k) => (chosen(change) ? [{ row: change[side], k }] : []))
  wanted.sort((a, b) => a.row - b.row)
  const texts = await readCells(
    reader,
    partsOf(snap, column),
    wanted.map(({ row }) => row),
  )
  const cells = new Array<string | undefined>(changes.length)
  for (const [n, { k }] of wanted.entries()) cells[k] = texts[n]
  return cells
}

/** Sets a member, whatever its name is. */
function set(values: Record<string, DiffValue>, name: string, json: string): void {
  Object.defineProperty(values, name, { value: diffValue(json), enumerable: true, configurable: true })
}

/** A value; a number with more digits than a double holds is its text, and long texts are cut. */
function diffValue(json: string): DiffValue {
  const first = json[0]
  if (first === 'n') return null
  if (first === 't' || first === 'f') return first === 't'
  if (first === '"') return cut(JSON.parse(json) as string)
  if (first === '[' || first === '{') return cut(json)
  const number = Number(json)
  return canonicalValue(json, false) === canonicalValue(String(number), false) ? number : json
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
