// Snapshots of grids, and streams of their content as JSON or Brotli.

import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { findClosest, formatList } from '../../../contract/message-texts.ts'
import { type Bytes, findValueEnd, skipWhitespace } from '../../../json/index.ts'
import { loadVersionColumns } from '../../files/versions.ts'
import type { ColumnRow, SliceRef } from '../../store/aggregates/grids.ts'
import { loadDecompressed, streamCompressedSlices, streamSlices } from '../../store/aggregates/slice-json.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import { BatchedBlobs, type BlobReader } from '../../store/objects/blobs.ts'
import { type StreamChunk, streamBrotli } from '../../store/objects/codec.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import type { Readers, Store } from '../../store/store.ts'
import { transposeRows } from './column-json.ts'

/** Immutable view of columns of a grid at one version. Blobs never change, so it stays readable. */
export interface Snapshot {
  blobs: BlobReader
  columns: SnapshotColumn[]
  rows: number
  /** True if columns can contain values that were appended later: see `trimSnapshot`. */
  isPast?: true
}

/** Column of a snapshot. `order`: its position in the grid. */
export interface SnapshotColumn {
  name: string
  uid: string
  order: number
  type: ColumnType
  rows: number
  slices: SliceRef[]
  /** Column JSON of the values that are not in a slice yet. */
  tail: Buffer
  /** Number of values to skip at the start of the first slice, or of the tail if there are no slices. */
  skip?: number
}

/**
 * Takes a snapshot of the current version, including the tail; call it in a read transaction. With
 * `firstSlices`, only that many slices per column are loaded, and so at least as many values can be read.
 */
export async function takeSnapshot(
  store: Store,
  readers: Readers,
  { owner, idlocal }: Fid,
  choose: (columns: ColumnRow[]) => ColumnRow[] = (columns) => columns,
  firstSlices?: number,
): Promise<Snapshot> {
  const grid = await readers.grids.get(owner, idlocal)
  const all = await readers.grids.listCurrentColumns(grid)
  const chosen = choose(all)
  const slices = await readers.grids.listSlices(
    owner,
    idlocal,
    chosen.length < all.length ? chosen.map(({ uid }) => uid) : undefined,
    firstSlices,
  )
  const tails = transposeRows(await readers.grids.loadTail(owner, idlocal), all.length)
  const columns = chosen.map((column): SnapshotColumn => {
    const values = tails[all.indexOf(column)]
    const rows = column.rows + (values?.rows ?? 0)
    return { ...toSnapshotColumn(column, slices, values?.text), rows }
  })
  return { blobs: store.blobs, columns, rows: grid.row_count }
}

/**
 * Takes a snapshot of a version; without a row, of the current one. Call it in a read transaction. Columns
 * can contain more values than the version: call `trimSnapshot` before reading them.
 */
export async function takeVersionSnapshot(
  store: Store,
  readers: Readers,
  fid: Fid,
  row: VersionRow | undefined,
  choose?: (columns: ColumnRow[]) => ColumnRow[],
): Promise<Snapshot> {
  if (!row) return takeSnapshot(store, readers, fid, choose)
  const { owner, idlocal, epoch } = row
  const grid = await readers.grids.get(owner, idlocal)
  const slices = await readers.versions.listSlicesIn({ owner, idlocal, epoch })
  const tail = epoch === grid.epoch ? await readers.grids.loadTail(owner, idlocal) : []
  const versionColumns = await loadVersionColumns(readers, row)
  const tails = transposeRows(tail, versionColumns.length)
  const lengths = versionColumns.map(({ uid }, k) => {
    const storedRows = (slices.get(uid) ?? []).reduce((sum, slice) => sum + slice.rows, tails[k]?.rows ?? 0)
    return row.ragged ? storedRows : Math.min(storedRows, row.row_count ?? storedRows)
  })
  const all = versionColumns.map((column, k) => ({ ...column, rows: lengths[k] }))
  const columns = (choose?.(all) ?? all).map((column) =>
    toSnapshotColumn(column, slices, tails[all.indexOf(column)]?.text),
  )
  return { blobs: store.blobs, columns, rows: row.row_count ?? Math.max(0, ...lengths), isPast: true }
}

/** Returns a column with its slices, which are by uid, and its tail. */
export function toSnapshotColumn(
  { name, uid, position: order, type, rows }: ColumnRow,
  slices: ReadonlyMap<string, SliceRef[]>,
  tail: Buffer = Buffer.alloc(0),
): SnapshotColumn {
  return { name, uid, order, type, rows, slices: slices.get(uid) ?? [], tail }
}

