// The language of conditions: read, checked against types, and evaluated as DuckDB does.
import { readFileSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseInstant } from '../../src/json/index.ts'
import {
  bindWhere,
  formatSortKey,
  parseSort,
  parseWhere,
  quoteColumnName,
  type Scalar,
  toSqlCondition,
} from '../../src/query/index.ts'
import { ARITHMETIC, COMPARISON_BY_SPELLING, PREDICATES } from '../../src/query/operators.ts'
import { runs } from '../support/property-runs.ts'

const columns = [
  { name: 'n', type: 'number' },
  { name: 'm', type: 'number' },
  { name: 't', type: 'text' },
  { name: 'b', type: 'boolean' },
  { name: 'd', type: 'date' },
  { name: 'unit price', type: 'number' },
] as const

function rejected(text: string): string {
  try {
    bindWhere(parseWhere(text), columns)
  } catch (error) {
    return `${(error as Error).message}${(error as { hint?: string }).hint ?? ''}`
  }
  return 'accepted'
}

describe('conditions', () => {
  it('every operator is in docs/filtering.md', () => {
    const text = readFileSync(new URL('../../docs/filtering.md', import.meta.url), 'utf8')
    for (const sign of [...COMPARISON_BY_SPELLING.keys(), ...Object.keys(ARITHMETIC)])
      expect(text.includes(`\`${sign}\``) || text.includes(`\`a ${sign} `), sign).toBe(true)
    for (const word of PREDICATES) expect(text).toContain(`\`a ${word} `)
  })

  it.each([
    ['', 'expected a condition, at the end'],
    ['n >', 'expected a column, a number or a text, at the end'],
    ['n > 1 n < 2', 'expected and, or, or the end, at character 7'],
    ['(n > 1', 'expected ), at the end'],
    ["t = 'x", "the quote ' is not closed, at character 5"],
    ['n = 1; drop', 'unexpected character, at character 6'],
    ['1 < n < 2', 'comparisons cannot be chained'],
    ['n in 1', 'expected ( after in'],
    ['n is 1', 'expected null'],
    ['n not 1', 'expected in, like, ilike or between'],
    ['t like n', 'expected a text after like'],
    ['n', 'this is a number, not a condition'],
    ['n and b', 'expected a condition, found a number'],
    ["n = '1'", 'a number cannot be compared with text, at character 5'],
    ['t = 1', 'text cannot be compared with a number'],
    ['t + 1 > 2', 'expected a number, found text'],
    ["n in (1, 'x')", 'a number cannot be compared with text, at character 10'],
    ["d > 'soon'", 'expected a date, at character 5'],
    ['d > 2024', 'a date cannot be compared with a number'],
    ['N > 1', 'the grid has no column "N"Did you mean n?'],
    ['like > 1', 'write it in double quotes: "like"'],
    ['2x > 1', 'a name cannot begin with a digit'],
    [`${'('.repeat(101)}n${')'.repeat(101)} > 1`, 'nested more than 100 times'],
    [`n in (${'1,'.repeat(6000)}1)`, 'the limit is 10000'],
  ])('condition %s is refused with the position', (text, message) => {
    expect(rejected(text)).toContain(message)
  })

  it('whole numbers are exact, and values of mixed columns match their own type only', () => {
    const test = (text: string, values: Scalar[]) => {
      const bound = bindWhere(parseWhere(text), [{ name: 'v', type: 'json' }])
      return values.map((value) => bound.test([value]))
    }
    expect(test('v = 9007199254740993', [9007199254740992n, 9007199254740993n, 9007199254740992])).toEqual([
      false,
      true,
      false,
    ])
    expect(test("v = 'a' or v = 1 or v = true", ['a', 1, true, null, 'b', 0])).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })

  it('nested expressions are parsed once', () => {
    const nested = `${'('.repeat(90)}n between 0 and 1${') between false and true'.repeat(90)}`
    expect(bindWhere(parseWhere(nested), columns).test([0.5])).toBe(true)
    expect(rejected(`${'1+'.repeat(2000)}1 > 0`)).toContain('more than 1000 operators')
    expect(rejected(`t like '${'a'.repeat(300)}'`)).toContain('the pattern is longer than 256 characters')
  })

  it('in agrees with =, also for values of other types and large numbers', () => {
    const values: Scalar[] = ['a', 1, true, null, 2, 10n ** 20n]
    const chosen = (text: string) =>
      values.filter((value) => bindWhere(parseWhere(text), [{ name: 'v', type: 'json' }]).test([value]))
    expect(chosen('v not in (1)')).toEqual(chosen('v <> 1'))
    expect(chosen('v not in (1, true)')).toEqual(chosen('v <> 1 and v <> true'))
    expect(chosen("v in (1, 'a')")).toEqual(chosen("v = 1 or v = 'a'"))
    expect(chosen('v in (1e20)')).toEqual([10n ** 20n])
  })

  it('ilike folds the case of each character separately', () => {
    const { test } = bindWhere(parseWhere("t ilike 'ΟΔΟΣ%'"), columns)
    expect([test(['ΟΔΟΣΑ']), test(['οδος'])]).toEqual([true, false])
    expect(bindWhere(parseWhere("t ilike '_X'"), columns).test(['İx'])).toBe(true)
  })

  it('like patterns are matched in linear time', () => {
    const { test } = bindWhere(parseWhere(`t like '${'%a'.repeat(100)}%b'`), columns)
    expect(test(['a'.repeat(5000)])).toBe(false)
  })

  it('column names and keys are formatted as they are parsed', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.boolean(), (name, descending) => {
        expect(parseSort(formatSortKey({ name, descending }))).toEqual([{ name, descending }])
        const { expression } = parseWhere(`${quoteColumnName(name)} is null`)
        expect(expression).toMatchObject({ kind: 'null', of: { kind: 'column', name } })
      }),
      { numRuns: runs(300, 10_000) },
    )
    for (const text of ['', 'a,', ',a', 'a,a', '-', 'a,b,c,d,e,f,g,h,i,j,k'])
      expect(() => parseSort(text)).toThrow('sort:')
    expect(parseSort('-"a, ""b", c')).toEqual([
      { name: 'a, "b', descending: true },
      { name: 'c', descending: false },
    ])
  })
})

