// Files that other programs or earlier versions read wrongly.
import { expect, it } from 'vitest'
import { zip } from '../support/archives.ts'
import { readFile } from './read-file.ts'

const file = async (text: string, fileName = 'a.csv', options = {}) =>
  (await readFile(Buffer.from(text), { fileName, ...options })).map(({ names, rows, warnings, path }) => ({
    names,
    rows,
    path,
    said: warnings.join('\n'),
  }))

it('members with the same path in one record become separate columns, and no row moves', async () => {
  const [one] = await file('[{"a":{"b":1},"a.b":2},{"a":{"b":3},"a.b":4}]', 'a.json', { flatten: true })
  expect([one.names, one.rows]).toEqual([
    ['a.b', 'a.b (2)'],
    [
      [1, 2],
      [3, 4],
    ],
  ])
  expect(one.said).toContain('column 2 has the duplicate name a.b; renamed to a.b (2)')
  const lines = '{"foo":{"bar":"qux"},"foo.bar":"asd","n":1}\n{"foo":{"bar":"quux"},"n":2}\n{"foo.bar":"x"}\n'
  const [two] = await file(lines, 'a.ndjson', { flatten: true })
  expect(two.rows).toEqual([
    ['qux', 'asd', 1],
    ['quux', null, 2],
    [null, 'x', null],
  ])
  const [rows] = await file('[["a","b"],[{"c":1},2]]', 'a.json', { flatten: true })
  expect([rows.names, rows.rows]).toEqual([['a', 'b', 'a.c'], [[null, 2, 1]]])
})

it('a NUL byte in JSON is refused, an escaped one is not', async () => {
  await expect(file('[{"a":"x\0y"}]', 'a.json')).rejects.toThrow(/line 1: a NUL byte, which JSON/)
  await expect(file('{"a":1}\n{"a":"x\0"}\n', 'a.ndjson')).rejects.toThrow(/line 2: a NUL byte/)
  expect((await file('[{"a":"x\\u0000y"}]', 'a.json'))[0].rows).toEqual([['x\0y']])
})

const features =
  '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"A","pop":5},"geometry":null},{"type":"Feature","id":7,"properties":{"name":"B","area":2.5},"geometry":{"type":"Point","coordinates":[1.5,2.5]}}]}'
it.each(['a.geojson', 'a.json', 'a.txt', 'a.csv', 'a.v2', 'a'])(
  'GeoJSON becomes a table of its properties: %s',
  async (name) => {
    const [found] = await file(features, name)
    expect([found.names, found.rows]).toEqual([
      ['name', 'pop', 'area', 'geometry', 'id'],
      [
        ['A', 5, null, null, null],
        ['B', null, 2.5, { type: 'Point', coordinates: [1.5, 2.5] }, 7],
      ],
    ])
  },
)

it.each([
  ['a.log', '[10:00:01,123] started\n[10:00:02,456] went\n'],
  ['a.csv', '[0,1),5\n[1,2),6\n'],
  ['a.csv', '{"a":1,"b":2},5\n{"a":2,"b":3},6\n'],
])('text that only begins like JSON is read as text: %s %s', async (name, text) => {
  expect((await file(text, name))[0].said).not.toContain('JSON')
})

it.each([
  ['a notebook', 'a.ipynb', '{"cells":[{"source":[]}],"metadata":{},"nbformat":4}', /is a notebook/],
  ['JSON5', 'a.json5', '// x\n{a: 1}\n', /JSON5/],
  ['HAR', 'a.har', '{"log":{"entries":[]}}', /not all arrays/],
  [
    'a dump of SQL',
    'a.sql',
    '--\n-- PostgreSQL database dump\n--\n\nCOPY t (a) FROM stdin;\n1\n\\.\n',
    /SQL/,
  ],
  [
    'rows of any length',
    'a.csv',
    'm1,m2\nm3,m4,m5,m5\nd1,d2,d3\nd4,d5,d6,d7,d8\nd9\nx,x2,x3,x4,x5,x6,x7\n',
    /no rows below line 6/,
  ],
  [
    'semicolons of entities',
    'a.csv',
    'n,t,b\nM,&quot;Q of A, B&quot;,1\nN,&quot;L&quot;,2\n',
    /line 2: expected 3 cells, found 4/,
  ],
])('the file is refused: %s', async (_, name, text, message) => {
  await expect(file(text, name)).rejects.toThrow(message)
})

