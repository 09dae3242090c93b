// Tables of results on terminals of any width.
import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { formatFittedTable } from '../../src/cli/output/fit-table.ts'
import { formatTable } from '../../src/cli/output/table.ts'
import { cutToWidth } from '../../src/cli/output/text-width.ts'

const view = {
  id: 'id',
  columns: [
    { field: 'id', title: 'ID' },
    { field: 'reason', title: 'REASON' },
    { field: 'note', title: 'NOTE' },
    { field: 'to', title: 'TO' },
  ],
}
const rows = [
  ['83b01bc2b9', 'sum(amount) is 42.5', '', 'https://example.com/a-long-path-to-a-hook'],
  ['90ab12cd34', '', '', 'ops@example.com'],
]
const widthOf = (text: string): number => Math.max(...text.split('\n').map((line) => line.length))

it('a table is as wide as it needs to be, and narrower on a narrow terminal', () => {
  expect(formatTable(false, view, rows, false, 100).split('\n')[0]).toMatch(/^ID +REASON +NOTE +TO$/)
  const narrow = formatTable(false, view, rows, false, 70)
  expect(narrow.split('\n')[0]).toMatch(/^ID +REASON +TO$/)
  expect(widthOf(narrow)).toBeLessThanOrEqual(70)
})

it('a row is a list of fields where not even the words fit side by side', () => {
  expect(formatTable(false, view, rows, false, 40)).toBe(`id      83b01bc2b9
reason  sum(amount) is 42.5
to      https://example.com/a-long-path-to-a-hook

id  90ab12cd34
to  ops@example.com
`)
})

it('wide characters count as the two cells that they take, and none is cut in half', () => {
  const rows = [['東京'.repeat(15), '1', 'x'.repeat(20)]]
  const { text, columnCount } = formatFittedTable(
    { names: ['city', 'n', 'word'], numeric: [false, true, false], rows },
    60,
    false,
  )
  expect(columnCount).toBe(2)
  for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(60)
  for (const [given, width, cut] of [
    ['東京都', 6, '東京都'],
    ['東京都', 5, '東京…'],
    ['ab👩‍👩‍👧‍👦cd', 4, 'ab…'],
    ['ab👩‍👩‍👧‍👦cd', 5, 'ab👩‍👩‍👧‍👦…'],
    ['x'.repeat(1e6), 4, 'xxx…'],
  ] as const)
    expect(cutToWidth(given, width)).toBe(cut)
})
