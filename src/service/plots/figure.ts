import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { parseRaw, type RawJson } from '../../ingest/index.ts'
import { dataAttributes } from './data.ts'
import { decodeTyped, isTyped } from './typed.ts'

/** `owner:idlocal:uid[,uid…][*]`: columns of one grid. Reference 2.4. */
export interface Source {
  grid: Fid
  uids: string[]
}

/** Where in a figure something stands. */
export interface Place {
  /** From the figure: `data.0.marker.color`. */
  path: string
  /** From its trace: `marker.color`. */
  attribute: string
  /** The type of the trace. */
  type: string
}

/** An array of data in a trace. */
export interface RawArray extends Place {
  values: RawJson
}

/** Members of an object as they are to be written; values as text, or a part that comes later. */
export type Part = Buffer | { source: Source; place: Place; text: string }

/** What becomes of members of traces; undefined leaves one as it is. */
interface Visitor {
  /** A member ending in `src` that names columns. `beside`: names of the other members. */
  reference?(source: Source, text: string, place: Place, beside: ReadonlySet<string>): Part[] | undefined
  /** Whether the plain member beside a reference gives way to it. */
  givesWay?(source: Source): boolean
  /** An array where data belongs, or a typed array there. */
  data?(value: RawJson, place: Place): Part[] | undefined
}

/** The figure of a body: `data`, `layout`, `frames` are what they must be. */
export function readFigure(figure: RawJson): RawJson {
  const whole = figure.kind === 'string' ? parseRaw(Buffer.from(figure.value() as string), 'figure') : figure
  if (whole.kind !== 'object') throw wrong('figure', 'must be an object')
  const members = whole.entries()
  for (const name of ['data', 'frames']) {
    const list = members.get(name)
    if (list === undefined || list.kind === 'null') continue
    if (list.kind !== 'array') throw wrong(`figure.${name}`, 'must be an array')
    let k = 0
    for (const item of list.items()) {
      if (item.kind !== 'object' && !(name === 'frames' && item.kind === 'null'))
        throw wrong(`figure.${name}.${k}`, 'must be an object')
      k++
    }
  }
  const layout = members.get('layout')
  if (layout && layout.kind !== 'object' && layout.kind !== 'null')
    throw wrong('figure.layout', 'must be an object')
  return whole
}

function wrong(path: string, why: string): Problem {
  return new Problem('invalid_request', `${path}: ${why}`, { field: 'figure', path })
}

/** `alice:3:0f12ab,c0ffee`; undefined for what is no reference at all. */
export function readSource(text: string): Source | undefined {
  const match = /^([A-Za-z0-9._-]+):(\d{1,15}):([^:\0]*)$/.exec(text.trim())
  if (!match) return undefined
  // What a star at the end meant is not known any more; it changes nothing here.
  const uids = match[3]
    .replace(/\*$/, '')
    .split(',')
    .map((uid) => uid.trim())
  return { grid: { owner: match[1], idlocal: Number(match[2]) }, uids }
}

/** Walks all traces of `data` and `frames`; everything else of the figure is kept byte for byte. */
export function walk(figure: RawJson, visitor: Visitor): Part[] {
  const members = figure.entries()
  const types: string[] = []
  for (const trace of members.get('data')?.kind === 'array' ? members.get('data')!.items() : [])
    types.push(typeOf(trace) ?? 'scatter')
  return object(figure, (name, value) => {
    if (name === 'data' && value.kind === 'array')
      return list(value, (trace, k) => walkTrace(trace, `data.${k}`, types[k], visitor))
    if (name === 'frames' && value.kind === 'array')
      return list(value, (frame, k) => walkFrame(frame, `frames.${k}`, types, visitor))
    return undefined
  })
}

function walkFrame(frame: RawJson, path: string, types: string[], visitor: Visitor): Part[] {
  if (frame.kind !== 'object') return [frame.bytes]
  // A frame's traces change those of the figure, one by one or as `traces` says.
  const traces = frame.entries().get('traces')
  const targets = traces?.kind === 'array' ? (traces.value() as unknown[]) : undefined
  return object(frame, (name, value) =>
    name === 'data' && value.kind === 'array'
      ? list(value, (trace, k) =>
          trace.kind === 'object'
            ? walkTrace(
                trace,
                `${path}.data.${k}`,
                typeOf(trace) ?? types[Number(targets?.[k] ?? k)] ?? 'scatter',
                visitor,
              )
            : [trace.bytes],
        )
      : undefined,
  )
}

function typeOf(trace: RawJson): string | undefined {
  const type = trace.entries().get('type')
  return type?.kind === 'string' ? (type.value() as string) : undefined
}

