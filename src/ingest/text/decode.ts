// Decodes text of any encoding to UTF-8, and rejects binary files.
import { isAscii, isUtf8 } from 'node:buffer'
import type { Problem } from '../../contract/errors.ts'
import { asBuffer, type Bytes, peek } from '../../json/index.ts'
import { countNewlines } from '../kernel/index.ts'
import { LF, QUOTE } from '../values/characters.ts'
import { badData, badFile, type Warnings } from '../values/warnings.ts'
import { createDecoder, type Decoder, guessLegacyEncoding, resolveEncoding } from './encoding.ts'

/** First bytes of binary formats, and how messages name them. */
const BINARY_SIGNATURES: [string, string][] = [
  ['PK\x03\x04', 'a ZIP archive or an Office document'],
  ['FEA1', 'a Feather file of version 1'],
  ['SQLite format 3\0', 'an SQLite database'],
  ['%PDF', 'a PDF'],
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['\xd0\xcf\x11\xe0', 'an old Office document'],
  ['\xfd7zXZ', 'compressed with xz'],
  ['7z\xbc\xaf', 'a 7z archive'],
  ['\x7fELF', 'a program'],
]

/**
 * Converts text to UTF-8 without byte order mark, NUL bytes and a final Ctrl-Z. Without `requested`, detects
 * byte order marks and UTF-16, and guesses the encoding of bytes that are not valid UTF-8. Throws for binary
 * data, and with `isJson` at the first NUL byte.
 */
export async function* decodeToUtf8(
  source: Bytes,
  requested: string | undefined,
  name: string,
  warnings: Warnings,
  isJson = false,
): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(source, 4096)
  const encoding = requested ? resolveEncoding(requested) : detectEncoding(head, name)
  if (encoding === 'utf-8') {
    const lines: LineCount = { seen: 1 }
    yield* removeCtrlZ(
      passUtf8OrGuess(
        removeNulBytes(whole, lines, name, warnings, isJson),
        lines,
        requested !== undefined,
        name,
        warnings,
      ),
      warnings,
    )
    return
  }
  if (!requested && encoding !== 'utf-8') warnings.note(`read as ${encoding.toUpperCase()}`)
  yield* removeCtrlZ(decodeStrict(whole, encoding, name), warnings)
}

const NUL = 0
const CTRL_Z = 0x1a

/** Line number at the end of the bytes read so far. */
interface LineCount {
  seen: number
}

/** Removes NUL bytes. One before a double quote is an escape, and becomes a quote. */
async function* removeNulBytes(
  source: Bytes,
  lines: LineCount,
  name: string,
  warnings: Warnings,
  isJson: boolean,
): AsyncGenerator<Uint8Array> {
  let pending = false
  for await (const bytes of source) {
    const chunk = asBuffer(bytes)
    const first = lines.seen
    let line = first
    lines.seen += countNewlines(chunk)
    if (!pending && !chunk.includes(NUL)) {
      yield chunk
      continue
    }
    if (isJson)
      throw badData(
        name,
        { line: first + countNewlines(chunk.subarray(0, chunk.indexOf(NUL))) },
        'a NUL byte, which JSON does not allow',
        'Write the character as \\u0000.',
      )
    const out = Buffer.allocUnsafe(chunk.length + 1)
    let at = 0
    for (const c of chunk) {
      if (c === 0x0a) line++
      if (pending && c === QUOTE) out[at++] = QUOTE
      if (c === NUL) {
        warnings.countLine(line, 'NUL bytes were removed, or read as escapes before quotes')
      } else out[at++] = c
      pending = c === NUL
    }
    // More NUL bytes than a text has.
    if (chunk.length > 1000 && at < chunk.length * (1 - MAX_NUL_SHARE))
      throw binaryFileError(chunk, 0, first, name)
    yield out.subarray(0, at)
  }
}

/** Removes a final Ctrl-Z, with which old programs end a text, and line ends after it. */
async function* removeCtrlZ(source: Bytes, warnings: Warnings): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array | undefined
  for await (const chunk of source) {
    let end = chunk.length
    while (end > 0 && (chunk[end - 1] === 0x0a || chunk[end - 1] === 0x0d)) end--
    if (pending && end === 0) {
      pending = Buffer.concat([pending, chunk])
      continue
    }
    if (pending) yield pending
    pending = undefined
    if (end > 0 && chunk[end - 1] === CTRL_Z) {
      pending = chunk.slice(end - 1)
      yield chunk.subarray(0, end - 1)
    } else yield chunk
  }
  if (pending) warnings.note('the Ctrl-Z at the end of the file was removed')
}

