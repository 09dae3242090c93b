import { Problem } from '../../contract/errors.ts'
import { parseRaw, type RawJson } from '../../ingest/index.ts'

/** How plotly.js names the types of numbers in `{dtype, bdata, shape}`, little endian. */
const readers: Record<string, { bytes: number; read: (buf: Buffer, at: number) => number | bigint }> = {
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

const names: Record<string, string> = {
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

/** Whether a value is a typed array: an object with `bdata` and `dtype`. */
export function isTyped(value: RawJson): boolean {
  if (value.kind !== 'object') return false
  const members = value.entries()
  return members.has('bdata') && members.has('dtype')
}

/** The plain array a typed one stands for; what JSON has no number for is null. */
export function decodeTyped(value: RawJson, path: string): RawJson {
  const members = value.entries()
  const wrong = (why: string): Problem =>
    new Problem('invalid_request', `${path}: ${why}`, { field: 'figure', path })
  const dtype = String(members.get('dtype')!.value()).replace(/^[<=|]/, '')
  const reader = readers[names[dtype] ?? dtype]
  if (!reader) throw wrong(`unknown dtype ${JSON.stringify(dtype.slice(0, 20))}`)
  const bdata = members.get('bdata')!.value()
  if (typeof bdata !== 'string') throw wrong('bdata must be text in base64')
  const bytes = Buffer.from(bdata, 'base64')
  if (bytes.length % reader.bytes !== 0) throw wrong(`${bytes.length} bytes are no whole number of ${dtype}`)
  const count = bytes.length / reader.bytes
  const shape = readShape(members.get('shape')?.value(), count)
  if (!shape) throw wrong(`shape does not fit ${count} values`)
  const numbers: string[] = []
  for (let k = 0; k < count; k++) {
    const number = reader.read(bytes, k * reader.bytes)
    numbers.push(typeof number === 'bigint' || Number.isFinite(number) ? String(number) : 'null')
  }
  // From the innermost dimension outwards, values are put together to arrays.
  let texts = numbers
  for (const size of shape.slice(1).reverse()) {
    const rows: string[] = []
    for (let k = 0; k < texts.length; k += size) rows.push(`[${texts.slice(k, k + size).join(',')}]`)
    texts = rows
  }
  return parseRaw(Buffer.from(`[${texts.join(',')}]`))
}

/** Sizes of the dimensions: `"2, 3"`, `[2, 3]`, `6`, or one dimension if not given. */
function readShape(given: unknown, count: number): number[] | undefined {
  if (given === undefined || given === null || given === '') return [count]
  const sizes = (Array.isArray(given) ? given : String(given).split(',')).map(Number)
  const fits = sizes.every((size) => Number.isInteger(size) && size >= 0) && sizes.length <= 8
  if (!fits || sizes.reduce((product, size) => product * size, 1) !== count) return undefined
  // Rows without values would be lost between the brackets.
  return count === 0 ? [0] : sizes
}
