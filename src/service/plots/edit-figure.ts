/** Parses figures, and edits their JSON text without changing the rest of it. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { escapeMarkup } from '../../contract/plotly-markup.ts'
import {
  decodeStringAsync,
  parseRawAsync,
  RawJson,
  skipWhitespace,
  yieldToEventLoop,
} from '../../json/index.ts'
import { type ColumnSource, type DataArray, type Reference, type ScanResult, scanFigure } from './scan.ts'
import { decodeTypedArray } from './typed-arrays.ts'

/** Part of a figure: text, or a reference to be replaced by its data. */
export type FigurePart = Buffer | Reference

/**
 * Replacement of buf[start, end) by `parts`. Without parts, the member is removed together with its comma.
 */
interface TextEdit<P = FigurePart> {
  start: number
  end: number
  parts: readonly P[]
}

/** Parses a figure and checks the types of `data`, `layout` and `frames`. Throws `invalid_request`. */
export async function parseFigure(figure: RawJson): Promise<RawJson> {
  const parsed =
    figure.kind === 'string'
      ? await parseRawAsync(await decodeStringAsync(figure), 'figure', figure.limits)
      : figure
  if (parsed.kind !== 'object') throw createFigureError('figure', 'must be an object')
  for (const name of ['data', 'frames']) {
    const list = parsed.get(name)
    if (list === undefined || list.kind === 'null') continue
    if (list.kind !== 'array') throw createFigureError(`figure.${name}`, 'must be an array')
    let k = 0
    for (const item of list.items()) {
      await yieldToEventLoop()
      if (item.kind !== 'object' && !(name === 'frames' && item.kind === 'null'))
        throw createFigureError(`figure.${name}.${k}`, 'must be an object')
      k++
    }
  }
  const layout = parsed.get('layout')
  if (layout && layout.kind !== 'object' && layout.kind !== 'null')
    throw createFigureError('figure.layout', 'must be an object')
  return parsed
}

function createFigureError(path: string, why: string): Problem {
  return new Problem('invalid_request', `${path}: ${why}`, { field: 'figure', path })
}

/** Returns the references among the members of a scan. */
export function referencesOf(members: readonly ScanResult[]): Reference[] {
  return members.filter((one) => one.kind === 'reference')
}

/** Lists the sources of all references in a stored figure. */
export function listSources(figure: RawJson): ColumnSource[] {
  return referencesOf(scanFigure(figure)).map(({ source }) => source)
}

/** Returns the columns that a figure refers to, as `fid:uid`. */
export function listColumnsOf(figure: RawJson): Set<string> {
  return new Set(
    listSources(figure).flatMap(({ grid, uids }) => uids.map((uid) => `${formatFid(grid)}:${uid}`)),
  )
}

/** Converts data arrays to plain JSON. Throws if the decoded typed arrays exceed `maxBytes` in total. */
export async function decodeArrays(
  data: readonly DataArray[],
  maxBytes: number,
): Promise<{ name: string; data: RawJson }[]> {
  const arrays: { name: string; data: RawJson }[] = []
  let left = maxBytes
  for (const { kind, value, path } of data) {
    const array = kind === 'typed' ? await decodeTypedArray(value, `figure.${path}`, left, maxBytes) : value
    if (array !== value) left -= array.end - array.start
    arrays.push({ name: path, data: array })
  }
  return arrays
}

/** Returns the data arrays among the members of a scan: plain and typed ones. */
export function splitArrays(members: readonly ScanResult[]): { arrays: DataArray[]; typed: DataArray[] } {
  const ofKind = (kind: DataArray['kind']): DataArray[] =>
    members.filter((item): item is DataArray => item.kind === kind)
  return { arrays: ofKind('array'), typed: ofKind('typed') }
}

/**
 * Replaces data arrays by references. `refer` returns the reference for a path; undefined keeps the array.
 */
export function replaceArrays(
  figure: RawJson,
  members: readonly ScanResult[],
  refer: (path: string) => string | undefined,
): Buffer {
  const replaced = new Set(
    members.filter(({ kind }) => kind === 'array' || kind === 'typed').map(({ path }) => path),
  )
  const edits = members.flatMap((item): TextEdit<Buffer>[] => {
    const { path, name, start, end } = item
    const reference = refer(path)
    // If an array has a reference too, the array wins: the figure was downloaded with data and then edited.
    if (item.kind === 'reference' || item.kind === 'empty')
      return replaced.has(path) ? [{ start, end, parts: [] }] : []
    return reference === undefined
      ? []
      : [{ start, end, parts: [formatMember(`${name}src`, JSON.stringify(reference))] }]
  })
  return Buffer.concat([...applyEdits(figure, edits)])
}

/**
 * Removes what ties the result of transforms, as `evaluateFigure` writes it, to its grids: the references that have their
 * data beside them, and the options from which the chart was made, which name columns.
 */
export function detachResult(figure: RawJson): RawJson {
  const edits = referencesOf(scanFigure(figure)).flatMap(({ sibling, start, end }) =>
    sibling ? [{ start, end, parts: [] }] : [],
  )
  const spec = getMember(getMember(getMember(figure, 'layout'), 'meta'), 'spec')
  if (spec) edits.push({ start: figure.buf.lastIndexOf('"spec"', spec.start), end: spec.end, parts: [] })
  const text = Buffer.concat([...applyEdits<Buffer>(figure, edits)])
  return new RawJson(text, 0, text.length, figure.limits)
}