/** Creates a snapshot of a table in memory. `texts`: comma-separated JSON of the values, by column. */
export function createMemorySnapshot(
  { blobs }: Pick<Snapshot, 'blobs'>,
  columns: readonly Pick<SnapshotColumn, 'name' | 'type'>[],
  rows: number,
  texts: readonly Buffer[],
): Snapshot {
  return {
    blobs,
    rows,
    columns: columns.map(({ name, type }, k) => ({
      ...{ name, type, rows, tail: texts[k] },
      ...{ uid: `c${k}`, order: k, slices: [] },
    })),
  }
}

/** Removes the values that were appended after the version of a snapshot. */
export async function trimSnapshot(snap: Snapshot): Promise<Snapshot> {
  if (!snap.isPast) return snap
  const columns: SnapshotColumn[] = []
  for (const column of snap.columns) columns.push(await trimColumn(snap.blobs, column))
  return { ...snap, columns, isPast: undefined }
}

async function trimColumn(blobs: BlobReader, column: SnapshotColumn): Promise<SnapshotColumn> {
  let left = column.rows + (column.skip ?? 0)
  const slices: SliceRef[] = []
  for (const slice of column.slices) {
    if (slice.rows <= left) slices.push(slice)
    else if (left > 0) {
      // The last slice also contains rows that were appended later.
      return { ...column, slices, tail: takeValues(await loadDecompressed(blobs, slice), left) }
    }
    left -= slice.rows
    if (left < 0) return { ...column, slices, tail: Buffer.alloc(0) }
  }
  return { ...column, slices, tail: takeValues(column.tail, left) }
}

/** Selects columns by name, in the given order. Throws `unknown_column`. */
export function selectByName(names: readonly string[]): <C extends { name: string }>(columns: C[]) => C[] {
  return <C extends { name: string }>(columns: C[]) => {
    const byName = new Map(columns.map((column) => [column.name, column]))
    return names.map((name) => {
      const match = byName.get(name)
      if (match) return match
      throw new Problem('unknown_column', `the grid has no column ${JSON.stringify(name)}`, {
        field: 'columns',
        hint: formatSuggestion(name, columns) + formatColumns(columns),
      })
    })
  }
}

/** Selects columns by uid, in the given order. Throws `unknown_column` (400). */
export function selectByUid(uids: readonly string[]): (columns: ColumnRow[]) => ColumnRow[] {
  return (columns) => {
    const byUid = new Map(columns.map((column) => [column.uid, column]))
    return uids.map((uid) => {
      const match = byUid.get(uid)
      if (match) return match
      throw new Problem('unknown_column', `the grid has no column with uid ${JSON.stringify(uid)}`, {
        field: 'uid',
      })
    })
  }
}

/** Formats a hint with the closest column name; empty if none is close. */
function formatSuggestion(name: string, columns: readonly { name: string }[]): string {
  const suggestion = findClosest(
    name,
    columns.map((column) => column.name),
  )
  return suggestion === undefined ? '' : `Did you mean ${suggestion}? `
}

/** Formats the list of columns, for hints. */
export function formatColumns(columns: readonly { name: string }[]): string {
  return `Its columns are: ${formatList(columns.map(({ name }) => name))}`
}

/** Returns the size of the largest chunk of a column, in bytes. */
export function largestChunkBytes({ slices, tail }: SnapshotColumn): number {
  return slices.reduce((max, { bytes }) => Math.max(max, bytes), tail.length)
}

/** Returns a snapshot without the first `count` rows. */
export function skipRows(snap: Snapshot, count: number): Snapshot {
  const columns = snap.columns.map((column): SnapshotColumn => {
    let skip = Math.min(count, column.rows)
    let k = 0
    while (k < column.slices.length && column.slices[k].rows <= skip) skip -= column.slices[k++].rows
    return { ...column, slices: column.slices.slice(k), rows: Math.max(0, column.rows - count), skip }
  })
  return { ...snap, columns, rows: Math.max(0, snap.rows - count) }
}

/**
 * Streams the values of a column as comma-separated JSON, up to `head` values. `ahead`: slices to prefetch.
 */
export async function* streamColumn(
  { blobs }: Snapshot,
  column: SnapshotColumn,
  head = Number.POSITIVE_INFINITY,
  ahead?: number,
): Bytes {
  const { skip = 0 } = column
  let left = Math.min(head, column.rows) + skip
  const needed: SliceRef[] = []
  for (const slice of column.slices) {
    if (left <= 0) break
    needed.push(slice)
    left -= slice.rows
  }
  let yielded = 0
  const wantedRows = Math.min(head, column.rows)
  const takeRows = (text: Buffer, rows: number): Buffer => {
    const most = wantedRows - yielded
    yielded += Math.min(rows, most)
    return rows > most ? takeValues(text, most) : text
  }
  let k = 0
  for await (const text of streamSlices(blobs, needed, ahead)) {
    if (k > 0) yield COMMA
    const first = k === 0 ? skip : 0
    yield takeRows(dropValues(text, first), needed[k++].rows - first)
  }
  if (yielded < wantedRows) {
    if (k > 0) yield COMMA
    yield takeRows(dropValues(column.tail, k === 0 ? skip : 0), column.rows - yielded)
  }
}

