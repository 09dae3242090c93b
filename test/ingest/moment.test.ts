// Times parsed from bytes and from strings.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseInstant, parseInstantBytes } from '../../src/json/index.ts'
import { runs } from '../support/property-runs.ts'

it('times parsed from bytes equal times parsed from strings', () => {
  const two = fc.integer({ min: 0, max: 61 }).map((n) => String(n).padStart(2, '0'))
  const text = fc
    .tuple(
      fc.integer({ min: 0, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
      two,
      two,
      two,
      fc.constantFrom('', 'Z', '+02:00', '.5', '.123Z'),
      fc.constantFrom('T', ' ', 'x'),
    )
    .chain(([year, month, day, hour, minute, second, zone, separator]) => {
      const date = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
      return fc.constantFrom(
        date,
        `${date}${separator}${hour}:${minute}:${second}${zone}`,
        `${date} ${hour}:${minute}`,
      )
    })
  fc.assert(
    fc.property(text, (written) => {
      expect(parseInstantBytes(Buffer.from(`"${written}"`), 1, written.length + 1)).toBe(
        parseInstant(written),
      )
    }),
    { numRuns: runs(2000, 100_000) },
  )
})
