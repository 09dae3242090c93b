import type { Fid } from '../../../contract/fid.ts'
import { breathe } from '../../../json/index.ts'
import { Lru } from '../../core/lru.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import type { Readers, Store } from '../../store/store.ts'
import { type Cell, firstRows, Seeker } from '../column/cells.ts'
import { type Snapshot, type SnapshotColumn, snapshotOf } from '../column/content.ts'

const COLUMNS = 20
const VALUES = 10
/** Maximum length of a value. Longer texts are cut; other longer values are omitted. */
const VALUE_CHARACTERS = 100
const CHARACTERS = 16 * 1024

/**
 * The first values of slices, by hash: a blob never changes. Metadata of a grid is read much more often than its
 * first values change, and unpacking a slice for ten values costs more than the rest of the response.
 */
const heads = new Lru<string>(8 * 1024 * 1024, (values) => 2 * values.length)

/** A snapshot for the preview, taken in the transaction that reads the rest of the metadata. */
export function previewed(
  store: Store,
  readers: Readers,
  fid: Fid,
  row: VersionRow | undefined,
): Promise<Snapshot> {
  return snapshotOf(store, readers, fid, row, (columns) => columns.slice(0, COLUMNS), VALUES)
}

/**
 * The first values of the first columns by name, as JSON text. `preview` is a string in the API; existing
 * clients parse it and show a table.
 */
export async function previewOf(snap: Snapshot): Promise<string> {
  let text = ''
  for (const column of snap.columns) {
    const values = await headOf(snap, column)
    const shown = `${JSON.stringify(column.name)}:[${values}]`
    if (text.length + shown.length > CHARACTERS) break
    text += `${text === '' ? '' : ','}${shown}`
  }
  return `{${text}}`
}

/** The first values of a column, shortened, separated by commas. */
async function headOf(snap: Snapshot, column: SnapshotColumn): Promise<string> {
  const [slice] = column.slices
  const key = slice && slice.rows >= VALUES && !column.skip ? slice.blob.hash : undefined
  const kept = key === undefined ? undefined : heads.get(key)
  if (kept !== undefined) return kept
  const rows = Math.min(VALUES, column.rows)
  const cell = new Seeker(snap, column, firstRows(rows))
  const values: string[] = []
  for (let row = 0; row < rows; row++) {
    if (cell.isBeyond(row)) await cell.load(row)
    cell.seek(row)
    values.push(short(cell))
    await breathe()
  }
  await cell.close()
  const text = values.join(',')
  if (key !== undefined) heads.set(key, text)
  return text
}

function short({ buf, start, end }: Cell): string {
  if (end - start <= VALUE_CHARACTERS) return buf.toString('utf8', start, end)
  if (buf[start] !== QUOTE) return 'null'
  // A character has 6 bytes at most. Half of a pair may be last, and is left out.
  const [first] = FIRST_CHARACTERS.exec(
    buf.toString('utf8', start, Math.min(end, start + 7 * VALUE_CHARACTERS)),
  )!
  return JSON.stringify(`${[...(JSON.parse(`${first}"`) as string)].slice(0, -1).join('')}…`)
}

const QUOTE = 0x22
const FIRST_CHARACTERS = new RegExp(`^"(?:\\\\u.{4}|\\\\.|[^"\\\\]){0,${VALUE_CHARACTERS}}`)