it.each<[what: string, text: string, names: string[], rows: unknown[][], said?: string]>([
  [
    'comments between rows, below others',
    '# header row\nstreet;zip;n\n# here\nLong;1;2\nMill;3;4\n# the end\n',
    ['street', 'zip', 'n'],
    [
      ['Long', 1, 2],
      ['Mill', 3, 4],
    ],
    'comment lines were skipped: 2 lines',
  ],
  [
    'rows that begin like the comment above',
    '# Top tags\ntag,n\n#love,5\ncats,7\n',
    ['tag', 'n'],
    [
      ['#love', 5],
      ['cats', 7],
    ],
  ],
  [
    'a blank line above words',
    '\nname,city\nann,oslo\nbob,rome\n',
    ['name', 'city'],
    [
      ['ann', 'oslo'],
      ['bob', 'rome'],
    ],
  ],
  [
    'labels with delimiters above a blank line',
    'Turnover;;;\nPeriod;01.01. - 31.01.;;\nBalance;;1.000,00;EUR\n\nDay;Kind;Sum;Cur\n02.01.2024;a;-50;E\n03.01.2024;b;7;E\n',
    ['Day', 'Kind', 'Sum', 'Cur'],
    [
      ['2024-01-02', 'a', -50, 'E'],
      ['2024-01-03', 'b', 7, 'E'],
    ].map((row) => [`${String(row[0]).slice(8)}.01.2024`, ...row.slice(1)]),
    'lines 1 to 4 were skipped',
  ],
  [
    'two rows of units',
    'Kind;Date;P;K\n;;Resin;Resin\n;;mg/dm;mmol\nSoil;18/08/2014;31;4\nSoil;19/08/2014;33;5\n',
    ['Kind', 'Date', 'P Resin mg/dm', 'K Resin mmol'],
    [
      ['Soil', '2014-08-18', 31, 4],
      ['Soil', '2014-08-19', 33, 5],
    ],
    'three header rows',
  ],
  [
    'the file of a Campbell logger',
    '"TOA5","CR1000","CR1000","1","x","y","z","T"\n"TIMESTAMP","RECORD","RH"\n"TS","RN","%"\n"","","Smp"\n"2021-06-01 00:00:00",0,56\n"2021-06-01 01:00:00",1,57\n',
    ['TIMESTAMP TS', 'RECORD RN', 'RH % Smp'],
    [
      ['2021-06-01 00:00:00', 0, 56],
      ['2021-06-01 01:00:00', 1, 57],
    ],
    'line 1 was skipped',
  ],
  [
    'a header in the last of several comments',
    '####\n# list\n# first,last\n"2021-06-01","b"\n"2021-06-03","d"\n',
    ['first', 'last'],
    [
      ['2021-06-01', 'b'],
      ['2021-06-03', 'd'],
    ],
    'the # before the first name was removed',
  ],
  [
    'aligned columns one blank apart',
    'Qty Value       Parts\n1   200k        R5\n5   FACE_X      U1, U2\n2   LED         G\n',
    ['Qty', 'Value', 'Parts'],
    [
      [1, '200k', 'R5'],
      [5, 'FACE_X', 'U1, U2'],
      [2, 'LED', 'G'],
    ],
  ],
  [
    'one row with stray quotes below two names',
    'name,text\nann,"she said "hi, you", ok, well"\n',
    ['name', 'text'],
    [['ann', 'she said "hi, you", ok, well']],
  ],
  [
    'a line end in rows that end with a delimiter',
    'id|text|\n1|abc|\n2|de\nf|\n3|x|\n4|y|\n',
    ['id', 'text'],
    [
      [1, 'abc'],
      [2, 'de\nf'],
      [3, 'x'],
      [4, 'y'],
    ],
    'were continued on the next line: line 3',
  ],
  [
    'a title of one word above words',
    'SEQUENTIAL\na;b;c\nd;e;f\ng;h;i\n',
    ['a', 'b', 'c'],
    [
      ['d', 'e', 'f'],
      ['g', 'h', 'i'],
    ],
  ],
  [
    'a balance sheet',
    'Bilanz;31.12.2022;31.12.2021\nA;10;20\nB;2;4\n',
    ['Bilanz', '31.12.2022', '31.12.2021'],
    [
      ['A', 10, 20],
      ['B', 2, 4],
    ],
  ],
])('%s', async (_, text, names, rows, said = '') => {
  const [found] = await file(text)
  expect([found.names, found.rows]).toEqual([names, rows])
  expect(found.said).toContain(said)
})

