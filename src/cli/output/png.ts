// Reads and writes PNG images.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

export interface Pixels {
  width: number
  height: number
  /** Four bytes a pixel. */
  rgba: Uint8Array
}

/** The pixels of a PNG with 8 bits a channel and no palette, as browsers write it. */
export function pixelsOf(png: Uint8Array): Pixels {
  const buffer = Buffer.from(png)
  const parts: Buffer[] = []
  let [width, height, channels] = [0, 0, 0]
  for (let at = 8; at < buffer.length; ) {
    const length = buffer.readUInt32BE(at)
    const type = buffer.toString('latin1', at + 4, at + 8)
    const body = buffer.subarray(at + 8, at + 8 + length)
    if (type === 'IHDR') {
      ;[width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)]
      channels = { 2: 3, 6: 4 }[body[9]] ?? 0
      if (body[8] !== 8 || channels === 0) throw new Error(`a PNG of depth ${body[8]} and type ${body[9]}`)
    }
    if (type === 'IDAT') parts.push(body)
    at += length + 12
  }
  const raw = inflateSync(Buffer.concat(parts))
  const stride = width * channels
  const lines = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]
    for (let x = 0; x < stride; x++) {
      const a = x >= channels ? lines[y * stride + x - channels] : 0
      const b = y > 0 ? lines[(y - 1) * stride + x] : 0
      const c = x >= channels && y > 0 ? lines[(y - 1) * stride + x - channels] : 0
      const guess =
        filter === 0 ? 0 : filter === 1 ? a : filter === 2 ? b : filter === 3 ? (a + b) >> 1 : paeth(a, b, c)
      lines[y * stride + x] = raw[y * (stride + 1) + 1 + x] + guess
    }
  }
  const rgba = new Uint8Array(width * height * 4).fill(255)
  for (let pixel = 0; pixel < width * height; pixel++)
    rgba.set(lines.subarray(pixel * channels, (pixel + 1) * channels), pixel * 4)
  return { width, height, rgba }
}

/** A PNG of pixels. */
export function pngOf({ width, height, rgba }: Pixels): Buffer {
  const stride = width * 4
  const lines = Buffer.alloc((stride + 1) * height)
  for (let y = 0; y < height; y++)
    lines.set(rgba.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // 8 bits a channel, with alpha.
  header.set([8, 6, 0, 0, 0], 8)
  const chunk = (type: string, body: Buffer): Buffer => {
    const whole = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), body, Buffer.alloc(4)])
    whole.writeUInt32BE(body.length, 0)
    whole.writeUInt32BE(crc32(whole.subarray(4, -4)), whole.length - 4)
    return whole
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Two pictures side by side, on white. */
export function sideBySide(left: Pixels, right: Pixels, gap = 16): Pixels {
  const width = left.width + gap + right.width
  const height = Math.max(left.height, right.height)
  const rgba = new Uint8Array(width * height * 4).fill(255)
  for (const [picture, x] of [
    [left, 0],
    [right, left.width + gap],
  ] as const)
    for (let y = 0; y < picture.height; y++)
      rgba.set(picture.rgba.subarray(y * picture.width * 4, (y + 1) * picture.width * 4), (y * width + x) * 4)
  return { width, height, rgba }
}

function paeth(a: number, b: number, c: number): number {
  const p = a + b - c
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)]
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c
}
