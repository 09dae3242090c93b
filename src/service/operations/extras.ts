// Handlers of extras: texts or JSON attached to files.
import { Problem } from '../../contract/errors.ts'
import { parseFid, ROOT } from '../../contract/fid.ts'
import { authorize } from '../access/access.ts'
import { checkFilename } from '../files/names.ts'
import { takeIdlocal } from '../files/new-file.ts'
import { getFile } from '../files/read.ts'
import { storeCompressed } from '../store/aggregates/slice-json.ts'
import type { Handlers } from './handler.ts'

/** Handlers of extras. An extra belongs to no folder, and other files refer to it. */
export const extraHandlers = {
  'extras.create': async (service, call) => {
    const { filename, content, referencers, world_readable, idlocal: number } = call.fields
    const { store, limits } = service
    const owner = call.caller!.username
    checkFilename(filename, limits)
    if (referencers.length === 0)
      throw new Problem('invalid_request', 'referencers: an extra must be referenced by at least one file', {
        field: 'referencers',
        hint: 'Give the fids of the files that reference it.',
      })
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const media_type = typeof content === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
    const stored = await storeCompressed(store.blobs, owner, 1, Buffer.from(text))
    const { idlocal } = await store.writeOnce(call.writeKey(owner), async (writers) => {
      const file = await writers.files.add({
        owner,
        idlocal: await takeIdlocal(writers, owner, number),
        filetype: 'extra',
        filename,
        parent: ROOT,
        live_name: null,
        world_readable: world_readable ? 1 : 0,
      })
      await writers.plots.setContent(file, stored, media_type)
      for (const text of new Set(referencers)) {
        const fid = parseFid(service.formerNames.currentFid(text))
        const row = fid && (await writers.files.get(fid.owner, fid.idlocal))
        const { file: referencer } = await authorize(writers, row, call, { access: 'write' })
        await writers.plots.addReference({
          owner: referencer.owner,
          idlocal: referencer.idlocal,
          kind: 'extra',
          to_owner: owner,
          to_idlocal: file.idlocal,
        })
        await writers.files.change(referencer.owner, referencer.idlocal)
      }
      return { idlocal: file.idlocal }
    })
    const { body, etag } = await getFile(service, call, { owner, idlocal }, 'extra')
    return { body: { file: body, warnings: [] }, etag }
  },
} satisfies Partial<Handlers>
