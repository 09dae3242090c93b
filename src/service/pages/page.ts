import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations.ts'
import { parseRaw } from '../../ingest/index.ts'
import { type Asker, admit } from '../access/access.ts'
import type { Service } from '../context.ts'
import { contentJson, snapshot } from '../grids/content.ts'
import { etag } from '../version.ts'
import { document, text } from './html.ts'

const ROWS = 100
const COLUMNS = 200

/** What a browser shows for a link: the grid's first rows and where to get the rest. No script, no outside address. */
export interface Page {
  html: string
  etag: string
}

/**
 * The page behind `web_url`. Whoever may not read the file learns nothing: without credentials the
 * answer is 401 whether there is a file or not, so that a browser asks for them; with some it is 404.
 */
export async function pageOf(service: Service, asker: Asker, fid: Fid): Promise<Page> {
  const found = await service.store.read(async (readers) => {
    const row = await readers.files.get(fid.owner, fid.idlocal)
    try {
      const { file } = await admit(readers, row, asker, { access: 'read' })
      return {
        file,
        snap:
          file.filetype === 'grid'
            ? await snapshot(service.store, readers, fid, (all) => all.slice(0, COLUMNS))
            : undefined,
      }
    } catch (error) {
      if (asker.caller) throw error
      throw new Problem('unauthenticated', 'this page is not public, or there is none')
    }
  })
  const { file, snap } = found
  const api = service.url + pathOf('grids.content', formatFid(fid))
  const parts = [
    `<p>${text(file.filetype)} of ${text(file.owner)} · ${file.world_readable ? 'public' : 'private'} · changed ${text(new Date(file.date_modified).toISOString().slice(0, 16).replace('T', ' '))} UTC</p>`,
  ]
  if (snap) {
    parts.push(
      `<p>${snap.rows.toLocaleString('en')} rows · <a href="${text(api)}?format=csv">CSV</a> · <a href="${text(api)}">JSON</a> · <code>gridline cat ${text(formatFid(fid))}</code></p>`,
      await table(contentJson(snap, ROWS)),
    )
    if (snap.rows > ROWS) parts.push(`<p>The first ${ROWS} rows.</p>`)
  }
  return { html: document(file.filename, parts.join('\n')), etag: etag(file) }
}

async function table(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  const cols = parseRaw(Buffer.concat(pieces)).entries().get('cols')!.entries()
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
  return `<div><table><thead><tr>${head}</tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table></div>`
}
