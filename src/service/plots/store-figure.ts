/** Stores and loads figures, and moves their data arrays into the columns of a grid. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { NO_JSON_LIMITS, parseRaw, parseRawAsync, type RawJson } from '../../json/index.ts'
import { canWrite, checkScope, loadVisibleFile, type Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { listColumnsInDraft } from '../files/drafts.ts'
import { findFreeName, truncateName } from '../files/names.ts'
import { hasRules } from '../grids/change/append/request.ts'
import { addGrid, createUid, storeColumnArrays, tooManyColumns } from '../grids/change/create.ts'
import { updateRowCounts } from '../grids/change/layout.ts'
import { commitPlan } from '../grids/change/plan.ts'
import { usernameOf } from '../grids/change/versions.ts'
import { loadLayout, type NewColumn } from '../grids/column/layout.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ColumnRow, SliceRef } from '../store/aggregates/grids.ts'
import { type ContentRow, type FigureFacts, storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed, storeCompressed } from '../store/aggregates/slice-json.ts'
import type { BlobReader } from '../store/objects/blobs.ts'
import type { Readers, Writers } from '../store/store.ts'
import {
  decodeArrays,
  parseFigure,
  referencesOf,
  replaceArrays,
  replaceGrids,
  splitArrays,
} from './edit-figure.ts'
import { describeFigure } from './quality.ts'
import { type ColumnSource, type DataArray, type ScanResult, scanFigureInTurns } from './scan.ts'
import { addFirstVersion, addNextVersion, type FigureChange, loadGridVersions } from './versions.ts'

/** A figure whose bytes are stored, but which is not part of a plot yet. */
export interface PreparedFigure {
  content: SliceRef
  sources: { source: ColumnSource; path: string }[]
  facts: FigureFacts
  /** Grids whose references were replaced by the data beside them. */
  replaced: Fid[]
  /** Grid for the data arrays, created or changed together with the plot. */
  grid?: DataGrid
}

interface DataGrid {
  idlocal: number
  columns: NewColumn[]
  /** Column layout of the reused data grid when its columns were prepared; undefined for a new grid. */
  layout?: number
}

/** Data grid of a plot that nothing else uses, so that new data can replace its columns. */
export interface ReusableGrid {
  idlocal: number
  layout: number
  columns: ColumnRow[]
}

/** Error: the data grid has changed since columns were prepared for it. Retry. */
export class DataGridChanged extends Error {}

/**
 * Finds the data grid of a plot whose columns new data may replace: `principal` may change it, everybody who
 * can read it can read the plot too, and the current references `before` use all of its columns. Undefined:
 * create a new grid.
 */
export async function findReusableGrid(
  readers: Readers,
  { owner, idlocal }: Fid,
  principal: Principal,
  previous: ReadonlySet<string>,
  /** Accepts a grid with columns that the figure does not use. */
  acceptUnused = false,
): Promise<ReusableGrid | undefined> {
  const plot = await readers.files.get(owner, idlocal)
  const dataGrid = (await readers.plots.getPlot(owner, idlocal))?.data_grid ?? null
  if (!plot || dataGrid === null) return undefined
  const file = await readers.files.get(owner, dataGrid)
  if (file?.filetype !== 'grid' || !(await isNoMoreVisible(readers, file, plot))) return undefined
  if (!(await canWrite(readers, file, principal))) return undefined
  const users = await readers.plots.listReferencers({ owner, idlocal: dataGrid }, 'grid', undefined, false, 2)
  if (users.some((user) => user.owner !== owner || user.idlocal !== idlocal)) return undefined
  const columns = await readers.grids.listColumns(owner, dataGrid)
  const fid = formatFid({ owner, idlocal: dataGrid })
  if (!acceptUnused && !columns.every(({ uid }) => previous.has(`${fid}:${uid}`))) return undefined
  const grid = await readers.grids.get(owner, dataGrid)
  // New data could violate the primary key or the checks of the grid.
  if (hasRules(grid)) return undefined
  return { idlocal: dataGrid, layout: grid.layout, columns }
}

