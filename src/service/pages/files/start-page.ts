import { Problem } from '../../../contract/errors.ts'
import { type Principal, viewerOf } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { OWNER } from '../../store/aggregates/lists.ts'
import { type Answer, html } from '../answer.ts'
import { assetPath } from '../assets.ts'
import { document, schemeIn, text } from '../html.ts'
import { fileCards, filesIn, fileTable } from './lists.ts'

/** Files listed on one page. */
const FILES = 200
/** Files of each part of the start page. */
const RECENT = 12
const PUBLIC = 24
/** Files that a search finds, and characters that are searched for. */
const FOUND = 50
const MAX_CHARACTERS = 200

/** `/`: the files of who is signed in, or what they search for; for all others, the public charts. */
export async function startPage(
  service: Service,
  { caller }: Principal,
  query: URLSearchParams,
): Promise<Answer> {
  const searched = query.get('q')?.trim() ?? ''
  if (caller && searched !== '') return searchPage(service, caller.username, searched)
  const { recent, shared, plots } = await service.store.read(async (readers) => {
    const { lists, folders, sharing, plots } = readers
    const marked = await folders.marked()
    const shown = plots.public({ order: 'creation_time', descending: true, limit: PUBLIC }, marked)
    return {
      recent: caller
        ? await lists.page({
            owner: caller.username,
            viewer: OWNER,
            order: 'date_modified',
            descending: true,
            limit: RECENT,
          })
        : [],
      shared: caller
        ? await folders.active(await sharing.sharedWith(caller.username, marked, undefined, RECENT))
        : [],
      plots: await folders.active(await shown),
    }
  })
  const parts: string[] = []
  if (caller) {
    parts.push(
      recent.length > 0
        ? `<h2>Recent files</h2>${fileCards(service, recent)}<p><a href="/~${text(caller.username)}/">All your files</a></p>`
        : '<p>You have no files yet. Upload one with <code>gridline upload sales.csv --plot auto</code>, or <a href="/connect">connect another client</a>.</p>',
    )
    if (shared.length > 0) parts.push(`<h2>Shared with you</h2>${await fileTable(service, shared)}`)
  } else
    parts.push(
      '<p>This server stores tables (grids) and charts (plots), and serves them under links.</p>',
      '<p class="actions"><a class="button" href="/signin">Sign in</a> <a class="button" href="/connect">Connect a client</a></p>',
    )
  if (plots.length > 0) parts.push(`<h2>Public charts</h2>${fileCards(service, plots)}`)
  else if (!caller) parts.push('<p>There are no public charts yet.</p>')
  return html(
    document('Gridline', parts.join('\n'), {
      user: caller?.username ?? null,
      scheme: schemeIn(query, 'auto'),
      scripts: [assetPath('page.js')],
    }),
  )
}

/** What is found in the own files: in their names, and in the names of columns. */
async function searchPage(service: Service, username: string, searched: string): Promise<Answer> {
  const wanted = searched.slice(0, MAX_CHARACTERS)
  const found = await service.store.read(({ lists }) => lists.search(username, wanted, FOUND + 1))
  const cut =
    searched.length > MAX_CHARACTERS
      ? `<p class="note">Only the first ${MAX_CHARACTERS} characters are searched for.</p>`
      : ''
  const more =
    found.length > FOUND ? `<p>Only the first ${FOUND} files are shown. Search for more of the name.</p>` : ''
  const body =
    found.length === 0
      ? '<p>No file has this in its name or in the name of a column.</p>'
      : `<p>Your files with this in their names, or in the names of their columns.</p>${await fileTable(service, found.slice(0, FOUND))}${more}`
  return html(document(`Search: ${wanted}`, cut + body, { user: username, searched: wanted }))
}

/** `/~alice/`: the files of a user that the viewer may see, last changed first. Throws `not_found`. */
export async function userPage(
  service: Service,
  principal: Principal,
  owner: string,
  query: URLSearchParams,
): Promise<Answer> {
  const { caller } = principal
  const files = await service.store.read(async (readers) => {
    if (!(await readers.accounts.user(owner)))
      throw new Problem('not_found', `no user named ${owner.slice(0, 100)}`)
    const viewer = await viewerOf(readers, owner, caller)
    const wanted = { owner, viewer, order: 'date_modified', descending: true } as const
    return readers.lists.page({ ...wanted, limit: FILES + 1 })
  })
  const own = caller?.username === owner
  const intro = own ? 'Your files, last changed first.' : `Files of ${owner} that you can see.`
  const empty = own
    ? '<p>No files yet. Upload one with <code>gridline upload FILE</code>.</p>'
    : '<p>No visible files.</p>'
  const more =
    files.length > FILES ? `<p>Only the first ${FILES} are shown · <code>gridline ls --all</code></p>` : ''
  const shown =
    files.length === 0 ? empty : await filesIn(service, files.slice(0, FILES), query, `/~${owner}/`)
  return html(
    document(owner, `<p>${text(intro)}</p>${shown}${more}`, {
      user: caller?.username ?? null,
      scheme: schemeIn(query, 'auto'),
      scripts: [assetPath('page.js')],
    }),
  )
}

/** `/connect`: how clients are connected to this server. */
export function connectPage(service: Service, { caller }: Principal): Answer {
  const url = text(service.url)
  const { host, protocol } = new URL(service.url)
  const username = text(caller?.username ?? 'NAME')
  const block = (id: string, content: string): string =>
    `<pre tabindex="0" id="${id}">${content}</pre><button type="button" data-copy="${id}" hidden>Copy</button>`
  const body = `<p>This server works with the <code>gridline</code> command line, the <a href="/v2/docs">API</a>, and Chart Studio clients.</p>
<h2>Command line</h2>
${block('cli', `gridline login ${url}\ngridline upload sales.csv --plot auto`)}
<h2>Chart Studio for Python</h2>
${block(
  'python',
  `import chart_studio
chart_studio.tools.set_credentials_file(username="${username}", api_key="…")
chart_studio.tools.set_config_file(plotly_domain="${url}", plotly_api_domain="${url}")`,
)}
<h2>The share button of plotly.js charts</h2>
${block(
  'share',
  `// config of Plotly.newPlot, from version 3.7 on
{plotlyServerURL: "${url}/newchart"}
// before version 3.7
window.PLOTLYENV = {BASE_URL: "${url}"}
# Python
fig.show(config={"plotlyServerURL": "${url}/newchart"})`,
)}
<h2>R</h2>
${block(
  'r',
  `Sys.setenv(plotly_username = "${username}", plotly_api_key = "…")
Sys.setenv(plotly_domain = "${url}", plotly_api_domain = "https://${text(host)}")`,
)}${protocol === 'https:' ? '' : '\n<p>The R package asks over https only. This server does not: put it behind a proxy that does.</p>'}`
  return html(
    document('Connect a client', body, {
      user: caller?.username ?? null,
      scripts: [assetPath('page.js')],
    }),
  )
}
