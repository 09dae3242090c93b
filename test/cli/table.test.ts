// Tables of results on terminals of any width.
import { expect, it } from 'vitest'
import { formatTable } from '../../src/cli/output/table.ts'

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