/** Detects the encoding from the first bytes. Throws `bad_data` for known binary formats, markup and SQL. */
function detectEncoding(head: Buffer, name: string): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const start = head.toString('latin1')
  const signature = BINARY_SIGNATURES.find(([magic]) => start.startsWith(magic))
  if (signature) {
    throw badFile(name, `this is ${signature[1]}, not delimited text`, 'Export it as CSV first.')
  }
  const markup = /^(?:\xef\xbb\xbf)?\s*<(!doctype html|html|table|\?xml)\b/i
    .exec(start.slice(0, 200))?.[1]
    .toLowerCase()
  if (markup) {
    const isPage = markup !== '?xml'
    const what = isPage ? 'an HTML page' : 'an XML file'
    throw badFile(
      name,
      `this is ${what}, not delimited text`,
      `Export the table as CSV, or save it as .xlsx.${isPage ? ' To import its charts: gridline import.' : ''}`,
    )
  }
  if (isSqlDump(start))
    throw badFile(
      name,
      'this is an SQL dump, not delimited text',
      'Export the table as CSV, for example with: \\copy TABLE to table.csv csv header',
    )
  if (!head.includes(0)) return 'utf-8'
  // ASCII text in UTF-16: every other byte is zero.
  const zeros = [0, 0]
  for (let i = 0; i < head.length; i++) if (head[i] === 0) zeros[i & 1]++
  const half = head.length / 2
  for (const [encoding, high] of [
    ['utf-16le', 1],
    ['utf-16be', 0],
  ] as const) {
    const mostly = zeros[high] > half * 0.6 && zeros[1 - high] < half * 0.1
    if (mostly && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(new TextDecoder(encoding).decode(head)))
      return encoding
  }
  // Text with a few NUL bytes has no other control characters.
  const nul = head.filter((c) => c === NUL).length
  if (
    nul <= Math.max(MAX_NUL_IN_SHORT_TEXT, head.length * MAX_NUL_SHARE) &&
    !/[\u0001-\u0008\u000e-\u0019\u001c-\u001f]/.test(start)
  )
    return 'utf-8'
  throw binaryFileError(head, 0, 1, name)
}

/** Returns whether a text begins like a database dump. */
function isSqlDump(start: string): boolean {
  return (
    /^(?:\xef\xbb\xbf)?\s*(?:--|\/\*|(?:COPY|INSERT\s+INTO|CREATE\s+TABLE|BEGIN|SET|PRAGMA|DROP\s+TABLE)\b)/i.test(
      start,
    ) &&
    /^(?:-- (?:PostgreSQL|MySQL|MariaDB) |COPY\s.+\sFROM\s+stdin|INSERT\s+INTO\s.+\sVALUES\b|CREATE\s+TABLE\s)/im.test(
      start,
    )
  )
}

/** Maximum share of NUL bytes in a text. */
const MAX_NUL_SHARE = 0.05
/** Maximum number of NUL bytes in a short text, whatever their share. */
const MAX_NUL_IN_SHORT_TEXT = 2

/** Creates the error for a NUL byte. `line`: line number at the start of `chunk`. */
function binaryFileError(chunk: Uint8Array, at: number, line: number, name: string): Problem {
  const zero = chunk.indexOf(0, at)
  return badData(
    name,
    { line: line + countNewlines(chunk.subarray(0, Math.max(0, zero))) },
    'a NUL byte: this is a binary file, not delimited text',
    'Export the data as CSV. If it is text, give --encoding.',
  )
}

/** Decodes bytes of a known encoding. Throws `bad_data` for invalid bytes. */
async function* decodeStrict(source: Bytes, encoding: string, name: string): AsyncGenerator<Uint8Array> {
  const decoder = await createDecoder(encoding, true)
  let line = 1
  const decode = (chunk?: Uint8Array): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk))
    } catch {
      const where = chunk ? `between line ${line} and line ${line + countNewlines(chunk)}` : 'at the end'
      throw badFile(name, `invalid ${encoding} bytes ${where}`, 'Give another --encoding, or fix the file.')
    }
  }
  for await (const chunk of source) {
    const text = decode(chunk)
    if (text.includes(0)) throw binaryFileError(text, 0, line, name)
    line += countNewlines(text)
    yield text
  }
  yield decode()
}

/** Size of the sample from which an encoding is guessed. */
const GUESS_SAMPLE_BYTES = 64 * 1024
/** Maximum bytes kept of the line before the first invalid byte. */
const MAX_LINE_START_BYTES = 4096