describe('evaluated', () => {
  let duck: DuckDBConnection
  beforeAll(async () => {
    duck = await (await DuckDBInstance.create()).connect()
  })

  const number = fc.oneof(fc.integer({ min: -3, max: 5 }), fc.constantFrom(0.5, 2.25, -1.5))
  const word = fc.constantFrom('', 'a', 'Ab', 'abc', 'b_', 'a%', "it's", 'ä')
  const day = fc.constantFrom('2023-12-31', '2024-01-01', '2024-02-29', '2025-06-01')
  const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
  const numeric = fc.letrec<{ sum: string }>((tie) => ({
    sum: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(number.map(String), fc.constantFrom('n', 'm', '"unit price"')),
      fc
        .tuple(tie('sum'), fc.constantFrom('+', ' - ', '-', '*'), tie('sum'))
        .map(([a, sign, b]) => `(${a}${sign}${b})`),
      tie('sum').map((one) => `-${one}`),
    ),
  })).sum
  const text = fc.oneof(word.map(quoted), fc.constant('t'))
  const sign = fc.constantFrom('=', '<>', '<', '<=', '>', '>=')
  const condition = fc.letrec<{ any: string }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.tuple(numeric, sign, numeric).map((parts) => parts.join(' ')),
      fc.tuple(text, sign, text).map((parts) => parts.join(' ')),
      fc.tuple(sign, day).map(([one, other]) => `d ${one} ${quoted(other)}`),
      fc
        .tuple(numeric, fc.constantFrom('in', 'not in'), fc.array(number, { minLength: 1, maxLength: 3 }))
        .map(([of, kind, list]) => `${of} ${kind} (${list.join(', ')})`),
      fc.array(day, { minLength: 1, maxLength: 2 }).map((list) => `d in (${list.map(quoted).join(', ')})`),
      fc
        .tuple(
          fc.constantFrom('like', 'not like', 'ilike'),
          fc.constantFrom('a%', '%b%', '_b_', '%', 'A_', '', '%ä', String.raw`a\%`, String.raw`b\_`, '%\\'),
        )
        .map(([kind, pattern]) => `t ${kind} ${quoted(pattern)}`),
      fc
        .tuple(numeric, fc.constantFrom('between', 'not between'), number, number)
        .map(([of, kind, low, high]) => `${of} ${kind} ${low} and ${high}`),
      fc
        .tuple(fc.constantFrom('n', 't', 'b', 'd'), fc.constantFrom('is null', 'is not null'))
        .map((p) => p.join(' ')),
      fc.constantFrom('b', 'not b', 'b = true'),
      fc
        .tuple(tie('any'), fc.constantFrom('and', 'or'), tie('any'))
        .map(([a, word, b]) => `(${a} ${word} ${b})`),
      tie('any').map((one) => `not (${one})`),
    ),
  })).any
  const row = fc.tuple(
    ...[number, number, word, fc.boolean(), day, number].map((one) =>
      fc.option(one as fc.Arbitrary<unknown>),
    ),
  )

  it('random conditions select the same rows as DuckDB', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), condition, async (rows, where) => {
        const literals = rows.map(
          (cells, k) =>
            `(${k}, ${cells.map((cell) => (cell === null ? 'null' : typeof cell === 'string' ? quoted(cell) : String(cell))).join(', ')})`,
        )
        const found = await duck.runAndReadAll(
          `select k from (select k, n::double n, m::double m, t::varchar t, b::boolean b, d::date d, u::double "unit price" from (values ${literals.join(', ')}) v(k, n, m, t, b, d, u)) where ${toSqlCondition(where)} order by k`,
        )
        const { columns: names, test } = bindWhere(parseWhere(where), columns)
        const places = names.map((name) => columns.findIndex((column) => column.name === name))
        const chosen = rows.flatMap((cells, k) => {
          const values = places.map((place) =>
            place === 4 && cells[4] !== null ? parseInstant(cells[4] as string) : (cells[place] as Scalar),
          )
          return test(values) ? [k] : []
        })
        expect(chosen).toEqual(found.getRows().map(([k]) => Number(k)))
      }),
      { numRuns: runs(300, 20_000) },
    )
  })
})

it('as a condition of SQL, names are quoted and patterns say how they escape', () => {
  expect(toSqlCondition(String.raw`note like 'note\, 1%' and when > '2024-02-01' or not "a b" is null`)).toBe(
    String.raw`"note" like 'note\, 1%' escape '\' and "when" > '2024-02-01' or not "a b" is null`,
  )
  expect(toSqlCondition("n!=5--3 and m%-2=0 and t like 'abc\\'")).toBe(
    String.raw`"n"!= 5- - 3 and "m"% - 2= 0 and "t" like 'abc\\' escape '\'`,
  )
  expect(toSqlCondition("`it's` ilike 'o''k%' and n in (1, 2)")).toBe(
    String.raw`"it's" ilike 'o''k%' escape '\' and "n" in (1, 2)`,
  )
})
