import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { findClosest, formatList } from '../../../contract/message-texts.ts'
import { type Bytes, endOf, nextValue, skipBlanks } from '../../../json/index.ts'
import { loadVersionColumns } from '../../files/versions.ts'
import type { ColumnRow, SliceRef } from '../../store/aggregates/grids.ts'
import { loadDecompressed, streamCompressedSlices, streamSlices } from '../../store/aggregates/slice-json.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import { BatchedBlobs, type BlobReader } from '../../store/objects/blobs.ts'
import { type StreamChunk, streamBrotli } from '../../store/objects/codec.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import type { Readers, Store } from '../../store/store.ts'
import { transposeRows } from './values.ts'

/** An immutable view of a grid's columns at one version. Blobs never change, so it stays readable. */
export interface Snapshot {
  blobs: BlobReader
  columns: SnapshotColumn[]
  rows: number
  /** Columns may have values that were appended later: see `trimmed`. */
  isPast?: true
}

export interface SnapshotColumn {
  name: string
  uid: string
  order: number
  type: ColumnType
  rows: number
  slices: SliceRef[]
  /** Values that are not in a slice yet. */
  tail: Buffer
  /** Values to leave out at the start of the first slice, or of the tail if there is none. */
  skip?: number
}

/**
 * Takes a snapshot in one read transaction, including the tail. With `firstSlices`, only as many values of each column
 * can be read from it: slices are numbered from 0, and each has a value.
 */
export async function snapshot(
  store: Store,
  readers: Readers,
  { owner, idlocal }: Fid,
  choose: (columns: ColumnRow[]) => ColumnRow[] = (columns) => columns,
  firstSlices?: number,
): Promise<Snapshot> {
  const grid = await readers.grids.get(owner, idlocal)
  const all = await readers.grids.listColumns(owner, idlocal)
  const chosen = choose(all)
  const slices = await readers.grids.listSlices(
    owner,
    idlocal,
    chosen.length < all.length ? chosen.map(({ uid }) => uid) : undefined,
    firstSlices,
  )
  const tail = await readers.grids.loadTail(owner, idlocal)
  const tails = transposeRows(
    tail.map(({ body }) => body),
    all.length,
  )
  const columns = chosen.map((column): SnapshotColumn => {
    const values = tails[all.indexOf(column)]
    return {
      name: column.name,
      uid: column.uid,
      order: column.position,
      type: column.type,
      rows: column.rows + (values?.rows ?? 0),
      slices: slices.get(column.uid) ?? [],
      tail: values?.text ?? Buffer.alloc(0),
    }
  })
  return { blobs: store.blobs, columns, rows: grid.row_count }
}

/**
 * Takes a snapshot of a version in one read transaction; without a row, of the present one. Its columns may have more
 * values than belong to the version: use `trimmed` before reading them.
 */
export async function snapshotOf(
  store: Store,
  readers: Readers,
  fid: Fid,
  row: VersionRow | undefined,
  choose: (columns: ColumnRow[]) => ColumnRow[] = (columns) => columns,
  firstSlices?: number,
): Promise<Snapshot> {
  if (!row) return snapshot(store, readers, fid, choose, firstSlices)
  const { owner, idlocal, epoch } = row
  const grid = await readers.grids.get(owner, idlocal)
  const slices = await readers.versions.listSlicesIn({ owner, idlocal, epoch })
  const tail = epoch === grid.epoch ? await readers.grids.loadTail(owner, idlocal) : []
  const past = await loadVersionColumns(readers, row)
  const tails = transposeRows(
    tail.map(({ body }) => body),
    past.length,
  )
  const lengths = past.map(({ uid }, k) => {
    const own = (slices.get(uid) ?? []).reduce((sum, slice) => sum + slice.rows, tails[k]?.rows ?? 0)
    return row.ragged ? own : Math.min(own, row.row_count ?? own)
  })
  const all = past.map((column, k) => ({ ...column, rows: lengths[k] }))
  const columns = choose(all).map((column): SnapshotColumn => {
    const { name, uid, position: order, type, rows } = column
    const values = tails[all.indexOf(column)]
    return {
      name,
      uid,
      order,
      type,
      rows,
      slices: slices.get(uid) ?? [],
      tail: values?.text ?? Buffer.alloc(0),
    }
  })
  return { blobs: store.blobs, columns, rows: row.row_count ?? Math.max(0, ...lengths), isPast: true }
}

/** A snapshot whose columns have no more values than belong to it. */
export async function trimmed(snap: Snapshot): Promise<Snapshot> {
  if (!snap.isPast) return snap
  const columns: SnapshotColumn[] = []
  for (const column of snap.columns) columns.push(await trimmedColumn(snap.blobs, column))
  return { ...snap, columns, isPast: undefined }
}

async function trimmedColumn(blobs: BlobReader, column: SnapshotColumn): Promise<SnapshotColumn> {
  let left = column.rows + (column.skip ?? 0)
  const slices: SliceRef[] = []
  for (const slice of column.slices) {
    if (slice.rows <= left) slices.push(slice)
    else if (left > 0) {
      // The last slice also has rows that were appended later.
      return { ...column, slices, tail: firstValues(await loadDecompressed(blobs, slice), left) }
    }
    left -= slice.rows
    if (left < 0) return { ...column, slices, tail: Buffer.alloc(0) }
  }
  return { ...column, slices, tail: firstValues(column.tail, left) }
}

/** Selects columns by name, in the given order. Throws `unknown_column`. */
export function byName(names: readonly string[]): (columns: ColumnRow[]) => ColumnRow[] {
  return (columns) =>
    names.map((name) => {
      const found = columns.find((column) => column.name === name)
      if (found) return found
      throw new Problem('unknown_column', `the grid has no column ${JSON.stringify(name)}`, {
        field: 'columns',
        hint: didYouMean(name, columns) + columnsAre(columns),
      })
    })
}