/** Passes valid UTF-8 through. If the first non-ASCII byte is invalid, guesses the encoding from there. */
async function* passUtf8OrGuess(
  source: Bytes,
  lines: LineCount,
  isRequested: boolean,
  name: string,
  warnings: Warnings,
): AsyncGenerator<Uint8Array> {
  let first = true
  let unicode = isRequested
  let latin: Decoder | undefined
  let rest: Buffer = Buffer.alloc(0)
  /** Start of the current line: the encoding is guessed from whole lines, however chunks divide them. */
  let begun: Buffer = Buffer.alloc(0)
  const chunks = source[Symbol.asyncIterator]()
  const read = async (): Promise<Uint8Array | undefined> => {
    const { value, done } = await chunks.next()
    return done ? undefined : value
  }
  for (let bytes = await read(); bytes; bytes = await read()) {
    let chunk = rest.length > 0 ? Buffer.concat([rest, bytes]) : asBuffer(bytes)
    rest = Buffer.alloc(0)
    if (first && chunk.length >= 3) {
      first = false
      if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) {
        chunk = chunk.subarray(3)
        unicode = true
      }
    } else if (first) {
      rest = chunk
      continue
    }
    if (latin) {
      yield Buffer.from(latin.decode(chunk))
      continue
    }
    const cut = wholeCharactersLength(chunk)
    const body = chunk.subarray(0, cut)
    if (isUtf8(body)) {
      rest = chunk.subarray(cut)
      if (!unicode) unicode = !isAscii(body)
      const end = body.lastIndexOf(LF) + 1
      begun = Buffer.concat([end > 0 ? Buffer.alloc(0) : begun, body.subarray(end)]).subarray(
        -MAX_LINE_START_BYTES,
      )
      yield body
      continue
    }
    const line = lines.seen - countNewlines(chunk)
    const more = [chunk]
    for (let size = chunk.length - findInvalidByte(body); size < GUESS_SAMPLE_BYTES; ) {
      const next = await read()
      if (!next) break
      more.push(asBuffer(next))
      size += next.length
    }
    chunk = Buffer.concat(more)
    latin = await createFallbackDecoder(chunk, begun, unicode, line, name, warnings)
    yield Buffer.from(latin.decode(chunk))
  }
  if (rest.length > 0 && isUtf8(rest)) yield rest
  else if (rest.length > 0) {
    latin ??= await createFallbackDecoder(rest, begun, unicode, lines.seen, name, warnings)
    yield Buffer.from(latin.decode(rest) + latin.decode())
  } else if (latin) yield Buffer.from(latin.decode())
}

/** Creates a decoder of the most likely encoding. Throws if valid UTF-8 characters came before. */
async function createFallbackDecoder(
  body: Buffer,
  begun: Buffer,
  unicode: boolean,
  line: number,
  name: string,
  warnings: Warnings,
): Promise<Decoder> {
  const at = findInvalidByte(body)
  const where = line + countNewlines(body.subarray(0, at))
  const lineStart = body.lastIndexOf(0x0a, at) + 1
  const text = Buffer.from(new TextDecoder('windows-1252').decode(body.subarray(lineStart, at + 20)))
  if (unicode || !isAscii(body.subarray(0, at))) {
    throw badData(
      name,
      { line: where },
      `byte 0x${body[at].toString(16)} is not valid UTF-8, but everything before it is: ${text.toString().split('\n')[0].slice(0, 60)}`,
      'Fix the line. If the whole file uses another encoding, give it, for example --encoding windows-1252.',
    )
  }
  const whole = lineStart > 0 ? body.subarray(lineStart) : Buffer.concat([begun, body])
  const { encoding, alternatives } = await guessLegacyEncoding(whole.subarray(0, GUESS_SAMPLE_BYTES))
  const also =
    alternatives.length > 0
      ? `; also possible: ${alternatives.map((label) => label.toUpperCase()).join(', ')}`
      : ''
  warnings.note(
    `read as ${encoding.toUpperCase()} (guessed: line ${where} is not UTF-8${also}); to set it: --encoding`,
  )
  return createDecoder(encoding)
}

/** Returns the index of the first byte that is not valid UTF-8. */
function findInvalidByte(body: Buffer): number {
  let low = 0
  let high = body.length
  // Binary search for the longest valid prefix. A cut inside a character counts as valid.
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (isUtf8(body.subarray(0, wholeCharactersLength(body.subarray(0, middle))))) low = middle
    else high = middle - 1
  }
  return Math.min(wholeCharactersLength(body.subarray(0, low)), body.length - 1)
}

/** Returns the length of a chunk without an incomplete UTF-8 character at its end. */
function wholeCharactersLength(chunk: Uint8Array): number {
  const { length } = chunk
  for (let back = 1; back <= Math.min(3, length); back++) {
    const c = chunk[length - back]
    if (c < 0x80) return length
    if (c >= 0xc0) {
      const needs = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2
      return needs > back ? length - back : length
    }
  }
  return length
}