/** Returns whether everybody who may read the file may read the plot; false with a share key. */
async function isNoMoreVisible({ sharing }: Readers, file: FileRow, plot: FileRow): Promise<boolean> {
  if (file.parent !== plot.parent || file.share_key !== null) return false
  if (file.world_readable > plot.world_readable) return false
  const collaborators = await sharing.listCollaborators(file.owner, [file.idlocal, plot.idlocal])
  const plotReaders = new Set(
    collaborators
      .filter(({ idlocal }) => idlocal === plot.idlocal)
      .map(({ kind, name }) => `${kind} ${name}`),
  )
  return collaborators.every(
    ({ idlocal, kind, name }) => idlocal === plot.idlocal || plotReaders.has(`${kind} ${name}`),
  )
}

/** Media type of stored figures. */
export const FIGURE_MEDIA_TYPE = 'application/json'

/** Loads the figure of a plot. */
export async function loadFigure(
  { blobs }: { blobs: BlobReader },
  content: Pick<ContentRow, 'owner' | 'hash' | 'bytes'>,
): Promise<RawJson> {
  return parseRaw(await loadDecompressed(blobs, storedContentOf(content)), 'the figure', NO_JSON_LIMITS)
}

/** Replaces former usernames in the references of a figure; undefined if there are none. */
export function replaceFormerOwners(
  names: Service['formerNames'],
  figure: RawJson,
  grids: readonly Fid[],
): Buffer | undefined {
  const renamed = (grid: Fid): Fid | undefined => {
    const current = names.currentName(grid.owner)
    return current === grid.owner ? undefined : { ...grid, owner: current }
  }
  return grids.some(renamed) ? replaceGrids(figure, renamed) : undefined
}

/**
 * Parses a figure and stores its bytes, for `writeFigure`, which creates the plot and its grid. With
 * `moveArrays`, data arrays become columns of that grid; otherwise they are refused (`invalid_request`). Typed
 * arrays always become columns: clients that send them have no alternative. See docs/api.md#plots.
 */
export async function prepareFigure(
  service: Service,
  owner: string,
  rawFigure: RawJson,
  moveArrays: boolean,
  reusable?: ReusableGrid,
): Promise<PreparedFigure> {
  const { store, limits, formerNames } = service
  let figure = await parseFigure(rawFigure)
  let members = await scanFigureInTurns(figure, limits)
  const referredGrids = referencesOf(members).map(({ source }) => source.grid)
  const renamed = replaceFormerOwners(formerNames, figure, referredGrids)
  if (renamed) {
    figure = await parseRawAsync(renamed, 'the figure', figure.limits)
    members = await scanFigureInTurns(figure, limits)
  }
  const { arrays, typed } = splitArrays(members)
  if (arrays.length > 0 && !moveArrays) throw createRawDataError(arrays[0], arrays.length)
  const dataArrays = [...arrays, ...typed]
  const replaced = listReplacedGrids(dataArrays, members)
  let stored = figure
  let grid: PreparedFigure['grid']
  if (dataArrays.length > 0) {
    if (dataArrays.length > limits.columns) throw tooManyColumns(dataArrays.length, limits)
    const columns = await storeColumnArrays(
      store.blobs,
      owner,
      await decodeArrays(dataArrays, limits.json_body_bytes),
    )
    const used = reusable ? listUsedColumns(reusable, owner, members) : []
    const takenUids = new Set(reusable?.columns.map(({ uid }) => uid))
    const replaceable = new Map(
      reusable?.columns.filter((column) => !used.includes(column)).map(({ name, uid }) => [name, uid]),
    )
    // A new column keeps the uid of the column that it replaces.
    for (const column of columns) column.uid = replaceable.get(column.name) ?? createUid(takenUids)
    // References contain the id of the grid: allocate it before the figure is stored.
    const idlocal =
      reusable?.idlocal ?? (await store.write([owner], ({ files }) => files.allocateIdlocal(owner)))
    grid = { idlocal, columns, layout: reusable?.layout }
    const fid = formatFid({ owner, idlocal })
    const references = new Map(columns.map(({ name, uid }) => [name, `${fid}:${uid}`]))
    stored = await parseRawAsync(
      replaceArrays(figure, members, (path) => references.get(path)),
      'the figure',
      figure.limits,
    )
    members = await scanFigureInTurns(stored, limits)
  }
  const sources = referencesOf(members).map(({ source, path }) => ({ source, path: `figure.${path}src` }))
  const grids = new Set(sources.map(({ source }) => formatFid(source.grid))).size
  if (grids > limits.figure_grids) {
    throw new Problem(
      'bad_data',
      `figure: refers to ${grids} grids; the limit is ${limits.figure_grids} (figure_grids)`,
      { field: 'figure', hint: 'Split the figure into several plots.' },
    )
  }
  return {
    content: await storeCompressed(store.blobs, owner, 1, stored.bytes),
    sources,
    facts: describeFigure(stored, sources.length > 0),
    replaced,
    grid,
  }
}

