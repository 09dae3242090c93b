// Handlers of files of all types.
import { Problem } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import type { FolderMeta } from '../../contract/resources/index.ts'
import { authorizeCall, notFound } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { homeMeta } from '../files/meta.ts'
import { getFile, lookup, respondWithFile, updateFile } from '../files/read.ts'
import { remove, restore, trash } from '../files/states.ts'
import { storedBytes } from '../files/stored.ts'
import { update } from '../files/update.ts'
import { IMAGE_SCALES, plotImage } from '../images/plot.ts'
import { figureContent } from '../plots/content.ts'
import { copyFile } from './files.copy.ts'
import { sourcesOf } from './files.sources.ts'
import { gridContent } from './grids.content.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

async function home(service: Service, { fid, caller }: Call): Promise<{ body: FolderMeta }> {
  const user = await service.store.read(({ accounts }) => accounts.user(fid.owner))
  if (!user) throw notFound()
  return { body: homeMeta(fid.owner, caller?.username === fid.owner ? 'admin' : 'read', service.url) }
}

export const fileHandlers = {
  'files.get': (service, call) =>
    call.fid.idlocal === ROOT && call.filetype === undefined
      ? home(service, call)
      : getFile(service, call, call.fid, call.filetype),

  'files.lookup': (service, call) => lookup(service, call, call.query),

  'files.update': async (service, call) => {
    await updateFile(service, call, (writers, access) => update(service, call, writers, access))
    return respondWithFile(service, call)
  },

  'files.delete': async (service, call) => {
    await updateFile(service, call, trash)
    return { body: undefined }
  },

  'files.trash': async (service, call) => {
    await updateFile(service, call, trash)
    return respondWithFile(service, call)
  },

  'files.restore': async (service, call) => {
    const warnings = await updateFile(service, call, restore)
    const { body, etag: tag } = await respondWithFile(service, call)
    return { body: warnings.length > 0 ? { ...body, warnings } : body, etag: tag }
  },

  'files.permanent_delete': async (service, call) => {
    await updateFile(service, call, remove)
    return { body: undefined }
  },

  'files.content': async (service, call) => {
    if (call.fid.idlocal === ROOT) throw noContent()
    const { file } = await service.store.read((readers) => authorizeCall(readers, call))
    if (file.filetype === 'fold') throw noContent()
    if (file.filetype === 'grid') return gridContent(service, call, {})
    if (file.filetype === 'plot') return figureContent(service, call, call.query)
    return storedBytes(service, call)
  },

  'files.copy': (service, call) => copyFile(service, call),

  'files.image': async (service, call) => {
    const { image_name = 'default', ...options } = call.query
    return plotImage(service, call, { ...options, scale: options.scale ?? IMAGE_SCALES[image_name] })
  },

  'files.path': async (service, call) =>
    service.store.read(async (readers) => {
      if (call.fid.idlocal === ROOT && (await readers.accounts.user(call.fid.owner)))
        return { body: { path: '/' } }
      const { file, above } = await authorizeCall(readers, call)
      if (file.filetype === 'extra')
        throw new Problem('invalid_request', 'an extra is not in a folder, so it has no path')
      // Do not reveal names of folders that the caller may not see.
      const folders = above().map(({ filename }) => filename)
      return { body: { path: `/${[...folders.reverse(), file.filename].join('/')}` } }
    }),

  'files.sources': async (service, call) => ({ body: await sourcesOf(service, call) }),

  'files.drop_reference': async (service, call) => {
    await updateFile(service, call, async ({ files, plots }, { file }) => {
      const text = service.names.inFid(call.fields.fid as string)
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

function noContent(): Problem {
  return new Problem('invalid_request', 'a folder has no content', {
    hint: 'List its files under /v2/folders/.',
  })
}
