// Detection of column types, and stored values: see docs/formats.md#types.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { convertToUtc } from '../../src/browser/zones.ts'
import { detectMoment, parseInstant } from '../../src/json/index.ts'
import { runs } from '../support/property-runs.ts'
import { read } from './read.ts'

const column = async (cells: readonly string[]) => {
  const found = await read(
    `d,n\n${cells.map((cell, k) => `${cell.includes(',') ? JSON.stringify(cell) : cell},${k}\n`).join('')}`,
  )
  return { ...found.columns[0], values: found.rows.map(([d]) => d), warnings: found.warnings.join('\n') }
}

const pad = (n: number): string => String(n).padStart(2, '0')
const NAMES = 'January February March April May June July August September October November December'.split(
  ' ',
)
type Day = { y: number; m: number; d: number }
const iso = ({ y, m, d }: Day): string => `${y}-${pad(m)}-${pad(d)}`

/** Spellings of a day, with the order of day and month if it is ambiguous. */
const forms: Record<string, [(day: Day) => string, order?: 'dmy' | 'mdy']> = {
  iso: [iso],
  'year first': [({ y, m, d }) => `${y}/${m}/${d}`],
  'day first with points': [({ y, m, d }) => `${pad(d)}.${pad(m)}.${y}`, 'dmy'],
  'day first with slashes': [({ y, m, d }) => `${d}/${m}/${y}`, 'dmy'],
  'month first': [({ y, m, d }) => `${m}/${d}/${y}`, 'mdy'],
  'month first, padded': [({ y, m, d }) => `${pad(m)}-${pad(d)}-${y}`, 'mdy'],
  'names, American': [({ y, m, d }) => `${NAMES[m - 1]} ${d}, ${y}`],
  'names, British': [({ y, m, d }) => `${d} ${NAMES[m - 1].slice(0, 3)} ${y}`],
}

it('a nonexistent day is reported, and not the valid days before it', async () => {
  for (const [first, wrong] of [
    ['31.12.2024', '32.12.2024'],
    ['2024-12-31', '2024-02-30'],
    ['12/31/2024', '13/32/2024'],
  ]) {
    const { type, seen, warnings } = await column([first, wrong])
    expect(type).toBe('text')
    expect(seen?.map(({ where, text }) => [where, text])).toEqual([
      ['line 2', first],
      ['line 3', wrong],
    ])
    expect(warnings).toContain(`line 3 holds "${wrong}"`)
  }
  const { seen } = await column(['a day', '31.12.2024'])
  expect(seen).toEqual([{ type: 'text', where: 'line 2', text: 'a day' }])
})

