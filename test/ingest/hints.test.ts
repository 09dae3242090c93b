// Applies the options that warnings suggest: nothing else may change.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DelimitedOptions, type GivenType, parseStyleOptions } from '../../src/ingest/index.ts'
import { runs } from '../support/property-runs.ts'
import { read } from './read.ts'

/** Returns the options in a hint: each alternative, for each column. */
function optionsIn(warning: string): { options: DelimitedOptions; column: string }[] {
  const [, columns = ''] = /^columns? (\w+(?:, \w+)*)/.exec(warning) ?? []
  return columns.split(', ').flatMap((column) => optionsFor(warning, column))
}

function optionsFor(warning: string, column: string): { options: DelimitedOptions; column: string }[] {
  const hint =
    /(?:to read (?:them|it as \S+)|separates thousands|to keep them as written): (.*)$/.exec(warning)?.[1] ??
    ''
  const found: { options: DelimitedOptions; column: string }[] = []
  for (const part of hint.split(/\(or|\(this also|; as a| or /)) {
    const decimal = /--decimal (\S)/.exec(part)?.[1]
    const thousands = /--thousands (\S+?)(?=[\s;)]|$)/.exec(part)?.[1]
    const skipLast = Number(/--skip-last (\d+)/.exec(part)?.[1] ?? 0)
    const nullTexts = [...part.matchAll(/--null (?:"([^"]+)"|(\S+))/g)].map(
      ([, quoted, word]) => quoted ?? word,
    )
    const types = [...part.matchAll(/--column "([^":]+):([\w-]+)"/g)]
    const style = {
      ...(decimal || thousands ? parseStyleOptions({ decimal, thousands }) : {}),
      ...(skipLast > 0 && { skipLast }),
      ...(nullTexts.length > 0 && { nullTexts }),
    }
    if (types.length === 0 && (decimal || thousands)) found.push({ column, options: style })
    for (const [, name, type] of types)
      found.push({ column, options: { ...style, types: new Map([[name, type as GivenType]]) } })
  }
  return found
}

/** Returns the columns that hints would change. */
const named = (warnings: readonly string[]): string[] =>
  warnings.flatMap((warning) => [
    ...optionsIn(warning).map(({ column }) => column),
    ...[...warning.matchAll(/also reads (\w+) /g)].map(([, name]) => name),
  ])

/** Applies each hint about a file. Returns the number of hints. */
async function follow(text: string): Promise<number> {
  const before = await read(text)
  let count = 0
  for (const warning of before.warnings)
    for (const { options, column } of optionsIn(warning)) {
      count++
      const after = await read(text, options)
      for (const [k, name] of before.names.entries()) {
        if (named(before.warnings).includes(name)) continue
        expect([warning, name, after.rows.map((row) => row[k])]).toEqual([
          warning,
          name,
          // A hint may also skip the total row.
          before.rows.slice(0, before.rows.length - (options.skipLast ?? 0)).map((row) => row[k]),
        ])
      }
      const k = before.names.indexOf(column)
      // The hint has an effect: the column is read differently.
      expect([warning, after.rows.map((row) => row[k])]).not.toEqual([
        warning,
        before.rows.map((row) => row[k]),
      ])
    }
  return count
}

describe('identifiers', () => {
  const file =
    'id;zip;phone;long;amt\n007;01234;+4912345;12345678901234567890;1.234,50\n008;01235;+4912346;12345678901234567891;5,50\n'
  const kept = [
    ['007', '01234', '+4912345', '12345678901234567890', 1234.5],
    ['008', '01235', '+4912346', '12345678901234567891', 5.5],
  ]
  it.each([[{ decimal: ',', thousands: '.' }], [{ locale: 'de' }], [{ locale: 'de_DE' }]])(
    'identifiers survive %j',
    async (given) => {
      expect((await read(file, parseStyleOptions(given))).rows).toEqual(kept)
    },
  )

  it('identifiers survive --thousands on an English file', async () => {
    const text = 'id,n\n007,"1,234"\n008,"2,345"\n'
    expect((await read(text, parseStyleOptions({ thousands: ',' }))).rows).toEqual([
      ['007', 1234],
      ['008', 2345],
    ])
  })

  it('late identifiers make the column text, without changing earlier values', async () => {
    const many = Array.from({ length: 40_000 }, (_, k) => `${k + 1};1,5\n`).join('')
    const { rows, types } = await read(`id;n\n${many}007;2,5\n`, parseStyleOptions({ decimal: ',' }))
    expect([types, rows[0], rows.at(-1)]).toEqual([
      ['text', 'number'],
      ['1', 1.5],
      ['007', 2.5],
    ])
  })
})

describe('numbers that can be read in two ways', () => {
  const file = 'menge;preis\n1.234;1,5\n12.500;2,5\n2.000;3,5\n'
  it('ambiguous numbers are reported if another column has decimal commas', async () => {
    expect((await read(file)).warnings.join('\n')).toContain(
      'column menge: 1.234 was read as a decimal number',
    )
  })
  it('ambiguous numbers stay text with --decimal alone, and the warning offers both readings', async () => {
    const { rows, warnings } = await read(file, parseStyleOptions({ decimal: ',' }))
    expect(rows[0]).toEqual(['1.234', 1.5])
    expect(warnings.join('\n')).toContain('1.234 is 1234 if its point separates thousands')
  })
  it('numbers without groups of three digits stay numbers', async () => {
    const { rows } = await read(
      'lat;n\n48.1374;1,5\n11.5;2,5\n',
      parseStyleOptions({ decimal: ',', thousands: '.' }),
    )
    expect(rows).toEqual([
      [48.1374, 1.5],
      [11.5, 2.5],
    ])
  })
})

describe('a hint that is followed changes only the columns that it names', () => {
  it.each([
    ['id;zip;amt;menge\n007;01234;1.234,50;1.234\n008;01235;5,50;12.500\n009;01236;6,50;2.000\n', 2],
    ['a,b\n"1,234",7\n"2,345",8\n', 2],
    ['price,share,when\n$5.00,12%,1/13/2024\n$6.50,7%,2/14/2024\n', 3],
    ['d;v\n13.01.2024;(3.50)\n1.2.2024;4\n', 2],
    ['a,share\nx,12 %\ny,n/a\nz,13 %\n', 1],
    ['d,a\n1/13/2024,x\n?,y\n2/14/2024,z\n', 1],
    ['d;v;n\n13.01.2024;1.234,50 €;a\n14.01.2024;2,50 €;b\n15.01.2024;3,50 €;c\nSumme;1.240,50 €;\n', 2],
  ])('following a hint changes only the columns that it names: %j', async (text, count) => {
    expect(await follow(text)).toBeGreaterThanOrEqual(count)
  })

  it('a followed hint changes only its columns, for any neighboring columns', async () => {
    const column = fc.constantFrom<() => fc.Arbitrary<string>>(
      () => fc.constantFrom('007', '01234', '+4912', '12345678901234567890'),
      () => fc.integer({ min: 0, max: 99_999 }).map(String),
      () => fc.integer({ min: 0, max: 99 }).map((n) => `${n},5`),
      () => fc.integer({ min: 1, max: 9 }).map((n) => `${n}.234,50`),
      () => fc.integer({ min: 1, max: 9 }).map((n) => `${n}.500`),
      () => fc.integer({ min: 10, max: 99 }).map((n) => `48.1${n}4`),
      () => fc.constantFrom('x', 'y z', ''),
      () => fc.integer({ min: 10, max: 28 }).map((n) => `${n}.01.2024`),
      () => fc.integer({ min: 10, max: 28 }).map((n) => `${n}/01/24`),
      () => fc.integer({ min: 1, max: 9 }).map((n) => `${n}.234,50 €`),
      () => fc.integer({ min: 1, max: 9 }).map((n) => `$${n}.50`),
    )
    const table = fc
      .array(column, { minLength: 2, maxLength: 5 })
      .chain((columns) =>
        fc.array(fc.tuple(...columns.map((make) => make())), { minLength: 4, maxLength: 9 }),
      )
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const names = rows[0].map((_, k) => `name${String.fromCharCode(97 + k)}`)
        await follow(`${[names, ...rows].map((cells) => cells.join(';')).join('\n')}\n`)
      }),
      { numRuns: runs(50, 150) },
    )
  })
})

