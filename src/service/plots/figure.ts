/** Parses figures, and edits their JSON text without changing the rest of it. */
import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import { breathe, parseRawInTurns, type RawJson, skipBlanks, textInTurns } from '../../json/index.ts'
import { type Data, type Found, type Reference, type Source, scanFigure } from './scan.ts'
import { decodeTyped } from './typed-arrays.ts'

/** Part of a figure: text, or a reference to be replaced by its data. */
export type Part = Buffer | Reference

/**
 * Replacement of buf[start, end) by `parts`. Without parts, the member is removed together with its comma.
 */
interface Edit {
  start: number
  end: number
  parts: readonly Part[]
}

/** Parses a figure and checks the types of `data`, `layout` and `frames`. Throws `invalid_request`. */
export async function readFigure(figure: RawJson): Promise<RawJson> {
  const parsed =
    figure.kind === 'string'
      ? await parseRawInTurns(await textInTurns(figure), 'figure', figure.limits)
      : figure
  if (parsed.kind !== 'object') throw wrong('figure', 'must be an object')
  for (const name of ['data', 'frames']) {
    const list = parsed.get(name)
    if (list === undefined || list.kind === 'null') continue
    if (list.kind !== 'array') throw wrong(`figure.${name}`, 'must be an array')
    let k = 0
    for (const item of list.items()) {
      await breathe()
      if (item.kind !== 'object' && !(name === 'frames' && item.kind === 'null'))
        throw wrong(`figure.${name}.${k}`, 'must be an object')
      k++
    }
  }
  const layout = parsed.get('layout')
  if (layout && layout.kind !== 'object' && layout.kind !== 'null')
    throw wrong('figure.layout', 'must be an object')
  return parsed
}

function wrong(path: string, why: string): Problem {
  return new Problem('invalid_request', `${path}: ${why}`, { field: 'figure', path })
}

/** Returns the references among the members of a scan. */
export function referencesOf(members: readonly Found[]): Reference[] {
  return members.filter((one) => one.kind === 'reference')
}

/** Lists the sources of all references in a stored figure. */
export function sourcesIn(figure: RawJson): Source[] {
  return referencesOf(scanFigure(figure)).map(({ source }) => source)
}

/** Converts data arrays to plain JSON. Throws if the decoded typed arrays exceed `maxBytes` in total. */
export async function plainArrays(
  data: readonly Data[],
  maxBytes: number,
): Promise<{ name: string; data: RawJson }[]> {
  const arrays: { name: string; data: RawJson }[] = []
  let left = maxBytes
  for (const { kind, value, path } of data) {
    const array = kind === 'typed' ? await decodeTyped(value, `figure.${path}`, left, maxBytes) : value
    if (array !== value) left -= array.end - array.start
    arrays.push({ name: path, data: array })
  }
  return arrays
}

/** Returns the data arrays among the members of a scan: plain and typed ones. */
export function rawArrays(members: readonly Found[]): { arrays: Data[]; typed: Data[] } {
  const ofKind = (kind: Data['kind']): Data[] => members.filter((item): item is Data => item.kind === kind)
  return { arrays: ofKind('array'), typed: ofKind('typed') }
}

/**
 * Replaces data arrays by references. `refer` returns the reference for a path; undefined keeps the array.
 */
export function withReferences(
  figure: RawJson,
  members: readonly Found[],
  refer: (path: string) => string | undefined,
): Buffer {
  const replaced = new Set(
    members.filter(({ kind }) => kind === 'array' || kind === 'typed').map(({ path }) => path),
  )
  const edits = members.flatMap((item): Edit[] => {
    const { path, name, start, end } = item
    const reference = refer(path)
    // If an array has a reference too, the array wins: the figure was downloaded with data and then edited.
    if (item.kind === 'reference' || item.kind === 'empty')
      return replaced.has(path) ? [{ start, end, parts: [] }] : []
    return reference === undefined
      ? []
      : [{ start, end, parts: [member(`${name}src`, JSON.stringify(reference))] }]
  })
  return Buffer.concat([...edited(figure, edits)] as Buffer[])
}