describe('dates are detected where all values agree', () => {
  it('dates of every form are stored in ISO 8601, or kept as text if no value decides the order', async () => {
    const day = fc.record({
      y: fc.integer({ min: 1000, max: 9999 }),
      m: fc.integer({ min: 1, max: 12 }),
      d: fc.integer({ min: 1, max: 28 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(forms)),
        fc.array(fc.option(day, { freq: 5 }), { minLength: 3, maxLength: 12 }),
        async (form, days) => {
          const [write, order] = forms[form]
          const known = days.filter((one) => one !== null)
          fc.pre(known.length > 0)
          const cells = days.map((one) => (one ? write(one) : ''))
          const found = await column(cells)
          const decides =
            order === undefined || known.some(({ d }) => d > 12) || known.every(({ d, m }) => d === m)
          if (!decides) {
            expect([found.type, found.dateOrder]).toEqual(['text', 'undecided'])
            expect(found.values).toEqual(cells.map((cell) => cell || null))
            for (const one of ['d:date-dmy', 'd:date-mdy'])
              expect(found.warnings).toContain(`--column "${one}"`)
            return
          }
          expect([form, found.type, found.values]).toEqual([
            form,
            'date',
            days.map((one) => (one ? iso(one) : null)),
          ])
          if (form === 'iso') expect(found.warnings).toBe('')
          else expect(found.warnings).toContain(`stored as`)
        },
      ),
      { numRuns: runs(100, 1000) },
    )
  })

  it.each<[string, string[], string, unknown[]?]>([
    ['a day among times', ['2024-01-31', '2024-01-31 10:00'], 'datetime'],
    ['fractions, and T or space', ['2024-01-31T10:00:00.123456', '2024-01-31 10:00:00'], 'datetime'],
    ['zones', ['2024-01-31T10:00:00+02:00', '2024-01-31T10:00Z', '2024-01-31 10:00:00+00'], 'datetime-zone'],
    ['times with a zone and without', ['2024-01-31T10:00Z', '2024-01-31T10:00'], 'text'],
    ['different forms', ['2024-01-31', '31.01.2024'], 'text'],
    ['different separators', ['13.01.2024', '14/01/2024'], 'text'],
    ['contradicting orders', ['13/01/2024', '01/13/2024'], 'text'],
    ['years of two digits', ['13.01.24', '14.01.24'], 'text'],
    ['months', ['2024-01', '2024-02'], 'text'],
    ['weeks', ['2024-W01', '2024-W02'], 'text'],
    ['quarters', ['2024-Q1', '2024-Q2'], 'text'],
    ['a day that is not in the calendar', ['2024-02-28', '2024-02-30'], 'text'],
    ['February 29', ['2024-02-29', '2000-02-29'], 'date'],
    ['February 29 of another year', ['2023-02-29', '1900-02-29'], 'text'],
    ['the year 0', ['0000-01-01', '0000-01-02'], 'text'],
    ['years of five digits', ['12024-01-01', '12024-01-02'], 'text'],
    ['words before dates', ['Paid 5 Feb 2024', 'Due 13 Feb 2024', 'Cancelled 14 Feb 2024'], 'text'],
    ['weekdays before dates', ['Mon, 5 Feb 2024', 'Tue, 13 Feb 2024'], 'date', ['2024-02-05', '2024-02-13']],
    ['numbers of invoices', ['2024-0101', '2024-0115'], 'text'],
    ['ids of eight digits', ['01010101', '06061225'], 'text'],
    ['protected texts', ['="20240131"', '="20240215"'], 'text', ['20240131', '20240215']],
    ['separators that differ', ['2024/01-31', '2024/02-28'], 'text'],
    ['booleans in any case', ['true', 'FALSE', 'True'], 'boolean', [true, false, true]],
    ['a boolean among words', ['true', 'maybe'], 'text'],
    ['numbers before a date', ['1', '2024-01-31'], 'text'],
    [
      'times of a day-first column',
      ['31.01.2024 9:30', '01.02.2024 10:00:05'],
      'datetime',
      ['2024-01-31T09:30:00', '2024-02-01T10:00:05'],
    ],
    ['blanks around dates', ['" 2024-01-31"', '2024-02-01'], 'date', ['2024-01-31', '2024-02-01']],
    ['empty texts in quotes', ['""', '2024-01-31'], 'date', [null, '2024-01-31']],
  ])('%s', async (_, cells, type, values = cells) => {
    const found = await column(cells)
    expect([found.type, found.values]).toEqual([type, values])
  })

  it('the last row can decide the date order; one non-date makes the column text', async () => {
    const many = Array.from({ length: 70_000 }, (_, k) => `${pad((k % 12) + 1)}/${pad((k % 11) + 1)}/2024`)
    const decided = await column([...many, '13/01/2024'])
    expect([decided.type, decided.dateOrder, decided.values[1], decided.values.at(-1)]).toEqual([
      'date',
      'dmy',
      '2024-02-02',
      '2024-01-13',
    ])
    const broken = await column([...many, 'n/a'])
    expect([broken.type, broken.values[1], broken.values.at(-1)]).toEqual(['text', '02/02/2024', 'n/a'])
    expect(broken.warnings).toMatch(
      /column d is text: line 70002 holds "n\/a" \(if that is a missing value: --null n\/a\)/,
    )
  })

  it('dates are detected alike in chunks of any size', async () => {
    const text = 'd,ok,n\n13/01/2024,true,1\n,,2\n"02/01/2024",FALSE,3\n'
    const whole = await read(text)
    for (const pieces of [1, 2, 5]) {
      const found = await read(text, {}, pieces)
      expect([found.types, found.rows]).toEqual([whole.types, whole.rows])
    }
    expect(whole.rows).toEqual([
      ['2024-01-13', true, 1],
      [null, null, 2],
      ['2024-01-02', false, 3],
    ])
  })
})

describe('times', () => {
  const of = (text: string) => detectMoment(Buffer.from(text), 0, text.length)
  it('ISO 8601 times are read like Date', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          const text = date.toISOString()
          expect([of(text), of(text.slice(0, 23)), of(text.slice(0, 10))]).toEqual([
            'datetime-zone',
            'datetime',
            'date',
          ])
          expect(parseInstant(text)).toBeCloseTo(date.getTime(), 3)
        },
      ),
      { numRuns: runs(100, 1000) },
    )
  })
  it('the time parser never throws or accepts other bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789-:T Z+.x'), maxLength: 30 }), (text) => {
        if (of(text) !== undefined) expect(Number.isNaN(parseInstant(text))).toBe(false)
      }),
      { numRuns: runs(1000, 20_000) },
    )
  })

  it('times with a zone are drawn in UTC on axes, and unchanged as labels', () => {
    const x = [
      '2024-01-31T01:00:00+02:00',
      '2024-06-30 23:30-0130',
      null,
      '2024-01-01T00:00:00.5Z',
      '2024-01-01 10:00:00+00',
    ]
    const meta = { theme: 'gridline' }
    const drawn = (type?: string) =>
      convertToUtc({ data: [{ x, y: [1, 2, 3, 4, 5] }], layout: { meta, xaxis: { type } } }).data[0].x
    expect(drawn('date')).toEqual([
      '2024-01-30 23:00:00',
      '2024-07-01 01:00:00',
      null,
      '2024-01-01 00:00:00.500',
      '2024-01-01 10:00:00',
    ])
    expect(drawn()).toEqual(drawn('date'))
    expect(drawn('category')).toEqual(x)
    const plain = { data: [{ x: ['2024-01-31 10:00'], y: [1] }], layout: { meta } }
    expect(convertToUtc(plain).data[0]).toBe(plain.data[0])
    // Its shapes and ranges would be beside the values.
    const foreign = { data: [{ x, y: [1, 2, 3, 4, 5] }], layout: { shapes: [{ x0: x[0], x1: x[1] }] } }
    expect(convertToUtc(foreign)).toBe(foreign)
  })
})

