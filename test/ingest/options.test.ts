// Reading options, and spellings of values.
import { describe, expect, it } from 'vitest'
import type { DelimitedOptions, GivenType } from '../../src/ingest/index.ts'
import { parseStyleOptions } from '../../src/ingest/index.ts'
import { read } from './read.ts'

const types = (given: Record<string, GivenType>): DelimitedOptions => ({
  types: new Map(Object.entries(given)),
})
const tables: [string, string, DelimitedOptions, unknown[][]][] = [
  [
    '--decimal ,',
    'a;b\n1,5;x\n1234,50;y\n',
    parseStyleOptions({ decimal: ',' }),
    [
      [1.5, 'x'],
      [1234.5, 'y'],
    ],
  ],
  [
    '--decimal , with --null',
    'a;b\nNA;x\n1234,50;y\n\\N;z\n',
    { ...parseStyleOptions({ decimal: ',' }), nullTexts: ['NA'] },
    [
      [null, 'x'],
      [1234.5, 'y'],
      [null, 'z'],
    ],
  ],
  [
    '--thousands .',
    'a;b\n1.234,5;x\n1.000;y\n',
    parseStyleOptions({ thousands: '.' }),
    [
      [1234.5, 'x'],
      [1000, 'y'],
    ],
  ],
  [
    '--thousands ,',
    'a,b\n"1,234",x\n"2,000,000.5",y\n',
    parseStyleOptions({ thousands: ',' }),
    [
      [1234, 'x'],
      [2000000.5, 'y'],
    ],
  ],
  [
    '--thousands space',
    'a,b\n1 234,x\n12,y\n',
    parseStyleOptions({ thousands: 'space' }),
    [
      [1234, 'x'],
      [12, 'y'],
    ],
  ],
  [
    '--column price:number',
    'p,q\n$5.00,12 %\n"(1,234.50)",-3%\n',
    types({ p: 'number', q: 'number' }),
    [
      [5, 12],
      [-1234.5, -3],
    ],
  ],
  [
    '--column day:date',
    'd,n\n31/12/2020 5:03 pm,1\n"Mar 5, 2021",2\n2020-01-02T03:04:05Z,3\n',
    types({ d: 'date' }),
    [
      ['2020-12-31T17:03:00', 1],
      ['2021-03-05', 2],
      ['2020-01-02T03:04:05Z', 3],
    ],
  ],
  ['--column day:date-dmy', 'd,n\n05/06/2020,1\n', types({ d: 'date-dmy' }), [['2020-06-05', 1]]],
  [
    '--column day:date-dmy with years of two digits',
    'd,n\n05/06/68,1\n5.6.69 10:30,2\n',
    types({ d: 'date-dmy' }),
    [
      ['2068-06-05', 1],
      ['1969-06-05T10:30:00', 2],
    ],
  ],
  [
    '--column day:date with months, weeks and quarters',
    'd,n\n2024-03,1\n3/2024,2\n2024-W01,3\n2020-W53,4\n2026W01,5\nQ3 2024,6\n2024-Q4,7\n2024-366,8\n',
    types({ d: 'date' }),
    [
      ['2024-03-01', 1],
      ['2024-03-01', 2],
      ['2024-01-01', 3],
      ['2020-12-28', 4],
      ['2025-12-29', 5],
      ['2024-07-01', 6],
      ['2024-10-01', 7],
      ['2024-12-31', 8],
    ],
  ],
  ['--column day:date-mdy', 'd,n\n05.06.2020,1\n', types({ d: 'date-mdy' }), [['2020-05-06', 1]]],
  [
    '--skip and --comment',
    'junk, more\nx\na,b\n1,2\n;c, d, e\n3,4\n',
    { skip: 2, ...parseStyleOptions({ comment: ';' }) },
    [
      [1, 2],
      [3, 4],
    ],
  ],
  ['--quote CHAR', 'a|b\n1|~x|y~\n', parseStyleOptions({ quote: '~' }), [[1, 'x|y']]],
  [
    '--quote none',
    'a,b\n1,"x\n2,y"\n3,z\n',
    parseStyleOptions({ quote: 'none' }),
    [
      [1, '"x'],
      [2, 'y"'],
      [3, 'z'],
    ],
  ],
  [
    '--escape',
    'a,b\n1,"x^"y"\n2,^\n',
    parseStyleOptions({ escape: '^' }),
    [
      [1, 'x"y'],
      [2, '^'],
    ],
  ],
  [
    '--null twice',
    'a,b\n1,NA\n2,-\n3,4\n',
    { nullTexts: ['NA', '-'] },
    [
      [1, null],
      [2, null],
      [3, 4],
    ],
  ],
  [
    'texts protected from spreadsheets',
    'id,n\n="007",1\n"=""008""",2\n',
    {},
    [
      ['007', 1],
      ['008', 2],
    ],
  ],
  [
    '\\N',
    'a\tb\n1\t\\N\n\\N\tx\n',
    {},
    [
      [1, null],
      [null, 'x'],
    ],
  ],
]

