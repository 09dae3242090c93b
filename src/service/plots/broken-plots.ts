/** Finds plots whose columns were removed. */

import { type Fid, formatFid } from '../../contract/fid.ts'
import { formatList } from '../../contract/message-texts.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers, Store } from '../store/store.ts'
import { listSources } from './edit-figure.ts'
import { loadFigure } from './store-figure.ts'

/** Maximum number of plots that are read for warnings. */
const MAX_WARNED_PLOTS = 20

/** A plot, and the names of its removed columns. */
export interface BrokenPlot {
  plot: FileRow
  columns: string[]
}

/** Finds plots of the grid's owner that show removed columns. Other plots may be hidden from the caller. */
export async function findBrokenPlots(store: Store, readers: Readers, grid: Fid): Promise<BrokenPlot[]> {
  const columns = await readers.grids.listRemovedColumns(grid.owner, grid.idlocal)
  if (columns.length === 0) return []
  const names = new Map(columns.map(({ uid, name }) => [uid, name]))
  const broken: BrokenPlot[] = []
  for await (const { plot, uids } of readPlotColumns(store, readers, grid, MAX_WARNED_PLOTS)) {
    const removed = uids.flatMap((uid) => names.get(uid) ?? [])
    if (removed.length > 0) broken.push({ plot, columns: removed })
  }
  return broken
}

/** Maximum number of plots that are read for the columns that they use. */
const MAX_READ_PLOTS = 1000

/** Returns uids of columns that the owner's first 1,000 plots use. */
export async function listColumnsUsedByPlots(store: Store, readers: Readers, grid: Fid): Promise<string[]> {
  const used = new Set<string>()
  for await (const { uids } of readPlotColumns(store, readers, grid, MAX_READ_PLOTS))
    for (const uid of uids) used.add(uid)
  return [...used]
}

/** Reads the first plots that show a grid. Yields those of its owner with the columns that they use. */
async function* readPlotColumns(
  store: Store,
  readers: Readers,
  grid: Fid,
  maxPlots: number,
): AsyncGenerator<{ plot: FileRow; uids: string[] }> {
  const plots = await readers.plots.listReferencers(grid, 'grid', undefined, false, maxPlots)
  for (const plot of await readers.folders.filterActive(plots)) {
    if (plot.owner !== grid.owner) continue
    const content = await readers.plots.getContent(plot.owner, plot.idlocal)
    if (!content) continue
    const figure = await loadFigure(store, content)
    const uids = listSources(figure)
      .filter((source) => formatFid(source.grid) === formatFid(grid))
      .flatMap((source) => source.uids)
    yield { plot, uids: [...new Set(uids)] }
  }
}

/** Formats a warning for each plot with removed columns. */
export function formatBrokenWarnings(broken: readonly BrokenPlot[]): string[] {
  return broken.map(
    ({ plot, columns }) =>
      `plot ${plot.filename} (${formatFid(plot)}) shows ${columns.length === 1 ? 'a column' : 'columns'} that no longer ${columns.length === 1 ? 'exists' : 'exist'}: ${formatList(columns)}; ${columns.length === 1 ? 'its trace is' : 'their traces are'} empty until ${columns.length === 1 ? 'it comes' : 'they come'} back`,
  )
}
