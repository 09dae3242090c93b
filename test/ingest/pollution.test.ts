// Tables in any dialect, polluted in one way, are read completely or refused.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { read } from './read.ts'

type Row = string[]
interface Written {
  delimiter: string
  quoteAll: boolean
  end: string
}

const dialects: Written[] = [',', ';', '\t', '|'].flatMap((delimiter) =>
  [true, false].flatMap((quoteAll) => ['\n', '\r\n'].map((end) => ({ delimiter, quoteAll, end }))),
)
const columns: Record<string, fc.Arbitrary<string>> = {
  id: fc.integer({ min: 1, max: 999 }).map(String),
  price: fc.integer({ min: 100, max: 99_999 }).map((cents) => (cents / 100).toFixed(2)),
  city: fc.constantFrom('Oslo', 'Rome', 'Bern', 'New York'),
  note: fc.constantFrom(
    '',
    'fine',
    'late, again',
    'a "word"',
    'semi;colon',
    'two\nlines',
    'pipe | here',
    'tab\there',
    "it's",
  ),
  day: fc.constantFrom('2024-01-02', '2023-12-31'),
}
const names = Object.keys(columns)
const table = fc.array(fc.tuple(...Object.values(columns)), { minLength: 6, maxLength: 25 }) as fc.Arbitrary<
  Row[]
>

function cellIn(cell: string, { delimiter, quoteAll }: Written): string {
  return quoteAll || cell.includes(delimiter) || /["\n\r]/.test(cell)
    ? `"${cell.replaceAll('"', '""')}"`
    : cell
}
const lineOf = (row: Row, style: Written): string =>
  row.map((cell) => cellIn(cell, style)).join(style.delimiter)

/** Pollutes a file at a position, without changing its content. */
const pollutions: Record<string, (lines: string[], at: number, style: Written) => string[]> = {
  none: (lines) => lines,
  'a byte order mark': ([first, ...rest]) => [`\ufeff${first}`, ...rest],
  'a blank line': (lines, at) => lines.toSpliced(at + 1, 0, ''),
  'blank lines at the end': (lines) => [...lines, '', ''],
  'a title and a blank line': (lines) => ['Sales of all regions', '', ...lines],
  'a title with empty cells': (lines, _, { delimiter }) => [`Sales${delimiter.repeat(4)}`, ...lines],
  'a comment above': (lines) => ['# exported today', ...lines],
  'a row of delimiters': (lines, at, { delimiter }) => lines.toSpliced(at + 1, 0, delimiter.repeat(4)),
  'a repeated header': (lines, at) => lines.toSpliced(at + 1, 0, lines[0]),
  'a delimiter at the end of every line': (lines, _, { delimiter }) => lines.map((line) => line + delimiter),
  'a delimiter at the end of one line': (lines, at, { delimiter }) =>
    lines.with(at + 1, lines[at + 1] + delimiter),
  'a delimiter before one line': (lines, at, { delimiter }) => lines.with(at + 1, delimiter + lines[at + 1]),
}

/** Values as strings or null. */
const plain = (rows: unknown[][], quoteAll: boolean): string[] =>
  rows.map((row) =>
    row.map((value) => (value === null || (quoteAll && value === '') ? '' : String(value))).join('\x01'),
  )
const expected = (rows: Row[], types: string[]): string[] =>
  rows.map((row) =>
    row.map((cell, k) => (types[k] === 'number' && cell !== '' ? String(Number(cell)) : cell)).join('\x01'),
  )

describe('polluted files', () => {
  it.each(Object.keys(pollutions))('%s', async (name) => {
    await fc.assert(
      fc.asyncProperty(table, fc.constantFrom(...dialects), fc.nat(), async (rows, style, place) => {
        const lines = [lineOf(names, style), ...rows.map((row) => lineOf(row, style))]
        const text = pollutions[name](lines, place % rows.length, style).join(style.end) + style.end
        const found = await read(text).catch((error: Error) => error)
        if (found instanceof Error) {
          // Refused with the position, and only if ambiguous.
          expect(found.message).toMatch(/line \d+/)
          expect(name).toMatch(/delimiter/)
          return
        }
        expect(found.names).toEqual(names)
        expect(plain(found.rows, style.quoteAll)).toEqual(expected(rows, found.types))
      }),
      { numRuns: 60 },
    )
  })
})
