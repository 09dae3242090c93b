// Slices as fragments of one Brotli stream.
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  compress,
  decompress,
  type StreamChunk,
  streamBrotli,
} from '../../../src/service/store/objects/codec.ts'
import { runs } from '../../support/property-runs.ts'
import { onBothStores, type TestService, URL_OF_TESTS } from '../../support/service.ts'

/** Random texts of slices: numbers, words, repetitive and incompressible, short and long. */
const text = fc.oneof(
  fc.string({ maxLength: 300 }).map((part) => Buffer.from(part)),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 4000 }))
    .map(([part, times]) => Buffer.from(part.repeat(times))),
  fc
    .tuple(fc.integer(), fc.integer({ min: 1, max: 20_000 }))
    .map(([seed, count]) =>
      Buffer.from(
        Array.from({ length: count }, (_, k) => Math.imul(seed + k, 2654435761) % 10_007).join(','),
      ),
    ),
  fc.uint8Array({ maxLength: 70_000, minLength: 60_000 }).map((bytes) => Buffer.from(bytes)),
)

it('blobs and texts, concatenated in any order, are one Brotli stream', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 8 }), async (parts) => {
      async function* pieces(): AsyncGenerator<StreamChunk> {
        for (const [part, isBlob] of parts)
          yield isBlob ? { blob: await compress(part), size: part.length } : part
      }
      const chunks: Uint8Array[] = []
      for await (const chunk of streamBrotli(pieces())) chunks.push(chunk)
      const whole = Buffer.concat(parts.map(([part]) => part))
      expect(brotliDecompressSync(Buffer.concat(chunks)).equals(whole)).toBe(true)
    }),
    { numRuns: runs(25, 150) },
  )
})

it('every text is restored from its blob, including blobs stored as whole streams', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (part) => {
      const whole = Buffer.concat([Buffer.from('1'), brotliCompressSync(part)])
      for (const blob of [await compress(part), whole])
        expect((await decompress(blob, part.length)).equals(part)).toBe(true)
    }),
    { numRuns: runs(25, 150) },
  )
})

onBothStores('content in Brotli', (test) => {
  async function content(service: TestService, fid: string, headers: Record<string, string>) {
    const authorization = `Basic ${Buffer.from(`alice:${service.keys.get('alice')}`).toString('base64')}`
    const response = await service.service.fetch(
      new Request(`${URL_OF_TESTS}/v2/grids/${fid}/content`, { headers: { authorization, ...headers } }),
    )
    return { response, bytes: Buffer.from(await response.arrayBuffer()) }
  }

  it('Brotli content is sent to clients that accept it, and is the same content', async () => {
    const csv = ['a,b,c', ...Array.from({ length: 150_000 }, (_, k) => `${k},word ${k % 97},${k / 7}`)].join(
      '\n',
    )
    const { json } = await test().ask('alice', 'POST', '/v2/grids/upload', {
      body: csv,
      headers: { 'x-file-name': 'big.csv' },
    })
    const { fid } = json.file
    // Rows in the tail.
    const append = await test().ask('alice', 'POST', `/v2/grids/${fid}/row`, {
      json: { rows: [[-1, 'last "é"', null]] },
    })
    expect(append.status).toBe(201)
    const plain = await content(test(), fid, {})
    expect(plain.response.headers.get('content-encoding')).toBeNull()
    expect(plain.response.headers.get('vary')).toBe('accept-encoding')
    for (const accepted of ['br', 'gzip, br', 'br;q=0.5, gzip']) {
      const { response, bytes } = await content(test(), fid, { 'accept-encoding': accepted })
      expect(response.headers.get('content-encoding')).toBe('br')
      expect(bytes.length).toBeLessThan(plain.bytes.length / 2)
      expect(brotliDecompressSync(bytes).equals(plain.bytes)).toBe(true)
      const tag = response.headers.get('etag')!
      expect(tag).toBe(`W/${plain.response.headers.get('etag')}`)
      const again = await content(test(), fid, { 'accept-encoding': accepted, 'if-none-match': tag })
      expect(again.response.status).toBe(304)
    }
    for (const refused of ['gzip', 'br;q=0', 'br;q=0.0, gzip', 'brotli'])
      expect((await content(test(), fid, { 'accept-encoding': refused })).bytes.equals(plain.bytes)).toBe(
        true,
      )
  })

  it('small grids, empty columns and odd names are sent as Brotli', async () => {
    const grid = await test().grid('alice', 'small', { 'é "x"': [1, 2], empty: [null, null] })
    const plain = await content(test(), grid.fid, {})
    const { bytes } = await content(test(), grid.fid, { 'accept-encoding': 'br' })
    expect(brotliDecompressSync(bytes).equals(plain.bytes)).toBe(true)
  })
})
