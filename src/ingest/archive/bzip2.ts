// Decodes bzip2, block by block: bits, Huffman codes, move to front, the Burrows-Wheeler transform, runs.

/** Thrown for data that is not bzip2, also if it ends early. */
export class NotBzip2 extends Error {}

const BLOCK_MAGIC = [0x314159, 0x265359]
const END_MAGIC = [0x177245, 0x385090]
/** Symbols that one Huffman table encodes, before the next selector. */
const GROUP_SYMBOLS = 50
const MAX_CODE_BITS = 20
/** Codes up to this size are looked up at once. */
const SHORT_BITS = 10
/** Equal bytes after which the number of further ones follows. */
const RUN_BYTES = 4
const MIN_OUTPUT_BYTES = 64 * 1024

/** Reads bits from chunks. */
export class BitReader {
  /** Number of bytes taken from the chunks. */
  bytesRead = 0
  private chunk: Uint8Array = new Uint8Array()
  private at = 0
  private bits = 0
  private count = 0

  /** `next` returns the next chunk; undefined at the end. */
  constructor(private readonly next: () => Uint8Array | undefined) {}

  /** Reads up to 24 bits. Throws at the end. */
  read(count: number): number {
    const value = this.peek(count)
    this.skip(count)
    return value
  }

  /** Returns the next bits, up to 24, without reading them. Beyond the end, they are 0. */
  peek(count: number): number {
    while (this.count < count && this.takeByte());
    return this.count < count
      ? (this.bits & ((1 << this.count) - 1)) << (count - this.count)
      : (this.bits >>> (this.count - count)) & ((1 << count) - 1)
  }

  /** Reads bits that `peek` returned. Throws at the end. */
  skip(count: number): void {
    if (count > this.count) throw new NotBzip2()
    this.count -= count
  }

  private takeByte(): boolean {
    while (this.at === this.chunk.length) {
      const chunk = this.next()
      if (!chunk) return false
      this.chunk = chunk
      this.at = 0
    }
    // Older bits, which were read, are shifted out.
    this.bits = (this.bits << 8) | this.chunk[this.at++]
    this.bytesRead++
    this.count += 8
    return true
  }

  readChecksum(): number {
    return this.read(16) * 0x10000 + this.read(16)
  }

  /** Drops the rest of the byte. */
  align(): void {
    this.read(this.count % 8)
  }
}

/** Reads the header of a stream. Returns the size of its blocks in units of 100,000 bytes, 1 to 9. */
export function readHeader(bits: BitReader): number {
  const magic = bits.read(24)
  const level = bits.read(8) - 0x30
  if (magic !== 0x425a68 || level < 1 || level > 9) throw new NotBzip2()
  return level
}

/** A decoded block, and its checksum. */
interface Block {
  bytes: Buffer
  checksum: number
}

/**
 * Decodes a block. Returns undefined at the end of the stream, after its checksum, which must be `sum`. `work` has as
 * many items as a block may have bytes; `assertSize` may throw for the number of bytes so far.
 */
export function readBlock(
  bits: BitReader,
  work: Int32Array,
  sum: number,
  assertSize: (bytes: number) => void,
): Block | undefined {
  const magic = [bits.read(24), bits.read(24)]
  const checksum = bits.readChecksum()
  if (magic[0] === END_MAGIC[0] && magic[1] === END_MAGIC[1]) {
    if (checksum !== sum) throw new NotBzip2()
    bits.align()
    return undefined
  }
  // A bit that says that the block is randomized: no program has written that for decades.
  if (magic[0] !== BLOCK_MAGIC[0] || magic[1] !== BLOCK_MAGIC[1] || bits.read(1) !== 0) throw new NotBzip2()
  const first = bits.read(24)
  const length = readSymbols(bits, work)
  if (first >= length) throw new NotBzip2()
  invertTransform(work, length)
  const bytes = expandRuns(work, length, first, assertSize)
  if (checksumOf(bytes) !== checksum) throw new NotBzip2()
  return { bytes, checksum }
}

/** Returns the checksum of a stream after a block. */
export function addChecksum(sum: number, { checksum }: Block): number {
  return (((sum << 1) | (sum >>> 31)) ^ checksum) >>> 0
}

/** A canonical Huffman code, by number of bits. */
interface HuffmanTable {
  shortest: number
  /** Largest code with as many bits; -1 without one. */
  limits: Int32Array
  /** Difference between such a code and its position in `symbols`. */
  bases: Int32Array
  symbols: Uint16Array
  /** Symbol and number of bits of each short code, by the bits that it begins; 0 for the begin of a longer one. */
  short: Uint16Array
}

/** Reads the bytes of a block, before the inverse transform, into `work`. Returns their number. */
function readSymbols(bits: BitReader, work: Int32Array): number {
  const used = readUsedBytes(bits)
  const alphabet = used.length + 2
  const tableCount = bits.read(3)
  const selectorCount = bits.read(15)
  if (used.length === 0 || tableCount < 2 || tableCount > 6 || selectorCount === 0) throw new NotBzip2()
  const selectors = new Uint8Array(selectorCount)
  const order = [0, 1, 2, 3, 4, 5]
  for (let k = 0; k < selectorCount; k++) {
    let place = 0
    while (bits.read(1) === 1) if (++place >= tableCount) throw new NotBzip2()
    selectors[k] = moveToFront(order, place)
  }
  const tables = Array.from({ length: tableCount }, () => readTable(bits, alphabet))
  const end = alphabet - 1
  let length = 0
  let run = 0
  let weight = 1
  let group = 0
  let left = 0
  let table = tables[0]
  for (;;) {
    if (left-- === 0) {
      if (group === selectorCount) throw new NotBzip2()
      table = tables[selectors[group++]]
      left = GROUP_SYMBOLS - 1
    }
    const symbol = readSymbol(bits, table)
    // The symbols 0 and 1 are digits of the length of a run, of the values 1 and 2.
    if (symbol < 2) {
      run += weight << symbol
      weight *= 2
      if (run > work.length) throw new NotBzip2()
      continue
    }
    if (run > 0) {
      if (length + run > work.length) throw new NotBzip2()
      work.fill(used[0], length, length + run)
      length += run
      run = 0
      weight = 1
    }
    if (symbol === end) return length
    if (length === work.length) throw new NotBzip2()
    work[length++] = moveToFront(used, symbol - 1)
  }
}

