/** Renders values as an HTML table. */
import { escapeHtml } from '../../../contract/html.ts'
import { jsonKindOf, yieldToEventLoop } from '../../../json/index.ts'
import { MAX_VALUE_BYTES } from '../../grids/column/values-at.ts'
import { decodeStart } from '../../grids/read/decode-start.ts'

export interface TableColumn {
  /** Content of the heading, as HTML. */
  head: string
  /** Attributes of the heading, as HTML. */
  attributes?: string
  /** JSON text of each value; long ones are cut. */
  values: readonly Buffer[]
}

/** Renders a table. `rows`: row numbers to show, from 0; undefined to show none. */
export async function renderTable(
  columns: readonly TableColumn[],
  rows?: readonly number[],
): Promise<string> {
  const count = rows?.length ?? Math.max(0, ...columns.map(({ values }) => values.length))
  const lines: string[] = []
  for (let row = 0; row < count; row++) {
    const cells = columns.map(({ values }) => renderCell(values[row]))
    const number = rows ? `<th scope="row">${rows[row] + 1}</th>` : ''
    lines.push(`<tr>${number}${cells.join('')}</tr>`)
    await yieldToEventLoop()
  }
  const corner = rows ? '<th scope="col">row</th>' : ''
  const head = columns.map(({ head, attributes = '' }) => `<th scope="col"${attributes}>${head}</th>`)
  return `<div class="scroll" tabindex="0" role="region" aria-label="Data"><table><thead><tr>${corner}${head.join('')}</tr></thead><tbody>\n${lines.join('\n')}\n</tbody></table></div>`
}

/** Maximum length of a value in a cell. */
const MAX_CELL_CHARACTERS = 200

function renderCell(value: Buffer | undefined): string {
  if (!value) return '<td></td>'
  switch (jsonKindOf(value[0])) {
    case 'null':
      return '<td></td>'
    case 'string':
      return `<td>${escapeHtml(shorten(decodeJsonString(value)))}</td>`
    default:
      return `<td class="n">${renderNumber(shorten(value.toString('utf8')))}</td>`
  }
}

/** Separates groups of thousands by style, not by characters, so that a copied number is unchanged. */
function renderNumber(number: string): string {
  const [, whole, rest] = /^(-?\d{5,})(\.\d+)?$/.exec(number) ?? []
  if (whole === undefined) return escapeHtml(number)
  const first = whole.length % 3 || 3
  const groups = whole.slice(first).match(/\d{3}/g) ?? []
  return `${whole.slice(0, first)}${groups.map((group) => `<i>${group}</i>`).join('')}${rest ?? ''}`
}

/** Decodes a JSON string, which may be cut. */
function decodeJsonString(value: Buffer): string {
  const { length } = value
  return decodeStart(value, 0, length, length < MAX_VALUE_BYTES ? length : length - 1)
}

function shorten(plain: string): string {
  return plain.length <= MAX_CELL_CHARACTERS ? plain : `${plain.slice(0, MAX_CELL_CHARACTERS)}…`
}
