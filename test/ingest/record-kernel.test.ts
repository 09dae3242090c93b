// Lines of JSON give the same table with and without the kernel.
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { defaultLimits } from '../../src/contract/limits.ts'
import { Kernel } from '../../src/ingest/kernel/index.ts'
import { RecordKernel } from '../../src/ingest/kernel/records.ts'
import { ingestJson, ingestJsonLines } from '../../src/ingest/records/records.ts'
import type { Slice } from '../../src/ingest/values/table.ts'
import { runs } from '../support/property-runs.ts'

afterEach(() => {
  Kernel.usage = 'large'
})

const scalar = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -1e6, max: 1e6 }).map(String) },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map(String) },
  { weight: 5, arbitrary: fc.string({ maxLength: 30 }).map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => JSON.stringify(text)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'null',
      'true',
      'false',
      '""',
      '-0',
      '0.50',
      '1E+5',
      '12345678901234567890',
      '"2024-02-29"',
      '"2024-01-01 10:00:00"',
      '"caf\\u00e9 \\/ \\"q\\""',
      '"\\ud83d"',
      '[1,2]',
      '{"a":1}',
      '[]',
    ),
  },
)
/** Lists and objects of values, with blanks in them. */
const listOf = (value: fc.Arbitrary<string>, gaps = ['', ' ', '\t']): fc.Arbitrary<string> =>
  fc
    .tuple(fc.array(value, { maxLength: 3 }), fc.boolean(), fc.constantFrom(...gaps))
    .map(([list, isObject, gap]) => {
      const items = list.map((item, k) => (isObject ? `"n${k}"${gap}:${gap}${item}` : item))
      const text = `${gap}${items.join(`${gap},${gap}`)}${gap}`
      return isObject ? `{${text}}` : `[${text}]`
    })
const nested = listOf(fc.oneof({ weight: 3, arbitrary: scalar }, listOf(scalar)))
/** The same with line ends. */
const indented = listOf(fc.oneof({ weight: 3, arbitrary: scalar }, listOf(scalar)), [
  '',
  ' ',
  '\n',
  '\n  ',
  '\r\n\t',
])
/** Values and lines that are no JSON, or no records. */
const wrong = fc.constantFrom(
  '[1,]',
  '[,1]',
  '{"a"}',
  '{"a":}',
  '{1:2}',
  '[1 2]',
  '[[]',
  '{"a":1,}',
  '[1}',
  '01',
  '1.',
  '-',
  'tru',
  'nul',
  '"\\x"',
  '"\\u12g4"',
  '"a\tb"',
  '+1',
  '1e',
  '',
)
const names = ['id', 'a b', 'ä', 'x"y', '', 'k']

/** Layouts of records: their names, and the blanks between their parts. */
const layoutsOf = (gaps: string[]) =>
  fc.array(
    fc.record({
      names: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 5 }),
      gap: fc.constantFrom(...gaps),
      isArray: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 1, maxLength: 3 },
  )

/** Lines of a few layouts, most of them like the one before. */
const file = fc
  .record({
    layouts: layoutsOf(['', ' ', '  ']),
    lines: fc.array(
      fc.record({
        layout: fc.constantFrom(0, 0, 0, 0, 0, 1, 2),
        cells: fc.array(fc.oneof({ weight: 4, arbitrary: scalar }, nested), { minLength: 5, maxLength: 5 }),
        end: fc.constantFrom('\n', '\n', '\n', '\r\n', '\n\n', ' \n'),
        isTwice: fc.constantFrom(false, false, false, false, false, false, true),
      }),
      { minLength: 1, maxLength: 60 },
    ),
    broken: fc.option(fc.tuple(fc.nat(59), fc.nat(4), wrong), { freq: 5 }),
    isOpen: fc.boolean(),
    keys: fc.constantFrom<string[] | undefined>(undefined, ['id'], ['k', 'id']),
    flatten: fc.boolean(),
    piece: fc.integer({ min: 20, max: 3000 }),
  })
  .map(({ layouts, lines, broken, isOpen, ...rest }) => {
    const text = lines
      .map(({ layout, cells, end, isTwice }, n) => {
        const { names, gap, isArray } = layouts[layout % layouts.length]
        const values = names.map((_, k) => (broken?.[0] === n && broken[1] === k ? broken[2] : cells[k]))
        if (isArray) return `[${values.join(`,${gap}`)}]${end}`
        const members = names.map((name, k) => `${JSON.stringify(name)}:${gap}${values[k]}`)
        if (isTwice) members.push(members[0])
        return `{${members.join(`,${gap}`)}}${end}`
      })
      .join('')
    return { text: isOpen ? text.trimEnd() : text, ...rest }
  })

