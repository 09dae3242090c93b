// Repair of malformed records: only if one repair is best, and always with a warning.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../support/property-runs.ts'
import { read } from './read.ts'

const rest = '6,b,7\n8,c,9\n10,d,11\n'
const after = [
  [6, 'b', 7],
  [8, 'c', 9],
  [10, 'd', 11],
]

describe('a malformed record', () => {
  it.each([
    ['a quote that never closes', '1,"x,2\n', [1, '"x', 2]],
    ['text after a closing quote', '1,"x" y,2\n', [1, '"x" y', 2]],
    ['a quote before a quoted cell', '1,""x y",2\n', [1, '"x y', 2]],
    ['a quote after a quoted cell', '1,"x, y"",2\n', [1, 'x, y"', 2]],
    ['a quote inside a quoted cell', '1,"x"y, z",2\n', [1, 'x"y, z', 2]],
    ['a quote inside a quoted cell with a line end', '1,"x ""y" z\nmore",2\n', [1, 'x "y" z\nmore', 2]],
    ['quotes inside a cell that hide a delimiter', '1,say "x, y" z,2\n', [1, 'say "x, y" z', 2]],
    ['a delimiter too many', '1,x,,2\n', [1, 'x', 2]],
    ['a delimiter too many at the start', ',1,x,2\n', [1, 'x', 2]],
    ['a delimiter too many at the end', '1,x,2,\n', [1, 'x', 2]],
  ])('a record with %s is repaired with a warning that names the line', async (_, line, row) => {
    for (const pieces of [1, 7, 64 * 1024]) {
      const { names, rows, warnings } = await read(`n,text,m\n3,a,4\n${line}${rest}`, {}, pieces)
      expect([names, rows]).toEqual([
        ['n', 'text', 'm'],
        [[3, 'a', 4], row, ...after],
      ])
      expect(warnings.join()).toMatch(/line 3|column 3 were dropped/)
    }
  })

  it.each([
    ['a header with a quote that never closes', 'n,"text,m\n', ['n', '"text', 'm']],
    ['a header with a delimiter too many', 'n,,text,m\n', ['n', 'text', 'm']],
    ['a header with a delimiter too few', 'ntext,m\n', ['ntext', 'm', 'column_3']],
  ])('a record with %s is not taken for a title, and no row is lost', async (_, header, names) => {
    const { rows, ...found } = await read(`${header}3,a,4\n3,a,4\n${rest}`)
    expect([found.names, rows]).toEqual([names, [[3, 'a', 4], [3, 'a', 4], ...after]])
  })

  it('a malformed record does not swallow the records below it', async () => {
    const { rows } = await read(`n,text,m\n1,"x\n2,"y","z"\n${rest}`)
    expect(rows.slice(-4)).toEqual(
      [[2, 'y', 'z'], ...after].map((row) => row.map((c, k) => (k === 2 ? String(c) : c))),
    )
  })

  it('an ambiguous surplus delimiter is refused with line and text', async () => {
    await expect(read(`n,text,m\n3,,4\n1,,x,\n${rest.replaceAll(/[bcd]/g, '')}`)).rejects.toThrow(/line 3/)
  })

  it.each([
    ['a text with a comma', 'id,name,city,note\n1,Anna,Oslo,\n2,Smith, J,Rome,\n3,Carl,Paris,x\n'],
    ['a decimal comma', 'id,n,city,note\n1,2.5,Oslo,\n2,1,5,Rome,\n3,3.5,Paris,\n'],
    [
      'a text with a comma, and an empty cell',
      'id,name,city,note\n1,Anna,,x\n2,Smith, J,,y\n3,Carl,Paris,z\n',
    ],
  ])('a record with a cell too many that may be %s is refused', async (_, text) => {
    await expect(read(text)).rejects.toThrow(/line 3: expected 4 cells, found 5/)
  })

  it.each([
    ['whole numbers without a point in their column', 'id,qty,city\n1,5,Oslo\n2,6,Rome,\n', [2, 6, 'Rome']],
    ['spaces after all delimiters', 'id,city\n1, Oslo\n2, Rome,\n', [2, ' Rome']],
  ])('a delimiter at the end of a record beside %s is dropped', async (_, text, row) => {
    expect((await read(text)).rows.at(-1)).toEqual(row)
  })

  it('thousands of columns with a delimiter too many are read in linear time', async () => {
    const line = (...end: string[]): string => [...Array.from({ length: 5000 }, () => '7'), ...end].join(',')
    const header = Array.from({ length: 5001 }, (_, k) => `c${k}`).join(',')
    const rows = [
      header,
      ...Array.from({ length: 20 }, () => line('abc')),
      ...Array.from({ length: 60 }, () => line('', 'abc')),
    ]
    const began = process.cpuUsage()
    expect((await read(`${rows.join('\n')}\n`)).rows.at(-1)!.at(-1)).toBe('abc')
    expect(process.cpuUsage(began).user / 1e6).toBeLessThan(10)
  })

  it('a million unmatched quotes are refused quickly', async () => {
    const began = performance.now()
    await expect(read(`a,b,c\n1,2,3\n1,"${'x"y'.repeat(300_000)}\n`)).rejects.toThrow(/line 3/)
    expect(performance.now() - began).toBeLessThan(5000)
  })

  it('one stray quote anywhere in a table changes no other record', async () => {
    const text = fc.constantFrom('plain', 'with, comma', 'two\nlines', 'a "word"', '', 'x')
    const record = fc.tuple(fc.integer({ min: 10, max: 99 }), text, fc.constantFrom('red', 'green'), text)
    const cell = (value: string): string =>
      /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 8, maxLength: 20 }),
        fc.nat(),
        fc.nat(),
        async (table, at, where) => {
          const lines = table.map(([n, a, color, b]) => [String(n), cell(a), color, cell(b)])
          const dirty = at % table.length
          const cells = lines[dirty]
          const k = where % 4
          const place = where % (cells[k].length + 1)
          cells[k] = `${cells[k].slice(0, place)}"${cells[k].slice(place)}`
          const file = `n,a,color,b\n${lines.map((line) => line.join(',')).join('\n')}\n`
          const found = await read(file).catch((error: Error) => error)
          if (found instanceof Error) {
            expect(found.message).toMatch(/line \d+/)
            return
          }
          const wanted = table
            .filter((_, row) => row !== dirty)
            .map(([n, a, color, b]) => JSON.stringify([String(n), a || null, color, b || null]))
          const got = found.rows.map((row) =>
            JSON.stringify(row.map((value) => (typeof value === 'number' ? String(value) : value))),
          )
          const lost = wanted.filter((row) => !got.includes(row))
          // A quote can make one more record ambiguous, with a warning.
          if (lost.length > 0) expect(found.warnings.length).toBeGreaterThan(0)
          expect(lost.length).toBeLessThanOrEqual(1)
        },
      ),
      { numRuns: runs(80, 300) },
    )
  })
})
