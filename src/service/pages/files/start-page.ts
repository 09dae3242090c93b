/** Start page, search, pages of users, and instructions to connect clients. */

import { Problem } from '../../../contract/errors.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { type Caller, loadListScope, type Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { OWNER_SCOPE } from '../../store/aggregates/lists.ts'
import type { Readers } from '../../store/store.ts'
import { createSitePage, type PageAnswer } from '../answer.ts'
import { appendQuery, renderActionButton } from '../html.ts'
import { loadFolderNames, renderFileCards, renderFiles, renderFileTable } from './file-lists.ts'

/** Maximum number of files on the page of a user. */
const MAX_FILES = 200
/** Maximum numbers of files on the start page. */
const MAX_RECENT = 12
const MAX_PUBLIC = 24
const MAX_PUBLIC_BOARDS = 12
/** Query of the recent files of a user. */
const LAST_CHANGED = {
  viewer: OWNER_SCOPE,
  order: 'date_modified',
  descending: true,
  limit: MAX_RECENT,
} as const
/** Maximum number of results of a search. */
const MAX_RESULTS = 50
/** Maximum number of files shared by others that are searched. */
const MAX_SEARCHED_SHARED = 1000
/** Maximum length of a search text. */
const MAX_SEARCH_CHARACTERS = 200

/**
 * `/`: shows recent files, public boards and charts, or results of a search. Without a session, only what is public.
 */
export async function renderStartPage(
  service: Service,
  { caller }: Principal,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const searched = query.get('q')?.trim() ?? ''
  if (caller && searched !== '') return renderSearchPage(service, caller, searched, query)
  const { recent, shared, boards, plots } = await service.store.read(async (readers) => {
    const { lists, folders, sharing, plots } = readers
    const dirtyFolders = await folders.listDirtyOwners()
    const listNewest = async (filetype: 'plot' | 'dashboard', limit: number): Promise<FileRow[]> => {
      const newest = { filetype, order: 'creation_time', descending: true, limit } as const
      return folders.filterActive(await plots.listPublic(newest, dirtyFolders))
    }
    return {
      recent: caller ? await lists.loadPage({ ...LAST_CHANGED, owner: caller.username }) : [],
      shared: caller
        ? await folders.filterActive(
            await sharing.listSharedWith(caller.username, dirtyFolders, undefined, MAX_RECENT),
          )
        : [],
      boards: await listNewest('dashboard', MAX_PUBLIC_BOARDS),
      plots: await listNewest('plot', MAX_PUBLIC),
    }
  })
  const parts: string[] = []
  if (caller) {
    parts.push(
      recent.length > 0
        ? `<h2>Recent files</h2>${renderFileCards(service, recent)}<p><a href="/~${escapeHtml(caller.username)}/">All your files</a></p>`
        : `<div class="drop"><p>You have no files yet. Drop a table here, or paste cells of a spreadsheet.</p>${renderActionButton('add', 'add.js', 'Add data', {}, 'primary')}</div><p>On the command line: <code>gridline upload sales.csv --plot auto</code>, or <a href="/connect">connect another client</a>.</p>`,
    )
    if (shared.length > 0) parts.push(`<h2>Shared with you</h2>${await renderFileTable(service, shared)}`)
  } else
    parts.push(
      '<p>This server stores tables (grids) and charts (plots), and serves them under links.</p>',
      '<p class="actions"><a class="button" href="/signin">Sign in</a> <a class="button" href="/connect">Connect a client</a></p>',
    )
  if (boards.length > 0) parts.push(`<h2>Public boards</h2>${renderFileCards(service, boards)}`)
  if (plots.length > 0) parts.push(`<h2>Public charts</h2>${renderFileCards(service, plots)}`)
  else if (!caller && boards.length === 0) parts.push('<p>There are no public charts yet.</p>')
  return createSitePage('Gridline', parts.join('\n'), caller, query)
}

/** Searches the files of a user, and those that others share with them, by names and titles. */
async function renderSearchPage(
  service: Service,
  caller: Caller,
  searched: string,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const searchText = searched.slice(0, MAX_SEARCH_CHARACTERS)
  const { files, shared } = await service.store.read(async ({ lists, folders, sharing }) => {
    const { username } = caller
    const dirtyFolders = await folders.listDirtyOwners()
    const others = await sharing.listSharedWith(username, dirtyFolders, undefined, MAX_SEARCHED_SHARED)
    return {
      files: await lists.searchFiles(username, searchText, MAX_RESULTS + 1),
      shared: await lists.filterByText(await folders.filterActive(others), searchText),
    }
  })
  const cut =
    searched.length > MAX_SEARCH_CHARACTERS
      ? `<p class="note">Only the first ${MAX_SEARCH_CHARACTERS} characters are searched for.</p>`
      : ''
  const parts: string[] = []
  if (files.length > 0)
    parts.push(
      '<p>Your files with this in their names, in the names of their columns, or in the titles of their charts.</p>',
      await renderFileTable(service, files.slice(0, MAX_RESULTS)),
    )
  if (files.length > MAX_RESULTS)
    parts.push(`<p>Only the first ${MAX_RESULTS} files are shown. Search for more of the name.</p>`)
  if (shared.length > 0)
    parts.push('<h2>Shared with you</h2>', await renderFileTable(service, shared.slice(0, MAX_RESULTS)))
  if (parts.length === 0)
    parts.push('<p>No file has this in its name, in the name of a column or in the title of a chart.</p>')
  return createSitePage(`Search: ${searchText}`, cut + parts.join(''), caller, query, { searchText })
}

