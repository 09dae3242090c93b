// Texts in which one table follows another.
import { expect, it } from 'vitest'
import { readFile } from './read-file.ts'

const read = (text: string) => readFile(Buffer.from(text), { fileName: 'a.csv' })

it('a header of another width begins a table of its own, wider or narrower', async () => {
  const first = 'id,name,n\n1,a,2\n2,b,3\n3,c,4\n'
  const wider = 'code,city,zip,country\n7,Oslo,0150,NO\n8,Rome,00100,IT\n9,Bern,3000,CH\n'
  for (const [text, widths, line] of [
    [first + wider, [3, 4], 5],
    [wider + first, [4, 3], 5],
  ] as const) {
    const tables = await read(text)
    expect(tables.map(({ path, names }) => [path, names.length])).toEqual(
      widths.map((width, k) => [[`table ${k + 1}`], width]),
    )
    expect(tables.map(({ rows }) => rows.length)).toEqual([3, 3])
    expect(tables[0].warnings.join()).toContain(`2 tables were found, which begin in lines 1, ${line}`)
  }
})

it('rows that lack cells, totals and stray rows are no tables', async () => {
  const [short] = await read('id,name,n\n1,a,2\n2,b\n3,c,4\n')
  expect([short.path, short.rows]).toEqual([
    [],
    [
      [1, 'a', 2],
      [2, 'b', null],
      [3, 'c', 4],
    ],
  ])
  await expect(read('id,name,n\n1,a,2\n2,b,3,4\n3,c,4\n')).rejects.toThrow(/line 3: 4 cells/)
})
