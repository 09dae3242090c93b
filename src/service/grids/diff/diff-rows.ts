// Lists the first changed rows of a diff, with their values.
import type { DiffRow, DiffValue } from '../../../contract/resources/index.ts'
import { type ColumnChunk, columnChunksOf, readCells } from '../column/chunks.ts'
import { identifyBy } from '../column/identify.ts'
import type { CellReader } from '../column/kernel/cells.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import { isNear } from './changed-cells.ts'
import type { TableDiff } from './diff.ts'
import type { ColumnPair, DiffInput, RowChange } from './diff-inputs.ts'

/** Maximum number of listed cells, whatever the limit of rows is. */
const MAX_CELLS = 200_000
/** Maximum length of a listed text, in characters. Longer texts are cut. */
const MAX_TEXT_CHARACTERS = 2000

/** Selects `most` changes, removed rows first, then changed, then added ones. Keeps their order. */
function selectByKind(changes: readonly RowChange[], most: number): RowChange[] {
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

/**
 * Lists up to `limit` changed rows with values: of a changed row, its key or `context`, and the changed
 * cells.
 */
export async function listChangedRows(
  reader: CellReader,
  before: DiffInput,
  after: DiffInput,
  { pairs, added, removed, changes, context }: TableDiff,
  { limit, tolerance, removedFirst }: { limit: number; tolerance: number; removedFirst?: boolean },
): Promise<DiffRow[]> {
  const width = Math.max(1, pairs.length + added.length + removed.length)
  const maxRows = Math.min(limit, Math.max(1, Math.floor(MAX_CELLS / width)))
  const listed = removedFirst ? selectByKind(changes, maxRows) : changes.slice(0, maxRows)
  const rows = listed.map(
    (change): DiffRow => ({
      change: change.before < 0 ? 'added' : change.after < 0 ? 'removed' : 'changed',
      row_before: change.before < 0 ? null : change.before + 1,
      row_after: change.after < 0 ? null : change.after + 1,
      before: change.before < 0 ? null : {},
      after: change.after < 0 ? null : {},
    }),
  )
  const isBoth = ({ before: a, after: b }: RowChange): boolean => a >= 0 && b >= 0
  const snaps = { before: before.snap, after: after.snap }
  const cellsOf = (
    side: 'before' | 'after',
    column: SnapshotColumn,
    isChosen: (change: RowChange) => boolean,
  ) => {
    const targets = listed.map((change) => (isChosen(change) ? change[side] : undefined))
    return readCellsAt(reader, columnChunksOf(snaps[side], column), targets)
  }
  for (const pair of pairs) {
    const { name } = pair.after
    const oldCells = await cellsOf('before', pair.before, ({ before: row }) => row >= 0)
    const newCells = await cellsOf('after', pair.after, ({ after: row }) => row >= 0)
    for (const [k, row] of rows.entries()) {
      if (
        isBoth(listed[k]) &&
        !pair.isKey &&
        pair !== context &&
        isSameValue(pair, oldCells[k]!, newCells[k]!, tolerance)
      )
        continue
      if (row.before) setMember(row.before, name, oldCells[k]!)
      if (row.after) setMember(row.after, name, newCells[k]!)
    }
  }
  for (const column of removed) {
    const cells = await cellsOf('before', column, ({ after: row }) => row < 0)
    for (const [k, cell] of cells.entries())
      if (cell !== undefined) setMember(rows[k].before!, column.name, cell)
  }
  for (const column of added) {
    const cells = await cellsOf('after', column, ({ before: row }) => row < 0)
    for (const [k, cell] of cells.entries())
      if (cell !== undefined) setMember(rows[k].after!, column.name, cell)
  }
  return rows
}

function isSameValue({ comparison }: ColumnPair, old: string, now: string, tolerance: number): boolean {
  if (tolerance > 0 && comparison === 'value') return isNear(old, now, tolerance)
  const identify = identifyBy[comparison]
  return old === now || identify(old) === identify(now)
}

/** Reads the JSON values of rows in any order; undefined where `rows` is undefined. */
async function readCellsAt(
  reader: CellReader,
  chunks: readonly ColumnChunk[],
  rows: readonly (number | undefined)[],
): Promise<(string | undefined)[]> {
  const targets = rows.flatMap((row, k) => (row === undefined ? [] : [{ row, k }]))
  targets.sort((a, b) => a.row - b.row)
  const sorted = targets.map(({ row }) => row)
  const cells = new Array<string | undefined>(rows.length)
  for (const [n, text] of (await readCells(reader, chunks, sorted)).entries()) cells[targets[n].k] = text
  return cells
}

/** Sets a member, even if it is named `__proto__`. */
function setMember(values: Record<string, DiffValue>, name: string, json: string): void {
  Object.defineProperty(values, name, { value: toDiffValue(json), enumerable: true, configurable: true })
}

/**
 * Converts a JSON value for the list: long texts are cut; numbers that a double cannot represent become
 * texts.
 */
function toDiffValue(json: string): DiffValue {
  const first = json[0]
  if (first === 'n') return null
  if (first === 't' || first === 'f') return first === 't'
  if (first === '"') return cutText(JSON.parse(json))
  if (first === '[' || first === '{') return cutText(json)
  const number = Number(json)
  return identifyBy.value(json) === identifyBy.value(String(number)) ? number : json
}

function cutText(text: string): string {
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text
}
