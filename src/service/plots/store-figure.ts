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

/** A figure whose bytes are stored, but that is not part of a plot yet. */
export interface StoredFigure {
  content: SliceRef
  sources: { source: Source; path: string }[]
  quality: number
  /** Grids to which references were given next to data: the data was used. */
  replaced: Fid[]
  /** The grid for its data arrays, created or changed together with the plot. */
  grid?: DataGrid
}

interface DataGrid {
  idlocal: number
  columns: NewColumn[]
  /** If the plot's data grid is reused: its layout when the columns were prepared. */
  layout?: number
}

/** A plot's data grid that nothing else uses, so that its columns can be replaced by new data. */
export interface OwnGrid {
  idlocal: number
  layout: number
  columns: ColumnRow[]
}

/** The data grid has changed since columns were prepared for it. */
export class DataGridChanged extends Error {}

/**
 * The data grid of a plot, if new data may replace its content: `principal` may change it, everybody who can read
 * it can read the plot too, and the current figure (with the references `before`) uses all of its columns.
 * Otherwise undefined, and new data goes into a new grid.
 */
export async function ownGridOf(
  readers: Readers,
  { owner, idlocal }: Fid,
  principal: Principal,
  before: ReadonlySet<string>,
  /** Whether it has columns that the figure does not show is of no matter. */
  whatever = false,
): Promise<OwnGrid | undefined> {
  const plot = await readers.files.get(owner, idlocal)
  const data = (await readers.plots.plot(owner, idlocal))?.data_grid ?? null
  if (!plot || data === null) return undefined
  const file = await readers.files.get(owner, data)
  if (file?.filetype !== 'grid' || !(await noMoreVisible(readers, file, plot))) return undefined
  if (!(await mayWrite(readers, file, principal))) return undefined
  const users = await readers.plots.referencersOf({ owner, idlocal: data }, 'grid', undefined, false, 2)
  if (users.some((user) => user.owner !== owner || user.idlocal !== idlocal)) return undefined
  const columns = await readers.grids.columns(owner, data)
  const fid = formatFid({ owner, idlocal: data })
  if (!whatever && !columns.every(({ uid }) => before.has(`${fid}:${uid}`))) return undefined
  const grid = await readers.grids.get(owner, data)
  // What is written to a grid with a key or checks goes by them.
  if (hasRules(grid)) return undefined
  return { idlocal: data, layout: grid.layout, columns }
}

/** Whether everybody who may read the file may read the plot too. Unknown, so false, with a share key. */
async function noMoreVisible({ sharing }: Readers, file: FileRow, plot: FileRow): Promise<boolean> {
  if (file.parent !== plot.parent || file.share_key !== null) return false
  if (file.world_readable > plot.world_readable) return false
  const all = await sharing.collaborators(file.owner, [file.idlocal, plot.idlocal])
  const ofPlot = new Set(
    all.filter(({ idlocal }) => idlocal === plot.idlocal).map(({ kind, name }) => `${kind} ${name}`),
  )
  return all.every(({ idlocal, kind, name }) => idlocal === plot.idlocal || ofPlot.has(`${kind} ${name}`))
}

/** Media type of stored figures. */
export const MEDIA_TYPE = 'application/json'

/** The text of a figure with the present names of owners in its references; undefined if it has them already. */
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
 * Parses and stores a figure. With `move`, data arrays are moved into grid columns; without it, they are
 * refused with the path of the first one. Typed arrays are always moved: clients that send them have no
 * alternative. See docs/api.md#plots.
 */
