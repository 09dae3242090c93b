import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import {
  type Bounds,
  boundsOf,
  boundsTogether,
  endsAmong,
  isSparse,
  SliceEnds,
} from '../../../ingest/index.ts'
import { breathe } from '../../../json/index.ts'
import { type ColumnRow, type GridRow, isHeld, type SliceRef } from '../../store/aggregates/grids.ts'
import {
  loadText,
  type SliceText,
  storeSlice,
  storeSlices,
  TOGETHER,
  TOGETHER_BYTES,
} from '../../store/aggregates/texts.ts'
import { BatchedBlobs, type Blobs } from '../../store/objects/blobs.ts'
import { encodeTypes, mergeTypes } from '../../store/schema/column-types.ts'
import type { Readers, Store, Writers } from '../../store/store.ts'
import { skipValues } from '../column/content.ts'
import type { Layout } from '../column/layout.ts'
import { columnsInTurns, repeated } from '../column/values.ts'
import { Gate } from './gate.ts'
import { beginVersion } from './versions.ts'

/** Rows of slices that are not merged any more. */
const FULL_ROWS = 65_536
const MAX_TRIES = 10

/** The store, and the way to keep appends to a grid waiting while its layout changes. */
export interface GridStore {
  store: Store
  appends: { hold<T>(fid: Fid, work: () => Promise<T>): Promise<T> }
}

async function readLayout({ grids }: Readers, { owner, idlocal }: Fid): Promise<Layout> {
  return {
    grid: await grids.get(owner, idlocal),
    columns: await grids.columns(owner, idlocal),
    slices: await grids.slices(owner, idlocal),
  }
}

class LayoutChanged extends Error {}

/** Asserts, inside the committing transaction, that the layout has not changed since it was read. */
async function assertLayoutUnchanged(
  writers: Writers,
  { owner, idlocal }: Fid,
  before: GridRow,
  by: string | undefined,
): Promise<GridRow> {
  const now = await writers.grids.get(owner, idlocal).catch(() => undefined)
  if (now?.layout !== before.layout || isHeld(now, by)) throw new LayoutChanged()
  return now
}

/**
 * Moves the tail into slices. The content of the grid stays the same. A new slice is merged with the last
 * ones, so that slices double in size: a grid appended row by row ends up in large slices, and each value is
 * rewritten only a logarithmic number of times.
 */
export async function compact(
  store: Store,
  fid: Fid,
  /** The transaction that changes the grid. */
  write: <T>(work: (writers: Writers) => Promise<T>) => Promise<T> = (work) => store.write([fid.owner], work),
  /** The change that holds the grid, if it folds the tail. */
  by?: string,
): Promise<void> {
  const { owner, idlocal } = fid
  const { layout, tail } = await store.read(async (readers) => ({
    layout: await readLayout(readers, fid).catch(() => undefined),
    tail: await readers.grids.tail(owner, idlocal),
  }))
  if (!layout || tail.length === 0 || isHeld(layout.grid, by)) return
  const { columns, grid } = layout
  const rows = tail.reduce((sum, one) => sum + one.rows, 0)
  const bytes = tail.reduce((sum, one) => sum + one.body.length, 0)
  const last = tail[tail.length - 1].seq
  const values = await columnsInTurns(
    tail.map(({ body }) => body),
    columns.length,
  )
  const merges = await mergesOf(
    columns.map(({ uid }, k) => ({ slices: layout.slices.get(uid) ?? [], text: values[k].text })),
    rows,
  )
  const flat = merges.flat()
  const refs = await storeMerges(store.blobs, owner, flat)
  let next = 0
  const added = columns.flatMap(({ uid }, k) => merges[k].map(({ seq }) => ({ ...refs[next++], uid, seq })))
  const removed = columns.map(({ uid }, k) => ({ uid, seq: merges[k][0].seq }))
  try {
    await write(async (writers) => {
      const now = await assertLayoutUnchanged(writers, fid, grid, by)
      await writers.grids.removeTail(owner, idlocal, last)
      const epoch = { owner, idlocal, epoch: now.epoch }
      await writers.grids.removeSlices(epoch, removed)
      const changes = columns.map(({ uid, type, rows: before }, k) => ({
        uid,
        fields: { rows: before + rows, type: mergeTypes(type, values[k].type) },
      }))
      await writers.grids.changeColumns(owner, idlocal, changes)
      await writers.grids.addSlices(epoch, added)
      await writers.grids.change(owner, idlocal, {
        layout: now.layout + 1,
        tail_rows: now.tail_rows - rows,
        tail_bytes: now.tail_bytes - bytes,
      })
    })
  } catch (error) {
    // The grid was folded or changed concurrently: leave the tail to the next fold.
    if (!(error instanceof LayoutChanged)) throw error
  }
}

/** A new slice: the last slices of a column, which it replaces, and a text. */
interface Merge {
  last: SliceRef[]
  text: Buffer
  rows: number
  seq: number
  ended: boolean
}

/** A column whose last slices may be merged, and what follows them. */
interface Longer {
  slices: readonly SliceRef[]
  text: Buffer
}

