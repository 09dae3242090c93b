// Column JSON: comma-separated JSON values of one column. Splits and transposes it.
import type { ParsedColumn, Slice } from '../../../ingest/index.ts'
import { convertTexts } from '../../../ingest/slices.ts'
import {
  asBuffer,
  ensureCapacity,
  findValueEnd,
  nextItem,
  type RawJson,
  shouldYield,
  skipWhitespace,
  yieldToEventLoop,
} from '../../../json/index.ts'
import { detectValueType, mergeTypes } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'

export type { ColumnType }

/** Column JSON (comma-separated values), with the number and type of its values. */
export interface ColumnJson {
  rows: number
  type: ColumnType
  text: Buffer
}

/** Returns the type of a column of type `type` after a value is added. */
function extendType(type: ColumnType, buf: Uint8Array, start: number, end: number): ColumnType {
  if (type === 'json' || (type === 'text' && buf[start] === QUOTE)) return type
  return mergeTypes(type, detectValueType(buf, start, end))
}

const QUOTE = 0x22

/**
 * Splits a JSON array into slices that end after the rows `ends`, from 1, and one slice of the remaining
 * rows, for which `ended` is false. Values stay as written.
 */
export function* sliceArray(
  array: RawJson,
  ends: readonly number[],
): Generator<ColumnJson & { ended: boolean }> {
  const { buf } = array
  let next = 0
  let before = 0
  let i = skipWhitespace(buf, array.start + 1)
  while (buf[i] !== 0x5d) {
    const start = i
    let end = i
    let rows = 0
    let type: ColumnType = 'empty'
    while (buf[i] !== 0x5d && before + rows !== ends[next]) {
      end = findValueEnd(buf, i)
      type = extendType(type, buf, i, end)
      rows++
      i = nextItem(buf, end)
    }
    before += rows
    const ended = before === ends[next]
    if (ended) next++
    yield { rows, type, text: asBuffer(buf.subarray(start, end)), ended }
  }
}

/** Collects values of one column. */
class ColumnBuilder {
  private out: Buffer = Buffer.allocUnsafe(1024)
  private at = 0
  rows = 0
  type: ColumnType = 'empty'

  /** Adds one JSON value, buf[start, end). */
  add(buf: Uint8Array, start: number, end: number): void {
    this.out = ensureCapacity(this.out, this.at, end - start + 1)
    if (this.rows > 0) this.out[this.at++] = 0x2c
    for (let i = start; i < end; i++) this.out[this.at++] = buf[i]
    this.type = extendType(this.type, buf, start, end)
    this.rows++
  }

  /** Returns the collected values, and starts again. */
  take(): ColumnJson {
    const values = { rows: this.rows, type: this.type, text: this.out.subarray(0, this.at) }
    this.out = Buffer.allocUnsafe(1024)
    this.at = 0
    this.rows = 0
    this.type = 'empty'
    return values
  }
}

/** Transposes rows to columns. Each body holds comma-separated JSON arrays of `width` values. */
export function transposeRows(bodies: readonly { body: Uint8Array }[], width: number): ColumnJson[] {
  const builders = createBuilders(width)
  for (const { body } of bodies) addRows(builders, body)
  return builders.map((builder) => builder.take())
}

/** Transposes rows to columns like `transposeRows`, and yields to the event loop. */
export async function transposeRowsInTurns(
  bodies: readonly { body: Uint8Array }[],
  width: number,
): Promise<ColumnJson[]> {
  const builders = createBuilders(width)
  for (const { body } of bodies) {
    addRows(builders, body)
    if (shouldYield()) await yieldToEventLoop()
  }
  return builders.map((builder) => builder.take())
}

function createBuilders(width: number): ColumnBuilder[] {
  return Array.from({ length: width }, () => new ColumnBuilder())
}

/** Adds rows (comma-separated JSON arrays, one value per builder) to the builders of their columns. */
function addRows(builders: readonly ColumnBuilder[], buf: Uint8Array): void {
  let i = skipWhitespace(buf, 0)
  while (i < buf.length) {
    i = skipWhitespace(buf, i + 1)
    for (const builder of builders) {
      const end = findValueEnd(buf, i)
      builder.add(buf, i, end)
      i = nextItem(buf, end)
    }
    i = nextItem(buf, i + 1)
  }
}

/** Returns a column JSON that repeats one value `count` times. */
export function repeatValue(value: string, count: number): Buffer {
  return Buffer.from(`${value},`.repeat(count).slice(0, -1))
}

/** Transposes columns to rows: the inverse of `transposeRows`. A missing column becomes nulls. */
export function transposeColumns(texts: readonly (Buffer | undefined)[], rows: number): Buffer[] {
  const at = texts.map(() => 0)
  return Array.from({ length: rows }, () => {
    const cells = texts.map((text, k) => {
      if (!text) return 'null'
      const start = skipWhitespace(text, at[k])
      const end = findValueEnd(text, start)
      at[k] = skipWhitespace(text, end) + 1
      return text.toString('utf8', start, end)
    })
    return Buffer.from(`[${cells.join(',')}]`)
  })
}

/** Returns the values of a parsed slice, encoded for the final type of its column. */
export function toColumnJson({ rows, form, text }: Slice, { rewrite }: ParsedColumn): ColumnJson {
  return { rows, type: form, text: rewrite ? convertTexts(text, rewrite) : text }
}
