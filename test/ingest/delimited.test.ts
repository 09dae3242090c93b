// Delimited text: types, dirty input, limits.
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Problem } from '../../src/contract/errors.ts'
import { type DelimitedOptions, ingestDelimited } from '../../src/ingest/index.ts'
import { blankLine, sameNames } from '../support/hostile.ts'
import { read } from './read.ts'

async function refusal(text: string | Uint8Array, options: DelimitedOptions = {}): Promise<string> {
  try {
    await read(text, options)
  } catch (error) {
    if (error instanceof Problem) return `${error.code}: ${error.message}`
    throw error
  }
  return 'taken'
}

describe('types are detected over the whole column and lose no data', () => {
  const typed: [string, string[], string, unknown[]][] = [
    ['numbers', ['1', '-2.5', '1e3', '1.10'], 'number', [1, -2.5, 1000, 1.1]],
    ['leading zeros', ['007', '1'], 'text', ['007', '1']],
    ['plus signs', ['+5', '1'], 'text', ['+5', '1']],
    ['integers beyond 2^53', ['9007199254740993', '1'], 'text', ['9007199254740993', '1']],
    [
      'the largest safe integer',
      ['9007199254740991', '-9007199254740991'],
      'number',
      [9007199254740991, -9007199254740991],
    ],
    ['numbers too large for a double', ['1e400', '1'], 'text', ['1e400', '1']],
    ['a word at the end', ['1', '2', 'x'], 'text', ['1', '2', 'x']],
    ['a word at the start', ['x', '2'], 'text', ['x', '2']],
    ['dates', ['2024-01-01', '2024-01-02'], 'date', ['2024-01-01', '2024-01-02']],
    ['missing values', ['1', '', '3'], 'number', [1, null, 3]],
    ['blanks around numbers', ['  1', '2 '], 'number', [1, 2]],
    ['blanks around numbers in a column of text', ['  1', 'x'], 'text', ['  1', 'x']],
    ['a bare point', ['.5', '1'], 'text', ['.5', '1']],
    ['booleans', ['true', 'FALSE'], 'boolean', [true, false]],
    ['NaN', ['NaN', '1'], 'text', ['NaN', '1']],
    ['a lone minus', ['-', '1'], 'text', ['-', '1']],
    ['minus zero', ['-0', '1'], 'number', [-0, 1]],
    ['an open exponent', ['1e', '1'], 'text', ['1e', '1']],
    ['a slash', ['1/2', '1'], 'text', ['1/2', '1']],
  ]
  for (const [name, cells, type, values] of typed) {
    it(name, async () => {
      const { types, rows } = await read(`k,v\n${cells.map((cell) => `r,${cell}\n`).join('')}`)
      expect(types[1]).toBe(type)
      expect(rows.map(([, v]) => v)).toEqual(values)
    })
  }

  it('numbers are copied byte for byte', async () => {
    const { slices } = await read('a,b\n1.10,x\n0.1000000000000000055511151231257827,y\n')
    expect(slices.find(({ column }) => column === 0)?.text.toString()).toBe(
      '1.10,0.1000000000000000055511151231257827',
    )
  })

  it('a column is text even if the first word comes after the first slice', async () => {
    const cells = Array.from({ length: 200_000 }, (_, k) => String(k))
    cells.push('last')
    const { types, rows, columns } = await read(`a,b\n${cells.map((cell) => `${cell},x\n`).join('')}`)
    expect(types).toEqual(['text', 'text'])
    expect(rows.map(([a]) => a)).toEqual(cells)
    expect(columns[0].text).toEqual({ line: 200_002, text: 'last', before: 'number' })
  })

  it('NAME:TYPE overrides the detected type', async () => {
    const types = new Map([
      ['zip', 'text'],
      ['n', 'number'],
      ['b', 'boolean'],
    ] as const)
    const { rows } = await read('zip,n,b\n1234,+007,True\n2345,.5,0\n', { types })
    expect(rows).toEqual([
      ['1234', 7, true],
      ['2345', 0.5, false],
    ])
    expect(await refusal('zip,n,b\n1,x,true\n', { types })).toBe(
      'bad_data: test.csv, line 2, column n: "x" is not a number',
    )
    expect(await refusal('a\n1\n', { types: new Map([['z', 'text']]) })).toBe(
      'unknown_column: test.csv: no column named z',
    )
  })

  it('cells equal to nullText are missing values', async () => {
    const { rows, types } = await read('k,v\na,1\nb,NA\n', { nullTexts: ['NA'] })
    expect(types).toEqual(['text', 'number'])
    expect(rows).toEqual([
      ['a', 1],
      ['b', null],
    ])
  })

  it('a quoted empty string differs from an empty cell in a text column', async () => {
    const { rows } = await read('a,b,c\n"",1,x\n,2,\n"",3,y\nz,"",\n')
    expect(rows).toEqual([
      ['', 1, 'x'],
      [null, 2, null],
      ['', 3, 'y'],
      ['z', null, null],
    ])
  })
})

