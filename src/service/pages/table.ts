import { buffer } from 'node:stream/consumers'
import { acceptedBefore, parseRaw } from '../../json/index.ts'
import { text } from './html.ts'

/** The content of a grid by column (JSON) as an HTML table. */
export async function table(content: AsyncIterable<Uint8Array>): Promise<string> {
  const cols = parseRaw(await buffer(content), 'the content', acceptedBefore)
    .entries()
    .get('cols')!
    .entries()
  const columns = [...cols.values()].map((column) => [...column.entries().get('data')!.items()])
  const rows = Array.from({ length: Math.max(0, ...columns.map((values) => values.length)) }, (_, row) => {
    const cells = columns.map((values) => {
      const value = values[row]
      if (!value || value.kind === 'null') return '<td></td>'
      if (value.kind === 'string') return `<td>${text(value.value() as string)}</td>`
      return `<td class="n">${text(value.bytes.toString('utf8'))}</td>`
    })
    return `<tr>${cells.join('')}</tr>`
  })
  const head = [...cols.keys()].map((name) => `<th>${text(name)}</th>`).join('')
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div>`
}
