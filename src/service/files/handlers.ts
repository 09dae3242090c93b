import { Problem } from '../../contract/errors.ts'
import { type Fid, ROOT } from '../../contract/fid.ts'
import { admit, type Caller, notFound, type Permission } from '../access.ts'
import type { Handlers, Service } from '../context.ts'
import { columnsOf, combine } from '../grids/values.ts'
import type { FileRow, Filetype } from '../store/files.ts'
import type { Readers } from '../store/store.ts'
import { etag } from '../version.ts'
import { fileMeta, gridMeta, homeMeta } from './meta.ts'
import { find, pathNames } from './names.ts'

/** What kind of file it is decides what its meta information holds. */
export async function metaOf(service: Service, readers: Readers, file: FileRow, permission: Permission) {
  if (file.filetype !== 'grid') return fileMeta(file, permission, service.url)
  const { owner, idlocal } = file
  const grid = await readers.grids.get(owner, idlocal)
  const columns = await readers.grids.columns(owner, idlocal)
  if (grid.tail_rows > 0) {
    // The types in the table are those of the slices; rows of the tail may hold something else.
    const tail = columnsOf(
      (await readers.grids.tail(owner, idlocal)).map(({ body }) => body),
      columns.length,
    )
    for (const [k, column] of columns.entries()) column.type = combine(column.type, tail[k].type)
  }
  return gridMeta(file, permission, service.url, grid, columns)
}

/** The file of a path a caller may read; 404 for any other. An empty path is 400: R relies on it. */
export async function lookup(
  service: Service,
  caller: Caller | undefined,
  query: { path: string; parent?: number; user?: string },
  filetype?: Filetype,
) {
  const names = pathNames(query.path, service.limits)
  if (names.length === 0) throw new Problem('invalid_request', 'path: must not be empty', { field: 'path' })
  const owner = query.user ?? caller?.username
  if (!owner) throw new Problem('unauthenticated', 'whose file? Give user, or log in', { field: 'user' })
  return service.store.read(async (readers) => {
    const found = await find(readers.files, owner, query.parent ?? ROOT, names)
    const { file, permission } = admit(found, caller, 'read', filetype)
    if (file.trashed_at !== null) throw notFound(filetype)
    return { body: await metaOf(service, readers, file, permission), etag: etag(file) }
  })
}

/** The file of an id, read together with its meta information. */
export async function getFile(service: Service, caller: Caller | undefined, fid: Fid, filetype?: Filetype) {
  return service.store.read(async (readers) => {
    const found = await readers.files.get(fid.owner, fid.idlocal)
    const { file, permission } = admit(found, caller, 'read', filetype)
    return { body: await metaOf(service, readers, file, permission), etag: etag(file) }
  })
}

export const fileHandlers = {
  'files.get': async (service, { caller, fid }) => {
    if (fid.idlocal !== ROOT) return getFile(service, caller, fid)
    const user = await service.store.read(({ accounts }) => accounts.user(fid.owner))
    if (!user) throw notFound()
    return { body: homeMeta(fid.owner, caller?.username === fid.owner ? 'admin' : 'read', service.url) }
  },

  'files.lookup': async (service, { caller, query }) => {
    const found = await lookup(service, caller, query)
    return query.exists ? ({ body: { exists: true }, etag: undefined } as never) : found
  },
} satisfies Partial<Handlers>
