// Writes rows as one HTML file that loads nothing: a table that its reader can sort.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPath } from '../../../contract/build-path.ts'
import type { ColumnType } from '../../../contract/column-types.ts'
import { Problem } from '../../../contract/errors.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { type PageFacts, renderAbout, streamSealed } from '../../../contract/standalone.ts'
import type { Bytes } from '../../../json/index.ts'
import { createChartPolicy } from '../../core/chart-policy.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import { decodeJsonText, type RowWriter } from './row-writers.ts'

/** Maximum number of cells: with more, browsers take seconds to show and sort a table. */
const MAX_CELLS = 500_000

const STYLE = `body { margin: 1rem; font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; font-size: 1.2em; font-weight: 600; padding-bottom: .5rem }
th { position: sticky; top: 0; background: #f2f4f7; text-align: left }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: .3rem .6rem; cursor: pointer }
th[aria-sort=ascending] button::after { content: " ↑" }
th[aria-sort=descending] button::after { content: " ↓" }
th[data-type=number] { text-align: right }
td { border-bottom: 1px solid #e3e6ea; padding: .2rem .6rem; max-width: 40rem; white-space: pre-wrap; overflow-wrap: break-word; vertical-align: top }
#about { font-size: 13px; color: #5b6575 }
@media print { th { position: static } }`

/** Style of the cells of a type. */
const CELL_RULES: Partial<Record<ColumnType, string>> = {
  number: 'text-align: right; white-space: nowrap',
  date: 'white-space: nowrap',
  datetime: 'white-space: nowrap',
}

let script: string | undefined

/** Creates a writer of a page with a table. Empty cells are nulls. */
function createTableWriter(facts: PageFacts): RowWriter {
  script ??= readFileSync(join(buildPath('assets'), 'sort-table.js'), 'utf8')
  const hash = createHash('sha256').update(script).digest('base64')
  const title = escapeHtml(facts.title)
  return {
    head(columns) {
      const rules = columns.flatMap(({ type }, k) => {
        const rule = CELL_RULES[familyOf(type)]
        return rule === undefined ? [] : [`td:nth-child(${k + 1}) { ${rule} }`]
      })
      const heads = columns.map(
        ({ name, type }) =>
          `<th scope="col" data-type="${familyOf(type)}"><button type="button">${escapeHtml(name)}</button></th>`,
      )
      return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${createChartPolicy({ scripts: `'sha256-${hash}'` })}">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
${[STYLE, ...rules].join('\n')}
</style>
<table>
<caption>${title}</caption>
<thead><tr>${heads.join('')}</tr></thead>
<tbody>
`
    },
    row(cells, out) {
      out.addText('<tr>')
      for (const { buf, start, end } of cells) {
        const text = buf[start] === 0x6e ? '' : escapeHtml(decodeJsonText(buf, start, end))
        out.addText(`<td>${text}`)
      }
      out.addText('</tr>\n')
    },
    tail(out) {
      out.addText(`</tbody>\n</table>\n${renderAbout(facts)}\n<script>${script}</script>\n</html>\n`)
    },
  }
}

/**
 * Streams rows as a page. `write` streams the rows with a writer. Throws `too_large` if there are too many cells for
 * a browser.
 */
export async function* streamTablePage(
  { rows, columns }: { rows: number; columns: number },
  facts: PageFacts,
  write: (writer: RowWriter) => Bytes,
): AsyncGenerator<Uint8Array> {
  if (rows * columns > MAX_CELLS)
    throw new Problem('too_large', `${rows} rows of ${columns} columns; a page holds ${MAX_CELLS} cells`, {
      field: 'format',
      hint: 'Use CSV, or choose rows and columns.',
    })
  yield* streamSealed(write(createTableWriter(facts)))
}
