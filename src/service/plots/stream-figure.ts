// Writes figures as JSON with their data.
import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { formatBytes } from '../../contract/limits.ts'
import { formatList } from '../../contract/message-texts.ts'
import type { QueryOf } from '../../contract/operations/index.ts'
import {
  type Bytes,
  concatAsync,
  RawJson,
  shouldYield,
  toByteStream,
  yieldToEventLoop,
} from '../../json/index.ts'
import type { Call, OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { contentEtag } from '../core/etag.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed } from '../store/aggregates/slice-json.ts'
import { type FigureView, loadPlotContent, openFigure } from './content.ts'
import { isPerPoint } from './downsampling/select-points.ts'
import { createMissingNote, createPointsNote, splitAtData } from './edit-figure.ts'
import { type EvaluationRequest, evaluateFigure } from './evaluation.ts'
import type { Reference } from './scan.ts'
import { createBatchReader, streamReferencedData, streamSelectedRows } from './stream-data.ts'

/**
 * Loads the figure of a plot. `inline_data` adds the data next to each reference; `map_data=unreadable` adds
 * the data of grids that the caller may not read, by reference. Read access to a plot includes all data that
 * its owner may read. See docs/api.md#plot-references.
 */
export async function loadFigureContent(
  service: Service,
  call: Call,
  { inline_data, map_data }: QueryOf<'plots.content'>,
): Promise<OperationResult<Bytes>> {
  const stored = await loadPlotContent(service, call)
  const type = 'application/json'
  if (!inline_data && !map_data)
    return {
      body: toByteStream(await loadDecompressed(service.store.blobs, storedContentOf(stored.content))),
      etag: contentEtag(stored.file, call.version),
      type,
    }
  const view = await openFigure(service, call, stored)
  // No entity tag: the data can change without a change of the plot.
  if (inline_data && (!map_data || hidesRows(view))) return { body: streamWithData(view), type }
  return { body: streamWithOptions(view, inline_data === true, map_data === 'unreadable'), type }
}

/**
 * Streams the figure as JSON, with the data next to each reference. References without data are unchanged.
 */
export function streamWithData(view: FigureView): Bytes {
  return streamEvaluated(view, streamWithOptions(view, true, false))
}

/** Maximum size of a figure with transforms, in bytes: evaluating them takes the parsed figure. */
const MAX_TRANSFORMED_BYTES = 32 * 1024 * 1024

/** Evaluates the transforms in the JSON text of a figure. Throws `too_large`. */
async function* streamEvaluated(view: FigureView, json: Bytes, isDrawn = false): Bytes {
  if (!hasTransforms(view.figure)) {
    yield* json
    return
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of json) {
    size += chunk.length
    if (size > MAX_TRANSFORMED_BYTES)
      throw new Problem(
        'too_large',
        `the figure has transforms and more than ${formatBytes(MAX_TRANSFORMED_BYTES)} of data`,
        { hint: 'Evaluate the transforms before, or show fewer rows.' },
      )
    chunks.push(chunk)
  }
  const { visibleRanges: ranges, file, limits, isAborted } = view
  yield await evaluateFigure(
    await concatAsync(chunks),
    { isDrawn, visibleRanges: ranges },
    { owner: file.owner, limits, isAborted },
  )
}

/** Minimum size of a figure that is downsampled. Smaller ones have few points. */
const MIN_DOWNSAMPLED_BYTES = 64 * 1024

/** Evaluates the transforms of a figure with inline data, and downsamples its large traces. Returns JSON. */
export async function prepareForDrawing(figure: RawJson, request: EvaluationRequest): Promise<Buffer> {
  if (!hasTransforms(figure) && figure.end - figure.start < MIN_DOWNSAMPLED_BYTES) return figure.bytes
  return evaluateFigure(figure.bytes, { isDrawn: true }, request)
}

/** Returns whether any trace has transforms. */
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
 * Returns whether transforms show a part of grids that the caller may not read: the result is theirs to see, and not the
 * columns, with the rows that a condition leaves out.
 */
export function hidesRows({ figure, references, grids }: FigureView): boolean {
  return (
    hasTransforms(figure) &&
    references.some(({ source }) => grids.get(formatFid(source.grid))?.isReadable === false)
  )
}

/** Reads a figure with its data, after its transforms. Throws `too_large`. */
export async function readEvaluatedFigure(view: FigureView): Promise<RawJson> {
  const text = await readWholeFigure(view, MAX_TRANSFORMED_BYTES, streamWithData)
  if (!text)
    throw new Problem('too_large', `the figure has more than ${formatBytes(MAX_TRANSFORMED_BYTES)} of data`)
  return new RawJson(text, 0, text.length, view.figure.limits)
}

/**
 * Streams the figure for drawing, as JSON with its data. Traces with missing data get empty arrays (without
 * arrays, plotly.js would number the points), and a note names the missing columns.
 */
export function streamForDrawing(view: FigureView): Bytes {
  return streamEvaluated(view, streamWithNotes(view), true)
}

/** Streams the figure with data and notes, but without evaluating transforms. */
async function* streamWithNotes(view: FigureView): Bytes {
  const { grids, figure, references, downsampling: reduction } = view
  const missing = references.filter((reference) => !hasData(view, reference))
  const broken = new Set(missing.map(tracePathOf))
  const inlined = references.filter((reference) => !broken.has(tracePathOf(reference)))
  const empty = references.filter((reference) => broken.has(tracePathOf(reference)))
  const blobs = createBatchReader(grids, inlined)
  const note = describeMissingData(view)
  const notes = [
    ...(note === undefined ? [] : [createMissingNote(note)]),
    ...(reduction ? [createPointsNote(reduction.drawn, reduction.of)] : []),
  ]
  for (const part of splitAtData(figure, inlined, empty, notes)) {
    if (shouldYield()) await yieldToEventLoop()
    if (Buffer.isBuffer(part)) yield part
    else {
      const rows = isPerPoint(part.attribute) ? reduction?.rows.get(tracePathOf(part)) : undefined
      yield* rows ? streamSelectedRows(grids, part, rows) : streamReferencedData(grids, part, blobs)
      if (rows && part.attribute === 'y' && reduction?.numbered.has(tracePathOf(part)))
        yield Buffer.from(`,"x":[${[...rows].join(',')}]`)
    }
  }
}

/** Returns whether all columns of a reference exist and are readable. */
function hasData({ grids }: FigureView, { source: { grid, uids } }: Reference): boolean {
  const columns = grids.get(formatFid(grid))?.columns
  return columns !== undefined && uids.every((uid) => columns.has(uid))
}

/** Returns the path of the trace of a reference: `data.0`. */
function tracePathOf({ path, attribute }: Reference): string {
  return path.slice(0, -attribute.length - 1)
}

/** Describes the missing data of a plot, with known column names; undefined if nothing is missing. */
export function describeMissingData(view: FigureView): string | undefined {
  const missing = view.references.filter((reference) => !hasData(view, reference))
  if (missing.length === 0) return undefined
  const names = new Set<string>()
  let hasUnknown = false
  for (const { source } of missing) {
    const grid = view.grids.get(formatFid(source.grid))
    for (const uid of source.uids) {
      if (grid?.columns.has(uid)) continue
      const name = grid?.removedColumns.get(uid)
      if (name === undefined) hasUnknown = true
      else names.add(name)
    }
  }
  if (names.size === 0) return 'No data: the data of this chart is no longer available'
  const columns = `${names.size === 1 ? 'the column' : 'the columns'} ${formatList([...names], 5)}`
  return `No data: ${columns}${hasUnknown ? ' and others' : ''} no longer ${names.size + (hasUnknown ? 1 : 0) === 1 ? 'exists' : 'exist'}`
}

/** Returns the minimum size of a figure with its data, in bytes. */
function minSizeOf({ figure, grids, references, downsampling }: FigureView): number {
  let size = figure.end - figure.start
  for (const reference of references) {
    const { source, sibling } = reference
    if (downsampling?.rows.has(tracePathOf(reference))) continue
    const columns = grids.get(formatFid(source.grid))?.columns
    if (!columns || !source.uids.every((uid) => columns.has(uid))) continue
    if (sibling) size -= sibling.end - sibling.start
    for (const uid of source.uids) for (const { bytes } of columns.get(uid)!.slices) size += bytes
  }
  return size
}

/** Reads a figure with its data into memory; undefined if it is larger than `maxBytes` after transforms. */
export async function readWholeFigure(
  view: FigureView,
  maxBytes: number,
  write: (view: FigureView) => Bytes = streamForDrawing,
): Promise<Buffer | undefined> {
  if (!hasTransforms(view.figure) && minSizeOf(view) > maxBytes) return undefined
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of write(view)) {
    size += chunk.length
    if (size > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Streams the figure, with inline data or a data map of unreadable grids. */
async function* streamWithOptions(
  view: FigureView,
  isInline: boolean,
  isMapped: boolean,
): AsyncGenerator<Uint8Array> {
  const { grids, figure, references } = view
  const withColumns = references.filter((reference) => hasData(view, reference))
  const inlined = isInline ? withColumns : []
  const blobs = createBatchReader(grids, inlined)
  // Insert `map_data` before the closing brace.
  const open = isMapped ? new RawJson(figure.buf, figure.start, figure.end - 1, figure.limits) : figure
  for (const part of splitAtData(open, inlined)) {
    if (shouldYield()) await yieldToEventLoop()
    if (Buffer.isBuffer(part)) yield part
    else yield* streamReferencedData(grids, part, blobs)
  }
  if (!isMapped) return
  yield Buffer.from(`${figure.members().next().done ? '' : ','}"map_data":{`)
  const mapped = new Map(
    (hidesRows(view) ? [] : withColumns)
      .filter(({ source }) => !grids.get(formatFid(source.grid))!.isReadable)
      .map((reference) => [reference.text, reference]),
  )
  let first = true
  for (const reference of mapped.values()) {
    yield Buffer.from(`${first ? '' : ','}${JSON.stringify(reference.text)}:`)
    first = false
    yield* streamReferencedData(grids, reference)
  }
  yield Buffer.from('}}')
}
