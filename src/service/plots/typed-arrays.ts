/** Decodes typed arrays of plotly.js to plain JSON. */
import { Problem } from '../../contract/errors.ts'
import { formatBytes } from '../../contract/limits.ts'
import { decodeStringAsync, parseRawAsync, type RawJson, yieldToEventLoop } from '../../json/index.ts'

/** Readers by number type of typed arrays (`{dtype, bdata, shape}`), little endian. */
const READERS: Record<string, { bytes: number; read: (buf: Buffer, at: number) => number | bigint }> = {
  i1: { bytes: 1, read: (buf, at) => buf.readInt8(at) },
  u1: { bytes: 1, read: (buf, at) => buf.readUInt8(at) },
  u1c: { bytes: 1, read: (buf, at) => buf.readUInt8(at) },
  i2: { bytes: 2, read: (buf, at) => buf.readInt16LE(at) },
  u2: { bytes: 2, read: (buf, at) => buf.readUInt16LE(at) },
  i4: { bytes: 4, read: (buf, at) => buf.readInt32LE(at) },
  u4: { bytes: 4, read: (buf, at) => buf.readUInt32LE(at) },
  i8: { bytes: 8, read: (buf, at) => buf.readBigInt64LE(at) },
  u8: { bytes: 8, read: (buf, at) => buf.readBigUInt64LE(at) },
  f4: { bytes: 4, read: (buf, at) => buf.readFloatLE(at) },
  f8: { bytes: 8, read: (buf, at) => buf.readDoubleLE(at) },
}

/** Number types by their long names. */
const DTYPE_ALIASES: Record<string, string> = {
  int8: 'i1',
  uint8: 'u1',
  uint8c: 'u1c',
  uint8clamped: 'u1c',
  int16: 'i2',
  uint16: 'u2',
  int32: 'i4',
  uint32: 'u4',
  int64: 'i8',
  uint64: 'u8',
  float32: 'f4',
  float64: 'f8',
}

/** Decodes a typed array. NaN and infinities become null. Throws beyond `maxTextBytes`. */
export async function decodeTypedArray(
  value: RawJson,
  path: string,
  maxTextBytes: number,
  limitBytes: number,
): Promise<RawJson> {
  const members = value.entries()
  const invalid = (why: string): Problem =>
    new Problem('invalid_request', `${path}: ${why}`, { field: 'figure', path })
  const dtype = String(members.get('dtype')!.toValue()).replace(/^[<=|]/, '')
  const reader = READERS[DTYPE_ALIASES[dtype] ?? dtype]
  if (!reader) throw invalid(`unknown dtype ${JSON.stringify(dtype.slice(0, 20))}`)
  const encoded = members.get('bdata')!
  if (encoded.kind !== 'string') throw invalid('bdata must be a base64 string')
  const bdata = (await decodeStringAsync(encoded)).toString('latin1')
  if (!(await isBase64(bdata))) throw invalid('bdata is not base64')
  const bytes = Buffer.from(bdata, 'base64')
  if (bytes.length % reader.bytes !== 0)
    throw invalid(`${bytes.length} bytes is not a multiple of the size of ${dtype}`)
  const count = bytes.length / reader.bytes
  const shape = parseShape(boundedShape(members.get('shape')), count)
  if (!shape) throw invalid(`shape does not fit ${count} values`)
  const text = await formatArray(count, shape, (k) => reader.read(bytes, k * reader.bytes), maxTextBytes)
  if (!text)
    throw invalid(`the decoded values are larger than ${formatBytes(limitBytes)} (limit json_body_bytes)`)
  return parseRawAsync(text)
}

/** Formats values as nested arrays, in chunks to save memory. Undefined beyond `maxBytes`. */
async function formatArray(
  count: number,
  shape: readonly number[],
  valueAt: (k: number) => number | bigint,
  maxBytes: number,
): Promise<Buffer | undefined> {
  // Number of values per row of each inner dimension, the innermost last.
  const rows = shape.slice(1).map((_, k) => shape.slice(k + 1).reduce((product, size) => product * size, 1))
  const chunks: Buffer[] = []
  let size = 0
  let text = '['
  for (let k = 0; k < count; k++) {
    if (k > 0) text += ','
    for (const row of rows) if (k % row === 0) text += '['
    const value = valueAt(k)
    text += typeof value === 'bigint' || Number.isFinite(value) ? value : 'null'
    for (const row of rows) if ((k + 1) % row === 0) text += ']'
    if (text.length >= CHUNK_BYTES) {
      chunks.push(Buffer.from(text))
      size += text.length
      if (size > maxBytes) return undefined
      text = ''
      await yieldToEventLoop()
    }
  }
  return Buffer.concat([...chunks, Buffer.from(`${text}]`)])
}

const CHUNK_BYTES = 64 * 1024

/** Maximum number of dimensions, as in plotly.js. */
const MAX_DIMENSIONS = 3

/** Returns whether a text is padded base64. Yields to the event loop in long texts. */
async function isBase64(text: string): Promise<boolean> {
  if (text.length % 4 !== 0) return false
  const STRETCH = 1 << 20
  for (let k = 0; k < text.length; k += STRETCH) {
    const last = k + STRETCH >= text.length
    if (!(last ? /^[A-Za-z0-9+/]*={0,2}$/ : /^[A-Za-z0-9+/]*$/).test(text.slice(k, k + STRETCH))) return false
    await yieldToEventLoop()
  }
  return true
}

/** Returns the value of `shape`, or an invalid one if it is too long. */
function boundedShape(shape: RawJson | undefined): unknown {
  return shape && shape.end - shape.start > 200 ? 'too long' : shape?.toValue()
}

/** Parses `shape`: `"2, 3"`, `[2, 3]` or `6`. Default: one dimension. Undefined if it is invalid. */
function parseShape(shape: unknown, count: number): number[] | undefined {
  if (shape === undefined || shape === null || shape === '') return [count]
  const sizes = (Array.isArray(shape) ? shape : String(shape).split(',')).map(Number)
  const isValid = sizes.every((size) => Number.isInteger(size) && size >= 0) && sizes.length <= MAX_DIMENSIONS
  if (!isValid || sizes.reduce((product, size) => product * size, 1) !== count) return undefined
  // Nested arrays cannot be formatted without values: use one dimension.
  return count === 0 ? [0] : sizes
}
