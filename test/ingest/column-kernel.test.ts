// Bounds and slice ends of columns, with and without the kernel.
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { offsetAfter } from '../../src/ingest/columnar/align-slices.ts'
import { ColumnKernel } from '../../src/ingest/kernel/columns.ts'
import { boundsOf, findSliceEnds, SliceEnds } from '../../src/ingest/slices.ts'
import { runs } from '../support/property-runs.ts'

const { minBytes } = ColumnKernel
afterEach(() => {
  ColumnKernel.minBytes = minBytes
})

const number = fc.oneof(
  fc.integer({ min: -2000, max: 2000 }).map(String),
  fc.integer({ min: -99_999, max: 99_999 }).map((n) => (n / 1000).toFixed(3)),
  fc.constantFrom('0', '-0', '0.10', '123456789012345', '-0.5', '1234567890123456', '1e3'),
)
const text = fc
  .oneof(
    fc.array(fc.constantFrom('a', 'b', ' ', '!', '"', '\\', '\n', '\t', '\b', 'ä', '😀', '\u0001'), {
      maxLength: 12,
    }),
    fc.array(fc.constantFrom('2024-01-0', '1', '2', '"'), { maxLength: 4 }),
  )
  .map((parts) => JSON.stringify(parts.join('')))
const values = fc.oneof(
  fc.array(fc.oneof({ weight: 9, arbitrary: number }, fc.constant('null')), { maxLength: 30 }),
  fc.array(fc.oneof({ weight: 9, arbitrary: text }, fc.constant('null')), { maxLength: 30 }),
  fc.array(fc.oneof(number, text, fc.constantFrom('null', 'true', '[1,"]"]', '{"a":"}"}')), { maxLength: 8 }),
)

it('bounds with the kernel are those of the other code', async () => {
  let known = 0
  fc.assert(
    fc.property(values, fc.constantFrom(',', ', ', ',\n '), (list, separator) => {
      const json = Buffer.from(list.join(separator))
      ColumnKernel.minBytes = Number.POSITIVE_INFINITY
      const expected = boundsOf(json)
      ColumnKernel.minBytes = 0
      expect(boundsOf(json)).toEqual(expected)
      if (ColumnKernel.findBounds(json)) known++
    }),
    { numRuns: runs(500, 20_000) },
  )
  expect(known).toBeGreaterThan(runs(500, 20_000) / 4)
})

it('values end at the same offsets with the kernel', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(',', ', ', ',\n '), fc.nat(40), (list, separator, count) => {
      fc.pre(list.length > 0)
      const json = Buffer.from(list.join(separator))
      const value = 1 + (count % list.length)
      ColumnKernel.minBytes = Number.POSITIVE_INFINITY
      const expected = offsetAfter(json, value)
      ColumnKernel.minBytes = 0
      expect(ColumnKernel.endOfValue(json, value)).toBe(expected)
    }),
    { numRuns: runs(300, 20_000) },
  )
})

it('slices end at the same rows with the kernel, whatever the columns, the key and the rows before', async () => {
  const separators = [',', ', ', ',\n  ']
  const cells = [
    (k: number) => String((k * 7919) % 1009),
    (k: number) => (k % 5 === 0 ? 'null' : `"row ${k} \\" ä"`),
    (k: number) => (k % 3 === 0 ? '[1,"]"]' : k % 3 === 1 ? 'true' : '""'),
    (k: number) => `"${'x'.repeat(k % 40)}"`,
  ]
  let ended = 0
  for (const [n, rows] of [60_000, 100_000, 20_000].entries()) {
    const texts = cells.map((cell, c) =>
      Buffer.from(
        Array.from({ length: c === 2 ? rows - 1000 : rows }, (_, k) => cell(k)).join(separators[n]),
      ),
    )
    for (const keys of [undefined, [0], [3, 1]]) {
      const read = async (minBytes: number): Promise<unknown> => {
        ColumnKernel.minBytes = minBytes
        const ends = new SliceEnds()
        ends.skipRows(5000 * n, 0)
        return { rows: await findSliceEnds(texts, keys, ends), rest: ends.size }
      }
      const fast = (await read(0)) as { rows: number[] }
      expect(fast).toEqual(await read(Number.POSITIVE_INFINITY))
      ended += fast.rows.length
    }
  }
  expect(ended).toBeGreaterThan(8)
})
