// Handler of uploads: stores a file in the folder and grid that its headers name.
import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { OperationCall } from '../core/call.ts'
import { formatDraftUrl, parseDraftName } from '../files/drafts.ts'
import { checkFilename } from '../files/names.ts'
import { respondWithFile } from '../files/read.ts'
import { findExisting, type UploadResult, type UploadTarget } from '../grids/change/save-grid.ts'
import { saveTables } from '../grids/change/save-tables.ts'
import { readLikeColumns } from '../grids/input/like-columns.ts'
import { loadGrid } from '../grids/input/match-columns.ts'
import { type DataCall, parseProvenance, parseReadingOptions } from '../grids/input/reading-options.ts'
import { storeTables } from '../grids/input/tables.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { findUploadReplay } from './upload-replay.ts'

export const gridUploadHandlers = {
  'grids.upload': async (service, call) => {
    const owner = call.caller!.username
    const { idlocal, warnings, action, ...counts } = await upload(service, call)
    if (action === 'drafted')
      return formatDraftResponse(service, call, { owner, idlocal }, { warnings, action, ...counts })
    if (action === 'replaced') warnings.push(...(await loadPlotWarnings(service, { owner, idlocal })))
    const response = await respondWithFile(service, call, { owner, idlocal })
    // A dry run shows what would be stored: the grid cannot be read afterwards.
    const file =
      service.store.isDry && response.body.filetype === 'grid'
        ? { ...response.body, preview: await loadPreview(service, { owner, idlocal }) }
        : response.body
    return { body: { file, warnings, action, ...counts }, etag: response.etag }
  },
} satisfies Partial<Handlers>

/** Stores the file of a request in the folder and grid that its headers name. */
async function upload(service: Service, call: OperationCall<'grids.upload'>): Promise<UploadResult> {
  const { headers } = call
  const target: UploadTarget = {
    filename: gridNameOf(call.fileName),
    idlocal: headers.Idlocal,
    parent: headers.Parent,
    parent_path: headers['Parent-Path'],
    world_readable: headers['World-Readable'] === true,
    onConflict: headers['On-Conflict'] ?? (headers.Draft === undefined ? 'rename' : 'replace'),
    source_tag: checkSourceTag(headers['Source-Tag']),
    provenance: parseProvenance(call),
  }
  checkFilename(target.filename, service.limits)
  const replay = await findUploadReplay(service, call, target)
  if (replay) return replay
  const existing = await loadExisting(service, call, target)
  if (existing && target.onConflict === 'append') {
    const { grid, columns } = existing
    const known = readLikeColumns(call, grid, columns, parseReadingOptions(service, call).keys)
    return saveTables(service, call, await storeTables(service, call, known, columns), target)
  }
  const numbers = new Set(existing?.columns.flatMap(({ name, type }) => (type === 'number' ? [name] : [])))
  const tables = await storeTables(service, call, { isNumber: (name) => numbers.has(name) })
  return saveTables(service, call, tables, target)
}

/** Loads the grid that an upload replaces, or appends to. */
async function loadExisting(service: Service, call: DataCall, target: UploadTarget) {
  const { onConflict } = target
  if (onConflict !== 'replace' && onConflict !== 'append') return undefined
  return service.store.read(async (readers) => {
    const file = await findExisting(service, readers, call.caller!.username, target)
    return file?.filetype === 'grid' ? loadGrid(readers, file) : undefined
  })
}

/** Returns the first values of a grid, as in its metadata. */
async function loadPreview({ store }: Service, fid: Fid): Promise<string> {
  const [{ loadPreviewSnapshot, readPreview }, { trimSnapshot }] = await Promise.all([
    import('../grids/read/preview.ts'),
    import('../grids/column/snapshot.ts'),
  ])
  const snap = await store.read((readers) => loadPreviewSnapshot(store, readers, fid, undefined))
  return readPreview(await trimSnapshot(snap))
}

/** Returns the response to an upload that created a draft, with the link that shows it. */
export async function formatDraftResponse<T>(service: Service, call: DataCall, fid: Fid, outcome: T) {
  const draft = parseDraftName(call)
  const { body, etag: tag } = await respondWithFile(service, { ...call, version: draft }, fid)
  const isDraftGrid =
    (await service.store.read(({ drafts }) => drafts.get(fid.owner, fid.idlocal, draft!)))?.version === null
  const file = isDraftGrid ? { ...body, draft } : { ...body, web_url: formatDraftUrl(body.web_url, draft!) }
  return { body: { file, ...outcome }, etag: tag }
}

/** Returns warnings about plots that show removed columns of a grid. */
async function loadPlotWarnings({ store }: Service, grid: Fid): Promise<string[]> {
  const { findBrokenPlots, formatBrokenWarnings } = await import('../plots/broken-plots.ts')
  return store.read(async (readers) => formatBrokenWarnings(await findBrokenPlots(store, readers, grid)))
}

/** Returns the Source-Tag header. Throws `invalid_request` if it is too long. */
function checkSourceTag(text: string | undefined): string | undefined {
  if (text !== undefined && text.length > 200)
    throw new Problem('invalid_request', `Source-Tag: ${text.length} characters; the limit is 200`)
  return text
}
