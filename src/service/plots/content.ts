import { listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { bytesText, type Limits } from '../../contract/limits.ts'
import type { QueryOf } from '../../contract/operations/index.ts'
import { acceptedBefore, type Bytes, joinInTurns, once, parseRaw, RawJson } from '../../json/index.ts'
import { type AuthorizedFile, authorizeCall, type FileRequest, type Principal } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { etag } from '../core/etag.ts'
import { type FoundVersion, findVersion } from '../files/versions.ts'
import { columnText } from '../grids/column/content.ts'
import type { RowSet } from '../grids/column/row-set.ts'
import { arrays, rowsAs } from '../grids/read/rows.ts'
import { columnValues } from '../grids/read/selected-json.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { type ContentRow, storedOf } from '../store/aggregates/plots.ts'
import { loadText } from '../store/aggregates/texts.ts'
import { BatchedBlobs, type BlobReader } from '../store/objects/blobs.ts'
import type { Readers } from '../store/store.ts'
import { isTransposed } from './data-attributes.ts'
import { type EvaluationRequest, evaluate } from './evaluation.ts'
import { missingAnnotation, pointsNote, referencesOf, withData } from './figure.ts'
import type { Ranges } from './points/axes.ts'
import { isOfPoints } from './points/choice.ts'
import { type Reduction, reductionOf } from './points/reduction.ts'
import { type Reference, scanFigure } from './scan.ts'
import { type Shown, shownGrids, stateOfFigure, trimmedGrids } from './shown.ts'
import { contentOfVersion } from './versions.ts'

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
    return {
      body: once(await loadText(service.store.blobs, storedOf(stored.content))),
      etag: etag(stored.file),
      type,
    }
  const live = await openFigure(service, call, stored)
  // No entity tag: the data changes without changing the plot.
  if (inline_data && !map_data) return { body: withInlineData(live), type }
  return { body: pieces(live, inline_data === true, map_data === 'unreadable'), type }
}

export interface StoredFigure {
  file: FileRow
  content: FigureContent
}

/** Where a figure is. */
export interface FigureContent extends ContentRow {
  /** The version that was asked for, unless it is the present one. */
  at?: FoundVersion
}

/** A plot and where its figure is. Throws `not_found` if the caller may not read the plot. */
export async function storedFigure({ store }: Service, asked: FileRequest): Promise<StoredFigure> {
  return store.read(async (readers) => {
    const found = await authorizeCall(readers, asked)
    return { file: found.file, content: await contentOf(readers, found, asked) }
  })
}

/** Where the figure of a plot is, in the version that is asked for. Throws `damaged` if it is missing. */
export async function contentOf(
  readers: Readers,
  found: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  { version }: Principal,
): Promise<FigureContent> {
  const { owner, idlocal } = found.file
  const content = await readers.plots.content(owner, idlocal)
  if (!content) throw new Problem('damaged', 'the figure of this plot is missing')
  const at = await findVersion(readers, found, version)
  // The present version shows present data, unless it was kept with the data of another time.
  const isUsual = at?.isPresent && at.time === undefined && (at.row?.kept_at ?? null) === null
  if (!at || (isUsual && at.draft === undefined)) return content
  const past = at.row && contentOfVersion(at.row, content.media_type)
  return { ...(past ?? content), at }
}

/** A plot with the data that it shows to one caller at one moment. */
export interface LiveFigure {
  file: FileRow
  /** Identifies the figure and the data, so that images of it can be reused. */
  state: string
  figure: RawJson
  references: Reference[]
  /** Paths of traces that have arrays of their own: `data.0`. */
  withArrays: ReadonlySet<string>
  shown: Map<string, Shown>
  /** Which points of large traces are drawn. */
  reduction?: Reduction
  /** The parts of axes that are shown. */
  ranges?: Ranges
  limits: Limits
  /** Whether nobody waits for it any more. */
  gone?: () => boolean
}

