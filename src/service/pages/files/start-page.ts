/** Start page, search, pages of users, and instructions to connect clients. */
import { Problem } from '../../../contract/errors.ts'
import { type Principal, viewerOf } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { OWNER } from '../../store/aggregates/lists.ts'
import { type Answer, html } from '../answer.ts'
import { assetPath } from '../assets.ts'
import { document, schemeIn, text } from '../html.ts'
import { fileCards, filesIn, fileTable } from './lists.ts'

/** Maximum number of files on the page of a user. */
const FILES = 200
/** Maximum numbers of files on the start page. */
const RECENT = 12
const PUBLIC = 24
/** Maximum number of results of a search. */
const FOUND = 50
/** Maximum length of a search text. */
const MAX_CHARACTERS = 200

/**
 * `/`: shows recent files and public charts, or results of a search. Without a session, only public charts.
 */
export async function startPage(
  service: Service,
  { caller }: Principal,
  query: URLSearchParams,
): Promise<Answer> {
  const searched = query.get('q')?.trim() ?? ''
  if (caller && searched !== '') return searchPage(service, caller.username, searched)
  const { recent, shared, plots } = await service.store.read(async (readers) => {
    const { lists, folders, sharing, plots } = readers
    const dirtyFolders = await folders.marked()
    const publicPlots = plots.public(
      { order: 'creation_time', descending: true, limit: PUBLIC },
      dirtyFolders,
    )
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
        ? await folders.active(await sharing.sharedWith(caller.username, dirtyFolders, undefined, RECENT))
        : [],
      plots: await folders.active(await publicPlots),
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

/** Searches the user's files by file and column name. */
async function searchPage(service: Service, username: string, searched: string): Promise<Answer> {
  const query = searched.slice(0, MAX_CHARACTERS)
  const files = await service.store.read(({ lists }) => lists.search(username, query, FOUND + 1))
  const cut =
    searched.length > MAX_CHARACTERS
      ? `<p class="note">Only the first ${MAX_CHARACTERS} characters are searched for.</p>`
      : ''
  const more =
    files.length > FOUND ? `<p>Only the first ${FOUND} files are shown. Search for more of the name.</p>` : ''
  const body =
    files.length === 0
      ? '<p>No file has this in its name or in the name of a column.</p>'
      : `<p>Your files with this in their names, or in the names of their columns.</p>${await fileTable(service, files.slice(0, FOUND))}${more}`
  return html(document(`Search: ${query}`, cut + body, { user: username, searched: query }))
}

/** `/~alice/`: lists the visible files of a user, last changed first. Throws `not_found`. */
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
    const listQuery = { owner, viewer, order: 'date_modified', descending: true } as const
    return readers.lists.page({ ...listQuery, limit: FILES + 1 })
  })
  const isOwner = caller?.username === owner
  const intro = isOwner ? 'Your files, last changed first.' : `Files of ${owner} that you can see.`
  const empty = isOwner
    ? '<p>No files yet. Upload one with <code>gridline upload FILE</code>.</p>'
    : '<p>No visible files.</p>'
  const more =
    files.length > FILES ? `<p>Only the first ${FILES} are shown · <code>gridline ls --all</code></p>` : ''
  const list =
    files.length === 0 ? empty : await filesIn(service, files.slice(0, FILES), query, `/~${owner}/`)
  return html(
    document(owner, `<p>${text(intro)}</p>${list}${more}`, {
      user: caller?.username ?? null,
      scheme: schemeIn(query, 'auto'),
      scripts: [assetPath('page.js')],
    }),
  )
}

/** `/connect`: shows how to connect clients to this server. */
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