/**
 * The slices that new rows become, for each column. Slices at the end that have not ended (slice-ends.ts) are merged with
 * the rows up to the first end among them, or as far as they double in size.
 */
async function mergesOf(
  columns: readonly Longer[],
  rows: number,
  keys?: readonly number[],
): Promise<Merge[][]> {
  const open = columns.map(({ slices }) => openOf(slices))
  const heights = new Set(open.map((list) => list.map((slice) => slice.rows).join()))
  // Columns that were made one by one end where they do.
  if (heights.size > 1) return columns.map((column, k) => [withLast(column, open[k], rows)])
  const ends = new SliceEnds()
  const openRows = open[0]?.reduce((sum, slice) => sum + slice.rows, 0) ?? 0
  ends.skip(
    openRows,
    open.flat().reduce((sum, { bytes }) => sum + bytes, 0),
  )
  const found = await endsAmong(
    columns.map(({ text }) => text),
    keys,
    ends,
  )
  if (found.length === 0) {
    const doubled = withLast(columns[0], open[0], rows).last.length
    return columns.map((column, k) => [merge(column, open[k].slice(open[k].length - doubled), rows)])
  }
  return columns.map((column, k) => splitAt(column, open[k], found, rows))
}

/** The slices of columns with rows after them. `keys`: columns whose values say where slices end. */
export async function withRows(
  blobs: Blobs,
  owner: string,
  columns: readonly Longer[],
  rows: number,
  keys?: readonly number[],
): Promise<SliceRef[][]> {
  const merges = await mergesOf(columns, rows, keys)
  const refs = await storeMerges(blobs, owner, merges.flat())
  return columns.map(({ slices }, k) => {
    const [first] = merges[k]
    return [...slices.slice(0, slices.length - first.last.length), ...refs.splice(0, merges[k].length)]
  })
}

/** The last slices of a column that have not ended. */
function openOf(slices: readonly SliceRef[]): SliceRef[] {
  const last = slices.findLastIndex(({ ended, rows }) => ended === true || rows >= FULL_ROWS)
  return slices.slice(last + 1)
}

function merge({ slices, text }: Longer, last: SliceRef[], rows: number): Merge {
  const seq = last[0]?.seq ?? (slices.at(-1)?.seq ?? -1) + 1
  return { last, text, rows: last.reduce((sum, slice) => sum + slice.rows, rows), seq, ended: false }
}

/** Merges a text with as many of the last slices as are not longer than what follows them. */
function withLast(column: Longer, open: readonly SliceRef[], rows: number): Merge {
  let from = open.length
  for (let total = rows; from > 0 && open[from - 1].rows <= total; from--) {
    total += open[from - 1].rows
    if (total > FULL_ROWS) break
  }
  return merge(column, open.slice(from), rows)
}

/** Merges a text up to the first of `ends` with the open slices of its column; what follows are slices of their own. */
function splitAt(column: Longer, open: SliceRef[], ends: readonly number[], rows: number): Merge[] {
  const merges: Merge[] = []
  let { text } = column
  let from = 0
  for (const end of [...ends, rows]) {
    if (end === from) continue
    const at = end === rows ? text.length + 1 : skipValues(text, 0, end - from)
    const part = { slices: column.slices, text: text.subarray(0, at - 1) }
    const first = merge(part, from === 0 ? open : [], end - from)
    merges.push({ ...first, seq: (merges.at(-1)?.seq ?? first.seq - 1) + 1, ended: ends.includes(end) })
    text = text.subarray(at)
    from = end
  }
  return merges
}

/** Stores merged slices, with few queries. */
async function storeMerges(blobs: Blobs, owner: string, merges: readonly Merge[]): Promise<SliceRef[]> {
  const batched = new BatchedBlobs(
    blobs,
    merges.flatMap(({ last }) => last),
  )
  const refs: SliceRef[] = []
  for (let k = 0; k < merges.length; ) {
    const some: SliceText[] = []
    for (let size = 0; k < merges.length && some.length < TOGETHER && size < TOGETHER_BYTES; k++) {
      const { last, text, rows, ended } = merges[k]
      const parts: Buffer[] = []
      for (const slice of last) parts.push(await loadText(batched, slice), COMMA)
      const whole = Buffer.concat([...parts, text])
      some.push({ rows, text: whole, ended, bounds: boundsWith(last, rows, text) })
      size += whole.length
      await breathe()
    }
    refs.push(...(await storeSlices(blobs, owner, some)))
  }
  return refs
}

const COMMA = Buffer.from(',')

/** Of the values of slices and of a text. */
function boundsWith(last: readonly SliceRef[], rows: number, text: Buffer): Bounds | undefined {
  let bounds = boundsOf(text)
  let count = rows - last.reduce((sum, slice) => sum + slice.rows, 0)
  for (const slice of last) {
    if (!slice.bounds) return undefined
    bounds = boundsTogether(bounds, slice.bounds, [count, slice.rows])
    count += slice.rows
  }
  return bounds
}

/**
 * Changes columns or slices of a grid. `prepare` stores blobs; `commit` adds the rows that refer to them, in
 * one transaction. Meanwhile appends wait and the tail is empty. Retries if the layout has changed in
 * between. The result of `commit` must be JSON.
 */
