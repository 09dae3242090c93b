// Handlers of folders and file lists.
import { invalidField, Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations/index.ts'
import type { FolderMeta, Page } from '../../contract/resources/index.ts'
import type { Static } from '../../contract/schema.ts'
import {
  type AuthorizedFile,
  type Caller,
  type Principal,
  viewerOf,
  visibleFileById,
  visibleFiles,
} from '../access/access.ts'
import type { OperationCall } from '../core/call.ts'
import { ListCursors, pageOf, pageUrl } from '../core/paging.ts'
import { fileMetas, homeMeta } from '../files/meta.ts'
import { find, makeFolders, nameTaken, pathNames, placeOf } from '../files/names.ts'
import { getFile, lookup } from '../files/read.ts'
import type { FileRow, Filetype } from '../store/aggregates/files.ts'
import type { Key } from '../store/schema/keys.ts'
import type { Readers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

/** Default page size. Old clients expect it. */
const PAGE = 50
/** Maximum length of a search text. */
const MAX_CHARACTERS = 200

interface ListQuery {
  user?: string
  filetype?: Filetype[]
  order_by?: string
  page?: number
  page_size?: number
  cursor?: string
}

type Children = Static<typeof Page>

function sizeOf({ limits }: Service, { page_size }: ListQuery): number {
  return Math.min(page_size ?? PAGE, limits.page_size)
}

const NOTHING: Children = { results: [], count: 0, next: null, previous: null }

/** Loads a page of a folder, or of all files of a user. Pages by cursor; `page=N` is for old clients. */
async function children(
  service: Service,
  principal: Principal,
  owner: string,
  parent: number | undefined,
  query: ListQuery,
  path: string,
  trashed = false,
): Promise<Children> {
  const skip = query.cursor === undefined && query.page ? (query.page - 1) * sizeOf(service, query) : 0
  if (skip > service.limits.list_position)
    throw new Problem(
      'invalid_request',
      `page: ${query.page}, which begins after ${skip} files; the limit is ${service.limits.list_position} (list_position)`,
      { field: 'page', hint: 'Follow next from the first page, without page.' },
    )
  const order = query.order_by ?? 'filename'
  const descending = order.startsWith('-')
  const field = order.replace('-', '') as 'filename' | 'date_modified'
  const size = sizeOf(service, query)
  const cursors = new ListCursors<ChildKey>(service.cursors, `${path} ${owner} ${order}`)
  const from = await cursors.position(query.cursor)
  const loaded = await service.store.read(async (readers) => {
    const folder =
      parent === undefined || parent === ROOT
        ? undefined
        : await visibleFileById(readers, { owner, idlocal: parent }, principal)
    // Content of trashed folders is not listed.
    if (parent !== undefined && parent !== ROOT && folder?.state !== 'active') return undefined
    const list = {
      owner,
      parent,
      filetypes: query.filetype,
      viewer: await viewerOf(
        readers,
        owner,
        principal.caller,
        parent === undefined ? undefined : (folder ?? 'home'),
      ),
      trashed,
    }
    const page = { ...list, order: field, limit: size + 1 }
    let files = pageOf(
      await readers.lists.page({
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
      files = pageOf(await readers.lists.page({ ...page, descending }), size, undefined)
    const visible = (await visibleFiles(readers, files.items, principal)).filter((file) => file !== undefined)
    return {
      files,
      metas: await fileMetas(service, readers, visible, principal),
      count: await readers.lists.count(list),
    }
  })
  if (!loaded) return NOTHING
  const { files, metas, count } = loaded
  const { page } = query
  if (files.items.length === 0 && from === undefined && (page ?? 1) > 1)
    throw new Problem('not_found', `there is no page ${page}`)
  const urlOf = (paging: { cursor?: string; page?: number }): string =>
    pageUrl(service.url, path, { ...query, page: undefined, cursor: undefined, ...paging })
  // Requests with `page=N` get links with page numbers. All others get cursors.
  if (from === undefined && page)
    return {
      results: metas,
      count,
      next: files.next ? urlOf({ page: page + 1 }) : null,
      previous: page > 1 ? urlOf({ page: page - 1 }) : null,
    }
  const link = async (file: FileRow | undefined, backwards: boolean): Promise<string | null> =>
    file ? urlOf({ cursor: await cursors.cursor([file[field], file.idlocal], backwards) }) : null
  return {
    results: metas,
    count,
    next: await link(files.next, false),
    previous: await link(files.previous, true),
  }
}

/** Sort key of a file in the list. */
type ChildKey = [value: string | number, idlocal: number]

type Read = (
  readers: Readers,
  marked: ReadonlySet<string>,
  after: Key | undefined,
  limit: number,
) => Promise<FileRow[]>

/** Loads a page of files of any owners. Skips files that the caller may no longer see. */
async function ofMany(
  service: Service,
  call: OperationCall<'folders.shared'> | OperationCall<'folders.starred'>,
  query: Read,
): Promise<{ children: Children }> {
  const { page = 1, page_size, cursor } = call.query
  const size = Math.min(page_size ?? PAGE, service.limits.page_size)
  const path = pathOf(call.operation)
  const cursors = new ListCursors<Key>(service.cursors, path)
  let after = (await cursors.position(cursor))?.key
  const { metas, more } = await service.store.read(async (readers) => {
    const dirtyFolders = await readers.folders.marked()
    let visible: AuthorizedFile[] = []
    for (let n = 1; n <= page; n++) {
      visible = []
      let position = after
      for (let done = false; !done && visible.length <= size; ) {
        const batch = await query(readers, dirtyFolders, position, size + 1)
        done = batch.length <= size
        const resolved = await visibleFiles(readers, batch, call)
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
    return { metas: await fileMetas(service, readers, pageFiles, call), more: visible.length > size }
  })
  const from = cursor === undefined && page > 1 ? { page: page + 1 } : undefined
  const next = more
    ? pageUrl(service.url, path, { page_size, ...(from ?? { cursor: await cursors.cursor(after!) }) })
    : null
  return { children: { results: metas, count: metas.length, next, previous: null } }
}

function whose(caller: Caller | undefined, user: string | undefined): string {
  const owner = user ?? caller?.username
  if (owner) return owner
  throw new Problem('unauthenticated', 'user is required unless you are logged in', { field: 'user' })
}

/** Throws unless the user exists. Listed files prove that they do. */
async function knownUser(service: Service, owner: string, { results }: Children): Promise<void> {
  if (results.length > 0) return
  if (!(await service.store.read(({ accounts }) => accounts.user(owner)))) {
    throw new Problem('not_found', `no user named ${owner}`)
  }
}

/** Loads the metadata of a home folder with a page of its files. Throws `not_found` for unknown users. */
async function home(
  service: Service,
  principal: Principal,
  owner: string,
  query: ListQuery,
): Promise<FolderMeta> {
  const page = await children(service, principal, owner, ROOT, query, pathOf('folders.home'))
  await knownUser(service, owner, page)
  return {
    ...homeMeta(owner, principal.caller?.username === owner ? 'admin' : 'read', service.url),
    children: page,
  }
}

export const folderHandlers = {
  'folders.create': async (service, call) => {
    const { path, world_readable, ...place } = call.fields
    const owner = call.caller!.username
    const names = pathNames(path, service.limits)
    if (names.length === 0) throw new Problem('invalid_request', 'path: must not be empty', { field: 'path' })
    const { idlocal } = await service.store.writeOnce(call.writeKey(owner), async (writers) => {
      const parent = await placeOf(writers, owner, place, service.limits)
      if (await find(writers.files, owner, parent, names)) throw nameTaken(names[names.length - 1])
      const created = await makeFolders(writers, owner, parent, names, service.limits)
      if (world_readable) await writers.files.change(owner, created, { world_readable: 1 })
      return { idlocal: created }
    })
    const { body, etag } = await getFile(service, call, { owner, idlocal }, 'fold')
    return { body: { file: body, warnings: [] }, etag }
  },

  'folders.home': async (service, call) => ({
    body: await home(service, call, whose(call.caller, call.query.user), call.query as ListQuery),
  }),

  'folders.all': async (service, call) => {
    const owner = whose(call.caller, call.query.user)
    const query = call.query as ListQuery
    const page = await children(service, call, owner, undefined, query, pathOf('folders.all'))
    await knownUser(service, owner, page)
    return { body: { children: page } }
  },

  'folders.shared': async (service, call) => ({
    body: await ofMany(service, call, ({ sharing }, dirtyFolders, after, limit) =>
      sharing.sharedWith(call.caller!.username, dirtyFolders, after, limit),
    ),
  }),

  'folders.starred': async (service, call) => ({
    body: await ofMany(service, call, ({ sharing }, dirtyFolders, after, limit) =>
      sharing.starredBy(call.caller!.username, dirtyFolders, after, limit),
    ),
  }),

  'folders.trashed': async (service, call) => {
    const query = { ...call.query, filetype: ['plot', 'grid', 'fold', 'extra'] } as ListQuery
    const page = await children(
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
    if (q.length > MAX_CHARACTERS)
      throw invalidField('q', `has ${q.length} characters; the limit is ${MAX_CHARACTERS}`)
    const results = await service.store.read(async (readers) => {
      const matches = await readers.lists.search(call.caller!.username, q, sizeOf(service, call.query))
      const visible = (await visibleFiles(readers, matches, call)).filter((file) => file !== undefined)
      return fileMetas(service, readers, visible, call)
    })
    return { body: { children: { ...NOTHING, results, count: results.length } } }
  },

  'folders.lookup': (service, call) => lookup(service, call, call.query, 'fold'),

  'folders.get': async (service, call) => {
    const query = call.query as ListQuery
    const { owner, idlocal } = call.fid
    if (idlocal === ROOT) return { body: await home(service, call, owner, { ...query, user: owner }) }
    const { body } = await getFile(service, call, call.fid, 'fold')
    // No entity tag: children change without changing the folder.
    const path = pathOf('folders.get', formatFid(call.fid))
    return { body: { ...body, children: await children(service, call, owner, idlocal, query, path) } }
  },
} satisfies Partial<Handlers>
