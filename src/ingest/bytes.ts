import { isAscii, isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Problem } from '../contract/errors.ts'
import { defaultLimits } from '../contract/limits.ts'
import { type Bytes, joinInTurns } from '../json/index.ts'
import { badData, type Warnings } from './warnings.ts'

type Decoder = InstanceType<typeof TextDecoder>

/** Takes the first `size` bytes (fewer at the end) and gives them back together with the whole stream. */
export async function peek(source: Bytes, size: number): Promise<{ head: Buffer; whole: Bytes }> {
  const iterator = source[Symbol.asyncIterator]()
  const parts: Uint8Array[] = []
  let length = 0
  while (length < size) {
    const { value, done } = await iterator.next()
    if (done) break
    parts.push(value)
    length += value.length
  }
  async function* whole(): AsyncGenerator<Uint8Array> {
    try {
      yield* parts
      parts.length = 0
      for (;;) {
        const { value, done } = await iterator.next()
        if (done) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: await joinInTurns(parts), whole: whole() }
}

/** What a file is that is not text, by its first bytes. */
const signatures: [string, string][] = [
  ['PK\x03\x04', 'a ZIP archive or an Office document'],
  ['PAR1', 'a Parquet file'],
  ['ARROW1', 'an Arrow file'],
  ['SQLite format 3\0', 'an SQLite database'],
  ['%PDF', 'a PDF'],
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['\xd0\xcf\x11\xe0', 'an old Office document'],
  ['BZh', 'compressed with bzip2'],
  ['\xfd7zXZ', 'compressed with xz'],
  ['\x28\xb5\x2f\xfd', 'compressed with zstd'],
  ['7z\xbc\xaf', 'a 7z archive'],
  ['\x7fELF', 'a program'],
]

/** Below this, data that packs well is no bomb but a column of zeros. */
const HARMLESS_BYTES = 16 * 1024 * 1024

/** Whether data grows more when unpacked than honest data does. */
export function isBomb(unpacked: number, packed: number, ratio = defaultLimits.compression_ratio): boolean {
  return unpacked > HARMLESS_BYTES && unpacked > packed * ratio
}

export function bomb(name: string, ratio = defaultLimits.compression_ratio): Problem {
  return badData(
    name,
    {},
    `the data grows more than ${ratio} times when unpacked (limit compression_ratio)`,
    'Unpack it before you upload it.',
  )
}

/** Undoes gzip, seen by its first bytes. */
export async function* gunzip(source: Bytes, name: string): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(source, 2)
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    yield* whole
    return
  }
  const unzip = createGunzip({ chunkSize: 256 * 1024 })
  let unpacked = 0
  const input = Readable.from(whole)
  // A fault of the source comes out as itself, one of the gzip data as bad data.
  input.on('error', (error) => unzip.destroy(error))
  try {
    for await (const chunk of input.pipe(unzip)) {
      unpacked += chunk.length
      // What has gone into it by now, not what waits before it.
      if (isBomb(unpacked, unzip.bytesWritten)) throw bomb(name)
      yield chunk
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    if (!code.startsWith('Z_')) throw error
    const what = code === 'Z_BUF_ERROR' ? 'the gzip data ends too early' : 'the gzip data is damaged'
    throw badData(name, {}, what, 'Fetch or compress the file again.')
  } finally {
    input.destroy()
  }
}

const encodings = new Map([
  ['utf8', 'utf-8'],
  ['utf-8', 'utf-8'],
  ['ascii', 'utf-8'],
  ['latin1', 'windows-1252'],
  ['latin-1', 'windows-1252'],
  ['iso-8859-1', 'windows-1252'],
  ['cp1252', 'windows-1252'],
])

/** The name a decoder knows an encoding by. */
export function encodingNamed(label: string): string {
  const known = encodings.get(label.toLowerCase())
  if (known) return known
  try {
    return new TextDecoder(label).encoding
  } catch {
    throw new Problem('invalid_request', `unknown encoding: ${label}`, {
      field: 'encoding',
      hint: 'Known are utf-8, utf-16le, utf-16be, windows-1252, iso-8859-2, shift_jis, gb18030, euc-kr and the others of the WHATWG encoding standard.',
    })
  }
}

/**
 * Any text to UTF-8 without a byte order mark. Found out: a byte order mark, UTF-16 without one, UTF-8,
 * and Windows-1252 where bytes are no UTF-8. Bytes that are no text at all are refused.
 */
export async function* utf8(
  source: Bytes,
  given: string | undefined,
  name: string,
  warnings: Warnings,
): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(source, 4096)
  const encoding = given ? encodingNamed(given) : guessEncoding(head, name)
  if (encoding === 'utf-8') {
    yield* checkedUtf8(whole, given !== undefined, name, warnings)
    return
  }
  if (!given && encoding !== 'utf-8') warnings.note(`read as ${encoding.toUpperCase()}`)
  yield* decoded(whole, encoding, name)
}

