// Previews of grids in metadata: the first values of the first columns.
import type { Fid } from '../../../contract/fid.ts'
import { yieldToEventLoop } from '../../../json/index.ts'
import { type ColumnRow, contentKeyOf } from '../../store/aggregates/grids.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import { Lru } from '../../store/schema/lru.ts'
import type { Readers, Store } from '../../store/store.ts'
import { type Cell, ColumnCursor, createFirstRows } from '../column/cursor.ts'
import { type Snapshot, type SnapshotColumn, takeSnapshot, takeVersionSnapshot } from '../column/snapshot.ts'

/** Maximum size of a preview, in columns and values per column. */
const MAX_COLUMNS = 20
const MAX_VALUES = 10
/** Maximum length of a value, in bytes. Longer texts are cut; other longer values become null. */
const MAX_VALUE_BYTES = 100
/** Maximum length of a preview, in characters. */
const MAX_PREVIEW_CHARACTERS = 16 * 1024

/**
 * First values of slices, by the key of their content, which never changes. Metadata is read much more often than first values
 * change, and decompressing a slice for ten values costs more than the rest of the response.
 */
const firstValues = new Lru<string>(8 * 1024 * 1024, (values) => 2 * values.length)

/**
 * Loads a snapshot of the first columns and values, in the caller's transaction. Without a row: of the
 * current version.
 */
export function loadPreviewSnapshot(
  store: Store,
  readers: Readers,
  fid: Fid,
  row: VersionRow | undefined,
): Promise<Snapshot> {
  const choose = (columns: ColumnRow[]): ColumnRow[] => columns.slice(0, MAX_COLUMNS)
  return row
    ? takeVersionSnapshot(store, readers, fid, row, choose)
    : takeSnapshot(store, readers, fid, choose, MAX_VALUES)
}

/** Reads the first values of the first columns. Returns a JSON object by column name, as a string. */
export async function readPreview(snap: Snapshot): Promise<string> {
  let text = ''
  for (const column of snap.columns) {
    const values = await readFirstValues(snap, column)
    const member = `${JSON.stringify(column.name)}:[${values}]`
    if (text.length + member.length > MAX_PREVIEW_CHARACTERS) break
    text += `${text === '' ? '' : ','}${member}`
  }
  return `{${text}}`
}

/** Reads the first values of a column, shortened, as column JSON. */
async function readFirstValues(snap: Snapshot, column: SnapshotColumn): Promise<string> {
  const [slice] = column.slices
  const key = slice && slice.rows >= MAX_VALUES && !column.skip ? contentKeyOf(slice) : undefined
  const cached = key === undefined ? undefined : firstValues.get(key)
  if (cached !== undefined) return cached
  const rows = Math.min(MAX_VALUES, column.rows)
  const cell = new ColumnCursor(snap, column, createFirstRows(rows))
  const values: string[] = []
  for (let row = 0; row < rows; row++) {
    if (cell.needsLoad(row)) await cell.load(row)
    cell.seek(row)
    values.push(shortenCell(cell))
    await yieldToEventLoop()
  }
  await cell.close()
  const text = values.join(',')
  if (key !== undefined) firstValues.set(key, text)
  return text
}

/** Returns the JSON of a cell, cut to `MAX_VALUE_BYTES`. */
function shortenCell({ buf, start, end }: Cell): string {
  if (end - start <= MAX_VALUE_BYTES) return buf.toString('utf8', start, end)
  if (buf[start] !== QUOTE) return 'null'
  // A character has up to 6 bytes. The last one is dropped, since it can be half of a surrogate pair.
  const [first] = FIRST_CHARACTERS.exec(
    buf.toString('utf8', start, Math.min(end, start + 7 * MAX_VALUE_BYTES)),
  )!
  const text: string = JSON.parse(`${first}"`)
  return JSON.stringify(`${[...text].slice(0, -1).join('')}…`)
}

const QUOTE = 0x22
const FIRST_CHARACTERS = new RegExp(`^"(?:\\\\u.{4}|\\\\.|[^"\\\\]){0,${MAX_VALUE_BYTES}}`)
