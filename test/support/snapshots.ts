/** Random columns of grids, as snapshots in memory. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { boundsOf } from '../../src/ingest/slices.ts'
import { KernelPool } from '../../src/service/grids/column/kernel/pool.ts'
import type { Snapshot, SnapshotColumn } from '../../src/service/grids/column/snapshot.ts'
import { type BlobRef, blobIdOf } from '../../src/service/store/objects/blobs.ts'
import { compress } from '../../src/service/store/objects/codec.ts'
import { detectValueType, mergeTypes } from '../../src/service/store/schema/column-types.ts'

const blank = fc.constantFrom('', '', '', ' ', '\n  ')
const character = fc.constantFrom(...'abcXYZ019 ,;\t\n\r"\'\\/ä€😀\u0001[]{}'.split(''))
const text = fc
  .oneof(fc.array(character, { maxLength: 40 }), fc.array(fc.constantFrom('a', 'b'), { maxLength: 90 }))
  .map((list) => JSON.stringify(list.join('')))
const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noDefaultInfinity: true, noNaN: true }).map(String),
  fc.integer({ min: -99_999, max: 99_999 }).map((n) => (n / 1000).toFixed(3)),
  fc.constantFrom(
    '-0',
    '0.1',
    '123456789012345',
    '1234567890123456',
    '-12345678901234.5',
    '1e3',
    '12345678901234567890',
  ),
)
const moment = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true })
  .chain((date) =>
    fc.constantFrom(
      date.toISOString().slice(0, 10),
      date.toISOString().slice(0, 19),
      date.toISOString().slice(0, 19).replace('T', ' '),
      `${date.toISOString().slice(0, 19)}Z`,
      date.toISOString().slice(0, 16),
      `${date.toISOString().slice(0, 16)}+02:00`,
      date.toISOString(),
      '2024-02-29',
      '2024-01-31',
    ),
  )
  .map((date) => JSON.stringify(date))
const nested = fc.constantFrom('[1,2]', '{"a":"}","b":[1]}', '[\n  1,\n  "]"\n]', '[]', '{"x": "a\\"b"}')
const kinds = [
  fc.oneof({ weight: 4, arbitrary: number }, fc.constant('null')),
  fc.oneof({ weight: 4, arbitrary: text }, fc.constant('null')),
  fc.oneof({ weight: 6, arbitrary: moment }, fc.constant('null')),
  fc.constantFrom('true', 'false', 'null'),
  fc.oneof(number, text, nested, fc.constant('null'), fc.constant('true')),
]

/** A column: values with blanks around them, and ends of slices; the rest is the tail. */
export const columnArbitrary = fc.constantFrom(...kinds).chain((value) =>
  fc.record({
    values: fc.array(fc.tuple(blank, value, blank), { maxLength: 60 }),
    slices: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 4 }),
  }),
)

/** Creates a snapshot whose slices are in memory. */
export async function snapshotOf(
  columns: readonly { values: string[][]; slices: number[] }[],
): Promise<Snapshot> {
  const stored = new Map<string, Buffer>()
  const made = columns.map(async ({ values, slices }, k): Promise<SnapshotColumn> => {
    const textOf = (from: number, to: number) =>
      Buffer.from(
        values
          .slice(from, to)
          .map((one) => one.join(''))
          .join(',')
          .trim(),
      )
    let at = 0
    const refs = []
    for (const [seq, rows] of slices.entries()) {
      if (at + rows > values.length) break
      const own = textOf(at, at + rows)
      // Every other column is part of a pack.
      const before = k % 2 === 1 ? Buffer.from('1,"2",') : Buffer.alloc(0)
      const blob = await compress(Buffer.concat([before, own]))
      const hash = createHash('sha256').update(blob).digest('hex')
      stored.set(hash, blob)
      const packOffset = k % 2 === 1 ? before.length : undefined
      const bounds = boundsOf(own)
      refs.push({ seq, rows, bytes: own.length, blob: { owner: 'alice', hash }, packOffset, bounds })
      at += rows
    }
    const type = values
      .map(([, value]) => detectValueType(Buffer.from(value), 0, value.length))
      .reduce(mergeTypes, 'empty')
    const tail = textOf(at, values.length)
    return { name: `c${k}`, uid: `${k}`, order: k, type, rows: values.length, slices: refs, tail }
  })
  const list = await Promise.all(made)
  const get = async ({ hash }: BlobRef): Promise<Buffer> => stored.get(hash)!
  const getAll = async (refs: readonly BlobRef[]) =>
    new Map(refs.map((ref) => [blobIdOf(ref), stored.get(ref.hash)!]))
  return { blobs: { get, getAll }, columns: list, rows: Math.max(0, ...list.map(({ rows }) => rows)) }
}

/** Reads a stream as text. */
export async function all(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Runs a function with and without the kernel, and compares. */
export async function both<T>(read: () => Promise<T>): Promise<[T, T]> {
  KernelPool.use = 'always'
  const fast = await read()
  KernelPool.use = 'never'
  return [fast, await read()]
}