/** Selects columns by uid, in the given order. Throws `unknown_column` (400). */
export function byUid(uids: readonly string[]): (columns: ColumnRow[]) => ColumnRow[] {
  return (columns) =>
    uids.map((uid) => {
      const found = columns.find((column) => column.uid === uid)
      if (found) return found
      throw new Problem('unknown_column', `the grid has no column with uid ${JSON.stringify(uid)}`, {
        field: 'uid',
      })
    })
}

function didYouMean(name: string, columns: readonly { name: string }[]): string {
  const meant = findClosest(
    name,
    columns.map((column) => column.name),
  )
  return meant === undefined ? '' : `Did you mean ${meant}? `
}

export function columnsAre(columns: readonly { name: string }[]): string {
  return `Its columns are: ${formatList(columns.map(({ name }) => name))}`
}

/** Bytes of the longest text of a column. */
export function longestText({ slices, tail }: SnapshotColumn): number {
  return slices.reduce((most, { bytes }) => Math.max(most, bytes), tail.length)
}

/** A snapshot without the first `count` rows. */
export function rowsFrom(snap: Snapshot, count: number): Snapshot {
  const columns = snap.columns.map((column): SnapshotColumn => {
    let skip = Math.min(count, column.rows)
    let k = 0
    while (k < column.slices.length && column.slices[k].rows <= skip) skip -= column.slices[k++].rows
    return { ...column, slices: column.slices.slice(k), rows: Math.max(0, column.rows - count), skip }
  })
  return { ...snap, columns, rows: Math.max(0, snap.rows - count) }
}

/** Streams the values of a column as comma-separated JSON; only the first `head` if given. */
export async function* columnText(
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
  let given = 0
  const want = Math.min(head, column.rows)
  const cutTo = (text: Buffer, rows: number): Buffer => {
    const most = want - given
    given += Math.min(rows, most)
    return rows > most ? firstValues(text, most) : text
  }
  let k = 0
  for await (const text of streamSlices(blobs, needed, ahead)) {
    if (k > 0) yield COMMA
    const first = k === 0 ? skip : 0
    yield cutTo(afterValues(text, first), needed[k++].rows - first)
  }
  if (given < want) {
    if (k > 0) yield COMMA
    yield cutTo(afterValues(column.tail, k === 0 ? skip : 0), column.rows - given)
  }
}

const COMMA = Buffer.from(',')

/** The first `count` values of a text. */
function firstValues(text: Buffer, count: number): Buffer {
  if (count <= 0) return text.subarray(0, 0)
  let i = skipBlanks(text, 0)
  for (let n = 1; ; n++) {
    const end = endOf(text, i)
    if (n === count) return text.subarray(0, end)
    i = nextValue(text, end)
  }
}

/** A text without its first `count` values. */
function afterValues(text: Buffer, count: number): Buffer {
  return text.subarray(skipValues(text, 0, count))
}

/** Where the value after the next `count` ones begins. */
export function skipValues(buf: Uint8Array, from: number, count: number): number {
  let i = from
  for (let n = 0; n < count; n++) {
    while (buf[i] <= 0x20) i++
    const first = buf[i]
    if (first === 0x22 || first === 0x5b || first === 0x7b) {
      i = endOf(buf, i)
      while (buf[i] !== 0x2c && i < buf.length) i++
    } else while (buf[i] !== 0x2c && i < buf.length) i++
    i++
  }
  return i
}

/** A snapshot that reads with few queries, if these columns are read one after the other. */
function batched(snap: Snapshot, columns: readonly SnapshotColumn[]): Snapshot {
  const blobs = new BatchedBlobs(
    snap.blobs,
    columns.flatMap(({ slices }) => slices),
  )
  return { ...snap, blobs }
}

/** Streams the content of a grid: `{"cols": {name: {uid, order, data}}}`. */
export async function* contentJson(given: Snapshot, head?: number): Bytes {
  const snap = head === undefined ? batched(given, given.columns) : given
  yield* byColumn(snap, (column) => columnText(snap, column, head))
}

/** Streams columns with their values, each as comma-separated JSON. */
export async function* byColumn({ columns }: Snapshot, valuesOf: (column: SnapshotColumn) => Bytes): Bytes {
  yield Buffer.from('{"cols":{')
  for (const [k, column] of columns.entries()) {
    yield Buffer.from(contentHeader(column, k))
    yield* valuesOf(column)
    yield Buffer.from(']}')
  }
  yield Buffer.from('}}')
}

/** The content of a grid as a Brotli stream, which slices are sent into as they are stored. */
export function contentBrotli(given: Snapshot): Bytes {
  const snap = batched(given, given.columns)
  async function* pieces(): AsyncGenerator<StreamChunk> {
    let text = '{"cols":{'
    for (const [k, column] of snap.columns.entries()) {
      text += contentHeader(column, k)
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

function contentHeader({ name, uid, order }: SnapshotColumn, position: number): string {
  return `${position > 0 ? ',' : ''}${JSON.stringify(name)}:{"uid":"${uid}","order":${order},"data":[`
}

/** Streams the response of the col endpoint: `{"cols": [{name, uid, order, data}]}`, in the given order. */
export async function* columnsJson(snap: Snapshot): Bytes {
  yield Buffer.from('{"cols":[')
  for (const [k, column] of snap.columns.entries()) {
    const { name, uid, order } = column
    yield Buffer.from(`${k > 0 ? ',' : ''}${JSON.stringify({ name, uid, order }).slice(0, -1)},"data":[`)
    yield* columnText(snap, column)
    yield Buffer.from(']}')
  }
  yield Buffer.from(']}')
}