export async function storeFigure(
  service: Service,
  owner: string,
  given: RawJson,
  move: boolean,
  own?: OwnGrid,
): Promise<StoredFigure> {
  const { store, limits, names } = service
  let figure = await readFigure(given)
  let found = await scanFigureInTurns(figure, limits)
  const referred = referencesOf(found).map(({ source }) => source.grid)
  const present = withPresentOwners(names, figure, referred)
  if (present) {
    figure = await parseRawInTurns(present, 'the figure', figure.limits)
    found = await scanFigureInTurns(figure, limits)
  }
  const { arrays, typed } = rawArrays(found)
  if (arrays.length > 0 && !move) throw refusal(arrays[0], arrays.length)
  const all = [...arrays, ...typed]
  const replaced = replacedBy(all, found)
  let stored = figure
  let grid: StoredFigure['grid']
  if (all.length > 0) {
    if (all.length > limits.columns) throw tooManyColumns(all.length, limits)
    const columns = await storeArrays(store.blobs, owner, await plainArrays(all, limits.json_body_bytes))
    const kept = own ? stillUsed(own, owner, found) : []
    const taken = new Set(own?.columns.map(({ uid }) => uid))
    const free = new Map(
      own?.columns.filter((one) => !kept.includes(one)).map(({ name, uid }) => [name, uid]),
    )
    // A column of new data keeps the uid of the one it replaces.
    for (const column of columns) column.uid = free.get(column.name) ?? newUid(taken)
    // References contain the id, and are stored before the grid is created: allocate the id first.
    const idlocal = own?.idlocal ?? (await store.write([owner], ({ files }) => files.nextIdlocal(owner)))
    grid = { idlocal, columns, layout: own?.layout }
    const fid = formatFid({ owner, idlocal })
    const references = new Map(columns.map(({ name, uid }) => [name, `${fid}:${uid}`]))
    stored = await parseRawInTurns(
      withReferences(figure, found, (path) => references.get(path)),
      'the figure',
      figure.limits,
    )
    found = await scanFigureInTurns(stored, limits)
  }
  const sources = referencesOf(found).map(({ source, path }) => ({ source, path: `figure.${path}src` }))
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

/** The grids of references that data was given for. */
function replacedBy(data: readonly Data[], found: readonly Found[]): Fid[] {
  const paths = new Set(data.map(({ path }) => path))
  const grids = new Map(
    referencesOf(found)
      .filter(({ path }) => paths.has(path))
      .map(({ source: { grid } }) => [formatFid(grid), grid]),
  )
  return [...grids.values()]
}

/** Columns of the data grid that the new figure still refers to. */
function stillUsed({ idlocal, columns }: OwnGrid, owner: string, found: readonly Found[]): ColumnRow[] {
  const replaced = new Set(rawPaths(found))
  const uids = new Set(
    referencesOf(found)
      .filter(
        ({ source: { grid }, path }) =>
          grid.owner === owner && grid.idlocal === idlocal && !replaced.has(path),
      )
      .flatMap(({ source }) => source.uids),
  )
  return columns.filter(({ uid }) => uids.has(uid))
}

function rawPaths(found: readonly Found[]): string[] {
  const { arrays, typed } = rawArrays(found)
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

/** Stores the figure in the plot: data grid, content and references. */
export async function putFigure(
  writers: Writers,
  plot: FileRow,
  figure: StoredFigure,
  principal: Principal,
  before: ReadonlySet<string> = new Set(),
  change?: Pick<FigureChange, 'operation' | 'of_version'> & { grids?: string },
): Promise<number> {
  const { owner, idlocal } = plot
  const was = await writers.plots.content(owner, idlocal)
  const shown = change?.grids ?? (was ? await gridVersions(writers, plot) : '')
  if (figure.grid?.layout !== undefined) {
    const own = await ownGridOf(writers, plot, principal, before)
    if (own?.idlocal !== figure.grid.idlocal || own.layout !== figure.grid.layout) throw new DataGridChanged()
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
  if (!was) {
    await firstFigure(writers, plot, { hash, bytes }, { operation: 'create', by })
    return 1
  }
  // Other data alone is a version of the grid.
  if (was.hash === hash) return plot.content_version
  return nextFigure(writers, plot, was, shown, { hash, bytes }, { operation: 'figure', ...change, by })
}

/** Replaces columns of the plot's data grid that the figure no longer refers to by the new ones. */
async function replaceData(
  writers: Writers,
  owner: string,
  { grid, sources }: StoredFigure,
  by: string | null,
): Promise<void> {
  const { idlocal, columns, layout } = grid!
  const now = await writers.grids.get(owner, idlocal)
  if (now.layout !== layout || now.tail_rows > 0) throw new DataGridChanged()
  const fresh = new Set(columns.map(({ uid }) => uid))
  const used = new Set(
    sources
      .filter(({ source }) => source.grid.owner === owner && source.grid.idlocal === idlocal)
      .flatMap(({ source }) => source.uids),
  )
  const before = await writers.grids.columns(owner, idlocal)
  const kept = before.filter(({ uid }) => used.has(uid) && !fresh.has(uid))
  const file = (await writers.files.get(owner, idlocal))!
  const present = await readLayout(writers, { owner, idlocal })
  const names = new Set(kept.map(({ name }) => name))
  const added = columns.map((column) => {
    let { name } = column
    for (let n = 2; names.has(name); n++) name = `${column.name} (${n})`
    names.add(name)
    return { ...column, name }
  })
  const stay = kept.map((column) => ({ ...column, slices: present.slices.get(column.uid) ?? [] }))
  const plan = { columns: [...stay, ...added], change: { operation: 'update' as const } }
  await commitPlan(writers, file, present, plan, by)
  await recordColumns(writers, { owner, idlocal }, now.layout + 1)
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
 * Checks that all references name existing columns of grids that `principal` may read. References that the plot
 * had `before` are allowed. Returns the grids.
 */
async function checkSources(
  readers: Readers,
  { sources, grid: made }: StoredFigure,
  owner: string,
  principal: Principal,
  before: ReadonlySet<string>,
): Promise<Fid[]> {
  const grids = new Map<string, { fid: Fid; uids: ReadonlySet<string> | undefined }>()
  // The new data grid belongs to the plot's owner, regardless of the caller.
  const own = made && formatFid({ owner, idlocal: made.idlocal })
  for (const { source, path } of sources) {
    const key = formatFid(source.grid)
    if (!grids.has(key)) {
      const found = await visibleFileById(readers, source.grid, principal)
      const uids =
        found?.file.filetype === 'grid'
          ? new Set(
              (await readers.grids.columns(source.grid.owner, source.grid.idlocal)).map(({ uid }) => uid),
            )
          : undefined
      grids.set(key, { fid: source.grid, uids })
    }
    if (own === key) continue
    const { uids } = grids.get(key)!
    for (const uid of source.uids) {
      if (uids?.has(uid) || before.has(`${key}:${uid}`)) continue
      const why = uids
        ? `the grid ${key} has no column with uid ${JSON.stringify(uid)}`
        : `there is no grid ${key}, or you may not see it`
      throw new Problem('invalid_request', `${path}: ${why}`, { field: 'figure', path })
    }
  }
  return [...grids.values()].map(({ fid }) => fid)
}
