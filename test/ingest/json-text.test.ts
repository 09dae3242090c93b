// Numbers and times of columnar files are written as JavaScript writes them.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JsonText } from '../../src/ingest/columnar/json-text.ts'
import { formatTimestamp } from '../../src/ingest/columnar/json-values.ts'
import { runs } from '../support/property-runs.ts'

function write(add: (out: JsonText) => void): string {
  const out = new JsonText()
  out.beginValue()
  add(out)
  return Buffer.from(out.take().text).toString()
}

const decimals = fc
  .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.nat(12))
  .map(([digits, places]) => digits / 10 ** places)
const odd = [0.1, 1e-6, 9.9e-7, 5e-324, 1e21, 1e15 + 0.5, 123456789012345.6, 0.30000000000000004, 2 ** 53, -0]

it('a number is written as String writes it, whatever was written before it', () => {
  const numbers = fc.oneof(
    decimals,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(...odd),
  )
  fc.assert(
    fc.property(fc.array(numbers), (values) => {
      const text = write((out) => {
        for (const [k, value] of values.entries()) {
          if (k > 0) out.beginValue()
          out.addNumber(value)
        }
      })
      expect(text).toBe(values.map(String).join(','))
    }),
    { numRuns: runs(300, 20_000) },
  )
})

it('a time is written like a formatted timestamp, whatever was written before it', () => {
  const seconds = fc.oneof(
    fc.integer({ min: -(10 ** 11), max: 3 * 10 ** 11 }),
    fc.integer({ min: 0, max: 200_000 }),
  )
  fc.assert(
    fc.property(fc.array(seconds, { minLength: 1 }), (values) => {
      const text = write((out) => {
        for (const [k, value] of values.entries()) {
          if (k > 0) out.beginValue()
          out.addTime(value, 0x20)
        }
      })
      expect(text).toBe(values.map((value) => `"${formatTimestamp(BigInt(value), 1n)}"`).join(','))
    }),
    { numRuns: runs(200, 5000) },
  )
})
