// Readers compared with DuckDB, csv-parse, papaparse and JSON.parse.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import Papa from 'papaparse'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isNumber } from '../../src/ingest/values/number.ts'
import { NO_JSON_LIMITS, parseRaw } from '../../src/json/index.ts'
import { runs } from '../support/property-runs.ts'
import { read } from './read.ts'

const delimiters = [',', ';', '\t', '|'] as const

/** Random cells: words, numbers, delimiters, quotes and line ends inside quotes. */
const cell = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-zA-Z0-9 .é€😀-]{0,12}$/u) },
  { weight: 2, arbitrary: fc.integer().map(String) },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r\n', "'", ' ', '\t', '|', 'ü'),
      maxLength: 8,
    }),
  },
  { weight: 1, arbitrary: fc.constant('') },
)

const table = fc.integer({ min: 2, max: 6 }).chain((width) =>
  fc.record({
    delimiter: fc.constantFrom(...delimiters),
    end: fc.constantFrom('\n', '\r\n'),
    final: fc.boolean(),
    always: fc.boolean(),
    rows: fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 30 }),
  }),
)

function written({
  delimiter,
  end,
  final,
  always,
  rows,
}: {
  delimiter: string
  end: string
  final: boolean
  always: boolean
  rows: string[][]
}): string {
  const one = (text: string): string =>
    always || /["'\n\r]|^\s|\s$/.test(text) || text.includes(delimiter)
      ? `"${text.replaceAll('"', '""')}"`
      : text
  const names = rows[0].map((_, k) => `name${k}`)
  const lines = [names, ...rows].map((row) => row.map(one).join(delimiter))
  return lines.join(end) + (final ? end : '')
}

/** Formats values as text. Null and '' are equal for parsers that know only text. */
function asText(rows: unknown[][]): string[][] {
  return rows.map((row) => row.map((value) => (value === null ? '' : String(value))))
}

describe('DuckDB and this reader agree on well-formed text', () => {
  let folder: string
  let duckdb: DuckDBConnection
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gridline-oracle-'))
    duckdb = await (await DuckDBInstance.create(':memory:')).connect()
  })
  afterAll(async () => {
    duckdb.closeSync()
    await rm(folder, { recursive: true })
  })

  const columns = {
    id: fc.integer({ min: 1, max: 1e6 }).map(String),
    price: fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((x) => (Object.is(x, -0) ? '0' : String(x))),
    city: fc.constantFrom('Oslo', 'Århus', 'New York', "L'Aquila", '東京'),
    note: fc.constantFrom('', 'a, b', 'say "hi"', 'two\nlines', 'semi;colon', 'tab\there', ' padded '),
  }

  it('DuckDB and this reader agree on values and nulls, row by row', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(...Object.values(columns)), { minLength: 3, maxLength: 40 }),
        fc.constantFrom(...delimiters),
        fc.constantFrom('\n', '\r\n'),
        async (rows, delimiter, end) => {
          const quoted = (cell: string): string =>
            /["\n\r,;\t|]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
          const text = [Object.keys(columns), ...rows]
            .map((row) => row.map(quoted).join(delimiter) + end)
            .join('')
          const file = join(folder, 'a.csv')
          await writeFile(file, text)
          const { names, rows: ours } = await read(text)
          const theirs = await duckdb.runAndReadAll(
            `select id::bigint, price::double, city, note from read_csv('${file}', delim = '${delimiter}', header = true, all_varchar = true)`,
          )
          expect(names).toEqual(Object.keys(columns))
          expect(ours).toEqual(
            theirs.getRows().map(([id, price, city, note]) => [Number(id), price, city, note]),
          )
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('the tokenizer agrees with csv-parse and papaparse on well-formed text', () => {
  it('the tokenizer agrees with csv-parse and papaparse, cell by cell', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (given, pieces) => {
        const text = written(given)
        const { delimiter } = given
        // Words behind a row of empty cells may be the header of a second table, which is refused.
        fc.pre(!given.rows.some((row) => row.every((text) => text.trim() === '')))
        // A first row of words over columns of numbers is read as a second row of names.
        fc.pre((await read(text, { delimiter })).dialect.headerRows === 1)
        const types = new Map(given.rows[0].map((_, k) => [`name${k}`, 'text'] as const))
        const ours = await read(text, { delimiter, types }, pieces)
        const notEmpty = (row: string[]): boolean => row.some((one) => one !== '')
        const [, ...theirs] = parse(text, {
          delimiter,
          relax_column_count: true,
          skip_empty_lines: true,
        }) as string[][]
        const [, ...papas] = Papa.parse<string[]>(text, { delimiter, skipEmptyLines: true }).data
        // Rows of empty cells are skipped, unless they are quoted.
        expect(asText(ours.rows)).toEqual(given.always ? theirs : theirs.filter(notEmpty))
        expect(papas).toEqual(theirs)
      }),
      { numRuns: runs(100, 400) },
    )
  })

  it('the tokenizer agrees with csv-parse and papaparse on the detected delimiter', async () => {
    const plain = fc.record({
      delimiter: fc.constantFrom(...delimiters),
      rows: fc.array(
        fc.tuple(
          fc.stringMatching(/^[a-z]{1,8}$/),
          fc.integer({ min: 0, max: 9999 }).map(String),
          fc.stringMatching(/^[a-z]{1,8}$/),
        ),
        { minLength: 3, maxLength: 30 },
      ),
    })
    await fc.assert(
      fc.asyncProperty(plain, async ({ delimiter, rows }) => {
        const text = written({ delimiter, end: '\n', final: true, always: false, rows })
        const ours = await read(text)
        expect(ours.names).toEqual(['name0', 'name1', 'name2'])
        expect(asText(ours.rows)).toEqual(rows)
      }),
      { numRuns: runs(60, 200) },
    )
  })
})

describe('numbers and JSON, byte by byte', () => {
  it('isNumber accepts the JSON grammar except integers that a double cannot represent', () => {
    const text = fc.oneof(
      fc.stringMatching(/^[-+]?[0-9.eE+-]{0,24}$/),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.bigInt().map(String),
    )
    fc.assert(
      fc.property(text, (given) => {
        const buf = Buffer.from(given)
        let expected = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(given) && Number.isFinite(Number(given))
        if (expected && /^-?\d+$/.test(given))
          expected = Number.isSafeInteger(Number(given)) && BigInt(given) === BigInt(Number(given))
        expect(isNumber(buf, 0, buf.length)).toBe(expected)
      }),
      { numRuns: runs(400, 3000) },
    )
  })

  it('parseRaw accepts exactly what JSON.parse accepts', () => {
    const text = fc.oneof(
      fc.json(),
      fc
        .json()
        .chain((json) =>
          fc.tuple(
            fc.constant(json),
            fc.nat(json.length),
            fc.constantFrom('', ',', '"', '}', ']', '0', 'x', '\\', ' '),
          ),
        )
        .map(([json, at, more]) => json.slice(0, at) + more + json.slice(at + 1)),
    )
    fc.assert(
      fc.property(text, (given) => {
        let theirs: unknown
        let valid = true
        try {
          theirs = JSON.parse(given)
        } catch {
          valid = false
        }
        let ours: unknown
        try {
          ours = parseRaw(Buffer.from(given), 'the text', NO_JSON_LIMITS).toValue()
          expect(valid).toBe(true)
          expect(ours).toEqual(theirs)
        } catch (error) {
          if (valid) throw error
        }
      }),
      { numRuns: runs(400, 3000) },
    )
  })
})
