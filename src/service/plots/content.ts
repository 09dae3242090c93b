// Loads the figures of plots, and what they refer to.
import { Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { RawJson } from '../../json/index.ts'
import {
  type AuthorizedFile,
  authorizeCall,
  type FileRequest,
  type Principal,
  type RowFilter,
} from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { type ResolvedVersion, resolveVersionRef } from '../files/versions.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ContentRow } from '../store/aggregates/plots.ts'
import type { Readers } from '../store/store.ts'
import type { VisibleRanges } from './downsampling/axes.ts'
import { type Downsampling, planDownsampling } from './downsampling/plan.ts'
import { referencesOf } from './edit-figure.ts'
import { filterFigure, listUnfollowed } from './filter-rows.ts'
import {
  findFigureState,
  loadReferencedGrids,
  type ReferencedGrid,
  trimReferencedGrids,
} from './referenced-grids.ts'
import { type Reference, scanFigureInTurns } from './scan.ts'
import { loadFigure } from './store-figure.ts'
import { versionContentOf } from './versions.ts'

/** A plot and the content row of its figure. */
export interface PlotContent {
  file: FileRow
  content: FigureContent
}

/** Content row of a figure, in the requested version. */
export interface FigureContent extends ContentRow {
  /** Requested version; undefined for the current one. */
  version?: ResolvedVersion
}

/** Loads a plot and the content row of its figure. Throws `not_found` if the caller may not read the plot. */
export async function loadPlotContent({ store }: Service, request: FileRequest): Promise<PlotContent> {
  return store.read(async (readers) => {
    const authorized = await authorizeCall(readers, request)
    return { file: authorized.file, content: await findFigureContent(readers, authorized, request) }
  })
}

/** Loads the content row of a plot in the requested version. Throws `damaged` if it is missing. */
export async function findFigureContent(
  readers: Readers,
  authorized: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  { version: name }: Principal,
): Promise<FigureContent> {
  const { owner, idlocal } = authorized.file
  const content = await readers.plots.getContent(owner, idlocal)
  if (!content) throw new Problem('damaged', 'the figure of this plot is missing')
  const plotVersion = await resolveVersionRef(readers, authorized, name)
  // The current version shows current data, unless it was kept with the data of its time.
  const isCurrent =
    plotVersion?.isCurrent && plotVersion.time === undefined && (plotVersion.row?.kept_at ?? null) === null
  if (!plotVersion || (isCurrent && plotVersion.draft === undefined)) return content
  const earlier = plotVersion.row && versionContentOf(plotVersion.row, content.media_type)
  return { ...(earlier ?? content), version: plotVersion }
}

/** A plot with the data that it shows to one caller at one time. */
export interface FigureView {
  file: FileRow
  /** Hash of the figure and of the versions of its data. Images and texts are cached by it. */
  fingerprint: string
  figure: RawJson
  references: Reference[]
  /** Paths of traces with inline data arrays: `data.0`. */
  tracesWithArrays: ReadonlySet<string>
  /** Grids by fid. */
  grids: Map<string, ReferencedGrid>
  /** Selected points of large traces. */
  downsampling?: Downsampling
  /** Visible ranges of axes. */
  visibleRanges?: VisibleRanges
  limits: Limits
  /** Returns whether all clients have disconnected. */
  isAborted?: () => boolean
}

/** Opens a plot with its data. Throws `not_found` if the caller may not read it. */
export async function openFigure(
  service: Service,
  request: FileRequest,
  stored?: PlotContent,
): Promise<FigureView> {
  const { file, content } = stored ?? (await loadPlotContent(service, request))
  const { store } = service
  const figure = await loadFilteredFigure(service, content, request.rowFilter)
  const members = await scanFigureInTurns(figure)
  const references = referencesOf(members)
  const withArrays = new Set(
    members.flatMap(({ kind, path }) =>
      kind === 'array' || kind === 'typed' ? (/^data\.\d+/.exec(path) ?? []) : [],
    ),
  )
  const sources = references.map(({ source }) => source)
  const { version } = content
  const viewer = { owner: file.owner, principal: request, version }
  const { grids, fingerprint } = await store.read(async (readers) => ({
    grids: await loadReferencedGrids(store, readers, viewer, sources),
    fingerprint: (await findFigureState(readers, file, content, request, version)).fingerprint,
  }))
  return {
    file,
    fingerprint,
    figure,
    references,
    tracesWithArrays: withArrays,
    grids: version ? await trimReferencedGrids(grids) : grids,
    limits: service.limits,
    isAborted: request.isAborted,
  }
}

/** Loads a figure; with a filter, one that shows the rows that it selects. */
async function loadFilteredFigure(
  { store }: Service,
  content: ContentRow,
  filter: RowFilter | undefined,
): Promise<RawJson> {
  const figure = await loadFigure(store, content)
  if (!filter || filter.length === 0) return figure
  const references = referencesOf(await scanFigureInTurns(figure))
  return store.read((readers) => filterFigure(readers, figure, references, filter))
}

/** Lists the columns of a filter that a plot does not follow completely. Access must have been checked. */
export async function listUnfollowedColumns(
  { store }: Pick<Service, 'store'>,
  plot: FileRow,
  filter: RowFilter,
): Promise<string[]> {
  const content = await store.read(({ plots }) => plots.getContent(plot.owner, plot.idlocal))
  if (!content) return []
  const figure = await loadFigure(store, content)
  const references = referencesOf(await scanFigureInTurns(figure))
  return store.read((readers) => listUnfollowed(readers, figure, references, filter))
}

/** Opens a plot for drawing: large lines and scatters are downsampled within the visible `ranges`. */
export async function openDownsampledFigure(
  service: Service,
  request: FileRequest,
  stored?: PlotContent,
  ranges?: VisibleRanges,
): Promise<FigureView> {
  const view = await openFigure(service, request, stored)
  return { ...view, visibleRanges: ranges, downsampling: await planDownsampling(view, ranges) }
}
