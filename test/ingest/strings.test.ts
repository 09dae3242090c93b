// The end of JSON strings.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findValueEnd } from '../../src/json/index.ts'
import { runs } from '../support/property-runs.ts'

const parts = fc.oneof(
  fc.constantFrom('"', '\\', '\\"', '\\\\', 'é', '\n', 'plain '),
  fc.nat(300).map((n) => 'a'.repeat(n)),
  fc.nat(300).map((n) => '\\'.repeat(n)),
)

it('the end of a JSON string is found for any length and escapes', () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 20 }), fc.string(), (pieces, next) => {
      const text = JSON.stringify(pieces.join(''))
      const buf = Buffer.from(`7,${text},${JSON.stringify(next)}`)
      expect(findValueEnd(buf, 2)).toBe(2 + Buffer.byteLength(text))
    }),
    { numRuns: runs(300, 5000) },
  )
})
