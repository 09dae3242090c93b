/** Finds the references and data arrays in a figure. */

import { listDataAttributes } from '../../charts/figure/data-attributes.ts'
import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import type { Limits } from '../../contract/limits.ts'
import {
  decodeMemberName,
  findStringEnd,
  findValueEnd,
  hasEscapes,
  type Member,
  nextItem,
  nextValue,
  RawJson,
  shouldYield,
  skipWhitespace,
  yieldToEventLoop,
} from '../../json/index.ts'

/** A parsed reference `owner:idlocal:uid[,uid…][*]`. See docs/api.md#plot-references. */
export interface ColumnSource {
  grid: Fid
  uids: string[]
}

/** Location of an attribute in a figure. */
export interface AttributeLocation {
  /** Path from the figure: `data.0.marker.color`. */
  path: string
  /** Path from the trace: `marker.color`. */
  attribute: string
  /** Type of the trace. */
  type: string
}

/** Byte range [start, end) of the JSON text. */
interface Span {
  start: number
  end: number
}

/** A member found by a scan. Its span is from the quote of its name to the end of its value. */
interface ScannedMember extends AttributeLocation, Span {
  /** Name of the data attribute: `color`. */
  name: string
  value: RawJson
}

/** A member ending in `src` that refers to columns. Path and attribute are those of its data attribute. */
export interface Reference extends ScannedMember {
  kind: 'reference'
  source: ColumnSource
  text: string
  /** Span of the value of the data attribute beside it, if present. */
  sibling?: Span
}

/** An array, plain or typed, as the value of a data attribute. */
export interface DataArray extends ScannedMember {
  kind: 'array' | 'typed'
}

/** A member ending in `src` that refers to nothing: null or an empty string. */
export interface EmptyReference extends ScannedMember {
  kind: 'empty'
}

export type ScanResult = Reference | DataArray | EmptyReference

/** Limits that apply to figures. */
export type FigureLimits = Pick<Limits, 'figure_columns' | 'figure_traces' | 'json_members'>

/** Parses a reference (`alice:3:0f12ab,c0ffee`); undefined if it is invalid. */
function parseSource(text: string): ColumnSource | undefined {
  const match = /^([A-Za-z0-9._-]+):(\d{1,15}):([^:\0]*)$/.exec(text.trim())
  if (!match) return undefined
  let uidList = match[3]
  // The meaning of a trailing star is undocumented: ignore it.
  if (uidList.endsWith('*')) {
    uidList = uidList.slice(0, -1).trimEnd()
    if (uidList.endsWith(',')) uidList = uidList.slice(0, -1)
  }
  return {
    grid: { owner: match[1], idlocal: Number(match[2]) },
    uids: uidList.split(',').map((uid) => uid.trim()),
  }
}

/**
 * Finds all references and data arrays in the traces of `data` and `frames`, in order. Takes linear time at
 * any depth. Stored figures need no `limits`: they were checked before.
 */
export function scanFigure(figure: RawJson, limits?: FigureLimits): ScanResult[] {
  const steps = scanSteps(figure, limits)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Like `scanFigure`, but yields to the event loop between traces, for large figures. */
export async function scanFigureInTurns(figure: RawJson, limits?: FigureLimits): Promise<ScanResult[]> {
  const steps = scanSteps(figure, limits)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (shouldYield()) await yieldToEventLoop()
  }
}

/** Scans a figure in steps of one trace. */
function* scanSteps(figure: RawJson, limits: FigureLimits | undefined): Generator<void, ScanResult[]> {
  const scanner = new FigureScanner(figure.buf, limits)
  const types: string[] = []
  const members = [...figure.members()]
  yield
  for (const trace of members.findLast(([name]) => name === 'data')?.[1].items() ?? []) {
    types.push(readTraceType(trace) ?? 'scatter')
    if (limits && types.length > limits.figure_traces) throw createTooManyTracesError(limits)
    yield
  }
  for (const [name, list] of members) {
    let k = 0
    if (name === 'data') {
      for (const trace of list.items()) {
        scanner.scanTrace(trace, `data.${k}`, types[k++] ?? 'scatter')
        yield
      }
    } else if (name === 'frames') {
      for (const frame of list.items()) {
        scanFrame(scanner, frame, `frames.${k++}`, types)
        yield
      }
    }
  }
  refuseDuplicates(scanner.found)
  return scanner.found.sort((a, b) => a.start - b.start)
}

/**
 * Throws `invalid_request` if a data attribute is duplicated: JSON parsers disagree on which value counts.
 */
function refuseDuplicates(members: readonly ScanResult[]): void {
  const paths = new Set<string>()
  for (const { kind, path } of members) {
    if (kind === 'reference' || kind === 'empty') continue
    if (paths.has(path)) {
      throw new Problem('invalid_request', `figure.${path}: is duplicated`, {
        field: 'figure',
        path: `figure.${path}`,
      })
    }
    paths.add(path)
  }
}

