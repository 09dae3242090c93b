// Handlers of folders and file lists.
import { invalidField, Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations/index.ts'
import type { FolderMeta, Page } from '../../contract/resources/index.ts'
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
import { createPage, formatPageUrl, ListCursors } from '../core/paging.ts'
import { formatHomeMeta, loadListedMetas } from '../files/meta.ts'
import { createFolders, findByPath, nameTaken, resolveDestination, splitPath } from '../files/names.ts'
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

/** Loads a page of a folder, or of all files of a user. Pages by cursor; `page=N` is for old clients. */
async function loadChildren(
  service: Service,
  principal: Principal,
  owner: string,
  parent: number | undefined,
  query: ListQuery,
  path: string,
  trashed = false,
): Promise<Children> {
  const skip = query.cursor === undefined && query.page ? (query.page - 1) * pageSizeOf(service, query) : 0
  if (skip > service.limits.list_position)
    throw new Problem(
      'invalid_request',
      `page: ${query.page}, which begins after ${skip} files; the limit is ${service.limits.list_position} (list_position)`,
      { field: 'page', hint: 'Follow next from the first page, without page.' },
    )
  const order = query.order_by ?? 'filename'
  const descending = order.startsWith('-')
  const field = order.replace('-', '') as 'filename' | 'date_modified'
  const size = pageSizeOf(service, query)
  const cursors = new ListCursors<ChildKey>(service.cursors, `${path} ${owner} ${order}`)
  const from = await cursors.parse(query.cursor)
  const loaded = await service.store.read(async (readers) => {
    const folder =
      parent === undefined || parent === ROOT
        ? undefined
        : await loadVisibleFile(readers, { owner, idlocal: parent }, principal)
    // Content of trashed folders is not listed.
    if (parent !== undefined && parent !== ROOT && folder?.state !== 'active') return undefined
    const list = {
      owner,
      parent,
      filetypes: query.filetype,
      viewer: await loadListScope(
        readers,
        owner,
        principal.caller,
        parent === undefined ? undefined : (folder ?? 'home'),
      ),
      trashed,
    }
    const page = { ...list, order: field, limit: size + 1 }
    let files = createPage(
      await readers.lists.loadPage({
        ...page,
        descending: descending !== (from?.backwards === true),
        after: from?.key,
        skip,
      }),
      size,
      from,
    )
    // Everything before the cursor was deleted: return the first page.
    if (from?.backwards && files.items.length === 0)
      files = createPage(await readers.lists.loadPage({ ...page, descending }), size, undefined)
    const visible = (await resolveVisibleFiles(readers, files.items, principal)).filter(
      (file) => file !== undefined,
    )
    return {
      files,
      metas: await loadListedMetas(service, readers, visible, principal),
      count: await readers.lists.countFiles(list),
    }
  })
  if (!loaded) return EMPTY_PAGE
  const { files, metas, count } = loaded
  const { page } = query
  if (files.items.length === 0 && from === undefined && (page ?? 1) > 1)
    throw new Problem('not_found', `there is no page ${page}`)
  const urlOf = (paging: { cursor?: string; page?: number }): string =>
    formatPageUrl(service.url, path, { ...query, page: undefined, cursor: undefined, ...paging })
  // Requests with `page=N` get links with page numbers. All others get cursors.
  if (from === undefined && page)
    return {
      results: metas,
      count,
      next: files.next ? urlOf({ page: page + 1 }) : null,
      previous: page > 1 ? urlOf({ page: page - 1 }) : null,
    }
  const link = async (file: FileRow | undefined, backwards: boolean): Promise<string | null> =>
    file ? urlOf({ cursor: await cursors.format([file[field], file.idlocal], backwards) }) : null
  return {
    results: metas,
    count,
    next: await link(files.next, false),
    previous: await link(files.previous, true),
  }
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
  const page = await loadChildren(service, principal, owner, ROOT, query, pathOf('folders.home'))
  await checkUserExists(service, owner, page)
  return {
    ...formatHomeMeta(owner, principal.caller?.username === owner ? 'admin' : 'read', service.url),
    children: page,
  }
}

export const folderHandlers = {
  'folders.create': async (service, call) => {
    const { path, world_readable, ...place } = call.fields
    const owner = call.caller!.username
    const names = splitPath(path, service.limits)
    if (names.length === 0) throw new Problem('invalid_request', 'path: must not be empty', { field: 'path' })
    const { idlocal } = await service.store.writeOnce(call.writeKey(owner), async (writers) => {
      const parent = await resolveDestination(writers, owner, place, service.limits)
      if (await findByPath(writers.files, owner, parent, names)) throw nameTaken(names[names.length - 1])
      const created = await createFolders(writers, owner, parent, names, service.limits)
      if (world_readable) await writers.files.change(owner, created, { world_readable: 1 })
      return { idlocal: created }
    })
    const { body, etag } = await getFile(service, call, { owner, idlocal }, 'fold')
    return { body: { file: body, warnings: [] }, etag }
  },

  'folders.home': async (service, call) => ({
    body: await loadHomeFolder(
      service,
      call,
      requireOwner(call.caller, call.query.user),
      call.query as ListQuery,
    ),
  }),

  'folders.all': async (service, call) => {
    const owner = requireOwner(call.caller, call.query.user)
    const query = call.query as ListQuery
    const page = await loadChildren(service, call, owner, undefined, query, pathOf('folders.all'))
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
    const query = { ...call.query, filetype: ['plot', 'grid', 'fold', 'extra'] } as ListQuery
    const page = await loadChildren(
      service,
      call,
      call.caller!.username,
      undefined,
      query,
      pathOf('folders.trashed'),
      true,
    )
    return { body: { children: page } }
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
    const query = call.query as ListQuery
    const { owner, idlocal } = call.fid
    if (idlocal === ROOT)
      return { body: await loadHomeFolder(service, call, owner, { ...query, user: owner }) }
    const { body } = await getFile(service, call, call.fid, 'fold')
    // No entity tag: children change without changing the folder.
    const path = pathOf('folders.get', formatFid(call.fid))
    return { body: { ...body, children: await loadChildren(service, call, owner, idlocal, query, path) } }
  },
} satisfies Partial<Handlers>