describe('options and values of delimited text', () => {
  it.each(tables)('%s', async (_, text, options, rows) => {
    for (const pieces of [1, 64 * 1024]) expect((await read(text, options, pieces)).rows).toEqual(rows)
  })

  it.each([
    [
      'a date whose day and month can be exchanged',
      'd\n31/12/2020\n05/06/2020\n',
      types({ d: 'date' }),
      /line 3, column d: "05\/06\/2020" can be read with the day or the month first/,
    ],
    [
      'a day that does not exist',
      'd\n31/02/2020\n',
      types({ d: 'date-dmy' }),
      /line 2, column d: "31\/02\/2020" is not a date/,
    ],
    [
      'groups of digits that are not three',
      'n\n"1,23"\n',
      types({ n: 'number' }),
      /line 2, column n: "1,23" is not a number/,
    ],
    [
      'a word in a column of local numbers, below the sample',
      `a;b\n${'1,5;x\n'.repeat(300)}word;y\n`,
      parseStyleOptions({ decimal: ',' }),
      /line 302, column a: "word" is not a number/,
    ],
  ])('%s is refused with line, column and text', async (_, text, options, message) => {
    await expect(read(text, options)).rejects.toThrow(message)
  })

  it('options that are not characters are refused', () => {
    for (const given of [
      { quote: 'xy' },
      { decimal: ';' },
      { thousands: '12' },
      { thousands: ',', decimal: ',' },
      { comment: '\n' },
    ])
      expect(() => parseStyleOptions(given)).toThrow(/invalid/)
  })
})

it.each([
  ['31. M\u00e4rz 2024', '2024-03-31'],
  ['31 mars 2024', '2024-03-31'],
  ['31 de marzo de 2024', '2024-03-31'],
  ['30 marraskuuta 2024', '2024-11-30'],
  ['31 \u043c\u0430\u0440\u0442\u0430 2024 \u0433.', '2024-03-31'],
  ['2024\u5e743\u670831\u65e5', '2024-03-31'],
  ['Sun 31 Mar 2024', '2024-03-31'],
  ['"Sun, 31 Mar 2024 10:11:12 GMT"', '2024-03-31T10:11:12Z'],
  ['20240331T101112', '2024-03-31T10:11:12'],
  ['2024-03-31 10:11:12 UTC', '2024-03-31T10:11:12Z'],
])('--column d:date reads %s', async (written, iso) => {
  const { rows } = await read(`d,n\n${written},1\n`, types({ d: 'date' }))
  expect(rows).toEqual([[iso, 1]])
})

it.each([
  '15 margarine 2024',
  '31 lis 2024',
  '30.2.2024',
  '31.3.24',
  '20240331T251112',
  '2024-13',
  '2024-W54',
  'Q5 2024',
  '2023-366',
])('--column d:date refuses %s, which is no date or has two meanings', async (written) => {
  await expect(read(`d,n\n${written},1\n`, types({ d: 'date' }))).rejects.toThrow(/date/)
})

it('with --as-written, dates and booleans keep each character', async () => {
  const text = 'd,b,n,iso,e\n1/2/2024,TRUE,1.10,2024-01-02,\n13/2/2024,false,2,2024-01-03,x\n'
  const { rows, types: found, warnings } = await read(text, { asWritten: true })
  expect(rows).toEqual([
    ['1/2/2024', 'TRUE', 1.1, '2024-01-02', null],
    ['13/2/2024', 'false', 2, '2024-01-03', 'x'],
  ])
  expect([found, warnings]).toEqual([['text', 'text', 'number', 'date', 'text'], []])
})