function createTooManyTracesError({ figure_traces }: FigureLimits): Problem {
  return new Problem('bad_data', `figure: more than ${figure_traces} traces (limit figure_traces)`, {
    field: 'figure',
    hint: 'Split the figure into several plots.',
  })
}

/** Scans a frame. Its traces update those of the figure, in order or as listed in `traces`. */
function scanFrame(scanner: FigureScanner, frame: RawJson, path: string, types: string[]): void {
  const traces = frame.get('traces')
  const targets = traces?.toValue()
  for (const [name, list] of frame.members()) {
    let k = 0
    if (name !== 'data') continue
    for (const trace of list.items()) {
      const type =
        readTraceType(trace) ??
        types[Number((Array.isArray(targets) ? targets[k] : undefined) ?? k)] ??
        'scatter'
      scanner.scanTrace(trace, `${path}.data.${k++}`, type)
    }
  }
}

/** Returns the type of a trace; undefined if it has none. */
function readTraceType(trace: RawJson): string | undefined {
  return readText(trace.get('type'))
}

/** Returns the text of a JSON string; undefined for other values. */
export function readText(json: RawJson | undefined): string | undefined {
  const value = json?.kind === 'string' ? json.toValue() : undefined
  return typeof value === 'string' ? value : undefined
}

/** Maximum length of an attribute path. Paths of all known attributes are shorter. */
const MAX_PATH_CHARACTERS = 200
const MAX_REFERENCE_CHARACTERS = 1024 * 1024

/** Appends a name to an attribute path. Paths beyond the limit end in an ellipsis. */
function appendToPath(attribute: string, name: string): string {
  if (attribute.length + name.length > MAX_PATH_CHARACTERS)
    return attribute.endsWith('…') ? attribute : `${attribute}.…`
  return attribute === '' ? name : `${attribute}.${name}`
}

/** Scans traces (valid JSON objects). Skips over data arrays. */
class FigureScanner {
  readonly found: ScanResult[] = []
  #columns = 0
  #traces = 0
  #tracePath = ''
  #traceType = ''
  #dataAttributes: ReadonlySet<string> = new Set()
  readonly #buf: Buffer
  readonly #limits: FigureLimits | undefined

  constructor(buf: Buffer, limits: FigureLimits | undefined) {
    this.#buf = buf
    this.#limits = limits
  }