export async function rewriteLayout<P, T>(
  service: GridStore,
  fid: Fid,
  prepare: (layout: Layout) => Promise<P>,
  commit: (writers: Writers, prepared: P, layout: Layout) => Promise<T>,
): Promise<T> {
  const { store, appends } = service
  const gate = new Gate(store, fid)
  return appends
    .hold(fid, async () => {
      for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
        // Something came between: appends of other servers.
        if (attempt > 0) await gate.close()
        // A fold changes nothing that anybody sees: it lasts in any case.
        await compact(store.lasting, fid, undefined, gate.by)
        const layout = await store.read((readers) => readLayout(readers, fid))
        if (layout.grid.tail_rows > 0) continue
        const prepared = await prepare(layout)
        try {
          return await store.write([fid.owner], async (writers) => {
            const now = await assertLayoutUnchanged(writers, fid, layout.grid, gate.by)
            if (now.tail_rows > 0) throw new LayoutChanged()
            const result = await commit(writers, prepared, { ...layout, grid: now })
            await countRows(writers, fid, now.layout + 1)
            return result
          })
        } catch (error) {
          if (!(error instanceof LayoutChanged)) throw error
        }
      }
      throw new Problem('overloaded', 'too many changes to this grid at once')
    })
    .finally(() => gate.open())
}

/** Records the rows and types of a grid whose columns or slices have changed. */
async function countRows({ grids }: Writers, { owner, idlocal }: Fid, layout: number): Promise<void> {
  const columns = await grids.columns(owner, idlocal)
  const lengths = columns.map(({ rows }) => rows)
  const row_count = Math.max(0, ...lengths)
  const ragged = lengths.some((length) => length !== row_count) ? 1 : 0
  const types = encodeTypes(columns.map(({ type }) => type))
  await grids.change(owner, idlocal, { layout, row_count, ragged, types })
}

/** Pads shorter columns with "" to the length of the longest, as API clients expect before an append. */
export async function padShortColumns(service: GridStore, fid: Fid, by: string | null): Promise<void> {
  const { owner, idlocal } = fid
  await rewriteLayout(
    service,
    fid,
    async ({ columns, grid }) => {
      const values = columns.reduce((sum, { rows }) => sum + rows, 0)
      if (isSparse(grid.row_count, columns.length, values)) throw tooRagged(grid.row_count, columns.length)
      const fills: { column: ColumnRow; slices: SliceRef[] }[] = []
      for (const column of columns) {
        const missing = grid.row_count - column.rows
        if (missing > 0)
          fills.push({ column, slices: await repeatedSlices(service.store, owner, '""', missing) })
      }
      return fills
    },
    async (writers, fills, { slices, grid, columns }) => {
      const { grids } = writers
      const file = await writers.files.get(owner, idlocal)
      if (!file) throw new Problem('not_found', 'no such grid, or you may not see it')
      const epoch = { owner, idlocal, epoch: grid.epoch + 1 }
      const added = fills.flatMap(({ column: { uid }, slices: more }) => after(slices.get(uid), uid, more))
      await grids.addSlices(epoch, added)
      const changes = fills.map(({ column: { uid, type, rows }, slices: more }) => ({
        uid,
        fields: {
          rows: rows + more.reduce((sum, slice) => sum + slice.rows, 0),
          type: mergeTypes(type, 'text'),
        },
      }))
      await grids.changeColumns(owner, idlocal, changes)
      const padded = await grids.columns(owner, idlocal)
      const change = { before: columns, after: padded }
      await beginVersion(writers, { file, grid }, { operation: 'append', by }, change)
      // The rows that follow belong to the same version.
      await grids.change(owner, idlocal, { appended_by: by, appended_since: Date.now() })
    },
  )
}

/** The error for a grid so uneven that padding would fill over 99 % of its cells. */
export function tooRagged(rows: number, columns: number): Problem {
  return new Problem(
    'bad_data',
    `${rows} rows and ${columns} columns, of which fewer than one cell in 100 would be filled`,
    { hint: 'Add values to the columns first, or split them into several grids.' },
  )
}

/** Stores slices that repeat one value `count` times. */
export async function repeatedSlices(
  store: Store,
  owner: string,
  value: string,
  count: number,
): Promise<SliceRef[]> {
  const slices: SliceRef[] = []
  for (let left = count; left > 0; left -= FULL_ROWS) {
    const rows = Math.min(left, FULL_ROWS)
    slices.push(await storeSlice(store.blobs, owner, { rows, text: repeated(value, rows) }))
  }
  return slices
}

/** Numbers the slices `more` so that they follow the existing ones of a column. */
export function after(
  slices: readonly SliceRef[] | undefined,
  uid: string,
  more: readonly SliceRef[],
): (SliceRef & { uid: string })[] {
  const first = slices?.length ? slices[slices.length - 1].seq + 1 : 0
  return more.map((slice, k) => ({
    uid,
    rows: slice.rows,
    bytes: slice.bytes,
    blob: slice.blob,
    bounds: slice.bounds,
    ended: slice.ended,
    seq: first + k,
  }))
}