it('texts aligned by blanks, and columns of numbers with a few texts, get a warning', async () => {
  expect((await file('id  foo \n1   a\n2   b\n3   c\n1234d\n'))[0].said).toContain('no delimiter detected')
  expect((await file('t,v\nTS,%\nx,Smp\na,1\nb,2\nc,3\nd,4\n'))[0].said).toContain(
    'column v holds numbers except in lines 2 and 3 ("%", "Smp"); kept as text',
  )
})

it.each([
  [
    'years',
    'P,2021,2022\nA,10,20\n\nR,2021,2022\nN,1,2\nS,3,4\n',
    [['table 1'], ['table 2']],
    ['R', '2021', '2022'],
  ],
  [
    'later years',
    'P,2020,2021\nA,10,20\n\nR,2021,2022\nN,1,2\n',
    [['table 1'], ['table 2']],
    ['R', '2021', '2022'],
  ],
  [
    'years with titles',
    'Umsatz;;\nKonto;2020;2021\nA;1;2\n;;\nZahlen;;\nZahl;2020;2021\nQ;3;4\n',
    [['Umsatz'], ['Zahlen']],
    ['Zahl', '2020', '2021'],
  ],
  [
    'the names above',
    'P,Jan,Feb\nA,1,2\nB,3,4\n\nR,Jan,Feb\nN,1,2\n',
    [['table 1'], ['table 2']],
    ['R', 'Jan', 'Feb'],
  ],
])(
  'tables below each other with %s over their columns become separate grids',
  async (_, text, paths, names) => {
    const found = await file(text)
    expect(found.map(({ path }) => path)).toEqual(paths)
    expect(found[1].names).toEqual(names)
  },
)

it('years and days in rows are not a header', async () => {
  for (const text of [
    'name,from,to\nBob,2018,2019\n\nAnn,2019,2020\nCarl,2020,2021\n',
    'name,from,to\nBob,2015,2018\n\nAnn,2019,2020\nCarl,2018,2021\n',
    'Ann,2024-01-01\nBob,2024-01-01\n\nCy,2024-01-01\nDi,2024-01-02\n',
  ])
    expect((await file(text)).length).toBe(1)
})

const formats = ['mm:ss.0', 'm/d/yy h:mm', '[h]:mm:ss.0', 'h:mm', 'yyyy-mm-dd']
async function workbook(cells: [value: string, format: number][], properties = ''): Promise<Buffer> {
  const rows = cells.map(
    ([value, style], k) => `<row r="${k + 2}"><c r="A${k + 2}" s="${style}">${value}</c></row>`,
  )
  return zip({
    'xl/workbook.xml': `<workbook xmlns:r="x">${properties}<sheets><sheet name="a" sheetId="1" r:id="r"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r" Type="o/worksheet" Target="worksheets/s.xml"/></Relationships>',
    'xl/styles.xml': `<styleSheet><numFmts>${formats.map((code, k) => `<numFmt numFmtId="${170 + k}" formatCode="${code}"/>`).join('')}</numFmts><cellXfs>${formats.map((_, k) => `<xf numFmtId="${170 + k}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/worksheets/s.xml': `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>大阪</t><rPh sb="0" eb="2"><t>おおさか</t></rPh></is></c></row>${rows.join('')}</sheetData></worksheet>`,
  })
}
const value = (serial: number): string => `<v>${serial}</v>`

it('times of day keep fractions of a second; day 0 exists only in the 1904 system; phonetic hints are skipped', async () => {
  const cells: [string, number][] = [
    [value(0.0103969907407407), 0],
    [value(0.5), 1],
    [value(1.5 + 0.5 / 86400), 2],
    [value(0), 4],
    [value(0), 3],
  ]
  const [usual] = await readFile(await workbook(cells))
  expect(usual.names).toEqual(['大阪'])
  expect(usual.rows.flat()).toEqual(['00:14:58.3', '12:00:00', '36:00:00.5', null, '00:00:00'])
  expect(usual.warnings.join()).toMatch(/dates of day 0.*2 lines \(first: line 3\)/)
  const [late] = await readFile(await workbook(cells, '<workbookPr date1904="1"/>'))
  expect(late.rows.flat()).toEqual([
    '00:14:58.3',
    '1904-01-01 12:00:00',
    '36:00:00.5',
    '1904-01-01',
    '00:00:00',
  ])
})

it('formulas without a stored value get a warning, those with an empty text do not', async () => {
  const [found] = await readFile(
    await workbook([
      ['<f>A1*2</f><v></v>', 3],
      ['<f>A1*2</f><v/>', 3],
      [value(1), 3],
    ]),
  )
  expect(found.warnings.join()).toContain('read as null: 2 lines (first: line 2), the first in cell A2')
})
