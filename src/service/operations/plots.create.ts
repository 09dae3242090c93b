// Creates plots, and replaces their figures.
import { Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import type { PlotCreated } from '../../contract/resources/index.ts'
import type { RawJson } from '../../json/index.ts'
import { type AuthorizedFile, loadVisibleFile } from '../access/access.ts'
import type { Call, OperationCall, OperationResult } from '../core/call.ts'
import { formatDraftUrl, putDraftFile, toDraftCall } from '../files/drafts.ts'
import {
  checkFilename,
  findByPath,
  findFreeName,
  nameTaken,
  resolveDestination,
  splitPath,
} from '../files/names.ts'
import { createRowFields, resolveSourceFid, takeIdlocal } from '../files/new-file.ts'
import { getFile, updateFile } from '../files/read.ts'
import { applyUpdate } from '../files/update.ts'
import { flushTail } from '../grids/change/flush.ts'
import { applyDefaultTheme } from '../plots/default-theme.ts'
import { listColumnsOf } from '../plots/edit-figure.ts'
import {
  DataGridChanged,
  findReusableGrid,
  loadFigure,
  type PreparedFigure,
  prepareFigure,
  type ReusableGrid,
  writeFigure,
} from '../plots/store-figure.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

/** Result of plot creation, stored for retries. */
interface PlotResult {
  idlocal: number
  /** Id of the grid that holds the raw data. */
  grid: number | null
  action: 'created' | 'replaced' | 'unchanged'
  warnings?: string[]
}

const CONFLICT_HINT = 'Choose another name, or set on_conflict to rename or replace.'

/** Creates a plot, or replaces the figure of the plot with this name. */
export async function createPlot(
  service: Service,
  given: OperationCall<'plots.create'>,
): Promise<OperationResult<PlotCreated>> {
  const { limits, store } = service
  const owner = given.caller!.username
  const { draft, call } = await toDraftCall(service, given)
  const { fields } = call
  if (fields.filename !== undefined) checkFilename(fields.filename, limits)
  const result =
    (await store.findResultOf<PlotResult>(call.writeKey(owner))) ??
    (await createOrReplace(service, call, draft))
  const fid = { owner, idlocal: result.idlocal }
  service.thumbnails.add(service, call.caller, fid)
  const { body, etag } = await getFile(service, call, fid, 'plot')
  const grid_fid = result.grid === null ? null : `${owner}:${result.grid}`
  const file = draft === undefined ? body : { ...body, web_url: formatDraftUrl(body.web_url, draft) }
  return { body: { file, action: result.action, warnings: result.warnings ?? [], grid_fid }, etag }
}

/** Creates a plot, or replaces the plot of this name. Tries again if the name is taken meanwhile. */
async function createOrReplace(
  service: Service,
  call: OperationCall<'plots.create'>,
  draft: string | undefined,
): Promise<PlotResult> {
  const { store } = service
  const owner = call.caller!.username
  const { fields } = call
  for (;;) {
    const existing = await store.read((readers) => findNamesake(readers, service, call))
    if (existing && fields.on_conflict === 'replace') return replacePlot(service, call, existing, draft)
    if (existing && fields.on_conflict !== 'rename') throw nameTaken(fields.filename!, CONFLICT_HINT)
    const figureWithTheme = applyDefaultTheme(fields.figure, service.theme)
    const figure = await prepareFigure(service, owner, figureWithTheme, fields.raw_data === 'grid')
    const result = await store.writeOnce(
      call.writeKey(owner),
      (writers) => createNewPlot(service, call, writers, figure, draft),
      { hasApplied: (result) => result !== undefined, owners: ownersOf(figure) },
    )
    // If undefined, the name was taken meanwhile: try again.
    if (result) return result
  }
}

/** Returns the file that already has the requested name. */
async function findNamesake(
  { files }: Readers,
  { limits }: Service,
  { caller, fields }: OperationCall<'plots.create'>,
): Promise<FileRow | undefined> {
  const { filename, parent, parent_path } = fields
  if (filename === undefined) return undefined
  const folders = parent_path === undefined ? [] : splitPath(parent_path, limits)
  return findByPath(files, caller!.username, folders.length > 0 ? ROOT : (parent ?? ROOT), [
    ...folders,
    filename,
  ])
}

/** Creates a plot. Returns undefined if a plot of this name exists by now and has to be replaced. */
async function createNewPlot(
  service: Service,
  call: OperationCall<'plots.create'>,
  writers: Writers,
  figure: PreparedFigure,
  draft: string | undefined,
): Promise<PlotResult | undefined> {
  const owner = call.caller!.username
  const { fields } = call
  const { files } = writers
  const parent = await resolveDestination(writers, owner, fields, service.limits)
  const requestedName = fields.filename ?? 'plot'
  if (fields.filename !== undefined && (await files.findByName(owner, parent, requestedName))) {
    if (fields.on_conflict === 'replace') return undefined
    if (fields.on_conflict !== 'rename') throw nameTaken(requestedName, CONFLICT_HINT)
  }
  const file = await files.add({
    owner,
    idlocal: await takeIdlocal(writers, owner, fields.idlocal),
    filetype: 'plot',
    filename: await findFreeName(files, owner, parent, requestedName),
    parent,
    ...createRowFields(fields, service.limits),
    source_fid: await resolveSourceFid(service, writers, fields.source_fid, call, 'plot'),
  })
  await writeFigure(writers, file, figure, call)
  await putDraftFile(writers, file, draft, call)
  return {
    idlocal: file.idlocal,
    grid: figure.grid?.idlocal ?? null,
    action: 'created',
    warnings: await warnOfUnknownGrids(writers, figure, call),
  }
}

/** Replaces the figure of an existing plot. The request can make the plot public, but not private. */
async function replacePlot(
  service: Service,
  call: OperationCall<'plots.create'>,
  existing: FileRow,
  draft: string | undefined,
): Promise<PlotResult> {
  const { figure, raw_data, world_readable, share_key_enabled, metadata } = call.fields
  if (existing.filetype !== 'plot')
    throw new Problem(
      'already_exists',
      `a file named '${existing.filename}' already exists, and it is not a plot`,
      { field: 'filename', hint: 'Choose another name.' },
    )
  const fields = {
    // A draft is private again.
    world_readable: draft === undefined ? world_readable || undefined : false,
    share_key_enabled: draft === undefined ? share_key_enabled || undefined : false,
    metadata: metadata ?? undefined,
  }
  const { owner, idlocal } = existing
  const change = { ...call, operation: 'plots.update' as const, fid: { owner, idlocal }, fields }
  return replaceFigure(service, change, { figure, raw_data }, async (writers, access, stored, isSame) => {
    await applyUpdate(service, change, writers, access)
    await putDraftFile(writers, existing, draft, call)
    return {
      idlocal,
      grid: stored.grid?.idlocal ?? null,
      action: isSame ? ('unchanged' as const) : ('replaced' as const),
      warnings: await warnOfUnknownGrids(writers, stored, call),
    }
  })
}

/** Maximum number of grids named in a warning. */
const MAX_NAMED_GRIDS = 10

/** Warns of references to unknown grids. Figures from other servers contain them beside their data. */
async function warnOfUnknownGrids(
  readers: Readers,
  { replaced }: PreparedFigure,
  call: Call,
): Promise<string[]> {
  const unknown: string[] = []
  for (const grid of replaced.slice(0, MAX_NAMED_GRIDS))
    if (!(await loadVisibleFile(readers, grid, call))) unknown.push(formatFid(grid))
  if (unknown.length === 0) return []
  return [
    `references to grids that do not exist here were replaced by the data next to them: ${unknown.join(', ')}`,
  ]
}

/** Number of attempts to reuse a data grid that changes concurrently. */
const MAX_OWN_GRID_TRIES = 2

/**
 * Replaces the figure of the plot in the path, once per idempotency key. New data goes into the plot's data
 * grid if nothing else uses that grid. `change` applies the other changes of the request.
 */
export async function replaceFigure<T>(
  service: Service,
  call: Call,
  { figure, raw_data }: { figure: RawJson; raw_data?: 'refuse' | 'grid' },
  change: (writers: Writers, access: AuthorizedFile, stored: PreparedFigure, isSame: boolean) => Promise<T>,
): Promise<T> {
  const { owner, idlocal } = call.fid
  for (let tries = 1; ; tries++) {
    const references = await loadReferencedColumns(service, call)
    // If the data grid keeps changing concurrently, use a new grid.
    const ownDataGrid =
      tries <= MAX_OWN_GRID_TRIES ? await prepareOwnGrid(service, call, references) : undefined
    const stored = await prepareFigure(service, owner, figure, raw_data === 'grid', ownDataGrid)
    try {
      return await updateFile(
        service,
        call,
        async (writers, access) => {
          const content = await writers.plots.getContent(owner, idlocal)
          const isSame = stored.grid === undefined && content?.hash === stored.content.blob.hash
          const result = await change(writers, access, stored, isSame)
          const file = await writers.files.get(owner, idlocal)
          await writeFigure(writers, file!, stored, call, { before: references })
          // The version has already been incremented if other fields changed.
          if (file!.version === access.file.version && !isSame) await writers.files.change(owner, idlocal)
          return result
        },
        ownersOf(stored),
      )
    } catch (error) {
      if (!(error instanceof DataGridChanged)) throw error
    }
  }
}

/** Returns the owners of the grids that a figure refers to. */
function ownersOf({ sources }: PreparedFigure): string[] {
  return sources.map(({ source }) => source.grid.owner)
}

/**
 * Returns the columns that the stored figure refers to, as `fid:uid`, without checking access: a change may
 * keep them even if they are unreadable.
 */
async function loadReferencedColumns(service: Service, call: Call): Promise<Set<string>> {
  const content = await service.store.read(({ plots }) => plots.getContent(call.fid.owner, call.fid.idlocal))
  if (!content) return new Set()
  return listColumnsOf(await loadFigure(service.store, content))
}

/** Returns the plot's data grid if it can be reused, after flushing its tail. */
async function prepareOwnGrid(
  { store }: Service,
  call: Call,
  references: ReadonlySet<string>,
): Promise<ReusableGrid | undefined> {
  const { fid } = call
  const own = await store.read((readers) => findReusableGrid(readers, fid, call, references))
  if (!own) return undefined
  await flushTail(store, { owner: fid.owner, idlocal: own.idlocal })
  return store.read((readers) => findReusableGrid(readers, fid, call, references))
}