/** Opens a plot for reading with its data. Throws `not_found` if the caller may not read it. */
export async function openFigure(
  service: Service,
  asked: FileRequest,
  stored?: StoredFigure,
): Promise<LiveFigure> {
  const { file, content } = stored ?? (await storedFigure(service, asked))
  const { store } = service
  const figure = parseRaw(await loadText(store.blobs, storedOf(content)), 'the figure', acceptedBefore)
  const found = scanFigure(figure)
  const references = referencesOf(found)
  const withArrays = new Set(
    found.flatMap(({ kind, path }) =>
      kind === 'array' || kind === 'typed' ? (/^data\.\d+/.exec(path) ?? []) : [],
    ),
  )
  const sources = references.map(({ source }) => source)
  const { at } = content
  const { shown, state } = await store.read(async (readers) => ({
    shown: await shownGrids(service, readers, file.owner, sources, asked, at),
    state: await stateOfFigure(readers, file, content, asked, at),
  }))
  return {
    file,
    state,
    figure,
    references,
    withArrays,
    shown: at ? await trimmedGrids(shown) : shown,
    limits: service.limits,
    gone: asked.gone,
  }
}

/**
 * Opens a plot to be drawn: of lines and scatters with more points than a picture has room for, those that it needs.
 * `ranges`: the parts of axes that are shown. Throws `not_found`.
 */
export async function openDrawn(
  service: Service,
  asked: FileRequest,
  stored?: StoredFigure,
  ranges?: Ranges,
): Promise<LiveFigure> {
  const live = await openFigure(service, asked, stored)
  return { ...live, ranges, reduction: await reductionOf(live, ranges) }
}

/** The figure with the data next to each reference, as JSON text. References without data stay as they are. */
export function withInlineData(live: LiveFigure): Bytes {
  return evaluated(live, pieces(live, true, false))
}

/** Largest figure whose transforms are evaluated, in bytes: it is parsed as a whole. */
const TRANSFORMED_BYTES = 32 * 1024 * 1024

/** A figure with the transforms of its traces evaluated; one that is too large has no data, and says so. */
async function* evaluated(live: LiveFigure, written: Bytes, isDrawn = false): Bytes {
  if (!hasTransforms(live.figure)) {
    yield* written
    return
  }
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of written) {
    size += part.length
    if (size > TRANSFORMED_BYTES)
      throw new Problem(
        'too_large',
        `the figure has transforms and more than ${bytesText(TRANSFORMED_BYTES)} of data`,
        { hint: 'Evaluate the transforms before, or show fewer rows.' },
      )
    parts.push(part)
  }
  const { ranges, file, limits, gone } = live
  yield await evaluate(await joinInTurns(parts), { isDrawn, ranges }, { owner: file.owner, limits, gone })
}

/** Figures smaller than this have so few points that all are drawn, in bytes. */
const SMALL_BYTES = 64 * 1024

/** The text of a figure with data, as it is drawn: with the transforms of its traces evaluated, and its large traces reduced. */
export async function drawable(figure: RawJson, request: EvaluationRequest): Promise<Buffer> {
  if (!hasTransforms(figure) && figure.end - figure.start < SMALL_BYTES) return figure.bytes
  return evaluate(figure.bytes, { isDrawn: true }, request)
}

export function hasTransforms(figure: RawJson): boolean {
  const data = figure.get('data')
  if (data?.kind !== 'array') return false
  for (const trace of data.items()) {
    const transforms = trace.kind === 'object' ? trace.get('transforms') : undefined
    if (transforms?.kind === 'array' && !transforms.items().next().done) return true
  }
  return false
}

/**
 * The figure as it is drawn, as JSON text: with the data next to each reference. A trace whose data is gone has no
 * points, since plotly.js would count them instead, and the chart says what is missing.
 */
export function drawn(live: LiveFigure): Bytes {
  return evaluated(live, withoutGone(live), true)
}

