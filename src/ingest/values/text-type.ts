// Detects dates, times and booleans among texts, and converts them.
import { detectMoment, ensureCapacity, excerpt, type Moment, parseJsonString } from '../../json/index.ts'
import type { ScannedMoments } from '../kernel/columns.ts'
import { BACKSLASH, COMMA, LETTER_N, QUOTE, ZERO } from './characters.ts'
import { type DateOrder, type KnownOrders, looksLikeDate, parseDate } from './date.ts'
import { MAX_NUMERIC_DATE_BYTES, parseNumericDate, writeNumericDate } from './numeric-date.ts'

/**
 * Detects dates in typed formats such as Parquet: only ISO 8601, since programs that write these formats use
 * it.
 */
export class IsoTexts {
  private readonly texts = new ExactTexts()

  /** Adds the comma-separated JSON values of a column. `scanMoments`: scans the first ones, with a kernel. */
  add(values: Uint8Array, scanMoments?: () => ScannedMoments | undefined): void {
    const { texts } = this
    let from = 0
    const scanned = texts.canBeMoments ? scanMoments?.() : undefined
    if (scanned) {
      const { bytes, days, times } = scanned
      texts.countMoments(days, times)
      from = bytes
    }
    if (!texts.isDecided) texts.add(values, from, values.length)
  }

  /** Returns the type of the values added so far. */
  get type(): 'text' | Moment {
    return this.texts.result().type as 'text' | Moment
  }
}

/** Conversion of a column's texts to values of its type. */
export type Rewrite = { as: 'boolean' } | { as: 'moment'; order: DateOrder }

/** Detected type of a column's texts. See docs/formats.md#types. */
export interface DetectedTextType {
  type: 'text' | 'boolean' | Moment
  /** Order of day and month, by a decisive value or as given. */
  order?: DateOrder
  /** Set if the stored values differ from the texts. */
  rewrite?: Rewrite
  /** First value whose stored form differs. */
  written?: string
  /** Whether all are dates that can be read with the day or the month first. */
  isUndecided?: boolean
}

/** Maximum length of a text that can be a date. */
const MAX_DATE_BYTES = 64
/** Maximum number of cached readings: the same days occur again and again. */
const MAX_CACHED_READINGS = 4096

/** A date that is not ISO 8601, read with the day and with the month first. */
interface DateReading {
  dmy: string | undefined
  mdy: string | undefined
  moment: Moment
  /** Texts of different forms do not agree: `/`, `.`, `-`, `year` or `name`. */
  form: string
}

/**
 * Detects whether a column's texts are dates, times, booleans or plain text. Add all values in order. A value
 * that contradicts those before makes the column text. Memory is constant.
 */
export class TextType {
  private isText = false
  private isBoolean = false
  private moment: Moment | undefined
  private form: string | undefined
  /** Whether all values can be read with the day or month first, and whether any reading differs. */
  private canBeDmy = true
  private canBeMdy = true
  private differ = false
  private isRewritten = false
  private written: string | undefined
  private readonly readings = new Map<string, DateReading>()
  /** Number of values that agree. */
  count = 0
  /**
   * Value that made the column text: its row in the call of `add`, its text, and the type of those before.
   */
  broken?: { row: number; text: string; before: 'boolean' | Moment }

  /**
   * `orders`: the known orders of day and month. `emptyIsNull`: empty texts are missing values, as in delimited files.
   */
  constructor(
    private readonly orders: KnownOrders,
    private readonly emptyIsNull: boolean,
    /** Whether dates and booleans that would be stored in another form are kept as text. */
    private readonly asWritten = false,
  ) {}

  /** Order of day and month that is known for texts of this form. */
  get knownOrder(): DateOrder {
    return this.form === '.' ? this.orders.dotted : this.orders.usual
  }

  /** Returns whether the column is text, whatever values follow. */
  get isDecided(): boolean {
    return this.isText
  }

  /** Returns whether the stored form of the values so far differs, if the following values agree. */
  get hasRewrites(): boolean {
    return !this.isText && (this.isRewritten || (this.isBoolean && this.count > 0))
  }

  /** Returns whether ISO 8601 days and times without zone agree with all values so far. */
  get canBeMoments(): boolean {
    return (
      !this.isText && !this.isBoolean && (this.form ?? 'iso') === 'iso' && this.moment !== 'datetime-zone'
    )
  }

  /** Counts values: ISO 8601 days, and days with times without zone. Requires `canBeMoments`. */
  countMoments(days: number, times: number): void {
    if (days + times === 0) return
    this.count += days + times
    this.form = 'iso'
    // A day among times is its first moment.
    this.moment = times > 0 ? 'datetime' : (this.moment ?? 'date')
  }