/** Lists the grids of references that have a data array beside them. */
function listReplacedGrids(dataArrays: readonly DataArray[], members: readonly ScanResult[]): Fid[] {
  const paths = new Set(dataArrays.map(({ path }) => path))
  const grids = new Map(
    referencesOf(members)
      .filter(({ path }) => paths.has(path))
      .map(({ source: { grid } }) => [formatFid(grid), grid]),
  )
  return [...grids.values()]
}

/** Returns the columns of the data grid that the new figure still refers to. */
function listUsedColumns(
  { idlocal, columns }: ReusableGrid,
  owner: string,
  members: readonly ScanResult[],
): ColumnRow[] {
  const replaced = new Set(listArrayPaths(members))
  const uids = new Set(
    referencesOf(members)
      .filter(
        ({ source: { grid }, path }) =>
          grid.owner === owner && grid.idlocal === idlocal && !replaced.has(path),
      )
      .flatMap(({ source }) => source.uids),
  )
  return columns.filter(({ uid }) => uids.has(uid))
}

function listArrayPaths(members: readonly ScanResult[]): string[] {
  const { arrays, typed } = splitArrays(members)
  return [...arrays, ...typed].map(({ path }) => path)
}

function createRawDataError({ path }: DataArray, count: number): Problem {
  const more = count > 1 ? ` (and ${count - 1} more)` : ''
  return new Problem(
    'invalid_request',
    `figure.${path}: contains raw data${more}; a figure must reference columns of a grid`,
    {
      field: 'figure',
      path: `figure.${path}`,
      hint: `Give ${path.slice(path.lastIndexOf('.') + 1)}src with owner:grid:column, or send raw_data: "grid" to create a grid (as gridline plot create does).`,
    },
  )
}

/** Replacement of the figure of a plot. */
interface FigureReplacement {
  /** Columns that the plot refers to now. */
  before?: ReadonlySet<string>
  change?: Pick<FigureChange, 'operation' | 'of_version'>
  /** Versions of the grids of the current figure, if they have changed in the transaction. */
  gridVersions?: string
}

/** Writes a stored figure to its plot: data grid, content and references. Returns the version of the plot. */
export async function writeFigure(
  writers: Writers,
  plot: FileRow,
  figure: PreparedFigure,
  principal: Principal,
  { before = new Set(), change, gridVersions }: FigureReplacement = {},
): Promise<number> {
  const { owner, idlocal } = plot
  const previous = await writers.plots.getContent(owner, idlocal)
  const gridsBefore = gridVersions ?? (previous ? await loadGridVersions(writers, plot) : '')
  if (figure.grid?.layout !== undefined) {
    const reusable = await findReusableGrid(writers, plot, principal, before)
    if (reusable?.idlocal !== figure.grid.idlocal || reusable.layout !== figure.grid.layout)
      throw new DataGridChanged()
    await replaceColumns(writers, owner, figure, usernameOf(principal))
  }
  if (figure.grid && figure.grid.layout === undefined)
    await addDataGrid(writers, plot, figure.grid, usernameOf(principal))
  const grids = await checkSources(writers, figure, owner, principal, before)
  const { bytes } = figure.content
  const { hash } = figure.content.blob
  await writers.plots.setContent({ owner, idlocal }, figure.content, FIGURE_MEDIA_TYPE)
  await writers.plots.setPlot(owner, idlocal, figure.facts, figure.grid?.idlocal)
  await writers.plots.setReferences({ owner, idlocal }, 'grid', grids)
  const by = usernameOf(principal)
  if (!previous) {
    await addFirstVersion(writers, plot, { hash, bytes }, { operation: 'create', by })
    return 1
  }
  // With an unchanged figure, new data is a version of the grid only.
  if (previous.hash === hash) return plot.content_version
  await writers.files.indexWordsAgain(owner, idlocal)
  return addNextVersion(
    writers,
    plot,
    { ...previous, grids: gridsBefore },
    { hash, bytes },
    { operation: 'figure', ...change, by },
  )
}