function getMember(object: RawJson | undefined, name: string): RawJson | undefined {
  return object?.kind === 'object' ? object.get(name) : undefined
}

/** Replaces the grids in references. `replace` returns the new grid; undefined keeps the reference. */
export function replaceGrids(figure: RawJson, replace: (grid: Fid) => Fid | undefined): Buffer {
  const edits = referencesOf(scanFigure(figure)).flatMap(({ source, text, value }): TextEdit<Buffer>[] => {
    const grid = replace(source.grid)
    if (!grid) return []
    const star = text.trimEnd().endsWith('*') ? '*' : ''
    const replacement = `${grid.owner}:${grid.idlocal}:${source.uids.join(',')}${star}`
    return [{ start: value.start, end: value.end, parts: [Buffer.from(JSON.stringify(replacement))] }]
  })
  return Buffer.concat([...applyEdits(figure, edits)])
}

/**
 * Splits a figure into parts, with a part for the data of each reference. References in `empty` get an empty
 * array. Appends `notes` to the annotations.
 */
export function splitAtData(
  figure: RawJson,
  references: readonly Reference[],
  empty: readonly Reference[] = [],
  notes: readonly object[] = [],
): Generator<FigurePart> {
  const insert = (reference: Reference, data: FigurePart): TextEdit => {
    const { name, end, sibling } = reference
    // A data attribute that is already present is replaced.
    if (sibling) return { ...sibling, parts: [data] }
    return { start: end, end, parts: [Buffer.from(`,${JSON.stringify(name)}:`), data] }
  }
  return applyEdits(figure, [
    ...references.map((reference) => insert(reference, reference)),
    ...empty.map((reference) => insert(reference, EMPTY_ARRAY)),
    ...(notes.length === 0 ? [] : [createNotesEdit(figure, notes)]),
  ])
}

const EMPTY_ARRAY = Buffer.from('[]')

/** Creates the annotation for missing data, above the chart on the left. */
export function createMissingNote(note: string): object {
  return {
    ...ABOVE_CHART,
    text: escapeMarkup(note),
    x: 0,
    xanchor: 'left',
    align: 'left',
    font: { size: 13 },
  }
}

/** Creates the annotation with the number of drawn points, above the chart on the right. */
export function createPointsNote(points: number, total: number): object {
  const text = `shows ${points.toLocaleString('en')} of ${total.toLocaleString('en')} points`
  return {
    ...ABOVE_CHART,
    yanchor: 'top',
    name: POINTS_NOTE_NAME,
    text,
    x: 1,
    xanchor: 'right',
    align: 'right',
    opacity: 0.7,
    font: { size: 11 },
  }
}

const ABOVE_CHART = { xref: 'paper', yref: 'paper', y: 1, yanchor: 'bottom', showarrow: false }
/** Name of the annotation. Pages recognize by it that they can load more points. */
const POINTS_NOTE_NAME = 'gridline-points'

/** Creates the edit that appends annotations to a figure. */
function createNotesEdit(figure: RawJson, notes: readonly object[]): TextEdit {
  const annotation = notes.map((note) => JSON.stringify(note)).join(',')
  const layout = figure.get('layout')
  if (layout?.kind !== 'object') return createAppendEdit(figure, `"layout":{"annotations":[${annotation}]}`)
  const annotations = layout.get('annotations')
  return annotations?.kind === 'array'
    ? createAppendEdit(annotations, annotation)
    : createAppendEdit(layout, `"annotations":[${annotation}]`)
}

/** Creates the edit that appends a member to an object, or an item to an array. */
function createAppendEdit(json: RawJson, text: string): TextEdit {
  const isEmpty = (json.kind === 'array' ? json.items() : json.members()).next().done === true
  const offset = json.end - 1
  return { start: offset, end: offset, parts: [Buffer.from(`${isEmpty ? '' : ','}${text}`)] }
}

function formatMember(name: string, value: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${value}`)
}

/** Applies edits to the text of a figure. All other bytes are unchanged. */
function* applyEdits<P>({ buf, start, end }: RawJson, edits: readonly TextEdit<P>[]): Generator<P | Buffer> {
  let copied = start
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    // Skip edits inside a replaced part.
    if (edit.start < copied) continue
    let copyUntil = edit.start
    let resumeAt = edit.end
    if (edit.parts.length === 0) {
      const comma = startOfBlanks(buf, copyUntil) - 1
      if (comma >= copied && buf[comma] === 0x2c) copyUntil = comma
      else {
        const after = skipWhitespace(buf, resumeAt)
        if (buf[after] === 0x2c) resumeAt = after + 1
      }
    }
    if (copyUntil > copied) yield buf.subarray(copied, copyUntil)
    yield* edit.parts
    copied = resumeAt
  }
  if (end > copied) yield buf.subarray(copied, end)
}

/** Returns the start of the white space before `at`. */
function startOfBlanks(buf: Uint8Array, at: number): number {
  let i = at
  while (buf[i - 1] === 0x20 || buf[i - 1] === 0x0a || buf[i - 1] === 0x0d || buf[i - 1] === 0x09) i--
  return i
}
