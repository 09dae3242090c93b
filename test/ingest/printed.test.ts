// ASCII tables printed by programs, titles and headers.
import { describe, expect, it } from 'vitest'
import { read } from './read.ts'

const rows = [
  [1, 'Lamp, small', 9.5],
  [2, 'Chair "x"', 20],
]
const printed: [string, string][] = [
  [
    'MySQL',
    '+----+-------------+-------+\n| id | name        | price |\n+----+-------------+-------+\n|  1 | Lamp, small |  9.50 |\n|  2 | Chair "x"   | 20.00 |\n+----+-------------+-------+\n2 rows in set (0.01 sec)\n',
  ],
  [
    'psql',
    ' id |    name     | price \n----+-------------+-------\n  1 | Lamp, small |  9.50\n  2 | Chair "x"   | 20.00\n(2 rows)\n\n',
  ],
  [
    'Markdown',
    '# Prices\n\n| id | name | price |\n|---:|:-----|------:|\n| 1 | Lamp, small | 9.50 |\n| 2 | Chair "x" | 20.00 |\n\nThe end.\n',
  ],
  [
    'sqlplus',
    '\n        ID NAME             PRICE\n---------- ----------- ----------\n         1 Lamp, small       9.50\n         2 Chair "x"        20.00\n\n2 rows selected.\n',
  ],
  [
    'DuckDB',
    '┌───────┬─────────────┬────────┐\n│  id   │    name     │ price  │\n│ int32 │   varchar   │ double │\n├───────┼─────────────┼────────┤\n│     1 │ Lamp, small │   9.50 │\n│     2 │ Chair "x"   │  20.00 │\n└───────┴─────────────┴────────┘\n',
  ],
]

describe('printed tables', () => {
  it.each(printed)('tables printed by %s are read with a warning', async (_, text) => {
    for (const pieces of [1, 17, 64 * 1024]) {
      const found = await read(text, {}, pieces)
      expect([found.names.map((name) => name.toLowerCase()), found.rows]).toEqual([
        ['id', 'name', 'price'],
        rows,
      ])
      expect(found.warnings.join()).toMatch(/^read as (a table|columns|a Markdown)/)
    }
  })

  it.each([
    [
      'columns aligned with spaces',
      'name           city        price\nLamp small     New York     9.50\nBig chair      Oslo        20.00\nTable          Rio         11.00\n',
      [
        ['Lamp small', 'New York', 9.5],
        ['Big chair', 'Oslo', 20],
        ['Table', 'Rio', 11],
      ],
    ],
    [
      '||',
      'a||b||c\n1||x||2\n3||||4\n',
      [
        [1, 'x', 2],
        [3, null, 4],
      ],
    ],
    [
      '^',
      'a^b^c\n1^x^2\n3^y^4\n',
      [
        [1, 'x', 2],
        [3, 'y', 4],
      ],
    ],
    [
      ':',
      'user:id:home\nroot:0:/root\nbin:1:/bin\nfoo:2:/f\n',
      [
        ['root', 0, '/root'],
        ['bin', 1, '/bin'],
        ['foo', 2, '/f'],
      ],
    ],
  ])('%s', async (_, text, expected) => {
    expect((await read(text)).rows).toEqual(expected)
  })

  it.each([
    ['times', 'time\n12:30\n13:40\n14:50\n', [['12:30'], ['13:40'], ['14:50']]],
    [
      'a row of dashes',
      'a,b\n1,2\n--,--\n3,4\n',
      [
        ['1', '2'],
        ['--', '--'],
        ['3', '4'],
      ],
    ],
    [
      'a sentence',
      'text\nSome  words here\nother words\nmore  of  them\n',
      [['Some  words here'], ['other words'], ['more  of  them']],
    ],
  ])('%s in an ordinary file do not make it a printed table', async (_, text, expected) => {
    expect((await read(text)).rows).toEqual(expected)
  })

  it.each([
    ['psql', ' a  | b\n----+---\n x  | 1\n c+| 2\n y  | 3\n', undefined],
    ['psql', '   a   | b \n-------+---\n one  +| 1\n two   | \n three | 3\n(2 rows)\n', 3],
    ['psql, the last column', ' a |   b   \n---+-------\n 1 | one  +\n   | two\n 2 | three\n', 3],
    [
      'psql with a border',
      '+-------+---+\n|   a   | b |\n+-------+---+\n| one  +| 1 |\n| two   |   |\n+-------+---+\n',
      4,
    ],
    ['MySQL', '+------+---+\n| a    | b |\n+------+---+\n| one\ntwo | 1 |\n| y    | 2 |\n+------+---+\n', 5],
  ])('a printed value with a line end is refused: %s', async (_, text, line) => {
    if (line === undefined)
      expect((await read(text)).rows).toEqual([
        ['x', 1],
        ['c+', 2],
        ['y', 3],
      ])
    else
      await expect(read(text)).rejects.toThrow(
        new RegExp(`line ${line}: a value of the table contains a line end`),
      )
  })

  it('a line longer than the limit is refused in linear time', async () => {
    const text = `| a | b |\n|---|---|\n| 1 | ${'x'.repeat(18 * 1024 * 1024)} |\n`
    await expect(read(text)).rejects.toThrow(/line 3: the line is longer than 16 MiB/)
  })

  it('a second table is refused with its line', async () => {
    await expect(read(`${printed[1][1]}${printed[1][1]}`)).rejects.toThrow(
      /line 7: a second table starts here/,
    )
  })
})

