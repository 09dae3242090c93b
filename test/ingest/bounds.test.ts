// Bounds of columns, with and without the kernel.
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { BoundsKernel } from '../../src/ingest/kernel/bounds.ts'
import { boundsOf } from '../../src/ingest/slices.ts'
import { runs } from '../support/property-runs.ts'

const { minBytes } = BoundsKernel
afterEach(() => {
  BoundsKernel.minBytes = minBytes
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
      BoundsKernel.minBytes = Number.POSITIVE_INFINITY
      const expected = boundsOf(json)
      BoundsKernel.minBytes = 0
      expect(boundsOf(json)).toEqual(expected)
      if (BoundsKernel.find(json)) known++
    }),
    { numRuns: runs(500, 20_000) },
  )
  expect(known).toBeGreaterThan(runs(500, 20_000) / 4)
})
