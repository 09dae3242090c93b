// Handlers of folders and file lists.
import { invalidField, Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations/index.ts'
import { FILETYPES, type FolderMeta, type Page } from '../../contract/resources/index.ts'
import type { Static } from '../../contract/schema.ts'
import {
  type AuthorizedFile,
  type Caller,
  loadListScope,
  loadVisibleFile,
  type Principal,
  resolveVisibleFiles,
} from '../access/access.ts'
import type { OperationCall } from '../core/call.ts'
import { createPage, formatPageUrl, ListCursors, type PageOf, type Position } from '../core/paging.ts'
import { formatHomeMeta } from '../files/base-meta.ts'
import { loadListedMetas } from '../files/meta.ts'
import {
  createFolder,
  createFolders,
  findByPath,
  nameTaken,
  resolveDestination,
  splitPath,
} from '../files/names.ts'
import { takeIdlocal } from '../files/new-file.ts'
import { getFile, lookUpFile } from '../files/read.ts'
import type { FileRow, Filetype } from '../store/aggregates/files.ts'
import type { FileKey } from '../store/schema/file-key.ts'
import type { Readers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

/** Default page size. Old clients expect it. */
const DEFAULT_PAGE_FILES = 50
/** Maximum length of a search text. */
const MAX_SEARCH_CHARACTERS = 200

interface ListQuery {
  user?: string
  filetype?: Filetype[]
  order_by?: string
  page?: number
  page_size?: number
  cursor?: string
}

type Children = Static<typeof Page>

function pageSizeOf({ limits }: Service, { page_size }: ListQuery): number {
  return Math.min(page_size ?? DEFAULT_PAGE_FILES, limits.page_size)
}

const EMPTY_PAGE: Children = { results: [], count: 0, next: null, previous: null }

/** List of the files in a folder, or of all files of a user. */
interface ChildList {
  owner: string
  /** Undefined for all files. */
  parent?: number
  trashed?: boolean
  /** Path of the list in links to its pages. */
  path: string
}

/** Loads a page of a list. Pages by cursor; `page=N` is for old clients. */
export async function loadChildren(
  service: Service,
  principal: Principal,
  list: ChildList,
  query: ListQuery,
): Promise<Children> {
  const { order_by: order = 'filename', page, cursor } = query
  const size = pageSizeOf(service, query)
  const skip = cursor === undefined && page ? (page - 1) * size : 0
  if (skip > service.limits.list_position)
    throw new Problem(
      'invalid_request',
      `page: ${page}, which begins after ${skip} files; the limit is ${service.limits.list_position} (list_position)`,
      { field: 'page', hint: 'Follow next from the first page, without page.' },
    )
  const field = order.endsWith('filename') ? 'filename' : 'date_modified'
  const cursors = new ListCursors<ChildKey>(service.cursors, `${list.path} ${list.owner} ${order}`)
  const from = await cursors.parse(cursor)
  const loaded = await service.store.read(async (readers) => {
    const files = await loadFilePage(readers, principal, list, {
      filetypes: query.filetype,
      field,
      descending: order.startsWith('-'),
      size,
      skip,
      from,
    })
    if (!files) return undefined
    const resolved = await resolveVisibleFiles(readers, files.items, principal)
    const visible = resolved.filter((file) => file !== undefined)
    return { ...files, metas: await loadListedMetas(service, readers, visible, principal) }
  })
  if (!loaded) return EMPTY_PAGE
  const { items, next, previous, metas: results, count } = loaded
  if (items.length === 0 && from === undefined && (page ?? 1) > 1)
    throw new Problem('not_found', `there is no page ${page}`)
  const urlOf = (paging: { cursor?: string; page?: number }): string =>
    formatPageUrl(service.url, list.path, { ...query, page: undefined, cursor: undefined, ...paging })
  // Requests with `page=N` get links with page numbers. All others get cursors.
  if (from === undefined && page)
    return {
      results,
      count,
      next: next ? urlOf({ page: page + 1 }) : null,
      previous: page > 1 ? urlOf({ page: page - 1 }) : null,
    }
  const link = async (file: FileRow | undefined, backwards: boolean): Promise<string | null> =>
    file ? urlOf({ cursor: await cursors.format([file[field], file.idlocal], backwards) }) : null
  return { results, count, next: await link(next, false), previous: await link(previous, true) }
}

/** Order and position of a page. */
interface PageOptions {
  filetypes: Filetype[] | undefined
  field: 'filename' | 'date_modified'
  descending: boolean
  size: number
  skip: number
  from: Position<ChildKey> | undefined
}

/** Loads the files of a page, and counts those of all pages. Undefined if the folder is not visible. */
async function loadFilePage(
  readers: Readers,
  principal: Principal,
  { owner, parent, trashed = false }: ChildList,
  { filetypes, field: order, descending, size, skip, from }: PageOptions,
): Promise<(PageOf<FileRow> & { count: number | null }) | undefined> {
  const isFolder = parent !== undefined && parent !== ROOT
  const folder = isFolder ? await loadVisibleFile(readers, { owner, idlocal: parent }, principal) : undefined
  // Content of trashed folders is not listed.
  if (isFolder && folder?.state !== 'active') return undefined
  const place = parent === undefined ? undefined : (folder ?? 'home')
  const viewer = await loadListScope(readers, owner, principal.caller, place)
  const list = { owner, parent, filetypes, viewer, trashed }
  const page = { ...list, order, limit: size + 1 }
  const isDescending = descending !== (from?.backwards === true)
  let rows = await readers.lists.loadPage({ ...page, descending: isDescending, after: from?.key, skip })
  let files = createPage(rows, size, from)
  // Everything before the cursor was deleted: return the first page.
  if (from?.backwards && rows.length === 0) {
    rows = await readers.lists.loadPage({ ...page, descending })
    files = createPage(rows, size, undefined)
  }
  return { ...files, count: await readers.lists.countFiles(list) }
}

/** Sort key of a file in the list. */
type ChildKey = [value: string | number, idlocal: number]

type PageQuery = (
  readers: Readers,
  dirtyFolders: ReadonlySet<string>,
  after: FileKey | undefined,
  limit: number,
) => Promise<FileRow[]>

/** Loads a page of files of any owners. Skips files that the caller may no longer see. */
async function loadPageOfMany(
  service: Service,
  call: OperationCall<'folders.shared'> | OperationCall<'folders.starred'>,
  query: PageQuery,
): Promise<{ children: Children }> {
  const { page = 1, page_size, cursor } = call.query
  const size = Math.min(page_size ?? DEFAULT_PAGE_FILES, service.limits.page_size)
  const path = pathOf(call.operation)
  const cursors = new ListCursors<FileKey>(service.cursors, path)
  let after = (await cursors.parse(cursor))?.key
  const { metas, more } = await service.store.read(async (readers) => {
    const dirtyFolders = await readers.folders.listDirtyOwners()
    let visible: AuthorizedFile[] = []
    for (let n = 1; n <= page; n++) {
      visible = []
      let position = after
      for (let done = false; !done && visible.length <= size; ) {
        const batch = await query(readers, dirtyFolders, position, size + 1)
        done = batch.length <= size
        const resolved = await resolveVisibleFiles(readers, batch, call)
        for (const [k, file] of batch.entries()) {
          if (visible.length > size) break
          // Collaborators can see trashed files, but not in this list.
          const active = resolved[k]?.state === 'active' ? resolved[k] : undefined
          if (active) visible.push(active)
          position = { owner: file.owner, idlocal: file.idlocal }
          // A cursor must not contain the id of a file that was left out.
          if (active && visible.length <= size) after = position
        }
      }
      if (n < page && visible.length <= size) throw new Problem('not_found', `there is no page ${page}`)
    }
    const pageFiles = visible.slice(0, size)
    return { metas: await loadListedMetas(service, readers, pageFiles, call), more: visible.length > size }
  })
  const from = cursor === undefined && page > 1 ? { page: page + 1 } : undefined
  const next = more
    ? formatPageUrl(service.url, path, { page_size, ...(from ?? { cursor: await cursors.format(after!) }) })
    : null
  return { children: { results: metas, count: metas.length, next, previous: null } }
}

function requireOwner(caller: Caller | undefined, user: string | undefined): string {
  const owner = user ?? caller?.username
  if (owner) return owner
  throw new Problem('unauthenticated', 'user is required unless you are logged in', { field: 'user' })
}

/** Throws unless the user exists. Listed files prove that they do. */
async function checkUserExists(service: Service, owner: string, { results }: Children): Promise<void> {
  if (results.length > 0) return
  if (!(await service.store.read(({ accounts }) => accounts.getUser(owner)))) {
    throw new Problem('not_found', `no user named ${owner}`)
  }
}

/** Loads the metadata of a home folder with a page of its files. Throws `not_found` for unknown users. */
async function loadHomeFolder(
  service: Service,
  principal: Principal,
  owner: string,
  query: ListQuery,
): Promise<FolderMeta> {
  const list = { owner, parent: ROOT, path: pathOf('folders.home') }
  const page = await loadChildren(service, principal, list, query)
  await checkUserExists(service, owner, page)
  return {
    ...formatHomeMeta(owner, principal.caller?.username === owner ? 'admin' : 'read', service.url),
    children: page,
  }
}

export const folderHandlers = {
  'folders.create': async (service, call) => {
    const { path, world_readable, idlocal: number, ...place } = call.fields
    const owner = call.caller!.username
    const names = splitPath(path, service.limits)
    if (names.length === 0) throw new Problem('invalid_request', 'path: must not be empty', { field: 'path' })
    const { idlocal } = await service.store.writeOnce(call.writeKey(owner), async (writers) => {
      const parent = await resolveDestination(writers, owner, place, service.limits)
      if (await findByPath(writers.files, owner, parent, names)) throw nameTaken(names[names.length - 1])
      const above = await createFolders(writers, owner, parent, names.slice(0, -1), service.limits)
      const taken = await takeIdlocal(writers, owner, number)
      const created = await createFolder(
        writers,
        owner,
        above,
        names[names.length - 1],
        service.limits,
        taken,
      )
      if (world_readable) await writers.files.change(owner, created, { world_readable: 1 })
      return { idlocal: created }
    })
    const { body, etag } = await getFile(service, call, { owner, idlocal }, 'fold')
    return { body: { file: body, warnings: [] }, etag }
  },

  'folders.home': async (service, call) => ({
    body: await loadHomeFolder(service, call, requireOwner(call.caller, call.query.user), call.query),
  }),

  'folders.all': async (service, call) => {
    const owner = requireOwner(call.caller, call.query.user)
    const page = await loadChildren(service, call, { owner, path: pathOf('folders.all') }, call.query)
    await checkUserExists(service, owner, page)
    return { body: { children: page } }
  },

  'folders.shared': async (service, call) => ({
    body: await loadPageOfMany(service, call, ({ sharing }, dirtyFolders, after, limit) =>
      sharing.listSharedWith(call.caller!.username, dirtyFolders, after, limit),
    ),
  }),

  'folders.starred': async (service, call) => ({
    body: await loadPageOfMany(service, call, ({ sharing }, dirtyFolders, after, limit) =>
      sharing.listStarredBy(call.caller!.username, dirtyFolders, after, limit),
    ),
  }),

  'folders.trashed': async (service, call) => {
    const list = { owner: call.caller!.username, trashed: true, path: pathOf('folders.trashed') }
    const query: ListQuery = { ...call.query, filetype: [...FILETYPES] }
    return { body: { children: await loadChildren(service, call, list, query) } }
  },

  'folders.search': async (service, call) => {
    const { q } = call.query
    if (q.length > MAX_SEARCH_CHARACTERS)
      throw invalidField('q', `has ${q.length} characters; the limit is ${MAX_SEARCH_CHARACTERS}`)
    const results = await service.store.read(async (readers) => {
      const matches = await readers.lists.searchFiles(
        call.caller!.username,
        q,
        pageSizeOf(service, call.query),
      )
      const visible = (await resolveVisibleFiles(readers, matches, call)).filter((file) => file !== undefined)
      return loadListedMetas(service, readers, visible, call)
    })
    return { body: { children: { ...EMPTY_PAGE, results, count: results.length } } }
  },

  'folders.lookup': (service, call) => lookUpFile(service, call, call.query, 'fold'),

  'folders.get': async (service, call) => {
    const { query } = call
    const { owner, idlocal } = call.fid
    if (idlocal === ROOT)
      return { body: await loadHomeFolder(service, call, owner, { ...query, user: owner }) }
    const { body } = await getFile(service, call, call.fid, 'fold')
    // No entity tag: children change without changing the folder.
    const list = { owner, parent: idlocal, path: pathOf('folders.get', formatFid(call.fid)) }
    return { body: { ...body, children: await loadChildren(service, call, list, query) } }
  },
} satisfies Partial<Handlers>
