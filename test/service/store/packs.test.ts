// Small slices of neighboring columns share a blob.
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { contentKeyOf } from '../../../src/service/store/aggregates/grids.ts'
import {
  loadDecompressed,
  type NewSlice,
  storeSlices,
} from '../../../src/service/store/aggregates/slice-json.ts'
import {
  BatchedBlobs,
  type BlobReader,
  type BlobRef,
  type Blobs,
  blobIdOf,
} from '../../../src/service/store/objects/blobs.ts'
import { runs } from '../../support/property-runs.ts'

/** Blobs in memory, by the hash of their bytes. */
class MemoryBlobs implements BlobReader {
  readonly stored = new Map<string, Buffer>()

  async putAll(owner: string, all: readonly Uint8Array[]): Promise<BlobRef[]> {
    return all.map((bytes) => {
      const hash = createHash('sha256').update(bytes).digest('hex')
      this.stored.set(hash, Buffer.from(bytes))
      return { owner, hash }
    })
  }

  async get({ hash }: BlobRef): Promise<Buffer> {
    return this.stored.get(hash)!
  }

  async getAll(refs: readonly BlobRef[]): Promise<Map<string, Buffer>> {
    return new Map(refs.map((ref) => [blobIdOf(ref), this.stored.get(ref.hash)!]))
  }
}

const store = (blobs: MemoryBlobs, slices: readonly NewSlice[]) =>
  storeSlices(blobs as unknown as Blobs, 'alice', slices)

/** Slices of one value each, of these sizes. */
function slicesOf(sizes: readonly number[], columnOf = (k: number): number | undefined => k): NewSlice[] {
  return sizes.map((size, k) => {
    const text = Buffer.from(`"${`${k} `.repeat(size).slice(0, size)}"`)
    return { rows: 1, text, column: columnOf(k) }
  })
}

it('slices of any size and column are read as they were stored, one by one and in batches', async () => {
  const sizeArbitrary = fc.oneof(fc.nat(300), fc.nat(6000), fc.constantFrom(4093, 4094, 20_000))
  const slicesArbitrary = fc.array(fc.tuple(sizeArbitrary, fc.option(fc.nat(40))), { maxLength: 80 })
  await fc.assert(
    fc.asyncProperty(slicesArbitrary, async (list) => {
      const slices = slicesOf(
        list.map(([size]) => size),
        (k) => list[k][1] ?? undefined,
      )
      const blobs = new MemoryBlobs()
      const refs = await store(blobs, slices)
      const batched = new BatchedBlobs(blobs, refs)
      const textByKey = new Map<string, string>()
      for (const [k, ref] of refs.entries()) {
        const text = slices[k].text.toString()
        expect((await loadDecompressed(blobs, ref)).toString()).toBe(text)
        expect((await loadDecompressed(batched, ref)).toString()).toBe(text)
        expect(textByKey.get(contentKeyOf(ref)) ?? text).toBe(text)
        textByKey.set(contentKeyOf(ref), text)
      }
    }),
    { numRuns: runs(60, 1500) },
  )
})

it('small slices share blobs, large ones have their own', async () => {
  const blobs = new MemoryBlobs()
  const refs = await store(blobs, slicesOf([...Array.from({ length: 64 }, () => 500), 5000, 500]))
  expect(blobs.stored.size).toBe(4 + 2)
  expect(refs.slice(0, 64).every(({ packOffset }) => packOffset !== undefined)).toBe(true)
  expect(refs.slice(64).map(({ packOffset }) => packOffset)).toEqual([undefined, undefined])
})

it('a longer value of one column changes the blob of its neighbors only', async () => {
  const sizes = Array.from({ length: 64 }, () => 500)
  const blobs = new MemoryBlobs()
  const before = await store(blobs, slicesOf(sizes))
  const after = await store(blobs, slicesOf(sizes.with(20, 900)))
  const changed = [...before.keys()].filter((k) => contentKeyOf(before[k]) !== contentKeyOf(after[k]))
  expect(changed).toEqual(Array.from({ length: 16 }, (_, k) => 16 + k))
})