/** Lists of the files that the owner of the page sees there. */
const OWNER_LISTS = {
  files: { title: 'Files', empty: 'You have no files yet. Drop one here.' },
  shared: { title: 'Shared with me', empty: 'Nobody has shared a file with you.' },
  starred: { title: 'Starred', empty: 'You have not starred a file.' },
  trash: { title: 'Trash', empty: 'The trash is empty.' },
} as const

type OwnerList = keyof typeof OWNER_LISTS

/**
 * `/~alice/`: lists the visible files of a user, last changed first; for the user, also those that are shared,
 * starred or in the trash (`?show=`). Throws `not_found`.
 */
export async function renderUserPage(
  service: Service,
  principal: Principal,
  owner: string,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const { caller } = principal
  const isOwner = caller?.username === owner
  const asked = query.get('show') ?? 'files'
  const list = isOwner && Object.hasOwn(OWNER_LISTS, asked) ? (asked as OwnerList) : 'files'
  const { files, folders } = await service.store.read(async (readers) => {
    if (!(await readers.accounts.getUser(owner)))
      throw new Problem('not_found', `no user named ${owner.slice(0, 100)}`)
    const loaded = await loadList(readers, owner, list, caller)
    return { files: loaded, folders: isOwner ? await loadFolderNames(readers, loaded) : undefined }
  })
  const pageUrl = `/~${owner}/`
  const listed = files.slice(0, MAX_FILES)
  const actions = !isOwner ? undefined : list === 'trash' ? 'trash' : list === 'files' ? 'files' : undefined
  const parts = [
    isOwner ? renderTabs(pageUrl, list) : `<p>Files of ${escapeHtml(owner)} that you can see.</p>`,
    await renderFiles(service, listed, { query, pageUrl, actions, folders }),
  ]
  if (files.length === 0) parts.push(`<p>${isOwner ? OWNER_LISTS[list].empty : 'No visible files.'}</p>`)
  if (files.length > MAX_FILES)
    parts.push(`<p>Only the first ${MAX_FILES} are shown · <code>gridline ls --all</code></p>`)
  return createSitePage(owner, parts.join('\n'), caller, query)
}

/** Loads a list of files, last changed first: one more than is shown. */
async function loadList(
  readers: Readers,
  owner: string,
  list: OwnerList,
  caller: Caller | undefined,
): Promise<FileRow[]> {
  const limit = MAX_FILES + 1
  const page = { owner, order: 'date_modified', descending: true, limit } as const
  if (list === 'files')
    return readers.lists.loadPage({ ...page, viewer: await loadListScope(readers, owner, caller) })
  if (list === 'trash') return readers.lists.loadPage({ ...page, viewer: OWNER_SCOPE, trashed: true })
  const dirtyFolders = await readers.folders.listDirtyOwners()
  const { sharing } = readers
  return readers.folders.filterActive(
    list === 'shared'
      ? await sharing.listSharedWith(owner, dirtyFolders, undefined, limit)
      : await sharing.listStarredBy(owner, dirtyFolders, undefined, limit),
  )
}

function renderTabs(pageUrl: string, shown: OwnerList): string {
  const tabs = (Object.keys(OWNER_LISTS) as OwnerList[]).map((list) => {
    const url = appendQuery(pageUrl, list !== 'files' && `show=${list}`)
    const current = list === shown ? ' aria-current="page"' : ''
    return `<a href="${escapeHtml(url)}"${current}>${OWNER_LISTS[list].title}</a>`
  })
  return `<nav class="tabs" aria-label="Lists">${tabs.join('')}</nav>`
}

/** `/connect`: shows how to connect clients to this server. */
export function renderConnectPage(service: Service, { caller }: Principal): PageAnswer {
  const url = escapeHtml(service.url)
  const { host, protocol } = new URL(service.url)
  const username = escapeHtml(caller?.username ?? 'NAME')
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
Sys.setenv(plotly_domain = "${url}", plotly_api_domain = "https://${escapeHtml(host)}")`,
)}${protocol === 'https:' ? '' : '\n<p>The R package asks over https only. This server does not: put it behind a proxy that does.</p>'}`
  return createSitePage('Connect a client', body, caller, new URLSearchParams())
}
