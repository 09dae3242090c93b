/** Downloads of grids and plots: figure, CSV and image. */
import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatFid } from '../../../contract/fid.ts'
import { type ImageFormat, imageTypes, operations } from '../../../contract/operations/index.ts'
import { filetypeLabel } from '../../../contract/resources/index.ts'
import { authorizeCall, type Principal } from '../../access/access.ts'
import { STANDALONE_POLICY } from '../../core/chart-policy.ts'
import type { Service } from '../../core/context.ts'
import { createPageFacts } from '../../files/page-facts.ts'
import { loadVersionRow } from '../../files/versions.ts'
import { streamContentJson, takeVersionSnapshot, trimSnapshot } from '../../grids/column/snapshot.ts'
import { CONTENT_WRITERS, type ContentFormat } from '../../grids/read/content-formats.ts'
import type { ImageService } from '../../images/plot-image.ts'
import { openFigure } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live-plots.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { PageAnswer } from '../answer.ts'
import { readColorScheme } from '../html.ts'
import { drawFile } from './draw-file.ts'
import type { SortingService } from './grid-page.ts'
import { loadPlotTable } from './plot-tables.ts'
import { resolveSignature } from './signed-images.ts'

/** Creates a request to read the content of a file. */
export function createReadRequest(principal: Principal, fid: Fid) {
  const { caller, shareKey, shownFile, version, rowFilter, isAborted } = principal
  const operation = 'files.content' as const
  return { caller, shareKey, shownFile, version, rowFilter, isAborted, operation, fid, filetype: undefined }
}

/** Returns the header that makes browsers save a response under a filename. */
function attachmentHeader(filename: string, extension: string): string {
  const name = filename.replace(/["\\\u0000-\u001f\u007f]/g, '_')
  const plain = `${name.replace(/[^\u0020-\u007e]/g, '_')}.${extension}`
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(`${name}.${extension}`).replace(/'/g, '%27')}`
}

function createNoContentError({ filetype }: FileRow, noun: string): Problem {
  return new Problem('invalid_request', `a ${filetypeLabel(filetype)} has no ${noun}`)
}

/** Loads a grid or plot. Throws `invalid_request` for other files. `noun` is for that message. */
async function loadForDownload(service: Service, principal: Principal, fid: Fid, noun: string) {
  const request = createReadRequest(principal, fid)
  const loaded = await service.store.read(async (readers) => {
    const authorized = await authorizeCall(readers, request)
    const { file } = authorized
    const row =
      file.filetype === 'grid' ? await loadVersionRow(readers, authorized, principal.version) : undefined
    const snap =
      file.filetype === 'grid' ? await takeVersionSnapshot(service.store, readers, fid, row) : undefined
    return { file, snap }
  })
  if (!loaded.snap && loaded.file.filetype !== 'plot') throw createNoContentError(loaded.file, noun)
  return { request, file: loaded.file, snap: loaded.snap && (await trimSnapshot(loaded.snap)) }
}

/** Downloads the figure of a plot with its data, or the columns of a grid, as JSON. */
export async function downloadFigure(
  service: LiveService,
  principal: Principal,
  fid: Fid,
): Promise<PageAnswer> {
  const { request, snap } = await loadForDownload(service, principal, fid, 'figure')
  const body = snap
    ? streamContentJson(snap)
    : await (await service.live.get()).loadFigure(service, request, 'data')
  return { body, type: 'application/json' }
}

/** Throws `invalid_request` for parameters of `grids.content`, whose address is in the hint. */
function refuseSelection(fid: Fid, format: ContentFormat, query: URLSearchParams): void {
  const name = Object.keys(operations['grids.content'].query.properties).find(
    (one) => one !== 'format' && query.has(one),
  )
  if (name === undefined) return
  const all = new URLSearchParams(query)
  all.set('format', format)
  throw new Problem('invalid_request', `${name}: this address has all rows of the grid`, {
    field: name,
    hint: `Rows are selected at /v2/grids/${formatFid(fid)}/content?${all}`,
  })
}

/** Downloads the rows of a grid, or the data of a plot. */
export async function downloadRows(
  service: LiveService,
  principal: Principal,
  fid: Fid,
  format: ContentFormat,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const { request, file, snap } = await loadForDownload(service, principal, fid, 'rows')
  if (snap) refuseSelection(fid, format, query)
  const rows = snap ?? (await loadPlotTable(service, request, await openFigure(service, request)))
  const { type, body } = CONTENT_WRITERS[format]
  const headers: Record<string, string> =
    format === 'html'
      ? { 'content-security-policy': STANDALONE_POLICY }
      : { 'content-disposition': attachmentHeader(file.filename, format) }
  return { body: body(rows, { head: undefined }, () => createPageFacts(service, file)), type, headers }
}

/** Draws an image of a plot. With `download` in the query, browsers save it. */
export async function downloadImage(
  service: ImageService & SortingService,
  principal: Principal,
  fid: Fid,
  format: ImageFormat,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const number = (name: string): number | undefined => {
    const text = query.get(name)
    if (text === null || text === '') return undefined
    const value = Number(text)
    if (Number.isFinite(value)) return value
    throw new Problem('invalid_request', `${name}: must be a number`, { field: name })
  }
  const imageRequest = {
    format,
    width: number('width'),
    height: number('height'),
    scale: number('scale'),
    asAnyone: query.get('as') === 'anyone',
    theme: readColorScheme(query) === 'dark' ? ('dark' as const) : ('light' as const),
  }
  const reader = await resolveSignature(service, principal, fid, query)
  const request = { ...createReadRequest(reader, fid), operation: 'files.image' as const }
  const { body, etag, createBody, headers: drawn } = await drawFile(service, request, imageRequest, query)
  const headers = { ...drawn }
  if (query.has('download'))
    headers['content-disposition'] = attachmentHeader(`${fid.owner}-${fid.idlocal}`, format)
  return { body, type: imageTypes[format], etag, headers, later: createBody }
}
