// JSON strings: where they end, and names of members.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findValueEnd, NO_JSON_LIMITS, parseRaw } from '../../src/json/index.ts'
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

it('a member is found by its name, however the name is written', () => {
  const names = fc.constantFrom('a', 'é', 'Ã©', 'a\\n', 'a\n', '"', '', 'ab', '€', '\u007f', '__proto__')
  const members = fc.array(fc.tuple(names, fc.boolean(), fc.nat()), { maxLength: 6 })
  fc.assert(
    fc.property(members, names, (given, sought) => {
      const escapeAll = (name: string): string =>
        name.replace(/./gsu, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      const text = given.map(
        ([name, isEscaped, value]) =>
          `${isEscaped ? `"${escapeAll(name)}"` : JSON.stringify(name)}: ${value}`,
      )
      const found = parseRaw(Buffer.from(`{${text.join(', ')}}`), 'the text', NO_JSON_LIMITS).get(sought)
      expect(found?.toValue()).toBe(given.findLast(([name]) => name === sought)?.[2])
    }),
    { numRuns: runs(300, 5000) },
  )
})
