import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { escapedMarkup } from '../../contract/markup.ts'
import { breathe, parseRawInTurns, type RawJson, skipBlanks, textInTurns } from '../../json/index.ts'
import { type Data, type Found, type Reference, type Source, scanFigure } from './scan.ts'
import { decodeTyped } from './typed-arrays.ts'

/** A part of a figure: text, or a reference to be replaced by its data. */
export type Part = Buffer | Reference

/** Replaces buf[start, end) by `parts`. Without parts, the member is removed together with its comma. */
interface Edit {
  start: number
  end: number
  parts: readonly Part[]
}

/** Parses a figure and checks the types of `data`, `layout` and `frames`. */
export async function readFigure(figure: RawJson): Promise<RawJson> {
  const whole =
    figure.kind === 'string'
      ? await parseRawInTurns(await textInTurns(figure), 'figure', figure.limits)
      : figure
  if (whole.kind !== 'object') throw wrong('figure', 'must be an object')
  for (const name of ['data', 'frames']) {
    const list = whole.get(name)
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
  const layout = whole.get('layout')
  if (layout && layout.kind !== 'object' && layout.kind !== 'null')
    throw wrong('figure.layout', 'must be an object')
  return whole
}

function wrong(path: string, why: string): Problem {
  return new Problem('invalid_request', `${path}: ${why}`, { field: 'figure', path })
}

/** The references among the survey results. */
export function referencesOf(found: readonly Found[]): Reference[] {
  return found.filter((one) => one.kind === 'reference')
}

/** The sources of all references in a stored figure. */
export function sourcesIn(figure: RawJson): Source[] {
  return referencesOf(scanFigure(figure)).map(({ source }) => source)
}

/** Data arrays as plain JSON. Decodes typed arrays. Throws if all together exceed `most` bytes. */
export async function plainArrays(
  data: readonly Data[],
  most: number,
): Promise<{ name: string; data: RawJson }[]> {
  const plain: { name: string; data: RawJson }[] = []
  let left = most
  for (const { kind, value, path } of data) {
    const one = kind === 'typed' ? await decodeTyped(value, `figure.${path}`, left, most) : value
    if (one !== value) left -= one.end - one.start
    plain.push({ name: path, data: one })
  }
  return plain
}

/** The data arrays among the survey results, plain and typed. */
export function rawArrays(found: readonly Found[]): { arrays: Data[]; typed: Data[] } {
  const of = (kind: Data['kind']): Data[] => found.filter((one): one is Data => one.kind === kind)
  return { arrays: of('array'), typed: of('typed') }
}

/** Replaces data arrays by references. `refer` returns the reference for a path. */
export function withReferences(
  figure: RawJson,
  found: readonly Found[],
  refer: (path: string) => string | undefined,
): Buffer {
  const replaced = new Set(
    found.filter(({ kind }) => kind === 'array' || kind === 'typed').map(({ path }) => path),
  )
  const edits = found.flatMap((one): Edit[] => {
    const { path, name, start, end } = one
    const reference = refer(path)
    // If both an array and its reference are present, the array wins: it was downloaded and then edited.
    if (one.kind === 'reference' || one.kind === 'empty')
      return replaced.has(path) ? [{ start, end, parts: [] }] : []
    return reference === undefined
      ? []
      : [{ start, end, parts: [member(`${name}src`, JSON.stringify(reference))] }]
  })
  return Buffer.concat([...edited(figure, edits)] as Buffer[])
}

/** Replaces the grids in references. Those for which `other` returns undefined stay. */
export function withGrids(figure: RawJson, other: (grid: Fid) => Fid | undefined): Buffer {
  const edits = referencesOf(scanFigure(figure)).flatMap(({ source, text, value }): Edit[] => {
    const grid = other(source.grid)
    if (!grid) return []
    const star = text.trimEnd().endsWith('*') ? '*' : ''
    const to = `${grid.owner}:${grid.idlocal}:${source.uids.join(',')}${star}`
    return [{ start: value.start, end: value.end, parts: [Buffer.from(JSON.stringify(to))] }]
  })
  return Buffer.concat([...edited(figure, edits)] as Buffer[])
}

/**
 * Splits a figure into parts, with a part for the data next to each of these references. Those that are `empty` get an
 * empty list. `notes` are added to the annotations of the chart.
 */
export function withData(
  figure: RawJson,
  references: readonly Reference[],
  empty: readonly Reference[] = [],
  notes: readonly object[] = [],
): Generator<Part> {
  const beside = (reference: Reference, data: Part): Edit => {
    const { name, end, twin } = reference
    // The span of a twin is that of its value.
    if (twin) return { ...twin, parts: [data] }
    return { start: end, end, parts: [Buffer.from(`,${JSON.stringify(name)}:`), data] }
  }
  return edited(figure, [
    ...references.map((reference) => beside(reference, reference)),
    ...empty.map((reference) => beside(reference, NO_DATA)),
    ...(notes.length === 0 ? [] : [notesIn(figure, notes)]),
  ])
}

const NO_DATA = Buffer.from('[]')

/** What a chart does not show, above it on the left. */
export function missingAnnotation(note: string): object {
  return { ...ABOVE, text: escapedMarkup(note), x: 0, xanchor: 'left', align: 'left', font: { size: 13 } }
}

/** How many points are drawn, above the chart on the right. */
export function pointsNote(points: number, of: number): object {
  const text = `shows ${points.toLocaleString('en')} of ${of.toLocaleString('en')} points`
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
/** The name of the annotation, by which a page knows that it can read more points. */
const POINTS_NOTE = 'gridline-points'

/** Adds annotations to a figure. */
function notesIn(figure: RawJson, notes: readonly object[]): Edit {
  const annotation = notes.map((note) => JSON.stringify(note)).join(',')
  const layout = figure.get('layout')
  if (layout?.kind !== 'object') {
    const isEmpty = figure.members().next().done === true
    const at = figure.end - 1
    const added = `${isEmpty ? '' : ','}"layout":{"annotations":[${annotation}]}`
    return { start: at, end: at, parts: [Buffer.from(added)] }
  }
  const annotations = layout.get('annotations')
  if (annotations?.kind !== 'array') {
    const isEmpty = layout.members().next().done === true
    const at = layout.end - 1
    return {
      start: at,
      end: at,
      parts: [Buffer.from(`${isEmpty ? '' : ','}"annotations":[${annotation}]`)],
    }
  }
  const isEmpty = annotations.items().next().done === true
  const at = annotations.end - 1
  return { start: at, end: at, parts: [Buffer.from(`${isEmpty ? '' : ','}${annotation}`)] }
}

function member(name: string, value: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${value}`)
}

/** Applies edits to the text of a figure. Everything else stays byte for byte the same. */
function* edited({ buf, start, end }: RawJson, edits: readonly Edit[]): Generator<Part> {
  let done = start
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    // Skip edits inside a part that was already replaced.
    if (edit.start < done) continue
    let upTo = edit.start
    let next = edit.end
    if (edit.parts.length === 0) {
      const comma = blanksBefore(buf, upTo) - 1
      if (comma >= done && buf[comma] === 0x2c) upTo = comma
      else {
        const after = skipBlanks(buf, next)
        if (buf[after] === 0x2c) next = after + 1
      }
    }
    if (upTo > done) yield buf.subarray(done, upTo)
    yield* edit.parts
    done = next
  }
  if (end > done) yield buf.subarray(done, end)
}

/** The start of the white space before `at`. */
function blanksBefore(buf: Uint8Array, at: number): number {
  let i = at
  while (buf[i - 1] === 0x20 || buf[i - 1] === 0x0a || buf[i - 1] === 0x0d || buf[i - 1] === 0x09) i--
  return i
}
