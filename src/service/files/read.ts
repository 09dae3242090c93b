// Reads and changes single files, with access, version and idempotency checks.
import { Problem } from '../../contract/errors.ts'
import { type Fid, ROOT } from '../../contract/fid.ts'
import type { FileKind } from '../../contract/operations/index.ts'
import type { FileMeta, GridMeta, PlotMeta } from '../../contract/resources/index.ts'
import {
  type AuthorizedFile,
  authorize,
  authorizeCall,
  checkReplay,
  loadVisibleFile,
  notFound,
  type Principal,
} from '../access/access.ts'
import type { Call } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import { checkIfMatch, etagWithBody, fileEtag } from '../core/etag.ts'
import type { Readers, Writers } from '../store/store.ts'
import { loadMeta, withFigure } from './meta.ts'
import { findByPath, splitPath } from './names.ts'

type AnyMeta = FileMeta & GridMeta & PlotMeta

export interface FileResponse {
  body: AnyMeta
  /** Undefined if the request only asked for existence. */
  etag?: string
}

/** Returns the file at a path; 404 if it is missing or unreadable. An empty path is 400: R relies on it. */
export async function lookUpFile(
  service: Service,
  principal: Principal,
  query: { path: string; parent?: number; user?: string; exists?: boolean },
  filetype?: FileKind,
): Promise<FileResponse> {
  const names = splitPath(query.path, service.limits)
  if (names.length === 0) throw new Problem('invalid_request', 'path: must not be empty', { field: 'path' })
  const owner = query.user ?? principal.caller?.username
  if (!owner)
    throw new Problem('unauthenticated', 'user is required unless you are logged in', { field: 'user' })
  const findFile = async (readers: Readers): Promise<AuthorizedFile> => {
    const start = query.parent ?? ROOT
    // Starting in a folder requires read access to it.
    if (start !== ROOT && !(await loadVisibleFile(readers, { owner, idlocal: start }, principal)))
      throw notFound(filetype)
    // Public files are found even if the path goes through a private folder: docs/adr/0007.
    const file = await findByPath(readers.files, owner, start, names)
    return authorize(readers, file, principal, { access: 'read', filetype })
  }
  if (!query.exists) return respondWith(service, principal, findFile)
  await service.store.read(findFile)
  // `exists=true` answers `{exists: true}` only, although the schema says FileMeta.
  return { body: { exists: true } as never }
}

/** Returns a file's metadata and entity tag. Throws `not_found` if it is missing or unreadable. */
export async function getFile(
  service: Service,
  principal: Principal,
  fid: Fid,
  filetype?: FileKind,
): Promise<FileResponse> {
  return respondWith(service, principal, async (readers) =>
    authorize(readers, await readers.files.get(fid.owner, fid.idlocal), principal, {
      access: 'read',
      filetype,
    }),
  )
}

/** Loads metadata and entity tag of the file that `find` returns. */
async function respondWith(
  service: Service,
  principal: Principal,
  find: (readers: Readers) => Promise<AuthorizedFile>,
): Promise<FileResponse> {
  const { described, tag } = await service.store.read(async (readers) => {
    const access = await find(readers)
    return { described: await loadMeta(service, readers, access, principal), tag: fileEtag(access.file) }
  })
  const body = (await withFigure(service, described)) as AnyMeta
  return { body, etag: etagWithBody(tag, body) }
}

/** Returns the changed file as the response to a change. It is read again, so that a retry gets it too. */
export function respondWithFile(service: Service, call: Call, fid: Fid = call.fid): Promise<FileResponse> {
  return getFile(service, call, fid)
}

/**
 * Changes the file in the path, in one transaction and once per idempotency key. Checks access and If-Match.
 * The result of `work` must be JSON. `owners`: other users whose rows `work` changes or depends on.
 */
export function updateFile<T>(
  service: Service,
  call: Call,
  work: (writers: Writers, access: AuthorizedFile) => Promise<T>,
  owners: readonly string[] = [],
): Promise<T> {
  const { owner } = call.fid
  return service.store.write(
    [owner, ...owners],
    (writers) => applyOnce(writers, call, (access) => work(writers, access)),
    { repeatable: call.writeKey(owner).key !== undefined },
  )
}

/** Like `updateFile`, inside an open transaction. */
export async function applyOnce<T>(
  writers: Writers,
  call: Call,
  work: (access: AuthorizedFile) => Promise<T>,
): Promise<T> {
  return writers.idempotency.runOnce(
    call.writeKey(call.fid.owner),
    async () => {
      const access = await authorizeCall(writers, call)
      checkIfMatch(access.file, call.ifMatch)
      return work(access)
    },
    { onReplay: () => checkCanReplay(writers, call) },
  )
}

/** Throws if the caller of a retry may not read the file. */
async function checkCanReplay(readers: Readers, call: Call): Promise<void> {
  const { owner, idlocal } = call.fid
  await checkReplay(readers, await readers.files.get(owner, idlocal), call.writeKey(owner), call)
}

/** Returns the stored result of an applied write. Throws if the caller may not read the file. */
export async function findReplay<T>(readers: Readers, call: Call): Promise<{ result: T } | undefined> {
  const replay = await readers.idempotency.findResult<T>(call.writeKey(call.fid.owner))
  if (replay) await checkCanReplay(readers, call)
  return replay
}

/**
 * Checks access and version before the body is read, so that a write that must fail fails early. Returns
 * undefined for a retry of an applied write. `more` reads in the same transaction.
 */
export async function checkCanChange<T = AuthorizedFile>(
  service: Service,
  call: Call,
  more: (readers: Readers, access: AuthorizedFile) => Promise<T> = async (_, access) => access as T,
): Promise<T | undefined> {
  return service.store.read(async (readers) => {
    if (await findReplay(readers, call)) return undefined
    const access = await authorizeCall(readers, call)
    checkIfMatch(access.file, call.ifMatch)
    return more(readers, access)
  })
}