async function* withoutGone(live: LiveFigure): Bytes {
  const { shown, figure, references, reduction } = live
  const gone = references.filter((reference) => !hasData(live, reference))
  const broken = new Set(gone.map(traceOf))
  const inlined = references.filter((reference) => !broken.has(traceOf(reference)))
  const empty = references.filter((reference) => broken.has(traceOf(reference)))
  const blobs = batchedFor(shown, inlined)
  const missing = missingNote(live)
  const notes = [
    ...(missing === undefined ? [] : [missingAnnotation(missing)]),
    ...(reduction ? [pointsNote(reduction.drawn, reduction.of)] : []),
  ]
  for (const part of withData(figure, inlined, empty, notes))
    if (Buffer.isBuffer(part)) yield part
    else {
      const rows = isOfPoints(part.attribute) ? reduction?.rows.get(traceOf(part)) : undefined
      yield* rows ? chosenData(shown, part, rows) : data(shown, part, blobs)
      if (rows && part.attribute === 'y' && reduction?.numbered.has(traceOf(part)))
        yield Buffer.from(`,"x":[${[...rows].join(',')}]`)
    }
}

/** Whether all columns of a reference are there. */
function hasData({ shown }: LiveFigure, { source: { grid, uids } }: Reference): boolean {
  const columns = shown.get(formatFid(grid))?.columns
  return columns !== undefined && uids.every((uid) => columns.has(uid))
}

/** The path of the trace of a reference: `data.0`. */
function traceOf({ path, attribute }: Reference): string {
  return path.slice(0, -attribute.length - 1)
}

/** What a chart does not find: the names of columns, as far as they are known. Undefined if nothing is missing. */
export function missingNote(live: LiveFigure): string | undefined {
  const gone = live.references.filter((reference) => !hasData(live, reference))
  if (gone.length === 0) return undefined
  const names = new Set<string>()
  let others = false
  for (const { source } of gone) {
    const grid = live.shown.get(formatFid(source.grid))
    for (const uid of source.uids) {
      if (grid?.columns.has(uid)) continue
      const name = grid?.lost.get(uid)
      if (name === undefined) others = true
      else names.add(name)
    }
  }
  if (names.size === 0) return 'No data: what this chart shows is no longer available'
  const known = `${names.size === 1 ? 'the column' : 'the columns'} ${listed([...names], 5)}`
  return `No data: ${known}${others ? ' and others' : ''} no longer ${names.size + (others ? 1 : 0) === 1 ? 'exists' : 'exist'}`
}

/** The least size of a figure with its data, in bytes. */
function sizeOf({ figure, shown, references, reduction }: LiveFigure): number {
  let size = figure.end - figure.start
  for (const reference of references) {
    const { source, twin } = reference
    if (reduction?.rows.has(traceOf(reference))) continue
    const columns = shown.get(formatFid(source.grid))?.columns
    if (!columns || !source.uids.every((uid) => columns.has(uid))) continue
    if (twin) size -= twin.end - twin.start
    for (const uid of source.uids) for (const { bytes } of columns.get(uid)!.slices) size += bytes
  }
  return size
}

/**
 * The figure with its data as one text; undefined if it is larger than `most` bytes. With transforms, it is as large as what
 * they leave.
 */
export async function wholeFigure(
  live: LiveFigure,
  most: number,
  written: (live: LiveFigure) => Bytes = drawn,
): Promise<Buffer | undefined> {
  if (!hasTransforms(live.figure) && sizeOf(live) > most) return undefined
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of written(live)) {
    size += part.length
    if (size > most) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}

async function* pieces(live: LiveFigure, inline: boolean, map: boolean): AsyncGenerator<Uint8Array> {
  const { shown, figure, references } = live
  const withColumns = references.filter((reference) => hasData(live, reference))
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

/** The chosen rows of a reference. */
async function* chosenData(shown: Map<string, Shown>, { source }: Reference, rows: RowSet): Bytes {
  const { snap, columns } = shown.get(formatFid(source.grid))!
  yield OPEN
  for (const [k, uid] of source.uids.entries()) {
    if (source.uids.length > 1) yield k > 0 ? NEXT : OPEN
    yield* columnValues(snap, columns.get(uid)!, { rows })
  }
  if (source.uids.length > 1) yield CLOSE
  yield CLOSE
}

const OPEN = Buffer.from('[')
const NEXT = Buffer.from('],[')
const CLOSE = Buffer.from(']')