/** Reads which bytes occur in a block. */
function readUsedBytes(bits: BitReader): number[] {
  const used: number[] = []
  const ranges = bits.read(16)
  for (let range = 0; range < 16; range++) {
    if (((ranges >> (15 - range)) & 1) === 0) continue
    const bytes = bits.read(16)
    for (let k = 0; k < 16; k++) if (((bytes >> (15 - k)) & 1) === 1) used.push(range * 16 + k)
  }
  return used
}

/** Moves an item to the front, and returns it. */
function moveToFront(list: number[], place: number): number {
  const item = list[place]
  for (let k = place; k > 0; k--) list[k] = list[k - 1]
  list[0] = item
  return item
}

function readTable(bits: BitReader, alphabet: number): HuffmanTable {
  const lengths = new Uint8Array(alphabet)
  let length = bits.read(5)
  for (let symbol = 0; symbol < alphabet; symbol++) {
    for (;;) {
      if (length < 1 || length > MAX_CODE_BITS) throw new NotBzip2()
      if (bits.read(1) === 0) break
      length += bits.read(1) === 0 ? 1 : -1
    }
    lengths[symbol] = length
  }
  const limits = new Int32Array(MAX_CODE_BITS + 1).fill(-1)
  const bases = new Int32Array(MAX_CODE_BITS + 1)
  const symbols = new Uint16Array(alphabet)
  const short = new Uint16Array(1 << SHORT_BITS)
  let code = 0
  let position = 0
  let shortest = MAX_CODE_BITS
  for (let size = 1; size <= MAX_CODE_BITS; size++) {
    bases[size] = code - position
    for (let symbol = 0; symbol < alphabet; symbol++) {
      if (lengths[symbol] !== size) continue
      shortest = Math.min(shortest, size)
      symbols[position++] = symbol
      if (size <= SHORT_BITS) {
        const from = code << (SHORT_BITS - size)
        short.fill((symbol << 4) | size, from, from + (1 << (SHORT_BITS - size)))
      }
      limits[size] = code++
    }
    code *= 2
  }
  return { shortest, limits, bases, symbols, short }
}

function readSymbol(bits: BitReader, { shortest, limits, bases, symbols, short }: HuffmanTable): number {
  const found = short[bits.peek(SHORT_BITS)]
  if (found > 0) {
    bits.skip(found & 15)
    return found >> 4
  }
  let size = shortest
  let code = bits.read(size)
  while (code > limits[size]) {
    if (++size > MAX_CODE_BITS) throw new NotBzip2()
    code = code * 2 + bits.read(1)
  }
  const symbol = symbols[code - bases[size]]
  if (symbol === undefined) throw new NotBzip2()
  return symbol
}

/** Puts the position of the next byte above each byte: the inverse of the Burrows-Wheeler transform. */
function invertTransform(work: Int32Array, length: number): void {
  const starts = new Int32Array(257)
  for (let k = 0; k < length; k++) starts[(work[k] & 0xff) + 1]++
  for (let byte = 0; byte < 256; byte++) starts[byte + 1] += starts[byte]
  for (let k = 0; k < length; k++) work[starts[work[k] & 0xff]++] |= k << 8
}

/** Follows the positions, and expands the runs: four equal bytes and the number of further ones. */
function expandRuns(
  work: Int32Array,
  length: number,
  first: number,
  assertSize: (bytes: number) => void,
): Buffer {
  let out = Buffer.allocUnsafe(Math.max(MIN_OUTPUT_BYTES, length))
  let size = 0
  let position = work[first] >>> 8
  let last = -1
  let equal = 0
  for (let k = 0; k < length; k++) {
    const entry = work[position]
    position = entry >>> 8
    const byte = entry & 0xff
    const isCount = equal === RUN_BYTES
    const needed = size + (isCount ? byte : 1)
    if (needed > out.length) {
      assertSize(needed)
      out = Buffer.concat([out.subarray(0, size)], out.length * 2)
    }
    if (isCount) {
      out.fill(last, size, needed)
      equal = 0
      last = -1
    } else {
      out[size] = byte
      equal = byte === last ? equal + 1 : 1
      last = byte
    }
    size = needed
  }
  assertSize(size)
  return out.subarray(0, size)
}

const CHECKSUMS = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24
  for (let k = 0; k < 8; k++) sum = sum < 0 ? (sum << 1) ^ 0x04c11db7 : sum << 1
  return sum
})

function checksumOf(bytes: Uint8Array): number {
  let sum = -1
  for (let k = 0; k < bytes.length; k++) sum = (sum << 8) ^ CHECKSUMS[(sum >>> 24) ^ bytes[k]]
  return ~sum >>> 0
}
