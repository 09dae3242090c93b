import type { Fid } from '../../contract/fid.ts'
import { acceptedBefore, parseRaw, type RawJson } from '../../json/index.ts'
import { Lru } from '../core/lru.ts'
import type { Readers, Store } from '../store/store.ts'
import type { VersionRow } from '../store/versions.ts'
import { columnText, type Snapshot, type SnapshotColumn, snapshotOf } from './content.ts'

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
  const pieces: Uint8Array[] = [Buffer.from('[')]
  for await (const piece of columnText(snap, column, VALUES, 1)) pieces.push(piece)
  const values = parseRaw(Buffer.concat([...pieces, Buffer.from(']')]), 'the content', acceptedBefore).items()
  const text = [...values].map(short).join(',')
  if (key !== undefined) heads.set(key, text)
  return text
}

function short(value: RawJson): string {
  if (value.end - value.start <= VALUE_CHARACTERS) return value.bytes.toString('utf8')
  if (value.kind !== 'string') return 'null'
  return JSON.stringify(`${[...(value.value() as string).slice(0, VALUE_CHARACTERS)].slice(0, -1).join('')}…`)
}
