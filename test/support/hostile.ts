// Input that is costly to read carelessly.
import { gzipSync } from 'node:zlib'
import { tarGz, zip } from './archives.ts'

/** Figures that are costly to read carelessly: title, JSON, and the expected error, if any. */
export const costlyFigures: [title: string, figure: string, refused: RegExp | undefined][] = [
  [
    'a reference of 500,000 blanks is 400',
    `{"data":[{"xsrc":"alice:0:${' '.repeat(500_000)}x"}]}`,
    /no grid|no column/,
  ],
  [
    'a long name around 2,000 references is accepted',
    `{"data":[{"${'n'.repeat(500_000)}":{${Array.from({ length: 2000 }, (_, k) => `"a${k}src":[]`)}}}]}`,
    undefined,
  ],
  ['more traces than figure_traces are 400', `{"data":[${'{},'.repeat(100_000)}{}]}`, /figure_traces/],
  [
    'more members than json_members are 400',
    `{"data":[{"m":{${Array.from({ length: 100_001 }, (_, k) => `"${k}":0`)}}}]}`,
    /json_members/,
  ],
  [
    'a typed array with more dimensions than values is 400',
    `{"data":[{"x":{"dtype":"i1","bdata":"AAAA","shape":"3,1,1,1"}}]}`,
    /shape does not fit/,
  ],
  ['an array given twice is 400', '{"data":[{"x":[1],"x":[2]}]}', /is duplicated/],
]

/** Archive bombs (one file that grows a thousandfold): file name and bytes. */
export async function bombs(): Promise<[name: string, bytes: Buffer][]> {
  const huge = Buffer.alloc(64 * 1024 * 1024, 'a,b\n')
  const sheet = Buffer.concat([
    Buffer.from('<worksheet><sheetData>'),
    Buffer.alloc(64 * 1024 * 1024, '<row></row>'),
  ])
  const book = await zip({
    'xl/workbook.xml': '<workbook><sheets><sheet name="s" id="a"/></sheets></workbook>',
    'xl/worksheets/sheet1.xml': sheet,
  })
  return [
    ['bomb.zip', await zip({ 'bomb.csv': huge })],
    ['bomb.csv.gz', gzipSync(huge)],
    ['bomb.tar.gz', await tarGz({ 'bomb.csv': huge })],
    ['bomb.xlsx', book],
  ]
}

/** Returns delimited text with a line that begins with `count` blanks. */
export function blankLine(count: number): string {
  return `a b\n${' '.repeat(count)}x 1\n`
}

/** Returns delimited text with `count` columns of one name. */
export function sameNames(count: number): string {
  return `${'a,'.repeat(count - 1)}a\n${'1,'.repeat(count - 1)}1\n`
}