/** Replaces the unused columns of the plot's data grid by the new ones. Throws `DataGridChanged`. */
async function replaceColumns(
  writers: Writers,
  owner: string,
  { grid, sources }: PreparedFigure,
  by: string | null,
): Promise<void> {
  const { idlocal, columns, layout } = grid!
  const current = await writers.grids.get(owner, idlocal)
  if (current.layout !== layout || current.tail_rows > 0) throw new DataGridChanged()
  const newUids = new Set(columns.map(({ uid }) => uid))
  const used = new Set(
    sources
      .filter(({ source }) => source.grid.owner === owner && source.grid.idlocal === idlocal)
      .flatMap(({ source }) => source.uids),
  )
  const before = await writers.grids.listColumns(owner, idlocal)
  const usedColumns = before.filter(({ uid }) => used.has(uid) && !newUids.has(uid))
  const file = (await writers.files.get(owner, idlocal))!
  const present = await loadLayout(writers, { owner, idlocal })
  const names = new Set(usedColumns.map(({ name }) => name))
  const addedColumns = columns.map((column) => {
    let { name } = column
    for (let n = 2; names.has(name); n++) name = `${column.name} (${n})`
    names.add(name)
    return { ...column, name }
  })
  const kept = usedColumns.map((column) => ({ ...column, slices: present.slices.get(column.uid) ?? [] }))
  const plan = { columns: [...kept, ...addedColumns], change: { operation: 'update' as const } }
  await commitPlan(writers, file, present, plan, by)
  await updateRowCounts(writers, { owner, idlocal }, current.layout + 1)
}

async function addDataGrid(
  writers: Writers,
  { owner, parent, filename, world_readable }: FileRow,
  { idlocal, columns }: NonNullable<PreparedFigure['grid']>,
  by: string | null,
): Promise<void> {
  const file = await writers.files.add({
    owner,
    idlocal,
    filetype: 'grid',
    filename: await findFreeName(writers.files, owner, parent, `${truncateName(filename)}_grid`),
    parent,
    world_readable,
  })
  await addGrid(writers, file, columns, { operation: 'create', by })
}

/**
 * Checks that all references name existing columns of grids that `principal` may read, or were in the plot
 * `before`. Returns the grids. Throws `invalid_request`.
 */
async function checkSources(
  readers: Readers,
  { sources, grid: newGrid }: PreparedFigure,
  owner: string,
  principal: Principal,
  before: ReadonlySet<string>,
): Promise<Fid[]> {
  const grids = new Map<string, { fid: Fid; uids: ReadonlySet<string> | undefined }>()
  // The new data grid belongs to the plot's owner, even if the caller may not read it.
  const dataGrid = newGrid && formatFid({ owner, idlocal: newGrid.idlocal })
  for (const { source, path } of sources) {
    const key = formatFid(source.grid)
    if (!grids.has(key)) {
      const visible = await loadVisibleFile(readers, source.grid, principal)
      const uids =
        visible?.file.filetype === 'grid'
          ? new Set((await listColumnsInDraft(readers, source.grid, principal.version)).map(({ uid }) => uid))
          : undefined
      grids.set(key, { fid: source.grid, uids })
    }
    if (dataGrid === key) continue
    const { uids } = grids.get(key)!
    for (const uid of source.uids) {
      if (before.has(`${key}:${uid}`)) continue
      // The readers of a plot see what it refers to.
      checkScope(principal.caller, 'read')
      if (uids?.has(uid)) continue
      const problem = uids
        ? `the grid ${key} has no column with uid ${JSON.stringify(uid)}`
        : `there is no grid ${key}, or you may not see it`
      throw new Problem('invalid_request', `${path}: ${problem}`, { field: 'figure', path })
    }
  }
  return [...grids.values()].map(({ fid }) => fid)
}
