// Plain rows and texts of XLSX workbooks are read like those that only a parser of XML can read.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { defaultLimits } from '../../src/contract/limits.ts'
import { spoolToFile } from '../../src/ingest/archive/spool.ts'
import { Warnings } from '../../src/ingest/values/warnings.ts'
import { readXlsxSheets } from '../../src/ingest/workbook/xlsx.ts'
import { toByteStream } from '../../src/json/index.ts'
import { zip } from '../support/archives.ts'
import { runs } from '../support/property-runs.ts'

const head = '<?xml version="1.0"?>'

/** Returns the sheet as CSV with its warnings, or the error. */
async function read(rows: string, shared: string): Promise<string> {
  const book = await zip({
    '[Content_Types].xml': '<Types/>',
    'xl/workbook.xml':
      '<workbook xmlns:r="r"><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="170" formatCode="00000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="170"/></cellXfs></styleSheet>',
    'xl/sharedStrings.xml': `${head}<sst count="9">${shared}</sst>`,
    'xl/worksheets/sheet1.xml': `${head}<worksheet><sheetData>${rows}</sheetData><hyperlinks/></worksheet>`,
  })
  const spooled = await spoolToFile(toByteStream(book), 1e9, () => new Error('too large') as never)
  const warnings = new Warnings()
  const parts: Uint8Array[] = []
  try {
    for await (const { csv } of readXlsxSheets(spooled, defaultLimits, 'book', warnings))
      for await (const part of csv) parts.push(part)
  } catch (error) {
    // The position in the part is that of what a parser has read.
    return String(error).replace(/\d+:\d+: /g, '')
  } finally {
    await spooled.close()
  }
  return Buffer.concat(parts).toString() + warnings.list().join('\n')
}

const texts = fc.constantFrom(
  ...['a', 'some text', '', ' spaced ', 'a,b', 'say "x"', 'x &amp; y', '&lt;b&gt;', '&#65;', '&apos;&quot;'],
  ...[
    '_x0041_',
    'snake_case',
    'é',
    '日本語',
    '\u{1f600}',
    'two\nlines',
    'a\tb',
    'a\r\nb',
    '\u0085',
    '\u2028',
  ],
  ...['a]b', ']]', 'a>b', '<![CDATA[a<b]]>', 'a<!-- note -->b', '\u00a0x', '=1', '-', '1e5', 'true'],
)
const numbers = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '00',
    '1.50',
    '1e5',
    '1E-3',
    '0.0000001',
    '0.000001',
    '-0.5',
    '.5',
    '5.',
    '+1',
    '',
  ),
  fc.constantFrom(
    '123456789012345',
    '1234567890123456',
    '12345678901234567890',
    '0.1234567890123456789',
    'x',
    ' 1',
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer({ min: 0, max: 60_000 }).map(String),
)
const refs = ['A', 'B', 'C', 'D']
/** XML of a cell in a column, with the row number as `#`. */
const cells: fc.Arbitrary<(column: number) => string> = fc.oneof(
  fc.tuple(numbers, fc.constantFrom('', ' s="0"', ' s="1"', ' s="2"', ' s="3"', ' s="99"'), fc.boolean()).map(
    ([value, style, isTyped]) =>
      (c: number) =>
        `<c r="${refs[c]}#"${style}${isTyped ? ' t="n"' : ''}><v>${value}</v></c>`,
  ),
  texts.map((text) => (c: number) => `<c r="${refs[c]}#" t="inlineStr"><is><t>${text}</t></is></c>`),
  texts.map((text) => (c: number) => `<c r="${refs[c]}#" t="str"><f>A1&amp;"x"</f><v>${text}</v></c>`),
  fc.nat(8).map((k) => (c: number) => `<c r="${refs[c]}#" t="s"><v>${k}</v></c>`),
  fc.constantFrom(
    (c: number) => `<c r="${refs[c]}#" t="b"><v>1</v></c>`,
    (c: number) => `<c r="${refs[c]}#" t="b"><v>0</v></c>`,
    (c: number) => `<c r="${refs[c]}#" t="e"><v>#N/A</v></c>`,
    (c: number) => `<c r="${refs[c]}#" s="1"/>`,
    (c: number) => `<c r="${refs[c]}#" s="1"></c>`,
    (c: number) => `<c r="${refs[c]}#"><f>B1+1</f></c>`,
    (c: number) => `<c r="${refs[c]}#"><f t="shared" ref="A1:B2" si="0"/><v>3</v></c>`,
    (c: number) => `<c t="s" r="${refs[c]}#"><v>1</v></c>`,
    (c: number) => `<c r="${refs[c]}#" t="inlineStr"><is><r><t>rich</t></r><rPh><t>no</t></rPh></is></c>`,
    (c: number) => `<c r='${refs[c]}#'><v>4</v></c>`,
    (c: number) => `\n  <c r="${refs[c]}#">\n <v>5</v> </c>`,
    () => '<c><v>6</v></c>',
    () => '',
  ),
)
/** XML in place of a cell that is damaged, or that only a parser can read. */
const oddCells = fc.constantFrom(
  ...['<x:c r="A1"><x:v>7</x:v></x:c>', '<!-- </row> --><c r="ZZ1"/>', '<c r="A1"><v>1</v>', '</row><row>'],
  ...['<c r="A1" r="A1"><v>1</v></c>', '<c r="B#"><v>&x;</v></c>', '<c r="B#"><v>\u0001</v></c>', '<c/>'],
)
const anyCells = fc.oneof(
  { weight: 100, arbitrary: cells },
  { weight: 1, arbitrary: oddCells.map((xml) => () => xml) },
)
const sheetRows = fc.record({
  cells: fc.array(anyCells, { minLength: 0, maxLength: 4 }),
  gap: fc.oneof(
    { weight: 8, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 }) },
  ),
  attributes: fc.constantFrom('', ' spans="1:4"', ' ht="15" customHeight="1" x14ac:dyDescent="0.25"'),
})
const si = texts.map((text) => `<si><t>${text}</t></si>`)
const sharedTexts = fc.oneof(
  si,
  fc.constantFrom(
    '<si><t xml:space="preserve"> x </t></si>',
    '<si><r><t>a</t></r><r><t>b</t></r></si>',
    '<si/>',
  ),
)

it('plain rows are read like rows that a parser reads', async () => {
  // Most rows are plain, and some rows of each sheet are not.
  const table = fc.record({
    rows: fc.array(sheetRows, { minLength: 1, maxLength: 12 }),
    isTable: fc.boolean(),
    copies: fc.constantFrom(1, 1, 1, 400),
    shared: fc.array(sharedTexts, { minLength: 0, maxLength: 9 }),
  })
  await fc.assert(
    fc.asyncProperty(table, async ({ rows, isTable, copies, shared }) => {
      let number = 0
      const first = isTable
        ? '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="D1" t="inlineStr"><is><t>d</t></is></c></row>'
        : ''
      if (isTable) number++
      const xml = Array.from({ length: copies }, () => rows)
        .flat()
        .map(({ cells: row, gap, attributes }) => {
          number += gap
          const inside = row.map((write, column) => write(column)).join('')
          return `<row r="${number}"${attributes}>${inside.replaceAll('#', String(number))}</row>`
        })
        .join('')
      const strings = shared.join('')
      // After a comment, everything is left to the parser.
      const parsed = await read(`<!-- -->${first}${xml}`, `<!-- -->${strings}`)
      expect(await read(first + xml, strings)).toBe(parsed)
    }),
    { numRuns: runs(25, 2000) },
  )
})
