// Files with several tables.
import { expect, it } from 'vitest'
import { readFile } from './read-file.ts'

const read = (text: string) => readFile(Buffer.from(text), { fileName: 'a.csv' })

it('a header of another width begins a new table, wider or narrower', async () => {
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
    expect(tables[0].warnings.join()).toContain(`2 tables found, in lines 1, ${line}`)
  }
})

it('short rows, totals and stray rows begin no table', async () => {
  const [short] = await read('id,name,n\n1,a,2\n2,b\n3,c,4\n')
  expect([short.path, short.rows]).toEqual([
    [],
    [
      [1, 'a', 2],
      [2, 'b', null],
      [3, 'c', 4],
    ],
  ])
  await expect(read('id,name,n\n1,a,2\n2,b,3,4\n3,c,4\n')).rejects.toThrow(
    /line 3: expected 3 cells, found 4/,
  )
})

it.each([
  ['', ''],
  [',,', ',,'],
])('a title below a blank row (%j) begins a table, and names it', async (blank, ends) => {
  const tables = await read(
    [
      `Meetings${ends}`,
      blank,
      'Name,Date,Purpose',
      'Anna,2014-10-01,Talk',
      'Ben,2014-10-02,Tour',
      blank,
      `"Overseas Travel"${ends}`,
      'Name,Country,Cost',
      'Anna,France,120',
      '',
    ].join('\n'),
  )
  expect(tables.map(({ path, names, rows }) => [path, names, rows])).toEqual([
    [
      ['Meetings'],
      ['Name', 'Date', 'Purpose'],
      [
        ['Anna', '2014-10-01', 'Talk'],
        ['Ben', '2014-10-02', 'Tour'],
      ],
    ],
    [['Overseas Travel'], ['Name', 'Country', 'Cost'], [['Anna', 'France', 120]]],
  ])
  expect(tables[0].warnings.join()).toContain('2 tables found, in lines 3, 8')
})

it('notes and blank rows begin no table', async () => {
  for (const text of [
    'id,name\n1,a\n\n2,b\n\nSource: the office\n',
    'Sales of 2024\n\nid,name\n1,a\n2,b\n',
    'id,name\n1,a\n\nTotal\n2,b\n',
    'name,amount\na,1\nb,2\n\nNotes\nprepared by,Ann\nchecked by,Ben\n',
  ])
    expect((await read(text)).length).toBe(1)
})

it('numbers with commas between thousands are one column', async () => {
  const column = async (text: string) => (await read(text))[0].rows
  expect(await column('100,000.00\n200,500.50\n1,000,000.00\n')).toEqual([
    ['100,000.00'],
    ['200,500.50'],
    ['1,000,000.00'],
  ])
  expect(await column('1,100\n2,250\n3,300\n')).toEqual([
    [1, 100],
    [2, 250],
    [3, 300],
  ])
})

it.each(['Asia', 'Asia,,', 'Report'])(
  'a section title (%j) inside a table does not turn a row into a header',
  async (title) => {
    const rows = ['ann,paris,fr', 'bob,rome,it', '', title, 'kim,tokyo,jp', 'lee,seoul,kr', 'pia,hanoi,vn']
    const tables = await read(`name,city,land\n${rows.join('\n')}\n`)
    expect(tables.map(({ names }) => names)).toEqual([['name', 'city', 'land']])
    expect(tables[0].rows).toContainEqual(['kim', 'tokyo', 'jp'])
  },
)