interface Found {
  slices?: (Omit<Slice, 'text'> & { text: string })[]
  result?: unknown
  error?: string
}

async function read(
  text: string,
  usage: typeof Kernel.usage,
  { keys, flatten, piece }: { keys?: string[]; flatten: boolean; piece: number },
  ingest: typeof ingestJson = ingestJsonLines,
  limits = defaultLimits,
): Promise<Found> {
  Kernel.usage = usage
  const bytes = Buffer.from(text)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
  }
  const slices: NonNullable<Found['slices']> = []
  const sink = { slice: (slice: Slice) => void slices.push({ ...slice, text: slice.text.toString() }) }
  try {
    const { lineOf: _, ...result } = await ingest(pieces(), { keys, flatten, limits }, sink)
    return { slices, result }
  } catch (error) {
    return { error: String(error) }
  }
}

it('any lines give the same slices, types, warnings and errors', async () => {
  await fc.assert(
    fc.asyncProperty(file, async ({ text, ...options }) => {
      expect(await read(text, 'always', options)).toEqual(await read(text, 'never', options))
    }),
    { numRuns: runs(40, 5000) },
  )
})

/** Times, and texts like them; mostly of the first kinds. */
const moment = fc.oneof(
  {
    weight: 60,
    arbitrary: fc.constantFrom(
      '"2024-02-29"',
      '"2024-12-31"',
      '"1999-01-01T23:59:59"',
      '"1999-01-01 00:00:00"',
      'null',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"2023-02-29"',
      '"2024-13-01"',
      '"2024-04-31"',
      '"0000-01-01"',
      '"2024-01-01T24:00:00"',
      '"2024-01-01T10:60:00"',
      '"2024-01-01T10:00"',
      '"2024-01-01T10:00:00.5"',
      '"2024-01-01T10:00:00Z"',
      '"2024-01-01T10:00:00+02:00"',
      '" 2024-01-01"',
      '"2024-01-01\\n"',
      '"3.4.2024"',
      '"true"',
      '""',
      '20240101',
      '["2024-01-01"]',
    ),
  },
)

it('times, and texts like them, give the same types', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(moment, { minLength: 1, maxLength: 80 }),
      fc.integer({ min: 20, max: 500 }),
      async (cells, piece) => {
        const text = cells.map((cell) => `{"at":${cell}}`).join('\n')
        const options = { flatten: false, piece }
        expect(await read(text, 'always', options)).toEqual(await read(text, 'never', options))
      },
    ),
    { numRuns: runs(60, 20_000) },
  )
})