const COMMA = Buffer.from(',')

/** Returns the first `count` values of a column JSON. */
function takeValues(text: Buffer, count: number): Buffer {
  if (count <= 0) return text.subarray(0, 0)
  const last = skipWhitespace(text, skipValues(text, 0, count - 1))
  return text.subarray(0, findValueEnd(text, last))
}

/** Returns a column JSON without its first `count` values. */
function dropValues(text: Buffer, count: number): Buffer {
  return text.subarray(skipValues(text, 0, count))
}

/** Returns the offset after the next `count` values and their commas. */
export function skipValues(buf: Uint8Array, from: number, count: number): number {
  let i = from
  for (let n = 0; n < count; n++) {
    while (buf[i] <= 0x20) i++
    const first = buf[i]
    if (first === 0x22 || first === 0x5b || first === 0x7b) {
      i = findValueEnd(buf, i)
      while (buf[i] !== 0x2c && i < buf.length) i++
    } else while (buf[i] !== 0x2c && i < buf.length) i++
    i++
  }
  return i
}

/** Returns a snapshot that loads blobs in batches, if these columns are read one after the other. */
export function batchReads(snap: Snapshot, columns: readonly Pick<SnapshotColumn, 'slices'>[]): Snapshot {
  return withBatches(
    snap,
    columns.flatMap(({ slices }) => slices),
  )
}

/** Returns a snapshot that loads blobs in batches, if rows are read in order: each slice at its first row. */
export function batchRowReads(snap: Snapshot): Snapshot {
  const starts = snap.columns.flatMap(({ slices, skip = 0 }) => {
    let next = -skip
    return slices.map((slice) => {
      const first = Math.max(0, next)
      next += slice.rows
      return { slice, first }
    })
  })
  // Slices with the same first row stay in the order of columns.
  starts.sort((a, b) => a.first - b.first)
  return withBatches(
    snap,
    starts.map(({ slice }) => slice),
  )
}

function withBatches(snap: Snapshot, slices: readonly SliceRef[]): Snapshot {
  return { ...snap, blobs: new BatchedBlobs(snap.blobs, slices) }
}

/** Streams the content of a grid: `{"cols": {name: {uid, order, data}}}`. */
export async function* streamContentJson(snapshot: Snapshot, head?: number): Bytes {
  const snap = head === undefined ? batchReads(snapshot, snapshot.columns) : snapshot
  yield* streamByColumn(snap, (column) => streamColumn(snap, column, head))
}

/** Streams `{"cols": …}` with the values that `valuesOf` streams for each column as comma-separated JSON. */
export async function* streamByColumn(
  { columns }: Snapshot,
  valuesOf: (column: SnapshotColumn) => Bytes,
): Bytes {
  yield Buffer.from('{"cols":{')
  for (const [k, column] of columns.entries()) {
    yield Buffer.from(columnHeader(column, k))
    yield* valuesOf(column)
    yield Buffer.from(']}')
  }
  yield Buffer.from('}}')
}

/**
 * Streams the content of a grid as Brotli. Slices are copied into the stream as they are stored
 * (docs/adr/0014).
 */
export function streamContentBrotli(snapshot: Snapshot): Bytes {
  const snap = batchReads(snapshot, snapshot.columns)
  async function* pieces(): AsyncGenerator<StreamChunk> {
    let text = '{"cols":{'
    for (const [k, column] of snap.columns.entries()) {
      text += columnHeader(column, k)
      let count = 0
      for await (const slice of streamCompressedSlices(snap.blobs, column.slices)) {
        yield Buffer.from(count++ > 0 ? ',' : text)
        text = ''
        yield slice
      }
      if (column.tail.length > 0) {
        yield Buffer.from(`${text}${count > 0 ? ',' : ''}`)
        text = ''
        yield column.tail
      }
      text += ']}'
    }
    yield Buffer.from(`${text}}}`)
  }
  return streamBrotli(pieces())
}

function columnHeader({ name, uid, order }: SnapshotColumn, position: number): string {
  return `${position > 0 ? ',' : ''}${JSON.stringify(name)}:{"uid":"${uid}","order":${order},"data":[`
}

/** Streams the response of the col endpoint: `{"cols": [{name, uid, order, data}]}`, in the given order. */
export async function* streamColumnsJson(snap: Snapshot): Bytes {
  yield Buffer.from('{"cols":[')
  for (const [k, column] of snap.columns.entries()) {
    const { name, uid, order } = column
    yield Buffer.from(`${k > 0 ? ',' : ''}${JSON.stringify({ name, uid, order }).slice(0, -1)},"data":[`)
    yield* streamColumn(snap, column)
    yield Buffer.from(']}')
  }
  yield Buffer.from(']}')
}