describe('titles and headers', () => {
  const table = [
    ['Lamp', 'Oslo', 9],
    ['Chair', 'Rome', 20],
    ['Desk', 'Bern', 30],
  ]
  const body = 'Lamp,Oslo,9\nChair,Rome,20\nDesk,Bern,30\n'
  it.each([
    [
      'a title with commas above a blank line',
      `Report, 2024, all\n\nname,city,price\n${body}`,
      ['name', 'city', 'price'],
      table,
    ],
    ['a title in any column', `,,Title\n,,\nname,city,price\n${body}`, ['name', 'city', 'price'], table],
    [
      'a header with an empty cell below a title',
      `Title,,\n,,\nname,,price\n${body}`,
      ['name', 'column_2', 'price'],
      table,
    ],
    [
      'sentences above the table',
      `Some text\nSecond, line, of text\nname,city,price\n${body}`,
      ['name', 'city', 'price'],
      table,
    ],
    [
      'units below the names, over columns with blanks',
      'name,price,weight\n,EUR,kg\nLamp,9,1\nChair,,2\nDesk,30,\n',
      ['name', 'price EUR', 'weight kg'],
      [
        ['Lamp', 9, 1],
        ['Chair', null, 2],
        ['Desk', 30, null],
      ],
    ],
    [
      'a header over amounts of money',
      'item,cost\nLamp,$9.50\nChair,"$1,200"\n',
      ['item', 'cost'],
      [
        ['Lamp', '$9.50'],
        ['Chair', '$1,200'],
      ],
    ],
    [
      'a header that is repeated',
      'a,b\n1,2\na,b\n3,4\n',
      ['a', 'b'],
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      'a header with spaces after its commas',
      'name, city\nBob,Oslo\nAl,Rome\n',
      ['name', 'city'],
      [
        ['Bob', 'Oslo'],
        ['Al', 'Rome'],
      ],
    ],
    [
      'notes below the table',
      `name,city,price\n${body}\nSource: the office\n* estimated\n`,
      ['name', 'city', 'price'],
      table,
    ],
    [
      'notes with empty cells',
      `name,city,price\n${body},,\nSource: the office,,\n`,
      ['name', 'city', 'price'],
      table,
    ],
    [
      'a delimiter at the end of every line',
      'a,b,c,\n1,2,3,\n4,,6,\n',
      ['a', 'b', 'c'],
      [
        [1, 2, 3],
        [4, null, 6],
      ],
    ],
  ])('%s', async (_, text, names, expected) => {
    const found = await read(text)
    expect([found.names, found.rows]).toEqual([names, expected])
  })

  it.each([
    ['of another width', 'a,b\n1,2\n3,4\n\nx,y,z\n5,6,7\n8,9,10\n'],
    ['of the same width', 'a,b\n1,x\n3,y\n\nc,d\n5,z\n6,w\n'],
    ['of fewer columns', 'a,b,c,d\n1,2,3,4\n5,6,7,8\n\nk,v\nx,1\ny,2\nz,3\nw,4\nq,5\nr,6\n'],
  ])('a second table %s is refused with both lines', async (_, text) => {
    await expect(read(text)).rejects.toThrow(/line 1: \d lines look like a table.*starts at line \d/)
  })
})