  /** Makes the column text: it has values that are not text. */
  markAsText(): void {
    this.isText = true
  }

  /** Adds the comma-separated JSON values in buf[from, to). */
  add(buf: Uint8Array, from: number, to: number): void {
    for (let i = from, row = 0; i < to && !this.isText; row++) {
      const start = i
      if (buf[i] === LETTER_N) i += 4
      else if (buf[i] !== QUOTE) {
        this.isText = true
        return
      } else {
        i++
        while (i < to && buf[i] !== QUOTE && buf[i] !== BACKSLASH && i - start <= MAX_DATE_BYTES) i++
        const fits = buf[i] === QUOTE && (i > start + 1 ? this.addText(buf, start + 1, i) : this.addEmpty())
        if (!fits) {
          this.isText = true
          if (this.count > 0)
            this.broken = {
              row,
              text: decodeExcerpt(buf, start + 1, findExcerptEnd(buf, i, to)),
              before: this.isBoolean ? 'boolean' : this.moment!,
            }
          return
        }
        i++
      }
      // The next value, after a comma.
      while (i < to && buf[i] !== COMMA) i++
      i++
    }
  }

  private addEmpty(): boolean {
    if (this.emptyIsNull) this.isRewritten = true
    return this.emptyIsNull
  }

  /** Adds a text. Returns whether it agrees with those before. */
  private addText(buf: Uint8Array, start: number, end: number): boolean {
    const isFirst = this.count === 0
    if (isFirst) this.isBoolean = parseBooleanBytes(buf, start, end) !== undefined
    if (this.isBoolean && this.asWritten && !isLowerCase(buf, start, end)) return false
    if (this.isBoolean) {
      if (parseBooleanBytes(buf, start, end) === undefined) return false
      this.count++
      return true
    }
    const moment = detectMoment(buf, start, end)
    if (moment) {
      if (this.form !== undefined && this.form !== 'iso') return false
      this.form = 'iso'
      return this.addMoment(moment)
    }
    if (this.asWritten || (isFirst && !canBeDate(buf, start, end))) return false
    // Fast path: most other dates are numeric. Their ISO text is only built in `convertTexts`.
    const numbers = parseNumericDate(buf, start, end)
    const reading = numbers ?? readDate(buf, start, end, this.readings)
    const { dmy, mdy, form } = reading
    if (this.form !== undefined && this.form !== form) return false
    if (!dmy && !mdy) return false
    this.canBeDmy &&= Boolean(dmy)
    this.canBeMdy &&= Boolean(mdy)
    if (!this.canBeDmy && !this.canBeMdy) return false
    this.differ ||= numbers ? numbers.first !== numbers.second : dmy !== mdy
    this.form = form
    this.isRewritten = true
    this.written ??= Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('utf8')
    return this.addMoment('moment' in reading ? reading.moment : reading.hour < 0 ? 'date' : 'datetime')
  }

  /** Returns whether a moment agrees with those before. Days among times are midnight; zones do not mix. */
  private addMoment(moment: Moment): boolean {
    this.count++
    if (this.moment === undefined || this.moment === moment) this.moment = moment
    else if (this.moment === 'datetime-zone' || moment === 'datetime-zone') return false
    else this.moment = 'datetime'
    return true
  }

  /** Returns the type of all values added so far. */
  result(): DetectedTextType {
    if (this.isText || this.count === 0) return { type: 'text' }
    if (this.isBoolean) return { type: 'boolean', rewrite: { as: 'boolean' } }
    const { canBeDmy, canBeMdy, differ, written, knownOrder } = this
    const type = this.moment!
    const isUndecided = canBeDmy && canBeMdy && differ
    if (isUndecided && knownOrder === undefined) return { type: 'text', isUndecided, written }
    const order = !canBeDmy ? 'mdy' : !canBeMdy ? 'dmy' : isUndecided ? knownOrder : undefined
    if (!this.isRewritten) return { type }
    return { type, order, rewrite: { as: 'moment', order: order ?? 'dmy' }, written }
  }
}

/** Types of texts that are kept as they are: ISO 8601 days and times have their types, all others are text. */
export class ExactTexts extends TextType {
  constructor() {
    super({ usual: undefined, dotted: undefined }, false)
  }

  override get hasRewrites(): boolean {
    return false
  }

  override result(): DetectedTextType {
    const { type, rewrite } = super.result()
    return { type: rewrite || type === 'boolean' ? 'text' : type }
  }
}

