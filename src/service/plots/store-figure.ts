/** Stores figures, and moves their data arrays into the columns of a grid. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { parseRawInTurns, type RawJson } from '../../json/index.ts'
import { mayWrite, type Principal, visibleFileById } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { freeName, shortened } from '../files/names.ts'
import { hasRules } from '../grids/change/append/request.ts'
import { addGrid, newUid, storeArrays, tooManyColumns } from '../grids/change/create.ts'
import { recordColumns } from '../grids/change/layout.ts'
import { commitPlan } from '../grids/change/plan.ts'
import { userOf } from '../grids/change/versions.ts'
import { type NewColumn, readLayout } from '../grids/column/layout.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ColumnRow, SliceRef } from '../store/aggregates/grids.ts'
import { storeText } from '../store/aggregates/texts.ts'
import type { Readers, Writers } from '../store/store.ts'
import { plainArrays, rawArrays, readFigure, referencesOf, withGrids, withReferences } from './figure.ts'
import { qualityOf } from './quality.ts'
import { type Data, type Found, type Source, scanFigureInTurns } from './scan.ts'
import { type FigureChange, firstFigure, gridVersions, nextFigure } from './versions.ts'

/** A figure whose bytes are stored, but which is not part of a plot yet. */
export interface StoredFigure {
  content: SliceRef
  sources: { source: Source; path: string }[]
  quality: number
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
export interface OwnGrid {
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
export async function ownGridOf(
  readers: Readers,
  { owner, idlocal }: Fid,
  principal: Principal,
  previous: ReadonlySet<string>,
  /** Accepts a grid with columns that the figure does not use. */
  acceptUnused = false,
): Promise<OwnGrid | undefined> {
  const plot = await readers.files.get(owner, idlocal)
  const dataGrid = (await readers.plots.plot(owner, idlocal))?.data_grid ?? null
  if (!plot || dataGrid === null) return undefined
  const file = await readers.files.get(owner, dataGrid)
  if (file?.filetype !== 'grid' || !(await noMoreVisible(readers, file, plot))) return undefined
  if (!(await mayWrite(readers, file, principal))) return undefined
  const users = await readers.plots.referencersOf({ owner, idlocal: dataGrid }, 'grid', undefined, false, 2)
  if (users.some((user) => user.owner !== owner || user.idlocal !== idlocal)) return undefined
  const columns = await readers.grids.columns(owner, dataGrid)
  const fid = formatFid({ owner, idlocal: dataGrid })
  if (!acceptUnused && !columns.every(({ uid }) => previous.has(`${fid}:${uid}`))) return undefined
  const grid = await readers.grids.get(owner, dataGrid)
  // New data could violate the primary key or the checks of the grid.
  if (hasRules(grid)) return undefined
  return { idlocal: dataGrid, layout: grid.layout, columns }
}

/** Returns whether everybody who may read the file may read the plot; false with a share key. */
async function noMoreVisible({ sharing }: Readers, file: FileRow, plot: FileRow): Promise<boolean> {
  if (file.parent !== plot.parent || file.share_key !== null) return false
  if (file.world_readable > plot.world_readable) return false
  const collaborators = await sharing.collaborators(file.owner, [file.idlocal, plot.idlocal])
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
export const MEDIA_TYPE = 'application/json'

/** Replaces former usernames in the references of a figure; undefined if there are none. */
export function withPresentOwners(
  names: Service['names'],
  figure: RawJson,
  grids: readonly Fid[],
): Buffer | undefined {
  const renamed = (grid: Fid): Fid | undefined => {
    const current = names.current(grid.owner)
    return current === grid.owner ? undefined : { ...grid, owner: current }
  }
  return grids.some(renamed) ? withGrids(figure, renamed) : undefined
}

/**
 * Parses and stores a figure. With `moveArrays`, data arrays become grid columns; otherwise they are refused. Typed
 * arrays are always moved: clients that send them have no alternative. See docs/api.md#plots.
 */
export async function storeFigure(
  service: Service,
  owner: string,
  rawFigure: RawJson,
  moveArrays: boolean,
  reusable?: OwnGrid,
): Promise<StoredFigure> {
  const { store, limits, names } = service
  let figure = await readFigure(rawFigure)
  let members = await scanFigureInTurns(figure, limits)
  const referredGrids = referencesOf(members).map(({ source }) => source.grid)
  const renamed = withPresentOwners(names, figure, referredGrids)
  if (renamed) {
    figure = await parseRawInTurns(renamed, 'the figure', figure.limits)
    members = await scanFigureInTurns(figure, limits)
  }
  const { arrays, typed } = rawArrays(members)
  if (arrays.length > 0 && !moveArrays) throw refusal(arrays[0], arrays.length)
  const dataArrays = [...arrays, ...typed]
  const replaced = replacedBy(dataArrays, members)
  let stored = figure
  let grid: StoredFigure['grid']
  if (dataArrays.length > 0) {
    if (dataArrays.length > limits.columns) throw tooManyColumns(dataArrays.length, limits)
    const columns = await storeArrays(
      store.blobs,
      owner,
      await plainArrays(dataArrays, limits.json_body_bytes),
    )
    const used = reusable ? stillUsed(reusable, owner, members) : []
    const takenUids = new Set(reusable?.columns.map(({ uid }) => uid))
    const replaceable = new Map(
      reusable?.columns.filter((column) => !used.includes(column)).map(({ name, uid }) => [name, uid]),
    )
    // A new column keeps the uid of the column that it replaces.
    for (const column of columns) column.uid = replaceable.get(column.name) ?? newUid(takenUids)
    // References contain the id of the grid: allocate it before the figure is stored.
    const idlocal = reusable?.idlocal ?? (await store.write([owner], ({ files }) => files.nextIdlocal(owner)))
    grid = { idlocal, columns, layout: reusable?.layout }
    const fid = formatFid({ owner, idlocal })
    const references = new Map(columns.map(({ name, uid }) => [name, `${fid}:${uid}`]))
    stored = await parseRawInTurns(
      withReferences(figure, members, (path) => references.get(path)),
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
    content: await storeText(store.blobs, owner, 1, stored.bytes),
    sources,
    quality: qualityOf(stored, sources.length > 0),
    replaced,
    grid,
  }
}

/** Lists the grids of references that have a data array beside them. */
function replacedBy(dataArrays: readonly Data[], members: readonly Found[]): Fid[] {
  const paths = new Set(dataArrays.map(({ path }) => path))
  const grids = new Map(
    referencesOf(members)
      .filter(({ path }) => paths.has(path))
      .map(({ source: { grid } }) => [formatFid(grid), grid]),
  )
  return [...grids.values()]
}

/** Returns the columns of the data grid that the new figure still refers to. */
function stillUsed({ idlocal, columns }: OwnGrid, owner: string, members: readonly Found[]): ColumnRow[] {
  const replaced = new Set(rawPaths(members))
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

function rawPaths(members: readonly Found[]): string[] {
  const { arrays, typed } = rawArrays(members)
  return [...arrays, ...typed].map(({ path }) => path)
}

function refusal({ path }: Data, count: number): Problem {
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

/** Writes a stored figure to its plot: data grid, content and references. Returns the version of the plot. */
export async function putFigure(
  writers: Writers,
  plot: FileRow,
  figure: StoredFigure,
  principal: Principal,
  before: ReadonlySet<string> = new Set(),
  change?: Pick<FigureChange, 'operation' | 'of_version'> & { grids?: string },
): Promise<number> {
  const { owner, idlocal } = plot
  const previous = await writers.plots.content(owner, idlocal)
  const gridsBefore = change?.grids ?? (previous ? await gridVersions(writers, plot) : '')
  if (figure.grid?.layout !== undefined) {
    const reusable = await ownGridOf(writers, plot, principal, before)
    if (reusable?.idlocal !== figure.grid.idlocal || reusable.layout !== figure.grid.layout)
      throw new DataGridChanged()
    await replaceData(writers, owner, figure, userOf(principal))
  }
  if (figure.grid && figure.grid.layout === undefined)
    await addDataGrid(writers, plot, figure.grid, userOf(principal))
  const grids = await checkSources(writers, figure, owner, principal, before)
  const { bytes } = figure.content
  const { hash } = figure.content.blob
  await writers.plots.setContent({ owner, idlocal }, figure.content, MEDIA_TYPE)
  await writers.plots.setPlot(owner, idlocal, figure.quality, figure.grid?.idlocal)
  await writers.plots.setGrids(owner, idlocal, grids)
  const by = userOf(principal)
  if (!previous) {
    await firstFigure(writers, plot, { hash, bytes }, { operation: 'create', by })
    return 1
  }
  // With an unchanged figure, new data is a version of the grid only.
  if (previous.hash === hash) return plot.content_version
  return nextFigure(
    writers,
    plot,
    previous,
    gridsBefore,
    { hash, bytes },
    { operation: 'figure', ...change, by },
  )
}

/** Replaces the unused columns of the plot's data grid by the new ones. Throws `DataGridChanged`. */
async function replaceData(
  writers: Writers,
  owner: string,
  { grid, sources }: StoredFigure,
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
  const before = await writers.grids.columns(owner, idlocal)
  const usedColumns = before.filter(({ uid }) => used.has(uid) && !newUids.has(uid))
  const file = (await writers.files.get(owner, idlocal))!
  const present = await readLayout(writers, { owner, idlocal })
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
  await recordColumns(writers, { owner, idlocal }, current.layout + 1)
}

async function addDataGrid(
  writers: Writers,
  { owner, parent, filename, world_readable }: FileRow,
  { idlocal, columns }: NonNullable<StoredFigure['grid']>,
  by: string | null,
): Promise<void> {
  const file = await writers.files.add({
    owner,
    idlocal,
    filetype: 'grid',
    filename: await freeName(writers.files, owner, parent, `${shortened(filename)}_grid`),
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
  { sources, grid: newGrid }: StoredFigure,
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
      const visible = await visibleFileById(readers, source.grid, principal)
      const uids =
        visible?.file.filetype === 'grid'
          ? new Set(
              (await readers.grids.columns(source.grid.owner, source.grid.idlocal)).map(({ uid }) => uid),
            )
          : undefined
      grids.set(key, { fid: source.grid, uids })
    }
    if (dataGrid === key) continue
    const { uids } = grids.get(key)!
    for (const uid of source.uids) {
      if (uids?.has(uid) || before.has(`${key}:${uid}`)) continue
      const problem = uids
        ? `the grid ${key} has no column with uid ${JSON.stringify(uid)}`
        : `there is no grid ${key}, or you may not see it`
      throw new Problem('invalid_request', `${path}: ${problem}`, { field: 'figure', path })
    }
  }
  return [...grids.values()].map(({ fid }) => fid)
}
