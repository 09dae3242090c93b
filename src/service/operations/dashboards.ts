// Handlers of boards, which the API calls dashboards.
import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { pathOf } from '../../contract/operations/index.ts'
import { DashboardContent, type DashboardMeta } from '../../contract/resources/index.ts'
import { authorize, type Principal } from '../access/access.ts'
import { checkItems } from '../boards/check-items.ts'
import { encodeBoard, listItems, parseBoard, toNode } from '../boards/content.ts'
import { assertOwnFilters } from '../boards/filters.ts'
import { listPrivateItems } from '../boards/item-files.ts'
import { BOARD_MEDIA_TYPE, loadBoardContent, loadBoardText, storeBoardText } from '../boards/load.ts'
import type { OperationResult } from '../core/call.ts'
import { formatDraftUrl, putDraftFile, toDraftCall } from '../files/drafts.ts'
import { checkFilename, findFreeName, nameTaken, resolveDestination } from '../files/names.ts'
import { createRowFields, takeIdlocal } from '../files/new-file.ts'
import { checkCanChange, getFile, updateFile } from '../files/read.ts'
import { applyUpdate } from '../files/update.ts'
import type { FileKey } from '../store/schema/file-key.ts'
import { loadChildren } from './folders.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

/** Name of a board without one. */
const DEFAULT_NAME = 'board'

export const dashboardHandlers = {
  'dashboards.list': async (service, call) => {
    const list = { owner: call.caller!.username, path: pathOf('dashboards.list') }
    return { body: await loadChildren(service, call, list, { ...call.query, filetype: ['dashboard'] }) }
  },

  'dashboards.schema': async () => ({ body: DashboardContent as unknown as Record<string, unknown> }),

  'dashboards.create': async (service, given) => {
    const { draft, call } = await toDraftCall(service, given)
    const { fields } = call
    const { limits, store } = service
    const owner = call.caller!.username
    if (fields.filename !== undefined) checkFilename(fields.filename, limits)
    const row = createRowFields(fields, limits)
    const text = encodeBoard(fields.content)
    await store.read((readers) => checkItems(service, readers, call, text))
    const stored = await storeBoardText(service, owner, text)
    const { idlocal } = await store.writeOnce(call.writeKey(owner), async (writers) => {
      const { files } = writers
      const parent = await resolveDestination(writers, owner, fields, limits)
      const { filename } = fields
      const taken = filename === undefined ? undefined : await files.findByName(owner, parent, filename)
      const isDraft =
        taken?.filetype === 'dashboard' &&
        draft !== undefined &&
        (await writers.drafts.get(owner, taken.idlocal, draft))?.version === null
      if (taken && !isDraft)
        throw nameTaken(filename!, 'Choose another name, or replace the board: --on-conflict replace')
      const file =
        taken ??
        (await files.add({
          ...{ owner, filetype: 'dashboard', parent },
          idlocal: await takeIdlocal(writers, owner, fields.idlocal),
          filename: filename ?? (await findFreeName(files, owner, parent, DEFAULT_NAME)),
          ...row,
        }))
      await writers.plots.setContent(file, stored, BOARD_MEDIA_TYPE)
      await writers.jobs.scheduleItems(file)
      if (taken) await files.change(owner, file.idlocal, row)
      await putDraftFile(writers, file, draft, call)
      return { idlocal: file.idlocal }
    })
    const { body: file, etag } = await loadDashboard(service, call, { owner, idlocal })
    const web_url = draft === undefined ? file.web_url : formatDraftUrl(file.web_url, draft)
    return { body: { file: { ...file, web_url }, warnings: [] }, etag }
  },

  'dashboards.get': async (service, call) => {
    return loadDashboard(service, call, call.fid)
  },

  'dashboards.update': async (service, call) => {
    const { content } = call.fields
    await checkCanChange(service, call)
    const text = content === undefined ? undefined : encodeBoard(content)
    if (text !== undefined) {
      await service.store.read((readers) => checkItems(service, readers, call, text))
      if (call.caller?.username !== call.fid.owner)
        assertOwnFilters(parseBoard(await loadBoardText(service, call.fid)), parseBoard(text))
    }
    const stored = text === undefined ? undefined : await storeBoardText(service, call.fid.owner, text)
    await updateFile(service, call, async (writers, access) => {
      const { owner, idlocal } = access.file
      if (stored) {
        const isShared = access.file.share_items > 0
        if (isShared && !access.roles.has('owner')) throw onlyOwnerChanges()
        await writers.plots.setContent(access.file, stored, BOARD_MEDIA_TYPE)
        await writers.jobs.scheduleItems(access.file)
        await writers.files.change(owner, idlocal, isShared ? { share_items: Date.now() } : {})
      }
      return applyUpdate(service, call, writers, access)
    })
    return loadDashboard(service, call, call.fid)
  },
} satisfies Partial<Handlers>

/** Loads the metadata of a board, with its content. */
async function loadDashboard(
  service: Service,
  principal: Principal,
  fid: FileKey,
): Promise<OperationResult<DashboardMeta>> {
  const { body, etag } = await getFile(service, principal, fid, 'dashboard')
  const access = await service.store.read(async (readers) =>
    authorize(readers, await readers.files.get(fid.owner, fid.idlocal), principal, {
      access: 'read',
      filetype: 'dashboard',
    }),
  )
  const content = await loadBoardContent(service, access)
  if (access.permission !== 'admin') return { body: { ...body, content }, etag }
  const items = listItems(toNode(parseBoard(content)))
  const hidden = await service.store.read((readers) => listPrivateItems(service, readers, fid.owner, items))
  const private_items = hidden.map((file) => ({
    fid: formatFid(file),
    filename: file.filename,
    filetype: file.filetype,
  }))
  return { body: { ...body, content, private_items }, etag }
}

/** Returns the error for a change of what a board shows with the rights of its owner. */
function onlyOwnerChanges(): Problem {
  return new Problem('forbidden', 'only the owner of a board that shares its items can change it', {
    hint: 'Ask its owner, or copy the board.',
  })
}