describe('the end of a file', () => {
  const file = 'day;n\na;1\nb;2\nc;3\nSumme;6\n\n'
  it('a total row is reported, and --skip-last omits it', async () => {
    const { warnings, count } = await read(file)
    expect([count, warnings.join()]).toEqual([4, expect.stringContaining('"Summe" looks like the total')])
    expect((await read(file, { skipLast: 1 })).rows).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ])
  })
  it('--skip-last works in chunks of any size', async () => {
    for (const pieces of [1, 3, 7]) expect((await read(file, { skipLast: 2 }, pieces)).count).toBe(2)
  })
})

it('a locale sets the order of day and month', async () => {
  const text = 'd;n\n1/2/2024;1\n3/4/2024;2\n5/6/2024;3\n'
  expect((await read(text, parseStyleOptions({ locale: 'en-US' }))).rows[0][0]).toBe('2024-01-02')
  expect((await read(text, parseStyleOptions({ locale: 'en-GB' }))).rows[0][0]).toBe('2024-02-01')
})

it('the hint of --skip-last counts the lines below the total', async () => {
  const text = 'name;v;w\na;1;x\nb;2;x\nc;3;x\nSumme;6;\nStand: 31.03.2024\n'
  const { warnings } = await read(text)
  expect(warnings.join('\n')).toMatch(/"Summe" looks like the total .* --skip-last 2$/m)
  const { rows } = await read(text, { skipLast: 2 })
  expect(rows).toEqual([
    ['a', 1, 'x'],
    ['b', 2, 'x'],
    ['c', 3, 'x'],
  ])
})

it('a column that is text because of a total or a decimal comma says so', async () => {
  const text = 'd;v\n13.01.2024;1,50 €\n14.01.2024;2,50 €\n15.01.2024;3,50 €\nSumme;7,50 €\n'
  const given = (name: string, type: GivenType) => read(text, { types: new Map([[name, type]]) })
  await expect(given('d', 'date')).rejects.toThrow(
    expect.objectContaining({ hint: expect.stringMatching(/--skip-last 1/) }),
  )
  await expect(given('v', 'number')).rejects.toThrow(
    expect.objectContaining({ hint: expect.stringMatching(/--decimal ,/) }),
  )
})