describe('dirty input loads correctly with a warning, or is refused with line and text', () => {
  const loads: [string, string | Uint8Array, string[], unknown[][], RegExp | undefined][] = [
    ['BOM', '\ufeffa,b\n1,x\n', ['a', 'b'], [[1, 'x']], undefined],
    [
      'UTF-16 LE',
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('a,b\n1,é\n', 'utf16le')]),
      ['a', 'b'],
      [[1, 'é']],
      /UTF-16LE/,
    ],
    [
      'UTF-16 LE without BOM',
      Buffer.from('name,b\nabc,1\n', 'utf16le'),
      ['name', 'b'],
      [['abc', 1]],
      /UTF-16LE/,
    ],
    [
      'UTF-16 BE',
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from('a,b\n1,é\n', 'utf16le').swap16()]),
      ['a', 'b'],
      [[1, 'é']],
      /UTF-16BE/,
    ],
    [
      'Windows-1252',
      Buffer.from('a,b\n1,caf\xe9 \x80\n', 'latin1'),
      ['a', 'b'],
      [[1, 'café €']],
      /WINDOWS-1252 \(guessed: line 2/,
    ],
    [
      'semicolons',
      'a;b\n1,5;x\n2;y\n',
      ['a', 'b'],
      [
        ['1,5', 'x'],
        ['2', 'y'],
      ],
      /delimiter detected: ;/,
    ],
    ['tabs', 'a\tb\n1\tx\n', ['a', 'b'], [[1, 'x']], /tab/],
    ['pipes', 'a|b\n1|x, y\n', ['a', 'b'], [[1, 'x, y']], /\|/],
    [
      'columns lined up with spaces',
      ' a   b\n 1  22\n33   4\n',
      ['a', 'b'],
      [
        [1, 22],
        [33, 4],
      ],
      /space/,
    ],
    [
      'single quotes',
      "a,b\n'x, y','1'\n'z','2'\n",
      ['a', 'b'],
      [
        ['x, y', 1],
        ['z', 2],
      ],
      /quote character detected: '/,
    ],
    [
      'apostrophes are no quotes',
      "a,b\n'tis,1\nrock 'n',2\n",
      ['a', 'b'],
      [
        ["'tis", 1],
        ["rock 'n'", 2],
      ],
      undefined,
    ],
    ['doubled quotes', 'a,b\n"say ""hi""",1\n', ['a', 'b'], [['say "hi"', 1]], undefined],
    ['backslash escapes', 'a,b\n"say \\"hi\\" now",1\n', ['a', 'b'], [['say "hi" now', 1]], /detected: \\"/],
    [
      'a backslash before the closing quote',
      'a,b\n"C:\\dir\\",1\n"x",2\n',
      ['a', 'b'],
      [
        ['C:\\dir\\', 1],
        ['x', 2],
      ],
      undefined,
    ],
    ['quotes not doubled', 'a,b\n"a "b" c",1\n', ['a', 'b'], [['a "b" c', 1]], /unescaped quotes.*line 2/],
    ['quotes inside a bare cell', 'a,b\n5" pipe,1\n', ['a', 'b'], [['5" pipe', 1]], undefined],
    ['blanks behind a closing quote', 'a,b\n"x" ,1\n', ['a', 'b'], [['x', 1]], undefined],
    [
      'blanks before quotes',
      'a, b\n1, "x, y"\n2, "z"\n',
      ['a', 'b'],
      [
        [1, 'x, y'],
        [2, 'z'],
      ],
      /spaces after delimiters/,
    ],
    [
      'line ends inside quotes',
      'a,b\n"x\ny",1\n"p\r\nq",2\n',
      ['a', 'b'],
      [
        ['x\ny', 1],
        ['p\r\nq', 2],
      ],
      undefined,
    ],
    [
      'a title above',
      'Sales 2024\n\na,b\n1,x\n2,y\n',
      ['a', 'b'],
      [
        [1, 'x'],
        [2, 'y'],
      ],
      /lines 1 to 2 were skipped.*Sales 2024/,
    ],
    ['comments above', '# made by x, y\n# on z\na,b\n1,x\n', ['a', 'b'], [[1, 'x']], /skipped/],
    ['sep=', 'sep=;\na;b\n1;x\n', ['a', 'b'], [[1, 'x']], undefined],
    [
      'short rows',
      'a,b,c\n1,x\n2,y,z\n',
      ['a', 'b', 'c'],
      [
        [1, 'x', null],
        [2, 'y', 'z'],
      ],
      /fewer than 3 cells.*line 2/,
    ],
    [
      'empty cells too many',
      'a,b\n1,x,,\n2,y\n3,z\n',
      ['a', 'b'],
      [
        [1, 'x'],
        [2, 'y'],
        [3, 'z'],
      ],
      /empty cells beyond column 2.*line 2/,
    ],
    [
      'blank lines',
      'a,b\n1,x\n\n2,y\n\n',
      ['a', 'b'],
      [
        [1, 'x'],
        [2, 'y'],
      ],
      /blank lines.*2 lines \(first: line 3\)/,
    ],
    ['blank lines in one column are nulls', 'a\nx\n\ny\n\n\n', ['a'], [['x'], [null], ['y']], undefined],
    [
      'no header',
      '1,2\n3,4\n',
      ['column_1', 'column_2'],
      [
        [1, 2],
        [3, 4],
      ],
      /no header detected/,
    ],
    [
      'duplicate names',
      'a,a,a\n1,2,3\n',
      ['a', 'a (2)', 'a (3)'],
      [[1, 2, 3]],
      /column 2 has the duplicate name a/,
    ],
    ['empty names', 'a,,c\n1,2,3\n', ['a', 'column_2', 'c'], [[1, 2, 3]], /column 2 has no name/],
    [
      'years as names',
      'country,1990,1991\nFrance,3,4\nPeru,7,5\n',
      ['country', '1990', '1991'],
      [
        ['France', 3, 4],
        ['Peru', 7, 5],
      ],
      undefined,
    ],
    [
      'dates as names',
      'country,1/22/20,1/23/20\nFrance,3,4\n',
      ['country', '1/22/20', '1/23/20'],
      [['France', 3, 4]],
      undefined,
    ],
    [
      'years over rows in even steps',
      'country,2019,2020,2021\nNO,1,2,3\nSE,4,5,6\n',
      ['country', '2019', '2020', '2021'],
      [
        ['NO', 1, 2, 3],
        ['SE', 4, 5, 6],
      ],
      undefined,
    ],
    [
      'a title padded with delimiters',
      'Quarterly report 2024,,\n,,\nregion,q1,q2\nNorth,10,20\nSouth,30,40\n',
      ['region', 'q1', 'q2'],
      [
        ['North', 10, 20],
        ['South', 30, 40],
      ],
      /skipped.*Quarterly report/,
    ],
    [
      'a title with a comma',
      'Sales, Q1\n\nregion,amount\nN,1\nS,2\n',
      ['region', 'amount'],
      [
        ['N', 1],
        ['S', 2],
      ],
      /skipped.*Sales/,
    ],
    [
      'decimal commas',
      'a;b\nx;12,50\ny;1.234,56\n',
      ['a', 'b'],
      [
        ['x', '12,50'],
        ['y', '1.234,56'],
      ],
      /column b looks like numbers with a decimal comma \(line 2: 12,50\)/,
    ],
    [
      'units below the names',
      'time,temp\n(s),(°C)\n1,20.5\n2,21\n',
      ['time (s)', 'temp (°C)'],
      [
        [1, 20.5],
        [2, 21],
      ],
      /two header rows/,
    ],
    [
      'row names of R',
      '"x","y"\n"1",10,"a"\n"2",20,"b"\n',
      ['column_1', 'x', 'y'],
      [
        [1, 10, 'a'],
        [2, 20, 'b'],
      ],
      /row names/,
    ],
    ['no final line end', 'a,b\n1,x', ['a', 'b'], [[1, 'x']], undefined],
    [
      'CR LF',
      'a,b\r\n1,x\r\n2,y\r\n',
      ['a', 'b'],
      [
        [1, 'x'],
        [2, 'y'],
      ],
      undefined,
    ],
    [
      'CR',
      'a,b\r1,x\r2,y\r',
      ['a', 'b'],
      [
        [1, 'x'],
        [2, 'y'],
      ],
      undefined,
    ],
    [
      'CR rows with LF inside quotes',
      '"id","note"\r"1","x\ny"\r"2","z"\r',
      ['id', 'note'],
      [
        [1, 'x\ny'],
        [2, 'z'],
      ],
      undefined,
    ],
    [
      'lone CRs among LFs',
      'a,b\r1,x\r2,y\n3,z\n',
      ['a', 'b'],
      [
        [1, 'x'],
        [2, 'y'],
        [3, 'z'],
      ],
      /single CR characters were read as line ends/,
    ],
    [
      'decimal commas in every cell',
      't;v\n1,5;2,25\n3,5;4,75\n',
      ['t', 'v'],
      [
        ['1,5', '2,25'],
        ['3,5', '4,75'],
      ],
      /decimal comma/,
    ],
    [
      'a CR inside a cell',
      'a,b\n1,x\ry\n2,z\n',
      ['a', 'b'],
      [
        [1, 'x\ry'],
        [2, 'z'],
      ],
      undefined,
    ],
    ['gzip', gzipSync('a,b\n1,x\n'), ['a', 'b'], [[1, 'x']], undefined],
    [
      'names of objects',
      '__proto__,constructor,1\n1,2,3\n4,5,6\n',
      ['__proto__', 'constructor', '1'],
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      undefined,
    ],
    ['control characters', 'a,b\n1,x\u0001y\n', ['a', 'b'], [[1, 'x\u0001y']], undefined],
  ]
  for (const [name, text, names, rows, warning] of loads) {
    it(name, async () => {
      const found = await read(text)
      expect(found.names).toEqual(names)
      expect(found.rows).toEqual(rows)
      if (warning) expect(found.warnings.join('\n')).toMatch(warning)
      else expect(found.warnings).toEqual([])
    })
    it(`${name} is read alike one byte at a time`, async () => {
      const [whole, dripped] = [await read(text), await read(text, {}, 1)]
      expect([dripped.names, dripped.rows, dripped.warnings]).toEqual([
        whole.names,
        whole.rows,
        whole.warnings,
      ])
    })
  }

  const refused: [string, string | Uint8Array, RegExp][] = [
    ['nothing', '', /bad_data: test.csv: the file is empty/],
    ['blanks', '\n \n', /only whitespace/],
    [
      'two tables, the first of which would be skipped',
      `id,city\n${Array.from({ length: 40 }, (_, k) => `${k},Oslo\n`).join('')}\nday,a,b,c\n${'2024-01-01,1,2,3\n'.repeat(60)}`,
      /line 1: 41 lines look like a table of 2 columns, and a second table of 4 columns starts at line 43/,
    ],
    [
      'a delimiter too many behind an empty cell',
      'a,b,c\n1,2,3\n4,,6,\n',
      /line 3: expected 3 cells, found 4, one of them empty, so the others may have shifted: 4,,6,/,
    ],
    ['a row too long', 'a,b\n1,2\n3,4,5\n', /line 3: expected 2 cells, found 3: 3,4,5/],
    [
      'bytes that are not of the given encoding',
      Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x2c, 0x00, 0x62, 0x00, 0x0a, 0x00, 0x00, 0xd8, 0x0a, 0x00]),
      /invalid utf-16le bytes/,
    ],
    [
      'a quoted cell that goes on',
      'a,b\n1,"x"y\n2,"z\nq" w\n',
      /line 3: text after the closing quote of a cell: "z/,
    ],
    ['zero bytes', 'a,b\n1,\u0000\u0000\u0000\n', /NUL byte/],
    ['a PNG', Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1'), /a PNG image, not delimited text/],
    ['a workbook', Buffer.from('PK\x03\x04\x14\x00', 'latin1'), /ZIP archive or an Office document/],
    ['gzip cut off', gzipSync('a,b\n1,x\n'.repeat(100)).subarray(0, 20), /the gzip data is truncated/],
    [
      'gzip damaged',
      Buffer.concat([gzipSync('a,b\n1,x\n').subarray(0, 12), Buffer.from('garbage that is no deflate')]),
      /gzip data is damaged/,
    ],
    [
      'bytes that are no UTF-8 after some that are',
      Buffer.concat([Buffer.from('a,b\n1,é\n'), Buffer.from([0x32, 0x2c, 0xe9, 0x0a])]),
      /line 3: byte 0xe9 is not valid UTF-8/,
    ],
  ]
  for (const [name, text, message] of refused) {
    it(`${name} is refused`, async () => {
      expect(await refusal(text)).toMatch(message)
    })
  }

  it('a lone header is a table without rows', async () => {
    const { names, rows, warnings } = await read('a,b\n')
    expect([names, rows, warnings]).toEqual([['a', 'b'], [], ['no rows below the header']])
  })

  it('rows of delimiters only are skipped, with a warning', async () => {
    const { rows, warnings } = await read('a,b\n1,x\n,\n2,y\n,\n')
    expect([rows, warnings]).toEqual([
      [
        [1, 'x'],
        [2, 'y'],
      ],
      ['rows of empty cells were skipped: 2 lines (first: line 3)'],
    ])
    expect((await read('a,b\n1,x\n"",""\n')).rows).toHaveLength(2)
  })

  it('a trailing delimiter in every row is dropped, also after empty cells', async () => {
    const { names, rows } = await read('a,b,c\n1,2,3,\n4,,6,\n')
    expect([names, rows]).toEqual([
      ['a', 'b', 'c'],
      [
        [1, 2, 3],
        [4, null, 6],
      ],
    ])
  })

  it('titles and labels above a table are skipped', async () => {
    const { names } = await read('Station,Seattle\nBy,Ann\n\nday,a,b\n2024-01-01,1,2\n2024-01-02,3,4\n')
    expect(names).toEqual(['day', 'a', 'b'])
  })

  it('unknown encodings and delimiters, and too many columns, are refused', async () => {
    expect(await refusal('a\n1\n', { encoding: 'klingon' })).toMatch(
      /invalid_request: unknown encoding: klingon/,
    )
    const wide = `${Array.from({ length: 100_000 }, (_, k) => `c${k}`).join(',')}\n${'1,'.repeat(99_999)}1\n`
    expect(await refusal(wide)).toMatch(/line 1: 100000 columns; the limit is 10000/)
  })

  it('a line of 100 MB is refused in constant memory', async () => {
    const block = Buffer.alloc(1 << 20, 'x')
    let pulled = 0
    const input = (async function* () {
      yield Buffer.from('a,b\n1,')
      for (; pulled < 100; pulled++) yield block
    })()
    await expect(ingestDelimited(input, { source: 'long.csv' }, { slice() {} })).rejects.toThrow(
      /long.csv, line 2: the line is longer than 16 MiB/,
    )
    expect(pulled).toBeLessThan(70)
  })

  it('a line that begins with 200,000 blanks, and 10,000 columns of one name, are read', async () => {
    expect((await read(blankLine(200_000))).rows).toEqual([['x', 1]])
    expect(new Set((await read(sameNames(10_000))).names).size).toBe(10_000)
  })

  it('--encoding decodes any named encoding', async () => {
    const { rows } = await read(Buffer.from([0x61, 0x2c, 0x62, 0x0a, 0x31, 0x2c, 0xb1, 0x0a]), {
      encoding: 'iso-8859-2',
    })
    expect(rows).toEqual([[1, 'ą']])
  })
})