/** Returns the beginning of a JSON string's value. buf[start, end): the string without quotes. */
function decodeExcerpt(buf: Uint8Array, start: number, end: number): string {
  const text = excerpt(buf.subarray(start, end))
  try {
    return parseJsonString(`"${text}"`)
  } catch {
    return text
  }
}

/** Returns the end of a string, or of its first bytes. */
function findExcerptEnd(buf: Uint8Array, from: number, to: number): number {
  let i = from
  while (i < to && i < from + MAX_DATE_BYTES && buf[i] !== QUOTE) i += buf[i] === BACKSLASH ? 2 : 1
  return Math.min(i, to)
}

function isLowerCase(buf: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((buf[i] & 0x20) === 0) return false
  return true
}

/** Parses `true` and `false` in any case. */
function parseBooleanBytes(buf: Uint8Array, start: number, end: number): boolean | undefined {
  const length = end - start
  if (length !== 4 && length !== 5) return undefined
  const word = length === 4 ? TRUE : FALSE
  for (let k = 0; k < length; k++) if ((buf[start + k] | 0x20) !== word[k]) return undefined
  return length === 4
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

/** Returns whether a text can be a date: it has a digit, and is not too short. */
function canBeDate(buf: Uint8Array, start: number, end: number): boolean {
  if (end - start < 8) return false
  for (let i = start; i < end; i++) if (buf[i] >= ZERO && buf[i] <= 0x39) return true
  return false
}

/** Returns the type of a date or time in ISO 8601. */
function momentTypeOf(iso: string): Moment {
  if (iso.length === 10) return 'date'
  return /(?:Z|[+-]\d\d:?\d\d)$/.test(iso) ? 'datetime-zone' : 'datetime'
}

/** Reads a text that is not ISO 8601. */
function readDate(buf: Uint8Array, start: number, end: number, cache: Map<string, DateReading>): DateReading {
  const text = Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('utf8')
  const cached = cache.get(text)
  if (cached) return cached
  // Loading month names of all languages is slow, so only texts with a four-digit year are parsed.
  const isDate = /\d{4}/.test(text) && looksLikeDate(text)
  const clear = (order: DateOrder): string | undefined => {
    if (!isDate) return undefined
    const date = parseDate(text, order)
    return date === 'ambiguous' || date?.startsWith('0000') ? undefined : date
  }
  const [dmy, mdy] = [clear('dmy'), clear('mdy')]
  const reading = { dmy, mdy, moment: momentTypeOf(dmy ?? mdy ?? ''), form: dateFormOf(text) }
  if (cache.size >= MAX_CACHED_READINGS) cache.clear()
  cache.set(text, reading)
  return reading
}

/** Returns the form of a date: year first, month name, or the separator of its numbers. */
function dateFormOf(text: string): string {
  const trimmed = text.trim()
  if (/^\d{4}-\d{2}-\d{2}/.test(trimmed)) return 'iso'
  if (/^\d{4}/.test(trimmed)) return 'year'
  return /^\d{1,2}([-/.\s])\s?\d{1,2}[-/.\s]/.exec(trimmed)?.[1] ?? 'name'
}

/**
 * Converts the values of a column to its type. `text`: JSON whose values were all added to the `TextType`.
 */
export function convertTexts(text: Uint8Array, rewrite: Rewrite): Buffer {
  let out: Buffer = Buffer.allocUnsafe(Math.max(64, text.length + (text.length >> 2)))
  let to = 0
  const cache = new Map<string, DateReading>()
  const write = (value: string): void => {
    out = ensureCapacity(out, to, value.length + 1)
    to += out.write(value, to, 'latin1')
  }
  for (let i = 0; i < text.length; ) {
    if (to > 0) {
      out = ensureCapacity(out, to, 1)
      out[to++] = COMMA
    }
    if (text[i] !== QUOTE) {
      write('null')
      while (i < text.length && text[i] !== COMMA) i++
      i++
      continue
    }
    const start = i + 1
    let end = start
    while (text[end] !== QUOTE) end++
    if (end === start) write('null')
    else if (rewrite.as === 'boolean') write(parseBooleanBytes(text, start, end) ? 'true' : 'false')
    else if (detectMoment(text, start, end)) {
      out = ensureCapacity(out, to, end - start + 2)
      for (let k = start - 1; k <= end; k++) out[to++] = text[k]
    } else if (parseNumericDate(text, start, end)) {
      out = ensureCapacity(out, to, MAX_NUMERIC_DATE_BYTES)
      to = writeNumericDate(out, to, rewrite.order)
    } else write(`"${readDate(text, start, end, cache)[rewrite.order ?? 'dmy']}"`)
    i = end + 1
    while (i < text.length && text[i] !== COMMA) i++
    i++
  }
  return out.subarray(0, to)
}
