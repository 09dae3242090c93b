// Our bzip2 decoder beside the bzip2 program, and with damaged data.
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Problem } from '../../src/contract/errors.ts'
import { defaultLimits } from '../../src/contract/limits.ts'
import { decompress } from '../../src/ingest/archive/unpack.ts'
import { runs } from '../support/property-runs.ts'

async function unpack(packed: Uint8Array, chunkBytes = packed.length): Promise<Buffer> {
  const source = async function* () {
    for (let at = 0; at < packed.length; at += chunkBytes) yield packed.subarray(at, at + chunkBytes)
  }
  const parts: Uint8Array[] = []
  for await (const part of decompress(source(), 'x', { ...defaultLimits, compression_ratio: 1e6 }))
    parts.push(part)
  return Buffer.concat(parts)
}

const pack = (bytes: Uint8Array, level: number): Buffer =>
  spawnSync('bzip2', [`-${level}`, '-c'], { input: bytes, maxBuffer: 2 ** 28 }).stdout
const hasBzip2 = spawnSync('bzip2', ['--help']).status === 0

/** Bytes as the format treats them differently: random ones, runs, repeated parts, few values. */
const data = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 1200 }))
        .map(([byte, count]) => new Uint8Array(count).fill(byte)),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 400 }))
        .map(([part, count]) => Buffer.concat(Array(count).fill(part))),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts))

describe.skipIf(!hasBzip2)('bzip2 (with the program bzip2)', () => {
  it('unpacks what the program packs, in chunks of any size', async () => {
    const property = fc.asyncProperty(
      data,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 5000 }),
      async (bytes, level, chunkBytes) => {
        expect((await unpack(pack(bytes, level), chunkBytes)).equals(bytes)).toBe(true)
      },
    )
    await fc.assert(property, { numRuns: runs(60, 2000), seed: runs(7, Date.now()) })
  })

  it('unpacks several blocks and streams', async () => {
    const bytes = Buffer.concat(
      Array.from({ length: 60_000 }, (_, k) => Buffer.from(`${k},${(k * 7919) % 1013}\n`)),
    )
    const packed = pack(bytes, 1)
    expect((await unpack(Buffer.concat([packed, packed]))).equals(Buffer.concat([bytes, bytes]))).toBe(true)
  })

  it('damaged data gives an error, never other bytes or an endless loop', async () => {
    const bytes = Buffer.from(Array.from({ length: 3000 }, (_, k) => `${k % 97};`).join(''))
    const packed = pack(bytes, 1)
    const property = fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 })), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.integer({ min: 4, max: packed.length }),
      async (changes, length) => {
        const damaged = Buffer.from(packed)
        for (const [at, mask] of changes) damaged[at] ^= mask
        const cut = damaged.subarray(0, length)
        // Without its first bytes, it is no bzip2.
        if (!/^BZh[1-9]$/.test(cut.toString('latin1', 0, 4))) return
        const result = await unpack(cut).catch((error) => error)
        // A larger level changes nothing.
        if (Buffer.isBuffer(result)) expect(result.equals(bytes)).toBe(true)
        else expect(result).toBeInstanceOf(Problem)
      },
    )
    await fc.assert(property, { numRuns: runs(300, 20_000), seed: runs(7, Date.now()) })
  })
})