  /** Collects the column references of a trace. `path`: its path in the figure. Throws beyond `figure_traces`. */
  scanTrace(trace: RawJson, path: string, type: string): void {
    if (trace.kind !== 'object') return
    if (this.#limits && ++this.#traces > this.#limits.figure_traces)
      throw createTooManyTracesError(this.#limits)
    this.#tracePath = path
    this.#traceType = type
    this.#dataAttributes = listDataAttributes(type)
    this.#scanObject(trace.start, '')
  }

  /** Scans the object at `from`. Returns its end and whether it is a typed array. */
  #scanObject(from: number, attribute: string): { end: number; typed: boolean } {
    const buf = this.#buf
    // Four offsets per member: start and end of its name, start and end of its value.
    const spans: number[] = []
    const maxSpans = 4 * (this.#limits?.json_members ?? Number.POSITIVE_INFINITY)
    const references: Reference[] = []
    let hasBdata = false
    let hasDtype = false
    let i = skipWhitespace(buf, from + 1)
    while (buf[i] !== 0x7d) {
      const nameEnd = findStringEnd(buf, i)
      const value = nextValue(buf, nameEnd)
      const member = { start: i, nameEnd, value, end: 0 }
      const firstByte = buf[value]
      if (firstByte === 0x7b || firstByte === 0x5b) {
        const name = decodeMemberName(buf, member)
        member.end = this.#scanContainer(member, name, appendToPath(attribute, name))
      } else {
        member.end = findValueEnd(buf, value)
        if (nameEnd - i === 7) {
          const name = buf.toString('latin1', i + 1, nameEnd - 1)
          hasBdata ||= name === 'bdata'
          hasDtype ||= name === 'dtype'
        }
        if (canEndInSrc(buf, i, nameEnd)) {
          const reference = this.#readReference(member, attribute)
          if (reference) references.push(reference)
        }
      }
      spans.push(i, nameEnd, value, member.end)
      if (spans.length > maxSpans)
        throw new Problem(
          'bad_data',
          `figure.${[this.#tracePath, attribute].filter(Boolean).join('.')}: more than ${maxSpans / 4} members (limit json_members)`,
          { field: 'figure' },
        )
      i = nextItem(buf, member.end)
    }
    if (references.length > 0) linkSiblings(buf, references, spans)
    return { end: i + 1, typed: hasBdata && hasDtype }
  }

  /** Scans a member whose value is an object or array. Returns its end. */
  #scanContainer({ start, value }: Member, name: string, attribute: string): number {
    const buf = this.#buf
    const mark = (end: number): ScannedMember => this.#createMark({ start, value, end }, name, attribute)
    const isData = this.#dataAttributes.has(attribute)
    // A reference must be a string: refuse an array or object.
    if (name.length > 3 && name.endsWith('src') && this.#dataAttributes.has(attribute.slice(0, -3)))
      throw createReferenceError(
        { ...mark(value), path: mark(value).path.slice(0, -3) },
        buf[value] === 0x5b ? 'array' : 'object',
      )
    if (buf[value] === 0x7b) {
      const before = this.found.length
      const { end, typed } = this.#scanObject(value, attribute)
      if (!isData || !typed) return end
      // Drop the members inside: they are parts of the typed array.
      this.found.length = before
      this.#addMember({ kind: 'typed', ...mark(end) }, 1)
      return end
    }
    if (isData) {
      const end = findValueEnd(buf, value)
      this.#addMember({ kind: 'array', ...mark(end) }, 1)
      return end
    }
    let i = skipWhitespace(buf, value + 1)
    if (buf[i] !== 0x7b) return findValueEnd(buf, value)
    for (let k = 0; buf[i] !== 0x5d; k++) {
      const end =
        buf[i] === 0x7b ? this.#scanObject(i, appendToPath(attribute, String(k))).end : findValueEnd(buf, i)
      i = nextItem(buf, end)
    }
    return i + 1
  }

  /**
   * Parses a member that may be a reference. Throws `invalid_request` for an invalid one of a data attribute.
   */
  #readReference(member: Member, attribute: string): Reference | undefined {
    const name = decodeMemberName(this.#buf, member)
    if (!name.endsWith('src') || name.length === 3) return undefined
    const data = name.slice(0, -3)
    const dataPath = appendToPath(attribute, data)
    const mark = this.#createMark(member, data, dataPath)
    const isData = this.#dataAttributes.has(dataPath)
    const text = readText(mark.value)
    if (text === undefined) {
      if (isData && mark.value.kind !== 'null') throw createReferenceError(mark, mark.value.kind)
      if (isData) this.#addMember({ kind: 'empty', ...mark }, 1)
      return undefined
    }
    const source = text.length <= MAX_REFERENCE_CHARACTERS ? parseSource(text) : undefined
    if (source) {
      const reference: Reference = { kind: 'reference', ...mark, source, text }
      this.#addMember(reference, source.uids.length)
      return reference
    }
    if (text !== '' && isData) throw createReferenceError(mark, JSON.stringify(text.slice(0, 80)))
    if (isData) this.#addMember({ kind: 'empty', ...mark }, 1)
    return undefined
  }

  #createMark(
    { start, value, end }: Span & { value: number },
    name: string,
    attribute: string,
  ): ScannedMember {
    return {
      start,
      end,
      name,
      value: new RawJson(this.#buf, value, end),
      path: `${this.#tracePath}.${attribute}`,
      attribute,
      type: this.#traceType,
    }
  }

  #addMember(member: ScanResult, columns: number): void {
    this.#columns += columns
    const maxColumns = this.#limits?.figure_columns
    if (maxColumns !== undefined && this.#columns > maxColumns) {
      throw new Problem(
        'bad_data',
        `figure.${member.path}: a figure can refer to at most ${maxColumns} columns (limit figure_columns)`,
        { field: 'figure', path: `figure.${member.path}`, hint: 'Split the figure into several plots.' },
      )
    }
    this.found.push(member)
  }
}

function createReferenceError({ path: data }: ScannedMember, value: string): Problem {
  const path = `figure.${data}src`
  return new Problem('invalid_request', `${path}: not a reference to columns of a grid: ${value}`, {
    field: 'figure',
    path,
  })
}

/** Returns whether a name may end in `src`, literally or with escapes. */
function canEndInSrc(buf: Buffer, start: number, nameEnd: number): boolean {
  if (buf[nameEnd - 2] === 0x63 && buf[nameEnd - 3] === 0x72 && buf[nameEnd - 4] === 0x73) return true
  return hasEscapes(buf, start, nameEnd)
}

/**
 * Sets `sibling` of each reference to the span of the data attribute that it replaces. `spans`: four offsets per
 * member of the object: start and end of the name, start and end of the value.
 */
function linkSiblings(buf: Buffer, references: readonly Reference[], spans: readonly number[]): void {
  const byDataName = new Map(references.map((reference) => [reference.name, reference]))
  for (let k = 0; k < spans.length; k += 4) {
    const [start, nameEnd, value, end] = spans.slice(k, k + 4)
    const reference = byDataName.get(decodeMemberName(buf, { start, nameEnd, value, end }))
    if (reference) reference.sibling = { start: value, end }
  }
}
