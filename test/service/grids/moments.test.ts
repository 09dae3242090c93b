// Dates of the same time are equal, however they are written.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { boundsOf } from '../../../src/ingest/slices.ts'
import { timeLimitsOf } from '../../../src/service/grids/column/bounds.ts'
import { identifyBy } from '../../../src/service/grids/column/identify.ts'
import { CellReader, RowHashes } from '../../../src/service/grids/column/kernel/cells.ts'
import { KernelPool } from '../../../src/service/grids/column/kernel/pool.ts'
import { comparisonOf } from '../../../src/service/store/schema/column-types.ts'
import { runs } from '../../support/property-runs.ts'

/** A date, and its time by the calendar of JavaScript: the second in ms since 1970, and the digits of nanoseconds. */
interface Written {
  text: string
  ms: number
  time: string
}

const pad = (n: number): string => String(n).padStart(2, '0')

/** Few days and times, in many forms. */
const written = (zones: readonly string[]): fc.Arbitrary<Written> =>
  fc
    .record({
      day: fc.constantFrom('2024-02-28', '2024-02-29', '2024-03-01', '0001-01-05', '9999-12-31'),
      hour: fc.constantFrom(0, 9, 23),
      minute: fc.constantFrom(0, 30),
      second: fc.constantFrom(undefined, 0, 0, 59),
      fraction: fc.constantFrom('', '', '.0', '.000000', '.5', '.500', '.1234', '.12340', '.123456789'),
      separator: fc.constantFrom('T', ' '),
      zone: fc.constantFrom(...zones),
      isDay: fc.boolean(),
    })
    .map(({ day, hour, minute, second, fraction, separator, zone, isDay }) => {
      const digits = second === undefined ? '' : fraction
      const isWhole = isDay && zone === '' && hour === 0
      const clock = isWhole ? '00:00' : `${pad(hour)}:${pad(minute)}`
      const seconds = second === undefined || isWhole ? '' : `:${pad(second)}`
      const [, sign, hours, minutes = '00'] = /([+-])(\d\d):?(\d\d)?/.exec(zone) ?? ['', '+', '00']
      const offsetMs = (sign === '+' ? 1 : -1) * (Number(hours) * 60 + Number(minutes)) * 60_000
      const utc = new Date(Date.parse(`${day}T${clock}${seconds || ':00'}Z`) - offsetMs)
      return {
        text: isWhole ? day : `${day}${separator}${clock}${seconds}${digits}${zone}`,
        ms: utc.getTime(),
        time: `${utc.getTime()} ${(isWhole ? '' : digits).slice(1).padEnd(9, '0')}`,
      }
    })

const WITHOUT_ZONE = ['']
const WITH_ZONES = ['Z', '+00:00', '+02:00', '-0530', '+14', 'Z']

it('dates have the same hash and the same name exactly if they are of the same time', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(WITHOUT_ZONE, WITH_ZONES).chain((zones) => fc.array(written(zones), { minLength: 2 })),
      fc.boolean(),
      (dates, hasKernel) => {
        KernelPool.use = hasKernel ? 'always' : 'never'
        const reader = CellReader.open(10_000)
        const hashes = new RowHashes(dates.length)
        reader.addHashes(Buffer.from(dates.map(({ text }) => `"${text}"`).join(',')), hashes, 0, 'moment')
        for (const [k, date] of dates.entries()) {
          // Most dates do not need TypeScript, so each is hashed alone, too.
          const alone = new RowHashes(1)
          reader.addHashes(Buffer.from(`"${date.text}"`), alone, 0, 'moment')
          expect([date.text, alone.isSame(0, hashes, k)]).toEqual([date.text, true])
          for (const [n, other] of dates.entries()) {
            const isSame = date.time === other.time
            expect([date.text, other.text, hashes.isSame(k, hashes, n)]).toEqual([
              date.text,
              other.text,
              isSame,
            ])
            const names = [date, other].map(({ text }) => identifyBy.moment(`"${text}"`))
            expect(names[0] === names[1]).toBe(isSame)
          }
        }
        reader.release()
        KernelPool.use = 'large'
      },
    ),
    { numRuns: runs(500, 50_000) },
  )
})

it('no date of a slice is outside of the times that its bounds allow', () => {
  fc.assert(
    fc.property(
      fc
        .constantFrom(WITHOUT_ZONE, WITH_ZONES)
        .chain((zones) =>
          fc.tuple(fc.constant(zones), fc.array(written(zones), { minLength: 1, maxLength: 6 })),
        ),
      ([zones, dates]) => {
        const bounds = boundsOf(Buffer.from(dates.map(({ text }) => `"${text}"`).join(',')))
        const limits = timeLimitsOf(bounds, zones === WITH_ZONES ? 'datetime-zone' : 'datetime')
        if (!limits) return
        for (const { text, ms } of dates) {
          expect([text, limits[0] <= ms + 999, ms <= limits[1]]).toEqual([text, true, true])
        }
        if (zones === WITHOUT_ZONE && new Set(dates.map(({ text }) => text)).size === 1)
          expect(limits[1] - limits[0]).toBe(0)
      },
    ),
    { numRuns: runs(500, 50_000) },
  )
})

it('times with a zone and without one are not compared by time', () => {
  const types = ['datetime-zone', 'datetime', 'date', 'empty', 'text', 'number'] as const
  const compared = types.map((a) => types.map((b) => comparisonOf(a, b)[0]).join(''))
  expect(compared).toEqual(['mvvmvt', 'vmmmvt', 'vmvvvt', 'mmvvvt', 'vvvvvt', 'tttttv'])
})
