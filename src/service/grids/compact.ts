import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { isSparse } from '../../ingest/index.ts'
import { breathe } from '../../json/index.ts'
import { BatchedBlobs, type Blobs } from '../store/blobs.ts'
import { encodeTypes, mergeTypes } from '../store/column-types.ts'
import type { ColumnRow, GridRow, SliceRef } from '../store/grids.ts'
import type { Readers, Store, Writers } from '../store/store.ts'
import { loadText, storeText, storeTexts, TOGETHER, TOGETHER_BYTES } from '../store/texts.ts'
import { columnsInTurns, repeated } from './values.ts'

/** Slices are merged up to this many rows or bytes. */
export const FULL_ROWS = 65_536
const FULL_BYTES = 1 << 20
const TRIES = 10

/** The store, and the way to keep appends to a grid waiting while its layout changes. */
export interface GridStore {
  store: Store
  appends: { hold<T>(fid: Fid, work: () => Promise<T>): Promise<T> }
}

/** Columns and slices of a grid, read in one transaction. */
export interface Layout {
  grid: GridRow
  columns: ColumnRow[]
  slices: Map<string, SliceRef[]>
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
): Promise<GridRow> {
  const now = await writers.grids.get(owner, idlocal).catch(() => undefined)
  if (now?.layout !== before.layout) throw new LayoutChanged()
  return now
}

/**
 * Moves the tail into slices. The content of the grid stays the same. A new slice is merged with the last
 * ones, so that slices double in size: a grid appended row by row ends up in large slices, and each value is
 * rewritten only a logarithmic number of times.
 */
export async function compact(store: Store, fid: Fid): Promise<void> {
  const { owner, idlocal } = fid
  const { layout, tail } = await store.read(async (readers) => ({
    layout: await readLayout(readers, fid).catch(() => undefined),
    tail: await readers.grids.tail(owner, idlocal),
  }))
  if (!layout || tail.length === 0) return
  const { columns, grid } = layout
  const rows = tail.reduce((sum, one) => sum + one.rows, 0)
  const bytes = tail.reduce((sum, one) => sum + one.body.length, 0)
  const last = tail[tail.length - 1].seq
  const values = await columnsInTurns(
    tail.map(({ body }) => body),
    columns.length,
  )
  const merges = columns.map(({ uid }, k) => withLast(layout.slices.get(uid) ?? [], rows, values[k].text))
  const refs = await storeMerges(store.blobs, merges)
  const added = columns.map(({ uid }, k) => ({ ...refs[k], uid, seq: merges[k].seq }))
  try {
    await store.write(async (writers) => {
      const now = await assertLayoutUnchanged(writers, fid, grid)
      await writers.grids.removeTail(owner, idlocal, last)
      await writers.grids.removeSlices(owner, idlocal, added)
      const changes = columns.map(({ uid, type, rows: before }, k) => ({
        uid,
        fields: { rows: before + rows, type: mergeTypes(type, values[k].type) },
      }))
      await writers.grids.changeColumns(owner, idlocal, changes)
      await writers.grids.addSlices(owner, idlocal, added)
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
}

/** Which of the last slices of a column a new text is merged with. */
function withLast(slices: readonly SliceRef[], rows: number, text: Buffer): Merge {
  let seq = slices.length > 0 ? slices[slices.length - 1].seq + 1 : 0
  let total = rows
  const last: SliceRef[] = []
  let size = text.length
  for (let k = slices.length - 1; k >= 0; k--) {
    const slice = slices[k]
    if (slice.rows > total || total + slice.rows > FULL_ROWS || size + slice.bytes > FULL_BYTES) break
    last.unshift(slice)
    total += slice.rows
    size += slice.bytes
    seq = slice.seq
  }
  return { last, text, rows: total, seq }
}

/** Stores merged slices, with few queries. */
async function storeMerges(blobs: Blobs, merges: readonly Merge[]): Promise<SliceRef[]> {
  const batched = new BatchedBlobs(
    blobs,
    merges.flatMap(({ last }) => last),
  )
  const refs: SliceRef[] = []
  for (let k = 0; k < merges.length; ) {
    const some: { rows: number; text: Buffer }[] = []
    for (let size = 0; k < merges.length && some.length < TOGETHER && size < TOGETHER_BYTES; k++) {
      const { last, text, rows } = merges[k]
      const parts: Buffer[] = []
      for (const slice of last) parts.push(await loadText(batched, slice), COMMA)
      const whole = Buffer.concat([...parts, text])
      some.push({ rows, text: whole })
      size += whole.length
      await breathe()
    }
    refs.push(...(await storeTexts(blobs, some)))
  }
  return refs
}

const COMMA = Buffer.from(',')

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
  return appends.hold(fid, async () => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      await compact(store, fid)
      const layout = await store.read((readers) => readLayout(readers, fid))
      if (layout.grid.tail_rows > 0) continue
      const prepared = await prepare(layout)
      try {
        return await store.write(async (writers) => {
          const now = await assertLayoutUnchanged(writers, fid, layout.grid)
          if (now.tail_rows > 0) throw new LayoutChanged()
          const result = await commit(writers, prepared, layout)
          const columns = await writers.grids.columns(fid.owner, fid.idlocal)
          const lengths = columns.map(({ rows }) => rows)
          const row_count = Math.max(0, ...lengths)
          const ragged = lengths.some((length) => length !== row_count) ? 1 : 0
          const types = encodeTypes(columns.map(({ type }) => type))
          await writers.grids.change(fid.owner, fid.idlocal, {
            layout: now.layout + 1,
            row_count,
            ragged,
            types,
          })
          return result
        })
      } catch (error) {
        if (!(error instanceof LayoutChanged)) throw error
      }
    }
    throw new Problem('overloaded', 'too many changes to this grid at once')
  })
}

/** Pads shorter columns with "" to the length of the longest, as API clients expect before an append. */
export async function padShortColumns(service: GridStore, fid: Fid): Promise<void> {
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
        if (missing > 0) fills.push({ column, slices: await repeatedSlices(service.store, '""', missing) })
      }
      return fills
    },
    async ({ grids }, fills, { slices }) => {
      const added = fills.flatMap(({ column: { uid }, slices: more }) => after(slices.get(uid), uid, more))
      await grids.addSlices(owner, idlocal, added)
      const changes = fills.map(({ column: { uid, type, rows }, slices: more }) => ({
        uid,
        fields: {
          rows: rows + more.reduce((sum, slice) => sum + slice.rows, 0),
          type: mergeTypes(type, 'text'),
        },
      }))
      await grids.changeColumns(owner, idlocal, changes)
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
export async function repeatedSlices(store: Store, value: string, count: number): Promise<SliceRef[]> {
  const slices: SliceRef[] = []
  for (let left = count; left > 0; left -= FULL_ROWS) {
    const rows = Math.min(left, FULL_ROWS)
    slices.push(await storeText(store.blobs, rows, repeated(value, rows)))
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
    hash: slice.hash,
    seq: first + k,
  }))
}