function guessEncoding(head: Buffer, name: string): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const start = head.toString('latin1')
  const known = signatures.find(([magic]) => start.startsWith(magic))
  if (known) {
    throw badData(name, {}, `this is ${known[1]}, not delimited text`, 'Export it as CSV first.')
  }
  if (!head.includes(0)) return 'utf-8'
  // ASCII in UTF-16 has a zero in every other byte.
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
  throw binary(head, 0, 1, name)
}

function binary(chunk: Uint8Array, at: number, line: number, name: string): Problem {
  const zero = chunk.indexOf(0, at)
  return badData(
    name,
    { line: line + newlines(chunk, zero) },
    'a zero byte: this is a binary file, not delimited text',
    'Export the data as CSV, or give --encoding if it is text.',
  )
}

function newlines(chunk: Uint8Array, end: number): number {
  let count = 0
  for (let i = chunk.indexOf(0x0a); i >= 0 && i < end; i = chunk.indexOf(0x0a, i + 1)) count++
  return count
}

async function* decoded(source: Bytes, encoding: string, name: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let line = 1
  const decode = (chunk?: Uint8Array): Buffer => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk !== undefined }))
    } catch {
      const where = chunk
        ? `between line ${line} and line ${line + newlines(chunk, chunk.length)}`
        : 'at the end'
      throw badData(
        name,
        {},
        `bytes that are not ${encoding} ${where}`,
        'Give another --encoding, or mend the file.',
      )
    }
  }
  for await (const chunk of source) {
    const text = decode(chunk)
    if (text.includes(0)) throw binary(text, 0, line, name)
    line += newlines(text, text.length)
    yield text
  }
  yield decode()
}

/** UTF-8 passed on as it is, once it is seen to be; else Windows-1252 from the first byte that is not ASCII. */
async function* checkedUtf8(
  source: Bytes,
  given: boolean,
  name: string,
  warnings: Warnings,
): AsyncGenerator<Uint8Array> {
  let line = 1
  let first = true
  let unicode = given
  let latin: Decoder | undefined
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of source) {
    let chunk = rest.length > 0 ? Buffer.concat([rest, piece]) : asBuffer(piece)
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
    if (chunk.includes(0)) throw binary(chunk, 0, line, name)
    if (latin) {
      yield Buffer.from(latin.decode(chunk, { stream: true }))
      continue
    }
    const cut = wholeCharacters(chunk)
    const body = chunk.subarray(0, cut)
    if (isUtf8(body)) {
      rest = chunk.subarray(cut)
      if (!unicode) unicode = !isAscii(body)
      line += newlines(body, body.length)
      yield body
      continue
    }
    latin = notUtf8(body, unicode, line, name, warnings)
    yield Buffer.from(latin.decode(chunk, { stream: true }))
  }
  if (rest.length === 0) return
  if (isUtf8(rest)) yield rest
  else yield Buffer.from((latin ?? notUtf8(rest, unicode, line, name, warnings)).decode(rest))
}

/** The decoder to go on with, or a refusal where the file has already shown itself to be UTF-8. */
function notUtf8(body: Buffer, unicode: boolean, line: number, name: string, warnings: Warnings): Decoder {
  const at = firstInvalid(body)
  const where = line + newlines(body, at)
  const lineStart = body.lastIndexOf(0x0a, at) + 1
  const text = Buffer.from(new TextDecoder('windows-1252').decode(body.subarray(lineStart, at + 20)))
  if (unicode || !isAscii(body.subarray(0, at))) {
    throw badData(
      name,
      { line: where },
      `byte 0x${body[at].toString(16)} is not UTF-8, but the file is up to there: ${text.toString().split('\n')[0].slice(0, 60)}`,
      'Mend the line, or give --encoding windows-1252 (or what the file is in).',
    )
  }
  warnings.note(`read as WINDOWS-1252: line ${where} is not UTF-8`)
  return new TextDecoder('windows-1252')
}

function firstInvalid(body: Buffer): number {
  let low = 0
  let high = body.length
  // The longest valid start, by halving; a cut inside a character counts as valid.
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (isUtf8(body.subarray(0, wholeCharacters(body.subarray(0, middle))))) low = middle
    else high = middle - 1
  }
  return Math.min(wholeCharacters(body.subarray(0, low)), body.length - 1)
}

/** How many bytes of a chunk are whole characters, if it is UTF-8. */
function wholeCharacters(chunk: Uint8Array): number {
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

function asBuffer(piece: Uint8Array): Buffer {
  return Buffer.isBuffer(piece) ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}
