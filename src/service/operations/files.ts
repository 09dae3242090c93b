// Handlers of files of all types.

import { Problem } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import type { FolderMeta } from '../../contract/resources/index.ts'
import { toFilterQuery } from '../../contract/web/filter-query.ts'
import { toByteStream } from '../../json/index.ts'
import { authorizeCall, notFound } from '../access/access.ts'
import { loadBoardContent } from '../boards/load.ts'
import type { Call } from '../core/call.ts'
import { fileEtag } from '../core/etag.ts'
import { formatHomeMeta } from '../files/base-meta.ts'
import { loadExtraContent } from '../files/extra-content.ts'
import { getFile, lookUpFile, respondWithFile, updateFile } from '../files/read.ts'
import { deleteFile, restoreFile, trashFile } from '../files/trash.ts'
import { applyUpdate } from '../files/update.ts'
import { IMAGE_SCALES } from '../images/plot-image.ts'
import { drawFile } from '../pages/files/draw-file.ts'
import { loadFigureContent } from '../plots/stream-figure.ts'
import { copyFile } from './files.copy.ts'
import { loadSources } from './files.sources.ts'
import { loadGridContent } from './grids.content.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

async function loadHomeMeta(service: Service, { fid, caller }: Call): Promise<{ body: FolderMeta }> {
  const user = await service.store.read(({ accounts }) => accounts.getUser(fid.owner))
  if (!user) throw notFound()
  return { body: formatHomeMeta(fid.owner, caller?.username === fid.owner ? 'admin' : 'read', service.url) }
}

export const fileHandlers = {
  'files.get': (service, call) =>
    call.fid.idlocal === ROOT && call.filetype === undefined
      ? loadHomeMeta(service, call)
      : getFile(service, call, call.fid, call.filetype),

  'files.lookup': (service, call) => lookUpFile(service, call, call.query),

  'files.update': async (service, call) => {
    await updateFile(service, call, (writers, access) => applyUpdate(service, call, writers, access))
    return respondWithFile(service, call)
  },

  'files.delete': async (service, call) => {
    await updateFile(service, call, trashFile)
    return { body: undefined }
  },

  'files.trash': async (service, call) => {
    await updateFile(service, call, trashFile)
    return respondWithFile(service, call)
  },

  'files.restore': async (service, call) => {
    const warnings = await updateFile(service, call, restoreFile)
    const { body, etag: tag } = await respondWithFile(service, call)
    return { body: warnings.length > 0 ? { ...body, warnings } : body, etag: tag }
  },

  'files.permanent_delete': async (service, call) => {
    await updateFile(service, call, deleteFile)
    return { body: undefined }
  },

  'files.content': async (service, call) => {
    if (call.fid.idlocal === ROOT) throw noContentOfFolder()
    const access = await service.store.read((readers) => authorizeCall(readers, call))
    const { file } = access
    if (file.filetype === 'fold') throw noContentOfFolder()
    if (file.filetype === 'grid') return loadGridContent(service, call, {})
    if (file.filetype === 'plot') return loadFigureContent(service, call, call.query)
    if (file.filetype === 'dashboard')
      return {
        body: toByteStream(Buffer.from(await loadBoardContent(service, access))),
        type: 'application/json',
        etag: fileEtag(file),
      }
    return loadExtraContent(service, call)
  },

  'files.copy': (service, call) => copyFile(service, call),

  'files.image': async (service, call) => {
    const { image_name = 'default', filter = [], ...options } = call.query
    const image = { ...options, scale: options.scale ?? IMAGE_SCALES[image_name] }
    return drawFile(service, call, image, toFilterQuery(filter))
  },

  'files.path': async (service, call) =>
    service.store.read(async (readers) => {
      if (call.fid.idlocal === ROOT && (await readers.accounts.getUser(call.fid.owner)))
        return { body: { path: '/' } }
      const { file, above } = await authorizeCall(readers, call)
      if (file.filetype === 'extra')
        throw new Problem('invalid_request', 'an extra is not in a folder, so it has no path')
      // Do not reveal names of folders that the caller may not see.
      const folders = above().map(({ filename }) => filename)
      return { body: { path: `/${[...folders.reverse(), file.filename].join('/')}` } }
    }),

  'files.sources': async (service, call) => ({ body: await loadSources(service, call) }),

  'files.drop_reference': async (service, call) => {
    await updateFile(service, call, async ({ files, plots }, { file }) => {
      const text = service.formerNames.currentFid(call.fields.fid)
      const [, owner, idlocal] = /^([^:]+):(\d{1,15})$/.exec(text) ?? []
      const dropped =
        owner !== undefined &&
        (await plots.removeReference({
          owner: file.owner,
          idlocal: file.idlocal,
          kind: 'extra',
          to_owner: owner,
          to_idlocal: Number(idlocal),
        }))
      if (!dropped)
        throw new Problem(
          'invalid_request',
          `fid: the file does not reference an extra ${JSON.stringify(text)}`,
          {
            field: 'fid',
            hint: 'Only references to extras can be dropped. The field references of the file lists them.',
          },
        )
      await files.change(file.owner, file.idlocal)
      return null
    })
    return respondWithFile(service, call)
  },

  'stars.add': async (service, call) => {
    await updateFile(
      service,
      call,
      async ({ sharing }, { file }) => {
        await sharing.addStar(file.owner, file.idlocal, call.caller!.username)
        return null
      },
      [call.caller!.username],
    )
    return respondWithFile(service, call)
  },

  'stars.remove': async (service, call) => {
    // Removing one's own star needs no access: the file may have become unreadable.
    const { owner, idlocal } = call.fid
    await service.store.writeOnce(call.writeKey(owner), async (writers) => {
      const starred = await writers.sharing.hasStar(owner, idlocal, call.caller!.username)
      if (!starred) await authorizeCall(writers, call)
      await writers.sharing.removeStar(owner, idlocal, call.caller!.username)
      return null
    })
    return { body: undefined }
  },
} satisfies Partial<Handlers>

function noContentOfFolder(): Problem {
  return new Problem('invalid_request', 'a folder has no content', {
    hint: 'List its files under /v2/folders/.',
  })
}
