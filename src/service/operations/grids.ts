// Handlers that create grids from JSON and read their metadata.
import { gridNameOf } from '../../contract/formats.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import { etagWithBody, fileEtag } from '../core/etag.ts'
import { formatNewGridMeta, loadMeta } from '../files/meta.ts'
import { checkFilename, findFreeName, nameTaken, resolveDestination } from '../files/names.ts'
import { createRowFields, resolveSourceFid, takeIdlocal } from '../files/new-file.ts'
import { getFile, lookUpFile } from '../files/read.ts'
import { loadVersionRow } from '../files/versions.ts'
import { addGrid, parseGridData, storeColumnArrays } from '../grids/change/create.ts'
import { trimSnapshot } from '../grids/column/snapshot.ts'
import { loadPreviewSnapshot, readPreview } from '../grids/read/preview.ts'
import { importFromUrl, parseSource } from './grids.import.ts'
import type { Handlers } from './handler.ts'

export const gridHandlers = {
  'grids.create': async (service, call) => {
    const { fields } = call
    const { limits, store } = service
    const owner = call.caller!.username
    if (fields.filename !== undefined) checkFilename(fields.filename, limits)
    if (fields.data === undefined) return importFromUrl(service, call)
    const { columns: parts, metadata: dataMetadata } = await parseGridData(fields.data, limits)
    const row = createRowFields({ ...fields, metadata: fields.metadata ?? dataMetadata }, limits)
    const columns = await storeColumnArrays(store.blobs, owner, parts)
    // The created grid; undefined for a retry.
    let created: GridMeta | undefined
    const { idlocal } = await store.writeOnce(call.writeKey(owner), async (writers) => {
      const parent = await resolveDestination(writers, owner, fields, limits)
      if (fields.filename !== undefined && (await writers.files.findByName(owner, parent, fields.filename))) {
        throw nameTaken(fields.filename)
      }
      const file = await writers.files.add({
        owner,
        idlocal: await takeIdlocal(writers, owner, fields.idlocal),
        filetype: 'grid',
        filename:
          fields.filename ?? (await findFreeName(writers.files, owner, parent, gridNameOf(undefined))),
        parent,
        ...row,
        source_fid: await resolveSourceFid(service, writers, fields.source_fid, call, 'grid'),
        ...parseSource(fields),
      })
      const change = { operation: 'create' as const, by: owner, source: file.source_url }
      const uids = await addGrid(writers, file, columns, change)
      const formatted = columns.map(({ name, type }, k) => ({ name, type, uid: uids[k], position: k }))
      created = formatNewGridMeta(service, file, formatted, Math.max(0, ...columns.map(({ rows }) => rows)))
      return { idlocal: file.idlocal }
    })
    if (created)
      return { body: { file: created, warnings: [] }, etag: etagWithBody(fileEtag({ version: 1 }), created) }
    const existing = await getFile(service, call, { owner, idlocal }, 'grid')
    return { body: { file: existing.body, warnings: [] }, etag: existing.etag }
  },

  'grids.lookup': (service, call) => lookUpFile(service, call, call.query, 'grid'),

  'grids.get': async (service, call) => {
    const { described, tag, snap } = await service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      return {
        described: await loadMeta(service, readers, access, call),
        tag: fileEtag(access.file),
        snap: await loadPreviewSnapshot(
          service.store,
          readers,
          call.fid,
          await loadVersionRow(readers, access, call.version),
        ),
      }
    })
    const body = { ...(described.body as GridMeta), preview: await readPreview(await trimSnapshot(snap)) }
    return { body, etag: etagWithBody(tag, body) }
  },
} satisfies Partial<Handlers>