/** Replaces the grids in references. `replace` returns the new grid; undefined keeps the reference. */
export function withGrids(figure: RawJson, replace: (grid: Fid) => Fid | undefined): Buffer {
  const edits = referencesOf(scanFigure(figure)).flatMap(({ source, text, value }): Edit[] => {
    const grid = replace(source.grid)
    if (!grid) return []
    const star = text.trimEnd().endsWith('*') ? '*' : ''
    const replacement = `${grid.owner}:${grid.idlocal}:${source.uids.join(',')}${star}`
    return [{ start: value.start, end: value.end, parts: [Buffer.from(JSON.stringify(replacement))] }]
  })
  return Buffer.concat([...edited(figure, edits)] as Buffer[])
}

/**
 * Splits a figure into parts, with a part for the data of each reference. References in `empty` get an empty
 * array. Appends `notes` to the annotations.
 */
export function withData(
  figure: RawJson,
  references: readonly Reference[],
  empty: readonly Reference[] = [],
  notes: readonly object[] = [],
): Generator<Part> {
  const insert = (reference: Reference, data: Part): Edit => {
    const { name, end, twin: sibling } = reference
    // A data attribute that is already present is replaced.
    if (sibling) return { ...sibling, parts: [data] }
    return { start: end, end, parts: [Buffer.from(`,${JSON.stringify(name)}:`), data] }
  }
  return edited(figure, [
    ...references.map((reference) => insert(reference, reference)),
    ...empty.map((reference) => insert(reference, NO_DATA)),
    ...(notes.length === 0 ? [] : [notesIn(figure, notes)]),
  ])
}

const NO_DATA = Buffer.from('[]')

/** Creates the annotation for missing data, above the chart on the left. */
export function missingAnnotation(note: string): object {
  return { ...ABOVE, text: escapedMarkup(note), x: 0, xanchor: 'left', align: 'left', font: { size: 13 } }
}

/** Creates the annotation with the number of drawn points, above the chart on the right. */
export function pointsNote(points: number, total: number): object {
  const text = `shows ${points.toLocaleString('en')} of ${total.toLocaleString('en')} points`
  return {
    ...ABOVE,
    yanchor: 'top',
    name: POINTS_NOTE,
    text,
    x: 1,
    xanchor: 'right',
    align: 'right',
    opacity: 0.7,
    font: { size: 11 },
  }
}

const ABOVE = { xref: 'paper', yref: 'paper', y: 1, yanchor: 'bottom', showarrow: false }
/** Name of the annotation. Pages recognize by it that they can load more points. */
const POINTS_NOTE = 'gridline-points'

/** Creates the edit that appends annotations to a figure. */
function notesIn(figure: RawJson, notes: readonly object[]): Edit {
  const annotation = notes.map((note) => JSON.stringify(note)).join(',')
  const layout = figure.get('layout')
  if (layout?.kind !== 'object') {
    const isEmpty = figure.members().next().done === true
    const offset = figure.end - 1
    const added = `${isEmpty ? '' : ','}"layout":{"annotations":[${annotation}]}`
    return { start: offset, end: offset, parts: [Buffer.from(added)] }
  }
  const annotations = layout.get('annotations')
  if (annotations?.kind !== 'array') {
    const isEmpty = layout.members().next().done === true
    const offset = layout.end - 1
    return {
      start: offset,
      end: offset,
      parts: [Buffer.from(`${isEmpty ? '' : ','}"annotations":[${annotation}]`)],
    }
  }
  const isEmpty = annotations.items().next().done === true
  const offset = annotations.end - 1
  return { start: offset, end: offset, parts: [Buffer.from(`${isEmpty ? '' : ','}${annotation}`)] }
}

function member(name: string, value: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${value}`)
}

/** Applies edits to the text of a figure. All other bytes are unchanged. */
function* edited({ buf, start, end }: RawJson, edits: readonly Edit[]): Generator<Part> {
  let copied = start
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    // Skip edits inside a replaced part.
    if (edit.start < copied) continue
    let copyUntil = edit.start
    let resumeAt = edit.end
    if (edit.parts.length === 0) {
      const comma = blanksBefore(buf, copyUntil) - 1
      if (comma >= copied && buf[comma] === 0x2c) copyUntil = comma
      else {
        const after = skipBlanks(buf, resumeAt)
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
function blanksBefore(buf: Uint8Array, at: number): number {
  let i = at
  while (buf[i - 1] === 0x20 || buf[i - 1] === 0x0a || buf[i - 1] === 0x0d || buf[i - 1] === 0x09) i--
  return i
}
