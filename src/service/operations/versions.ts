// Handlers of version history: list, revert, keep and forget.
import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import type { Version } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import { updateFile } from '../files/read.ts'
import { canSeeVersions, resolveVersionRef } from '../files/versions.ts'
import { analyze, type Handlers } from './handler.ts'
import { countChanges, isUncounted } from './versions.counts.ts'
import { keepVersion } from './versions.keep.ts'
import { checkNotDraft, listVisibleVersions, loadVersionMeta, noVersions } from './versions.load.ts'
import { revertVersion } from './versions.revert.ts'

const DEFAULT_PAGE_VERSIONS = 100
const MAX_PAGE_VERSIONS = 1000

export const versionHandlers = {
  'versions.list': async (service, call) => {
    const { before, page_size = DEFAULT_PAGE_VERSIONS } = call.query
    const limit = Math.min(page_size, MAX_PAGE_VERSIONS)
    const { file, page, body } = await service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      const rows = await listVisibleVersions(readers, access, before, limit + 1)
      const page = rows.slice(0, limit)
      const versions: Version[] = []
      // A source tag is for those who write, and the URL of a refresh may hold a secret.
      const knowsSources = canSeeVersions(access)
      for (const row of page) {
        const meta = await loadVersionMeta(service, readers, access.file, row)
        versions.push(knowsSources ? meta : { ...meta, source: null })
      }
      const next = rows.length > limit ? page.at(-1)!.version : null
      return { file: access.file, page, body: { versions, next } }
    })
    if (file.filetype !== 'grid' || !page.some(isUncounted)) return { body }
    return {
      body,
      createBody: analyze(service, async (work) => {
        const counts = await countChanges(service, call.fid, file.content_version, page, work)
        const versions = body.versions.map((version) => ({ ...version, ...counts.get(version.version) }))
        return { body: { ...body, versions } }
      }),
    }
  },

  'versions.revert': async (service, call) => ({ body: await revertVersion(service, call) }),

  'versions.keep': async (service, call) => {
    const version = await keepVersion(service, call)
    const { owner, idlocal } = call.fid
    const body = await service.store.read(async (readers) => {
      const file = (await readers.files.get(owner, idlocal))!
      return loadVersionMeta(service, readers, file, (await readers.versions.get(owner, idlocal, version))!)
    })
    return { body }
  },

  'versions.forget': async (service, call) => {
    const version = await updateFile(service, call, async (writers, access) => {
      const { file } = access
      const resolved = await resolveVersionRef(writers, access, call.query.version)
      if (!resolved) throw noVersions()
      checkNotDraft(resolved)
      if (resolved.isCurrent)
        throw new Problem(
          'conflict',
          `version ${resolved.version} is the current version of '${file.filename}'`,
          { hint: 'Revert to another version first, or delete the file.' },
        )
      await writers.versions.remove(file.owner, file.idlocal, [resolved.version])
      writers.files.recordFileEvent('version.forget', file, { version: resolved.version })
      return resolved.version
    })
    return { body: { fid: formatFid(call.fid), version } }
  },
} satisfies Partial<Handlers>
