// XLSX workbooks as other programs write them.
import { expect, it } from 'vitest'
import { zip } from '../support/archives.ts'
import { readFile } from './read-file.ts'

const head = '<?xml version="1.0"?>'
const types = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relation = (id: string, kind: string, target: string): string =>
  `<Relationship Id="${id}" Type="${office}/${kind}" Target="${target}"/>`

interface Book {
  /** Sheets as XML of their rows, by name. */
  sheets: Record<string, string>
  /** More XML of the workbook part. */
  properties?: string
  after?: string
  shared?: string
}

/** Writes a workbook; `main` is the path of its main part. */
function book(
  { sheets, properties = '', after = '', shared }: Book,
  main = 'xl/workbook.xml',
): Promise<Buffer> {
  const folder = main.slice(0, main.lastIndexOf('/') + 1)
  const names = Object.keys(sheets)
  const relations = names.map((_, k) => relation(`r${k}`, 'worksheet', `worksheets/s${k}.xml`))
  relations.push(relation('styles', 'styles', 'styles.xml'))
  if (shared !== undefined) relations.push(relation('shared', 'sharedStrings', 'texts.xml'))
  return zip({
    '[Content_Types].xml': types,
    '_rels/.rels': `${head}<Relationships>${relation('m', 'officeDocument', main)}</Relationships>`,
    [main]: `${head}<workbook xmlns:r="x" xmlns:x15="y">${properties}<sheets>${names
      .map((name, k) => `<sheet name="${name}" sheetId="${k + 1}" r:id="r${k}"/>`)
      .join('')}</sheets>${after}</workbook>`,
    [`${folder}_rels/${main.slice(folder.length)}.rels`]: `${head}<Relationships>${relations.join('')}</Relationships>`,
    ...(shared === undefined ? {} : { [`${folder}texts.xml`]: `${head}<sst>${shared}</sst>` }),
    [`${folder}styles.xml`]: `${head}<styleSheet><numFmts><numFmt numFmtId="170" formatCode="00000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(
      names.map((name, k) => [
        `${folder}worksheets/s${k}.xml`,
        `${head}<worksheet><sheetData>${sheets[name]}</sheetData></worksheet>`,
      ]),
    ),
  })
}

const text = (at: string, value: string): string => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`
const number = (at: string, value: number, style = 0): string =>
  `<c r="${at}" s="${style}"><v>${value}</v></c>`
const row = (r: number, ...cells: string[]): string => `<row r="${r}">${cells.join('')}</row>`
const table = row(1, text('A1', 'day'), text('B1', 'n')) + row(2, number('A2', 40_000, 1), number('B2', 1))

it('dates of the 1904 system stay right if an extension has an element of the same name', async () => {
  const given = {
    sheets: { One: table },
    properties: '<workbookPr date1904="1"/>',
    after: '<extLst><ext><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst>',
  }
  const [late] = await readFile(await book(given))
  const [usual] = await readFile(await book({ sheets: { One: table } }))
  expect([late.rows[0][0], usual.rows[0][0]]).toEqual(['2013-07-07', '2009-07-06'])
})

it('escaped characters of shared and inline texts are decoded', async () => {
  const shared = '<si><t>a_x000D_\nb</t></si><si><t>_x005F_x000D_</t></si><si><t>name</t></si>'
  const cell = (at: string, k: number): string => `<c r="${at}" t="s"><v>${k}</v></c>`
  const rows =
    row(1, cell('A1', 2), text('B1', 'x')) +
    row(2, cell('A2', 0), text('B2', '_x0041_')) +
    row(3, cell('A3', 1), text('B3', 'c'))
  const [found] = await readFile(await book({ sheets: { One: rows }, shared }))
  expect(found.rows).toEqual([
    ['a\r\nb', 'A'],
    ['_x000D_', 'c'],
  ])
})

it('the value next to an inline text is not part of it', async () => {
  const both = '<c r="A2" t="inlineStr"><v>1.0</v><is><t>1.</t></is></c>'
  const [found] = await readFile(
    await book({ sheets: { One: row(1, text('A1', 'a'), text('B1', 'b')) + row(2, both, text('B2', 'x')) } }),
  )
  expect(found.rows).toEqual([['1.', 'x']])
})

it('a part that the workbook names and does not have is refused', async () => {
  const whole = await book({ sheets: { one: table } })
  for (const name of ['xl/styles.xml', 'xl/worksheets/s0.xml']) {
    const place = whole.lastIndexOf(name)
    const damaged = Buffer.from(whole)
    // In the list of files at the end of the archive.
    damaged[place + 2] ^= 0x10
    await expect(readFile(damaged)).rejects.toThrow(/is missing/)
  }
})

it('the main part is the one named by the package', async () => {
  const [found] = await readFile(await book({ sheets: { One: table } }, 'excel/book1.xml'))
  expect(found.rows).toEqual([['2009-07-06', 1]])
})

it('a table that starts in a later column has no empty columns, with a warning', async () => {
  const rows =
    row(3, text('B3', 'a'), text('C3', 'b')) +
    row(4, number('B4', 1), number('C4', 2)) +
    row(5, number('C5', 4))
  const [found] = await readFile(await book({ sheets: { One: rows } }))
  expect([found.names, found.rows]).toEqual([
    ['a', 'b'],
    [
      [1, 2],
      [null, 4],
    ],
  ])
  expect(found.warnings.join()).toContain('sheet One: the table begins in column B')
})

it('numbers displayed with leading zeros keep them', async () => {
  const rows =
    row(1, text('A1', 'zip'), text('B1', 'n')) +
    row(2, number('A2', 1234, 2), number('B2', 1)) +
    row(3, number('A3', 99_999, 2), number('B3', 2))
  const [found] = await readFile(await book({ sheets: { One: rows } }))
  expect(found.rows).toEqual([
    ['01234', 1],
    ['99999', 2],
  ])
  expect(found.warnings.join()).toContain('leading zeros')
})

it('empty sheets and formulas without a stored value are named in warnings', async () => {
  const rows =
    row(1, text('A1', 'a'), text('B1', 'b')) +
    row(2, number('A2', 1), '<c r="B2"><f>A2*2</f></c>') +
    row(3, number('A3', 2), number('B3', 4))
  const tables = await readFile(await book({ sheets: { One: rows, Empty: '', Two: table } }))
  expect(tables.map(({ path }) => path)).toEqual([['One'], ['Two']])
  const said = tables[0].warnings.join('\n')
  expect(said).toContain('sheet Empty was skipped: it is empty')
  expect(said).toContain('formulas without a stored value were read as null: line 2')
})

it('texts that grow without end are refused, also in many small parts', async () => {
  const endless = [
    // A text, a comment and an attribute that contain markup.
    `${'x>'.repeat(5_000_000)}`,
    `<!-- ${'x> '.repeat(4_000_000)} -->`,
    `${'<r><t>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx</t></r>'.repeat(300_000)}`,
  ]
  for (const inside of endless)
    await expect(
      book({ sheets: { One: row(1, `<c r="A1" t="inlineStr"><is><t>${inside}</t></is></c>`) } }).then(
        (bytes) => readFile(bytes),
      ),
    ).rejects.toThrow(/is damaged|of text|grows more than/)
})

it('cells of a row that repeat a long text are refused, with and without a parser', async () => {
  const shared = `<si><t>${'x'.repeat(7_000_000)}</t></si>`
  const first = row(1, ...Array.from({ length: 100 }, () => '<c><v>1</v></c>'))
  const repeated = `<row r="2">${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`
  for (const start of ['', '<!-- -->'])
    await expect(
      book({ sheets: { One: start + first + repeated }, shared }).then((bytes) => readFile(bytes)),
    ).rejects.toThrow(/grows more than|has more than 64 MB of text/)
})

it('elements that never end, deep nesting and many attributes are refused at once', async () => {
  const broken = (inside: string): Promise<Buffer> =>
    book({ sheets: { One: row(1, `<c r="A1" t="inlineStr"><is><t>${inside}</t></is></c>`) } })
  for (const inside of [
    '<a>'.repeat(300_000),
    `<a ${Array.from({ length: 5000 }, (_, k) => `x${k}="1"`).join(' ')}/>`,
  ]) {
    const began = process.cpuUsage()
    await expect(readFile(await broken(inside))).rejects.toThrow(/is damaged/)
    // Measures CPU time, since the machine may be busy.
    expect(process.cpuUsage(began).user / 1e6).toBeLessThan(5)
  }
})

it('two tables in one sheet are two grids, and the other sheets are loaded', async () => {
  const rows = (at: number, lines: (string | number)[][]): string =>
    lines
      .map(
        (line, r) =>
          `<row r="${at + r}">${line
            .map((cell, c) => {
              const place = `${'ABCDE'[c]}${at + r}`
              return typeof cell === 'number' ? number(place, cell) : text(place, cell)
            })
            .join('')}</row>`,
      )
      .join('')
  const tables = await readFile(
    await book({
      sheets: {
        Both:
          rows(1, [['Sales'], ['month', 'sum'], ['May', 1], ['June', 2]]) +
          rows(6, [['Staff'], ['who', 'age'], ['Ann', 3]]),
        Other: rows(1, [
          ['a', 'b'],
          [1, 2],
        ]),
      },
    }),
    { fileName: 'a.xlsx' },
  )
  expect(tables.map(({ path, names, rows: found }) => [path, names, found])).toEqual([
    [
      ['Both', 'Sales'],
      ['month', 'sum'],
      [
        ['May', 1],
        ['June', 2],
      ],
    ],
    [['Both', 'Staff'], ['who', 'age'], [['Ann', 3]]],
    [['Other'], ['a', 'b'], [[1, 2]]],
  ])
})