it('times with and without a zone are text, and the warning says why, once', async () => {
  const zoned = await read('t\n2024-08-11T11:03:00Z\n2024-08-11T11:03:00\n')
  expect([zoned.types, zoned.warnings]).toEqual([
    ['text'],
    ['column t is text: line 3 holds "2024-08-11T11:03:00" without a time zone, which others have'],
  ])
  const given = await read('t\n2024-08-11T11:03:00\n2024-08-11T11:03:00+02:00\n', {
    types: new Map([['t', 'datetime']]),
  })
  expect(given.warnings).toEqual([
    'column t is text: line 3 holds "2024-08-11T11:03:00+02:00" with a time zone, which others lack',
  ])
  const money = await read('n,v\na,1\nb,€ 2\nc,€ 3\n')
  expect(money.warnings).toEqual([expect.stringContaining('column v looks like amounts with a currency')])
})

it('amounts in several currencies are text, or numbers with a warning that names two of them', async () => {
  const csv = 'n,v\n1,$5\n2,5 USD\n3,$7\n4,€6\n5,£1\n'
  const kept = await read(csv)
  expect([kept.types, kept.warnings]).toEqual([
    ['number', 'text'],
    ['column v looks like amounts in several currencies ($, USD, €, £) (line 2: $5); kept as text'],
  ])
  const given = await read(csv, { types: new Map([['v', 'number']]) })
  expect([given.types, given.warnings]).toEqual([
    ['number', 'number'],
    ['column v: amounts in several currencies were read as numbers (line 2: $5, line 5: €6)'],
  ])
  // One currency, written in two ways.
  for (const same of ['1 kr,2 SEK,3 kr', '¥5,6 JPY,7 JPY', '5 zł,6 PLN,7 zł'])
    expect((await read(`n\n${same.replaceAll(',', '\n')}\n`)).warnings.join()).toContain(
      '--column "n:number"',
    )
  expect((await read(csv.replace(/[€£]/g, '$'))).warnings).toEqual([
    expect.stringMatching(/amounts with a currency .*to read them: --column "v:number"/),
  ])
})
