import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { breathe, parseRawInTurns, type RawJson, skipBlanks, textInTurns } from '../../json/index.ts'
import { type Data, type Found, type Reference, type Source, scanFigure } from './scan.ts'
import { decodeTyped } from './typed-arrays.ts'

/** A piece of a figure: text as it stands, or the data of a reference, which comes later. */
export type Part = Buffer | Reference

/** What becomes of a stretch of the figure; a member without parts goes, its comma with it. */
interface Edit {
  start: number
  end: number
  parts: readonly Part[]
}

/** The figure of a body: `data`, `layout`, `frames` are what they must be. */
export async function readFigure(figure: RawJson): Promise<RawJson> {
  const whole = figure.kind === 'string' ? await parseRawInTurns(await textInTurns(figure), 'figure') : figure
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

/** All references among what was found. */
export function referencesOf(found: readonly Found[]): Reference[] {
  return found.filter((one) => one.kind === 'reference')
}

/** All references of a figure that is stored. */
export function sourcesIn(figure: RawJson): Source[] {
  return referencesOf(scanFigure(figure)).map(({ source }) => source)
}

/** The values of arrays of data, typed ones as plain ones whose text is no longer than `most` bytes together. */
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

/** Arrays of data, plain and typed. */
export function rawArrays(found: readonly Found[]): { arrays: Data[]; typed: Data[] } {
  const of = (kind: Data['kind']): Data[] => found.filter((one): one is Data => one.kind === kind)
  return { arrays: of('array'), typed: of('typed') }
}

/** The figure with arrays replaced by references: `refer` names the columns of a path. */
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
    // An array beside its reference is what counts: it was read with its data and has been changed since.
    if (one.kind === 'reference' || one.kind === 'empty')
      return replaced.has(path) ? [{ start, end, parts: [] }] : []
    return reference === undefined
      ? []
      : [{ start, end, parts: [member(`${name}src`, JSON.stringify(reference))] }]
  })
  return Buffer.concat([...edited(figure, edits)] as Buffer[])
}

/** The figure with other grids in its references. */
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

/** The figure in parts: beside each of these references a part for its data. */
export function withData(figure: RawJson, references: readonly Reference[]): Generator<Part> {
  const edits = references.map((reference): Edit => {
    const { name, end, twin } = reference
    if (twin) return { ...twin, parts: [reference] }
    return { start: end, end, parts: [Buffer.from(`,${JSON.stringify(name)}:`), reference] }
  })
  return edited(figure, edits)
}

function member(name: string, value: string): Buffer {
  return Buffer.from(`${JSON.stringify(name)}:${value}`)
}

/** The text of the figure with these edits in it; all else stays byte for byte. */
function* edited({ buf, start, end }: RawJson, edits: readonly Edit[]): Generator<Part> {
  let done = start
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    // Inside of what has been replaced.
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

/** Where the white space before `at` begins. */
function blanksBefore(buf: Uint8Array, at: number): number {
  let i = at
  while (buf[i - 1] === 0x20 || buf[i - 1] === 0x0a || buf[i - 1] === 0x0d || buf[i - 1] === 0x09) i--
  return i
}