describe('cells in single quotes', () => {
  const rows = Array.from({ length: 6 }, (_, k) => [k, `line one of ${k}\nsecond, line`, k * 2])
  it.each([
    ['of one column', rows.map(([a, b, c]) => `${a},'${b}',${c}`)],
    ['of all columns', rows.map((row) => row.map((cell) => `'${cell}'`).join(','))],
  ])('cells in %s can have line ends', async (_, lines) => {
    const { names, rows: found } = await read(`id,note,n\n${lines.join('\n')}\n`)
    expect([names, found]).toEqual([['id', 'note', 'n'], rows])
  })

  it('single quotes are not assumed where a row would differ in width', async () => {
    const text = "id,note\n1,'tis\n2\n3,'twas\n4,rock 'n' roll\n5,x\n"
    expect((await read(text)).rows.map(([, note]) => note)[0]).toBe("'tis")
  })
})

it('a CR LF at any place of the sample is one line end', async () => {
  const rows = 65_536
  for (let shift = 0; shift < 5; shift++) {
    const found = await read(`a,b${'x'.repeat(shift)}\r\n${'1,2\r\n'.repeat(rows)}`, {}, 128 * 1024)
    expect([shift, found.count, found.warnings, found.rows.at(-1)]).toEqual([shift, rows, [], [1, 2]])
  }
})
