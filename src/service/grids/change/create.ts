// Creates grids: parses their JSON, stores columns as slices, and adds their rows to the tables.
import { randomFillSync } from 'node:crypto'
import { invalidField, Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import { findSliceEnds } from '../../../ingest/slices.ts'
import { decodeStringAsync, parseRawAsync, type RawJson, yieldToEventLoop } from '../../../json/index.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { GridEpoch, SliceRef } from '../../store/aggregates/grids.ts'
import { BATCH_SLICE_BYTES, BATCH_SLICES, storeSlices } from '../../store/aggregates/slice-json.ts'
import type { Blobs } from '../../store/objects/blobs.ts'
import { encodeTypes, mergeTypes } from '../../store/schema/column-types.ts'
import type { Writers } from '../../store/store.ts'
import { type ColumnJson, sliceArray } from '../column/column-json.ts'
import type { NewColumn } from '../column/layout.ts'
import { type Change, createFirstVersion } from './versions.ts'

/** Buffer of random bytes for uids: one large request is cheaper than many small ones. */
const randomPool = Buffer.alloc(3 * 1024)
let nextRandom = randomPool.length

/** Returns a new uid of 6 hex characters and adds it to `taken`. */
export function createUid(taken: Set<string>): string {
  for (;;) {
    if (nextRandom === randomPool.length) {
      randomFillSync(randomPool)
      nextRandom = 0
    }
    nextRandom += 3
    const uid = randomPool.toString('hex', nextRandom - 3, nextRandom)
    if (taken.has(uid)) continue
    taken.add(uid)
    return uid
  }
}

/** A column in the JSON of a new grid. */
interface JsonColumn {
  name: string
  data: RawJson
  /** Uid to keep, if the grid is imported together with its plots. */
  uid?: string
}

/** Parses the `data` of a new grid. Returns its columns in column order. See docs/api.md#grids. */
export async function parseGridData(
  data: RawJson,
  limits: Limits,
): Promise<{ columns: JsonColumn[]; metadata?: unknown }> {
  const object =
    data.kind === 'string' ? await parseRawAsync(await decodeStringAsync(data), 'data', data.limits) : data
  if (object.kind !== 'object')
    throw invalidField('data', 'must be an object, or an object encoded as a JSON string')
  const members = (await object.indexMembers()).entries()
  const cols = await members.get('cols')?.indexMembers()
  if (cols?.kind !== 'object') throw invalidField('data.cols', 'must be an object of columns by name')
  const seen = new Set<string>()
  const columns: (JsonColumn & { order: number })[] = []
  const uids = new Set<string>()
  for (const [name, column] of cols.members()) {
    await yieldToEventLoop()
    const path = `data.cols.${name}`
    checkColumnName(name, path, limits)
    if (seen.size === limits.columns) throw tooManyColumns(limits.columns + 1, limits)
    if (seen.has(name)) throw invalidField(path, 'is duplicated')
    seen.add(name)
    if (column.kind !== 'object') throw invalidField(path, 'must be an object with data')
    const parts = column.entries()
    const order = parseOrder(parts.get('order'), `${path}.order`)
    columns.push({
      name,
      uid: parseUid(parts.get('uid'), uids),
      data: checkArray(parts.get('data'), `${path}.data`),
      order: order ?? columns.length,
    })
  }
  columns.sort((a, b) => a.order - b.order)
  const metadata = members.get('metadata')
  return { columns, metadata: metadata && parseSmallValue(metadata, 'data.metadata') }
}

/** Parses a uid of 6 hex characters. Returns undefined for other values, and for a uid in `taken`. */
function parseUid(json: RawJson | undefined, taken: Set<string>): string | undefined {
  const uid = json?.kind === 'string' && json.end - json.start === 8 ? json.toValue() : undefined
  if (typeof uid !== 'string' || !/^[0-9a-f]{6}$/.test(uid) || taken.has(uid)) return undefined
  taken.add(uid)
  return uid
}

/** Maximum size of a parsed value, in bytes. Column data is never parsed as a whole. */
const MAX_PARSED_BYTES = 1024 * 1024

/** Parses a value other than column data. Throws `invalid_request` if it is too large. */
export function parseSmallValue(json: RawJson, path: string): unknown {
  const size = json.end - json.start
  if (size > MAX_PARSED_BYTES)
    throw invalidField(path.slice(0, 80), `${size} bytes; the limit is ${MAX_PARSED_BYTES}`)
  return json.toValue()
}

/** Parses the order of a column; undefined if it is absent or null. Throws `invalid_request` if it is invalid. */
export function parseOrder(json: RawJson | undefined, path: string): number | undefined {
  const order = (json && parseSmallValue(json, path)) ?? undefined
  if (order === undefined || (typeof order === 'number' && Number.isSafeInteger(order))) return order
  throw invalidField(path, 'must be an integer')
}

/** Creates the error for more columns than the limit. */
export function tooManyColumns(count: number, limits: Limits): Problem {
  return new Problem('bad_data', `${count} columns; the limit is ${limits.columns} (columns)`, {
    hint: 'Split the columns into several grids.',
  })
}

/** Returns `data` if it is an array. Throws `invalid_request` otherwise. */
export function checkArray(data: RawJson | undefined, path: string): RawJson {
  if (data?.kind === 'array') return data
  throw invalidField(path, data ? 'must be an array' : 'is missing')
}

/** Returns `name` if it is a valid column name. Throws `invalid_request` otherwise. */
export function checkColumnName(name: unknown, path: string, limits: Limits): string {
  if (typeof name !== 'string') throw invalidField(path, 'must be a string')
  if (name === '') throw invalidField(path, 'a column must have a name')
  if (name.includes('\0')) throw invalidField('cols', 'a column name must not contain a NUL character')
  if (name.length > limits.column_name_length) {
    throw invalidField(
      path.slice(0, 80),
      `a name of ${name.length} characters; the limit is ${limits.column_name_length} (column_name_length)`,
    )
  }
  if (!name.isWellFormed()) throw invalidField(path, 'a name that is not well-formed Unicode')
  return name
}

/** Returns the row numbers, from 1, after which the slices of the longest column end. */
export function sliceEndsOf(slices: ReadonlyMap<string, readonly SliceRef[]>): number[] {
  let longest: number[] = []
  for (const list of slices.values()) {
    let rows = 0
    const ends = list.map((slice) => (rows += slice.rows))
    if (rows > (longest.at(-1) ?? 0)) longest = ends
  }
  return longest
}

/** Stores a JSON array as the slices of one column. Slices end at `ends`: see `storeColumnArrays`. */
export async function storeColumnArray(
  blobs: Blobs,
  owner: string,
  data: RawJson,
  ends: readonly number[],
): Promise<Omit<NewColumn, 'name'>> {
  const [{ name: _, ...column }] = await storeColumnArrays(blobs, owner, [{ name: '', data }], ends)
  return column
}

/**
 * Stores JSON arrays as slices, in few transactions. Slices end at `ends`, and beyond at content-defined
 * rows.
 */
export async function storeColumnArrays(
  blobs: Blobs,
  owner: string,
  columns: JsonColumn[],
  firstEnds: readonly number[] = [],
): Promise<NewColumn[]> {
  const contentEnds = await findSliceEnds(
    columns.map(({ data }) => data.buf.subarray(data.start + 1, data.end - 1)),
  )
  const last = firstEnds.at(-1) ?? 0
  const ends = [...firstEnds, ...contentEnds.filter((row) => row > last)]
  const stored = columns.map(
    ({ name, uid }): NewColumn => ({ name, uid, type: 'empty', rows: 0, slices: [] }),
  )
  let batch: { column: NewColumn; values: ColumnJson & { ended: boolean; column: number } }[] = []
  let size = 0
  const flush = async (): Promise<void> => {
    const refs = await storeSlices(
      blobs,
      owner,
      batch.map(({ values }) => values),
    )
    for (const [k, { column }] of batch.entries())
      column.slices.push({ ...refs[k], seq: column.slices.length })
    batch = []
    size = 0
  }
  for (const [k, { data }] of columns.entries()) {
    const column = stored[k]
    for (const values of sliceArray(data, ends)) {
      batch.push({ column, values: { ...values, column: k } })
      size += values.text.length
      column.rows += values.rows
      column.type = mergeTypes(column.type, values.type)
      if (size >= BATCH_SLICE_BYTES || batch.length >= BATCH_SLICES) await flush()
    }
    await yieldToEventLoop()
  }
  if (batch.length > 0) await flush()
  return stored
}

/**
 * Adds the rows of a new grid to the tables `grids`, `columns` and `slices`. Returns the uids of its columns.
 */
export async function addGrid(
  writers: Writers,
  { owner, idlocal }: FileRow,
  columns: NewColumn[],
  change: Change,
): Promise<string[]> {
  const row_count = Math.max(0, ...columns.map(({ rows }) => rows))
  const ragged = columns.some(({ rows }) => rows !== row_count) ? 1 : 0
  const types = encodeTypes(columns.map(({ type }) => type))
  await writers.grids.add({ owner, idlocal, row_count, ragged, types })
  const uids = await addColumns(writers, { owner, idlocal, epoch: 1 }, columns, {
    taken: new Set(),
    position: 0,
    isNew: true,
  })
  await writers.versions.add(createFirstVersion({ owner, idlocal }, change, row_count, columns.length))
  return uids
}

/** Place of new columns. */
interface ColumnPlace {
  /** Uids that are in use. New ones are added. */
  taken: Set<string>
  /** Position of the first column. */
  position: number
  /** True if the grid has had no columns. */
  isNew?: boolean
}

/** Adds columns with their slices. Returns their uids. */
export async function addColumns(
  { grids }: Writers,
  { owner, idlocal, epoch }: GridEpoch,
  columns: readonly NewColumn[],
  { taken, position, isNew = false }: ColumnPlace,
): Promise<string[]> {
  for (const { uid } of columns) if (uid) taken.add(uid)
  // A column added again gets its former uid, to which plots refer.
  const removedColumns = isNew ? [] : await grids.listRemovedColumns(owner, idlocal)
  const uidByName = new Map(removedColumns.map(({ name, uid }) => [name, uid]))
  const findUid = (name: string): string | undefined => {
    const uid = uidByName.get(name)
    if (uid === undefined || taken.has(uid)) return undefined
    taken.add(uid)
    return uid
  }
  const uids = columns.map(({ name, uid }) => uid ?? findUid(name))
  // In ascending order, rows of thousands of columns are added at the end of an index.
  const created = uids
    .filter((uid) => uid === undefined)
    .map(() => createUid(taken))
    .sort()
    .values()
  const rows = columns.map(({ name, type, rows }, k) => ({
    owner,
    idlocal,
    uid: uids[k] ?? created.next().value!,
    position: position + k,
    name,
    type,
    rows,
    since: epoch,
  }))
  await grids.addColumns(rows)
  if (uidByName.size > 0)
    await grids.forgetRemoved(
      owner,
      idlocal,
      rows.map(({ uid }) => uid),
    )
  await grids.addSlices(
    { owner, idlocal, epoch },
    columns.flatMap(({ slices }, k) => slices.map((slice, seq) => ({ ...slice, uid: rows[k].uid, seq }))),
  )
  return rows.map(({ uid }) => uid)
}