/** An array of records of a few layouts, most of them like the one before, with blanks as in the example or others. */
const records = fc
  .record({
    layouts: layoutsOf(['', ' ', '\n    ']),
    areRows: fc.boolean(),
    items: fc.array(
      fc.record({
        layout: fc.constantFrom(0, 0, 0, 0, 0, 1, 2),
        cells: fc.array(fc.oneof({ weight: 6, arbitrary: scalar }, nested, indented), {
          minLength: 5,
          maxLength: 5,
        }),
        longer: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 3000),
        isTwice: fc.constantFrom(false, false, false, false, false, false, true),
        odd: fc.oneof(
          { weight: 120, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: fc.constantFrom('null', 'null', '[1]', '7') },
        ),
      }),
      { minLength: 1, maxLength: 60 },
    ),
    separator: fc.constantFrom(',', ', ', ',\n', ',\n  ', ' ,\t'),
    /** Another separator after each so many records. */
    others: fc.option(fc.tuple(fc.integer({ min: 2, max: 9 }), fc.constantFrom(' ,  ', ',\n ', ',')), {
      freq: 2,
    }),
    last: fc.constantFrom('', '\n'),
    around: fc.constantFrom(['', ''], ['{"data":', '}'], [' ', '\n']),
    keys: fc.constantFrom<string[] | undefined>(undefined, ['id'], ['k', 'id']),
    flatten: fc.boolean(),
    piece: fc.integer({ min: 20, max: 3000 }),
  })
  .map(({ layouts, areRows, items, separator, others, last, around, ...rest }) => {
    const texts = items.map(({ layout, cells, longer, isTwice, odd }) => {
      if (odd !== undefined) return odd
      const { names, gap } = layouts[layout % layouts.length]
      const values = longer > 0 ? [JSON.stringify('x'.repeat(longer)), ...cells.slice(1)] : cells
      const members = names.map((name, k) => `${areRows ? '' : `${JSON.stringify(name)}:${gap}`}${values[k]}`)
      if (isTwice) members.push(members[0])
      const text = members.join(`,${gap}`)
      return areRows ? `[${gap}${text}]` : `{${gap}${text}}`
    })
    const separatorBefore = (k: number): string => (others && k % others[0] === 0 ? others[1] : separator)
    const joined = texts.map((text, k) => (k === 0 ? text : separatorBefore(k) + text)).join('')
    return { text: `${around[0]}[${joined}${last}]${around[1]}`, ...rest }
  })

it('any array of records gives the same slices, types, warnings and errors', async () => {
  await fc.assert(
    fc.asyncProperty(records, async ({ text, ...options }) => {
      // An array of more than the last limit is read object by object.
      for (const json_body_bytes of [defaultLimits.json_body_bytes, 20]) {
        const limits = { ...defaultLimits, json_body_bytes }
        const found = await read(text, 'always', options, ingestJson, limits)
        expect(found).toEqual(await read(text, 'never', options, ingestJson, limits))
      }
    }),
    { numRuns: runs(40, 5000) },
  )
})

it('a line above the limit is refused with its number, however chunks divide it', async () => {
  const limits = { ...defaultLimits, record_bytes: 5000 }
  const line = (size: number): string => `{"a":"${'x'.repeat(size - 8)}"}`
  const text = `${[100, 5000, 100, 5001, 100].map(line).join('\n')}\n`
  for (const usage of ['always', 'never'] as const)
    for (const piece of [500, 4999, 7000, 1_000_000]) {
      const options = { flatten: false, piece }
      const { error } = await read(text, usage, options, ingestJsonLines, limits)
      expect(error).toContain('line 4: the line is longer than')
    }
})

it('slices of many rows end alike, by all columns or by the key', async () => {
  const lines = Array.from(
    { length: 60_000 },
    (_, k) =>
      `{"id": ${(k * 7919) % 100_003}, "t": "row ${k % 977}", "x": ${k % 5 === 0 ? 'null' : k / 8}}\n`,
  )
  for (const keys of [undefined, ['id'], ['t', 'x']]) {
    const options = { keys, flatten: false, piece: 65_536 }
    const [fast, slow] = [
      await read(lines.join(''), 'always', options),
      await read(lines.join(''), 'never', options),
    ]
    expect(fast.slices!.length).toBeGreaterThan(3)
    expect(fast).toEqual(slow)
  }
})

it('the kernel takes all lines that differ from the first one in their values only', () => {
  Kernel.usage = 'always'
  const kernel = RecordKernel.acquire(true)!
  try {
    const parts = ['{"a":', ',"b":', '}'].map((part) => Buffer.from(part))
    expect(kernel.learn(parts, [], { depth: 9, takesObjects: true })).toBe(true)
    const lines = Buffer.from('{"a":1,"b":"x\\n"}\n{"a":-2.5e3,"b":null}\r\n{"a":3,"c":1}\n')
    expect(kernel.scan(lines)).toEqual({ rows: 2, bytes: 41, mayContinue: false })
    expect(kernel.values(1, 0, 2).toString()).toBe('"x\\n",null')
    expect([kernel.firstOf('text'), kernel.firstOf('number')]).toEqual([0, -1])
  } finally {
    kernel.release()
  }
})
