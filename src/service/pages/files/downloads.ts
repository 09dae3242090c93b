import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatFid } from '../../../contract/fid.ts'
import { dataTypes, type ImageFormat, imageTypes } from '../../../contract/operations/index.ts'
import { filetypeName } from '../../../contract/resources/index.ts'
import type { RawJson } from '../../../json/index.ts'
import { authorizeCall, type Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { rowOfVersion } from '../../files/versions.ts'
import {
  contentJson,
  type Snapshot,
  type SnapshotColumn,
  snapshotOf,
  trimmed,
} from '../../grids/column/content.ts'
import { delimited, rowsAs } from '../../grids/read/rows.ts'
import { type ImageService, plotImage } from '../../images/plot.ts'
import { type LiveFigure, openFigure } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Answer } from '../answer.ts'
import { schemeIn } from '../html.ts'
import { signedPrincipal } from './signed.ts'

/** A request to read the content of a file. */
export function reading(principal: Principal, fid: Fid) {
  const { caller, shareKey, version, gone } = principal
  return { caller, shareKey, version, gone, operation: 'files.content' as const, fid, filetype: undefined }
}

function attachment(filename: string, extension: string): string {
  const name = filename.replace(/["\\\u0000-\u001f\u007f]/g, '_')
  const plain = `${name.replace(/[^\u0020-\u007e]/g, '_')}.${extension}`
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(`${name}.${extension}`).replace(/'/g, '%27')}`
}

function noContent({ filetype }: FileRow, what: string): Problem {
  return new Problem('invalid_request', `a ${filetypeName(filetype)} has no ${what}`)
}

/** The file that is read, and its rows if it is a grid. Files without `what` are 400. */
async function opened(service: Service, principal: Principal, fid: Fid, what: string) {
  const asked = reading(principal, fid)
  const found = await service.store.read(async (readers) => {
    const one = await authorizeCall(readers, asked)
    const { file } = one
    const row = file.filetype === 'grid' ? await rowOfVersion(readers, one, principal.version) : undefined
    const snap = file.filetype === 'grid' ? await snapshotOf(service.store, readers, fid, row) : undefined
    return { file, snap }
  })
  if (!found.snap && found.file.filetype !== 'plot') throw noContent(found.file, what)
  return { asked, file: found.file, snap: found.snap && (await trimmed(found.snap)) }
}

/** The figure of a plot with its data, or the content of a grid by column, as JSON. */
export async function figureOf(service: LiveService, principal: Principal, fid: Fid): Promise<Answer> {
  const { asked, snap } = await opened(service, principal, fid, 'figure')
  const body = snap ? contentJson(snap) : await service.live.inlined(service, asked, 'data')
  return { body, type: 'application/json' }
}

/** The rows of a grid, or the data that a plot shows, as CSV. */
export async function csvOf(service: Service, principal: Principal, fid: Fid): Promise<Answer> {
  const { asked, file, snap } = await opened(service, principal, fid, 'rows')
  const rows = snap ?? columnsOf(service, await openFigure(service, asked))
  return {
    body: rowsAs(rows, delimited(',')),
    type: `${dataTypes.csv}; charset=utf-8`,
    headers: { 'content-disposition': attachment(file.filename, 'csv') },
  }
}

/** The columns that a plot shows, side by side, each once. Names that occur in several grids get the grid's id. */
export function columnsOf({ store }: Service, { figure, references, shown }: LiveFigure): Snapshot {
  const columns = new Map<string, SnapshotColumn>()
  const traces = traceNames(figure)
  for (const { source, path } of references) {
    const grid = formatFid(source.grid)
    const known = shown.get(grid)
    for (const uid of source.uids) {
      const column = known?.columns.get(uid)
      if (column) columns.set(`${grid}:${uid}`, { ...column, name: nameOf(column, path, traces) })
    }
  }
  const counts = new Map<string, number>()
  for (const { name } of columns.values()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const named = [...columns].map(([key, column]) =>
    counts.get(column.name)! > 1 ? { ...column, name: `${column.name} (${key})` } : column,
  )
  return { blobs: store.blobs, columns: named, rows: Math.max(0, ...named.map(({ rows }) => rows)) }
}

/** The names of the traces of a figure; undefined for those without one. */
function traceNames(figure: RawJson): (string | undefined)[] {
  const data = figure.get('data')
  if (data?.kind !== 'array') return []
  return [...data.items()].map((trace) => {
    const name = trace.kind === 'object' ? trace.get('name') : undefined
    return name?.kind === 'string' ? (name.value() as string) : undefined
  })
}

/** The name of a column. Columns that were made for a figure have its path as a name; people know its trace. */
function nameOf({ name }: SnapshotColumn, path: string, traces: readonly (string | undefined)[]): string {
  const [, trace, attribute] = /^data\.(\d+)\.(.+)$/.exec(name === path ? path : '') ?? []
  return trace === undefined ? name : `${traces[Number(trace)] ?? `trace ${trace}`} ${attribute}`
}

/** An image of a plot. With `download`, browsers save it. */
export async function imageOf(
  service: ImageService,
  principal: Principal,
  fid: Fid,
  format: ImageFormat,
  query: URLSearchParams,
): Promise<Answer> {
  const number = (name: string): number | undefined => {
    const text = query.get(name)
    if (text === null || text === '') return undefined
    const value = Number(text)
    if (Number.isFinite(value)) return value
    throw new Problem('invalid_request', `${name}: must be a number`, { field: name })
  }
  const wanted = {
    format,
    width: number('width'),
    height: number('height'),
    scale: number('scale'),
    theme: schemeIn(query) === 'dark' ? ('dark' as const) : ('light' as const),
  }
  const who = await signedPrincipal(service, principal, fid, query)
  const asked = { ...reading(who, fid), operation: 'files.image' as const }
  const { body, etag, later } = await plotImage(service, asked, wanted)
  const headers: Record<string, string> = {}
  if (query.has('download'))
    headers['content-disposition'] = attachment(`${fid.owner}-${fid.idlocal}`, format)
  return { body, type: imageTypes[format], etag, headers, later }
}
