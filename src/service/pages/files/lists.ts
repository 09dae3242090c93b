import { Problem } from '../../../contract/errors.ts'
import { webUrl } from '../../../contract/fid.ts'
import { filetypeName } from '../../../contract/resources/index.ts'
import { type Principal, visibleFile, visibleTo } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { FileRow } from '../../store/files.ts'
import { type Answer, html } from '../answer.ts'
import { document, text } from '../html.ts'

/** Files listed on one page. */
const FILES = 200
/** Plots listed on the start page. */
const PLOTS = 20

/** `/~alice/`: the files of a user that the viewer may see, last changed first. Throws `not_found`. */
export async function userPage(service: Service, principal: Principal, owner: string): Promise<Answer> {
  const { caller } = principal
  const files = await service.store.read(async (readers) => {
    if (!(await readers.accounts.user(owner)))
      throw new Problem('not_found', `no user named ${owner.slice(0, 100)}`)
    const visible = await visibleTo(readers, owner, caller)
    const query = { owner, visible, order: 'date_modified', descending: true } as const
    const seen: FileRow[] = []
    for (const file of await readers.files.list({ ...query, limit: FILES + 1 }))
      if (await visibleFile(readers, file, { caller })) seen.push(file)
    return seen
  })
  const own = caller?.username === owner
  const intro = own ? 'Your files, last changed first.' : `Files of ${owner} that you can see.`
  const empty = own
    ? '<p>No files yet. Upload one with <code>gridline upload FILE</code>.</p>'
    : '<p>No visible files.</p>'
  const more =
    files.length > FILES ? `<p>Only the first ${FILES} are shown · <code>gridline ls --all</code></p>` : ''
  const body = `<p>${text(intro)}</p>${files.length === 0 ? empty : fileList(service, files.slice(0, FILES))}${more}`
  return html(document(owner, body, { user: caller?.username ?? null }))
}

/** `/`: what this server is, how clients are connected to it, and its public plots. */
export async function startPage(service: Service, { caller }: Principal): Promise<Answer> {
  const plots = await service.store.read(({ plots }) =>
    plots.public({ order: 'creation_time', descending: true, limit: PLOTS }),
  )
  const url = text(service.url)
  const { host, protocol } = new URL(service.url)
  const username = text(caller?.username ?? 'NAME')
  const body = `<p>This server stores tables (grids) and charts (plots), and serves them under links. Use it with the <code>gridline</code> command line, the <a href="/v2/docs">API</a>, or a Chart Studio client.</p>
<h2>Command line</h2>
<pre>gridline login ${url}
gridline upload sales.csv --plot line --x date --y price</pre>
<h2>Chart Studio for Python</h2>
<pre>import chart_studio
chart_studio.tools.set_credentials_file(username="${username}", api_key="…")
chart_studio.tools.set_config_file(plotly_domain="${url}", plotly_api_domain="${url}")</pre>
<h2>The share button of plotly.js charts</h2>
<pre>// config of Plotly.newPlot, from version 3.7 on
{plotlyServerURL: "${url}/newchart"}
// before version 3.7
window.PLOTLYENV = {BASE_URL: "${url}"}
# Python
fig.show(config={"plotlyServerURL": "${url}/newchart"})</pre>
<h2>R</h2>
<pre>Sys.setenv(plotly_username = "${username}", plotly_api_key = "…")
Sys.setenv(plotly_domain = "${url}", plotly_api_domain = "https://${text(host)}")</pre>${protocol === 'https:' ? '' : '\n<p>The R package asks over https only. This server does not: put it behind a proxy that does.</p>'}
${plots.length > 0 ? `<h2>Public plots</h2>${fileList(service, plots)}` : ''}`
  return html(document('Gridline', body, { user: caller?.username ?? null }))
}

/** Files as a list of links. */
export function fileList(service: Service, files: readonly FileRow[]): string {
  const items = files.map(
    (file) =>
      `<li><a href="${text(webUrl(service.url, file))}">${text(file.filename)}</a> <span class="kind">${filetypeName(file.filetype)} · ${file.world_readable ? 'public' : 'private'} · ${new Date(file.date_modified).toISOString().slice(0, 10)}</span></li>`,
  )
  return `<ul class="files">${items.join('\n')}</ul>`
}

/** Type, owner, access and time of change of a file, as HTML. */
export function summaryOf(file: FileRow): string {
  const iso = new Date(file.date_modified).toISOString()
  const kind = filetypeName(file.filetype)
  return `${kind[0].toUpperCase()}${kind.slice(1)} by ${text(file.owner)} · ${accessOf(file)} · changed <time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

function accessOf({ world_readable, share_key }: FileRow): string {
  if (world_readable) return 'public'
  return share_key === null ? 'private' : 'private, with a secret link'
}
