import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, ROOT } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations.ts'
import type { FolderMeta } from '../../contract/resources.ts'
import { admit, type Caller, notFound, permissionOn } from '../access.ts'
import type { Call, Handlers, Service } from '../context.ts'
import { lookup } from '../files/handlers.ts'
import { fileMeta, homeMeta } from '../files/meta.ts'
import { find, makeFolders, nameTaken, pathNames, placeOf } from '../files/names.ts'
import type { FileRow, Filetype } from '../store/files.ts'
import { etag } from '../version.ts'

/** What old clients get that ask for no size. */
const PAGE = 50

interface ListQuery {
  user?: string
  filetype?: Filetype[]
  order_by?: string
  page?: number
  page_size?: number
  cursor?: string
}

/** One page of a folder, or of all of a user's files. Pages follow a key; `page=N` is for old clients. */
async function children(
  service: Service,
  caller: Caller | undefined,
  owner: string,
  parent: number | undefined,
  query: ListQuery,
  path: string,
) {
  const order = query.order_by ?? 'filename'
  const descending = order.startsWith('-')
  const field = order.replace('-', '') as 'filename' | 'date_modified'
  const size = Math.min(query.page_size ?? PAGE, service.limits.page_size)
  const files = await service.store.read((readers) =>
    readers.files.list({
      owner,
      parent,
      filetypes: query.filetype,
      publicOnly: caller?.username !== owner,
      order: field,
      descending,
      after: query.cursor === undefined ? undefined : readCursor(query.cursor),
      skip: query.cursor === undefined && query.page ? (query.page - 1) * size : undefined,
      limit: size + 1,
    }),
  )
  const shown = files.slice(0, size)
  if (shown.length === 0 && (query.page ?? 1) > 1)
    throw new Problem('not_found', `there is no page ${query.page}`)
  const link = (cursor: Partial<Record<'cursor' | 'page', string>>): string => {
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries({ ...query, page: undefined, cursor: undefined, ...cursor })) {
      for (const one of [value].flat()) if (one !== undefined) parameters.append(name, String(one))
    }
    return `${service.url}${path}?${parameters}`
  }
  const last = shown[shown.length - 1]
  const more = files.length > size
  const next = !more
    ? null
    : query.page
      ? link({ page: String(query.page + 1) })
      : link({ cursor: writeCursor(last, field) })
  return {
    results: shown.map((file) => fileMeta(file, permissionOn(file, caller) ?? 'read', service.url)),
    count: shown.length,
    next,
    previous: query.page && query.page > 1 ? link({ page: String(query.page - 1) }) : null,
  }
}

function writeCursor(file: FileRow, field: 'filename' | 'date_modified'): string {
  return Buffer.from(JSON.stringify([file[field], file.idlocal])).toString('base64url')
}

function readCursor(cursor: string): [string | number, number] {
  try {
    const [value, idlocal] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if ((typeof value === 'string' || typeof value === 'number') && Number.isInteger(idlocal))
      return [value, idlocal]
  } catch {
    // Falls through to the refusal.
  }
  throw new Problem('invalid_request', 'cursor: not one of this service', {
    field: 'cursor',
    hint: 'Take it from next or previous.',
  })
}

function whose(caller: Caller | undefined, user: string | undefined): string {
  const owner = user ?? caller?.username
  if (owner) return owner
  throw new Problem('unauthenticated', 'whose files? Give user, or log in', { field: 'user' })
}

async function knownUser(service: Service, owner: string): Promise<void> {
  if (!(await service.store.read(({ accounts }) => accounts.user(owner)))) {
    throw new Problem('not_found', `no user is called ${owner}`)
  }
}

async function home(
  service: Service,
  caller: Caller | undefined,
  owner: string,
  query: ListQuery,
): Promise<FolderMeta> {
  await knownUser(service, owner)
  const page = await children(service, caller, owner, ROOT, query, pathOf('folders.home'))
  return { ...homeMeta(owner, caller?.username === owner ? 'admin' : 'read', service.url), children: page }
}

async function folder(service: Service, { caller, query, fid }: Call<'folders.get'>, at: Fid) {
  const file = await service.store.read(({ files }) => files.get(at.owner, at.idlocal))
  const { permission } = admit(file, caller, 'read', 'fold')
  const page = await children(
    service,
    caller,
    at.owner,
    at.idlocal,
    query,
    pathOf('folders.get', formatFid(fid)),
  )
  // No entity tag: the children change without the folder.
  return { body: { ...fileMeta(file!, permission, service.url), children: page } }
}

export const folderHandlers = {
  'folders.create': async (service, call) => {
    const { path, ...place } = call.fields as { path: string; parent?: number; parent_path?: string }
    const owner = call.caller!.username
    const names = pathNames(path, service.limits)
    if (names.length === 0) throw new Problem('invalid_request', 'path: must not be empty', { field: 'path' })
    const { idlocal } = await service.store.writeOnce(call.writeKey(owner), async (writers) => {
      const parent = await placeOf(writers, owner, place, service.limits)
      if (await find(writers.files, owner, parent, names)) throw nameTaken(names[names.length - 1])
      return { idlocal: await makeFolders(writers, owner, parent, names, service.limits) }
    })
    const file = await service.store.read(({ files }) => files.get(owner, idlocal))
    if (!file) throw notFound('fold')
    return { body: { file: fileMeta(file, 'admin', service.url), warnings: [] }, etag: etag(file) }
  },

  'folders.home': async (service, { caller, query }) => ({
    body: await home(service, caller, whose(caller, query.user), query as ListQuery),
  }),

  'folders.all': async (service, { caller, query }) => {
    const owner = whose(caller, query.user)
    await knownUser(service, owner)
    return {
      body: {
        children: await children(
          service,
          caller,
          owner,
          undefined,
          query as ListQuery,
          pathOf('folders.all'),
        ),
      },
    }
  },

  'folders.lookup': (service, { caller, query }) => lookup(service, caller, query, 'fold'),

  'folders.get': async (service, call) =>
    call.fid.idlocal === ROOT
      ? {
          body: await home(service, call.caller, call.fid.owner, {
            ...(call.query as ListQuery),
            user: call.fid.owner,
          }),
        }
      : folder(service, call, call.fid),
} satisfies Partial<Handlers>
