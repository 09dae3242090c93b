import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import type { QueryOf } from '../../contract/operations/index.ts'
import { acceptedBefore, type Bytes, once, parseRaw, RawJson } from '../../json/index.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { etag } from '../core/etag.ts'
import { columnText } from '../grids/content.ts'
import { arrays, rowsAs } from '../grids/rows.ts'
import { BatchedBlobs, type BlobReader } from '../store/blobs.ts'
import type { FileRow } from '../store/files.ts'
import type { ContentRow } from '../store/plots.ts'
import type { Readers } from '../store/store.ts'
import { loadText } from '../store/texts.ts'
import { isTransposed } from './data-attributes.ts'
import { referencesOf, withData } from './figure.ts'
import { type Reference, scanFigure } from './scan.ts'
import { type Shown, shownGrids, stateOfFigure } from './shown.ts'

/**
 * The figure of a plot. `inline_data` adds the data next to each reference; `map_data=unreadable` adds the
 * data of grids that the caller may not read, keyed by reference. Reading a plot includes the data it shows:
 * what its owner may currently read of the grids. See docs/api.md#plot-references.
 */
export async function figureContent(
  service: Service,
  call: Call,
  { inline_data, map_data }: QueryOf<'plots.content'>,
): Promise<OperationResult<Bytes>> {
  const stored = await storedFigure(service, call)
  const type = 'application/json'
  if (!inline_data && !map_data)
    return { body: once(await loadText(service.store.blobs, stored.content)), etag: etag(stored.file), type }
  const live = await openFigure(service, call, stored)
  // No entity tag: the data changes without changing the plot.
  return { body: pieces(live, inline_data === true, map_data === 'unreadable'), type }
}

export interface StoredFigure {
  file: FileRow
  content: ContentRow
}

/** A plot and where its figure is. Throws `not_found` if the caller may not read the plot. */
export async function storedFigure({ store }: Service, asked: FileRequest): Promise<StoredFigure> {
  return store.read(async (readers) => {
    const { file } = await authorizeCall(readers, asked)
    return { file, content: await contentOf(readers, file) }
  })
}

/** The content row of a plot's figure. Throws `damaged` if it is missing. */
export async function contentOf({ plots }: Readers, { owner, idlocal }: FileRow): Promise<ContentRow> {
  const content = await plots.content(owner, idlocal)
  if (!content) throw new Problem('damaged', 'the figure of this plot is missing')
  return content
}

/** A plot with the data that it shows to one caller at one moment. */
export interface LiveFigure {
  file: FileRow
  /** Identifies the figure and the data, so that images of it can be reused. */
  state: string
  figure: RawJson
  references: Reference[]
  shown: Map<string, Shown>
}

/** Opens a plot for reading with its data. Throws `not_found` if the caller may not read it. */
export async function openFigure(
  service: Service,
  asked: FileRequest,
  stored?: StoredFigure,
): Promise<LiveFigure> {
  const { file, content } = stored ?? (await storedFigure(service, asked))
  const { store } = service
  const figure = parseRaw(await loadText(store.blobs, content), 'the figure', acceptedBefore)
  const references = referencesOf(scanFigure(figure))
  const sources = references.map(({ source }) => source)
  const { shown, state } = await store.read(async (readers) => ({
    shown: await shownGrids(service, readers, file.owner, sources, asked),
    state: await stateOfFigure(readers, file, content, asked),
  }))
  return { file, state, figure, references, shown }
}

/** The figure with the data next to each reference, as JSON text. */
export function withInlineData(live: LiveFigure): Bytes {
  return pieces(live, true, false)
}

/** The least size of a figure with its data, in bytes. */
function sizeOf({ figure, shown, references }: LiveFigure): number {
  let size = figure.end - figure.start
  for (const { source, twin } of references) {
    const columns = shown.get(formatFid(source.grid))?.columns
    if (!columns || !source.uids.every((uid) => columns.has(uid))) continue
    if (twin) size -= twin.end - twin.start
    for (const uid of source.uids) for (const { bytes } of columns.get(uid)!.slices) size += bytes
  }
  return size
}

/** The figure with its data as one text; undefined if it is larger than `most` bytes. */
export async function wholeFigure(live: LiveFigure, most: number): Promise<Buffer | undefined> {
  if (sizeOf(live) > most) return undefined
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of withInlineData(live)) {
    size += part.length
    if (size > most) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

async function* pieces(
  { shown, figure, references }: LiveFigure,
  inline: boolean,
  map: boolean,
): AsyncGenerator<Uint8Array> {
  const withColumns = references.filter(({ source: { grid, uids } }) => {
    const columns = shown.get(formatFid(grid))?.columns
    return columns !== undefined && uids.every((uid) => columns.has(uid))
  })
  const inlined = inline ? withColumns : []
  const blobs = batchedFor(shown, inlined)
  // `map_data` is inserted before the closing brace.
  const open = map ? new RawJson(figure.buf, figure.start, figure.end - 1, figure.limits) : figure
  for (const part of withData(open, inlined)) {
    if (Buffer.isBuffer(part)) yield part
    else yield* data(shown, part, blobs)
  }
  if (!map) return
  yield Buffer.from(`${figure.members().next().done ? '' : ','}"map_data":{`)
  const mapped = new Map(
    withColumns
      .filter(({ source }) => !shown.get(formatFid(source.grid))!.readable)
      .map((reference) => [reference.text, reference]),
  )
  let first = true
  for (const reference of mapped.values()) {
    yield Buffer.from(`${first ? '' : ','}${JSON.stringify(reference.text)}:`)
    first = false
    yield* data(shown, reference)
  }
  yield Buffer.from('}}')
}

/** Reads the columns of these references with few queries. They are read in this order; matrices are read apart. */
function batchedFor(shown: Map<string, Shown>, references: readonly Reference[]): BlobReader | undefined {
  const [first] = shown.values()
  if (!first) return undefined
  const inOrder = references.filter(
    ({ source, type, attribute }) => source.uids.length === 1 || !isTransposed(type, attribute),
  )
  const slices = inOrder.flatMap(({ source: { grid, uids } }) => {
    const { columns } = shown.get(formatFid(grid))!
    return uids.flatMap((uid) => columns.get(uid)!.slices)
  })
  return new BatchedBlobs(first.snap.blobs, slices)
}

/** The data of a reference: one column as an array; several as rows (matrices) or as a list of columns. */
async function* data(
  shown: Map<string, Shown>,
  { source, type, attribute }: Reference,
  blobs?: BlobReader,
): Bytes {
  const { snap: whole, columns } = shown.get(formatFid(source.grid))!
  const snap = blobs ? { ...whole, blobs } : whole
  const chosen = source.uids.map((uid) => columns.get(uid)!)
  yield OPEN
  if (chosen.length === 1) yield* columnText(snap, chosen[0])
  else if (isTransposed(type, attribute)) yield* rowsAs({ ...snap, columns: chosen }, arrays())
  else {
    for (const [k, column] of chosen.entries()) {
      yield k > 0 ? NEXT : OPEN
      yield* columnText(snap, column)
    }
    yield CLOSE
  }
  yield CLOSE
}

const OPEN = Buffer.from('[')
const NEXT = Buffer.from('],[')
const CLOSE = Buffer.from(']')