function walkTrace(trace: RawJson, at: string, type: string, visitor: Visitor): Part[] {
  const known = dataAttributes(type)
  const inside = (value: RawJson, attribute: string): Part[] => {
    const all = value.entries()
    const names = new Set(all.keys())
    return object(value, (name, member) => {
      const twinSource = visitor.givesWay && all.get(`${name}src`)
      if (twinSource?.kind === 'string') {
        const source = readSource(twinSource.value() as string)
        if (source && visitor.givesWay!(source)) return []
      }
      const own = attribute === '' ? name : `${attribute}.${name}`
      const place = (path: string): Place => ({ path: `${at}.${path}`, attribute: path, type })
      if (name.endsWith('src') && name.length > 3 && member.kind === 'string') {
        const twin = own.slice(0, -3)
        const text = member.value() as string
        const source = readSource(text)
        if (source) return visitor.reference?.(source, text, place(twin), names)
        if (text !== '' && known.has(twin))
          throw wrong(
            `figure.${at}.${own}`,
            `not a reference to columns of a grid: ${JSON.stringify(text.slice(0, 80))}`,
          )
        return undefined
      }
      if (known.has(own) && (member.kind === 'array' || isTyped(member)))
        return visitor.data?.(member, place(own))
      if (member.kind === 'object') return inside(member, own)
      if (member.kind === 'array' && holdsObjects(member))
        return list(member, (item, k) =>
          item.kind === 'object' ? inside(item, `${own}.${k}`) : [item.bytes],
        )
      return undefined
    })
  }
  return inside(trace, '')
}

function holdsObjects(value: RawJson): boolean {
  for (const item of value.items()) return item.kind === 'object'
  return false
}

const COMMA = Buffer.from(',')

/** An object, its members as `change` returns them: a value, or as they were. */
function object(value: RawJson, change: (name: string, member: RawJson) => Part[] | undefined): Part[] {
  const parts: Part[] = [Buffer.from('{')]
  for (const [name, member] of value.entries()) {
    const changed = change(name, member)
    if (changed?.length === 0) continue
    if (parts.length > 1) parts.push(COMMA)
    if (!(changed && changed[0] === MEMBERS)) parts.push(Buffer.from(`${JSON.stringify(name)}:`))
    // One by one: a figure has more parts than a call takes arguments.
    for (const part of changed ?? [member.bytes]) if (part !== MEMBERS) parts.push(part)
  }
  parts.push(Buffer.from('}'))
  return parts
}

/** Marks what a visitor returns as whole members, name and all. */
const MEMBERS = Buffer.from('')

/** Members to stand in the place of one. */
export function members(...parts: Part[]): Part[] {
  return [MEMBERS, ...parts]
}

function list(value: RawJson, change: (item: RawJson, k: number) => Part[]): Part[] {
  const parts: Part[] = [Buffer.from('[')]
  let k = 0
  for (const item of value.items()) {
    if (k > 0) parts.push(COMMA)
    for (const part of change(item, k++)) parts.push(part)
  }
  parts.push(Buffer.from(']'))
  return parts
}

/** The parts as one text; none of them may be still to come. */
export function joined(parts: readonly Part[]): Buffer {
  return Buffer.concat(parts as readonly Buffer[])
}

/** All references of a figure, in the order they stand. */
export function sourcesIn(figure: RawJson): { source: Source; place: Place }[] {
  const found: { source: Source; place: Place }[] = []
  walk(figure, {
    reference(source, _, place) {
      found.push({ source, place })
      return undefined
    },
  })
  return found
}

/** The first array of data, or undefined where the figure has references only. */
export function rawArrays(figure: RawJson): { arrays: RawArray[]; typed: RawArray[] } {
  const arrays: RawArray[] = []
  const typed: RawArray[] = []
  walk(figure, {
    data(value, place) {
      if (value.kind === 'array') arrays.push({ ...place, values: value })
      else typed.push({ ...place, values: decodeTyped(value, `figure.${place.path}`) })
      return undefined
    },
  })
  return { arrays, typed }
}

/** The figure with arrays replaced by references: `refer` names the columns of a path. */
export function withReferences(figure: RawJson, refer: (path: string) => string | undefined): Buffer {
  return joined(
    walk(figure, {
      // An array beside its reference is what counts: it was read with its data and has been changed since.
      reference: (_source, _text, place, beside) =>
        refer(place.path) !== undefined && beside.has(last(place.attribute)) ? [] : undefined,
      data(_value, place) {
        const reference = refer(place.path)
        if (reference === undefined) return undefined
        return members(
          Buffer.from(`${JSON.stringify(`${last(place.attribute)}src`)}:${JSON.stringify(reference)}`),
        )
      },
    }),
  )
}

/** The figure with other grids in its references. */
export function withGrids(figure: RawJson, other: (grid: Fid) => Fid | undefined): Buffer {
  return joined(
    walk(figure, {
      reference(source, text) {
        const grid = other(source.grid)
        if (!grid) return undefined
        const star = text.trimEnd().endsWith('*') ? '*' : ''
        return [Buffer.from(JSON.stringify(`${grid.owner}:${grid.idlocal}:${source.uids.join(',')}${star}`))]
      },
    }),
  )
}

/** The figure in parts, each reference followed by a part for its data. */
export function withPlacesForData(figure: RawJson, shown: (source: Source) => boolean): Part[] {
  return walk(figure, {
    givesWay: shown,
    reference(source, text, place) {
      if (!shown(source)) return undefined
      const name = last(place.attribute)
      return members(
        Buffer.from(`${JSON.stringify(`${name}src`)}:${JSON.stringify(text)},${JSON.stringify(name)}:`),
        { source, place, text },
      )
    },
  })
}

/** What a reference's data is written under: of `marker.color` `color`. */
export function last(attribute: string): string {
  return attribute.slice(attribute.lastIndexOf('.') + 1)
}
