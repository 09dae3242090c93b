import { listed } from '../../contract/closest.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { acceptedBefore, parseRaw } from '../../json/index.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { storedOf } from '../store/aggregates/plots.ts'
import { loadText } from '../store/aggregates/texts.ts'
import type { Readers, Store } from '../store/store.ts'
import { sourcesIn } from './figure.ts'

/** Plots that are named in a warning, and whose figures are read for it. */
const MAX_PLOTS = 20

/** A plot with the names of columns that it no longer finds. */
export interface BrokenPlot {
  plot: FileRow
  columns: string[]
}

/**
 * The plots that show columns which are gone from a grid: of the owner of the grid only, since others would learn of
 * plots that they may not see. At most `MAX_PLOTS`.
 */
export async function brokenPlots(store: Store, readers: Readers, grid: Fid): Promise<BrokenPlot[]> {
  const columns = await readers.grids.lost(grid.owner, grid.idlocal)
  if (columns.length === 0) return []
  const names = new Map(columns.map(({ uid, name }) => [uid, name]))
  const broken: BrokenPlot[] = []
  for await (const { plot, uids } of figuresOf(store, readers, grid, MAX_PLOTS)) {
    const lost = uids.flatMap((uid) => names.get(uid) ?? [])
    if (lost.length > 0) broken.push({ plot, columns: lost })
  }
  return broken
}

/** Plots whose figures are read to find the columns that they use. */
const MAX_READ = 1000

/** The uids of the columns of a grid that plots of its owner use. */
export async function columnsOfPlots(store: Store, readers: Readers, grid: Fid): Promise<string[]> {
  const found = new Set<string>()
  for await (const { uids } of figuresOf(store, readers, grid, MAX_READ))
    for (const uid of uids) found.add(uid)
  return [...found]
}

/** The plots of the owner of a grid that show it, with the columns that they use. */
async function* figuresOf(
  store: Store,
  readers: Readers,
  grid: Fid,
  most: number,
): AsyncGenerator<{ plot: FileRow; uids: string[] }> {
  const plots = await readers.plots.referencersOf(grid, 'grid', undefined, false, most)
  for (const plot of await readers.folders.active(plots)) {
    if (plot.owner !== grid.owner) continue
    const content = await readers.plots.content(plot.owner, plot.idlocal)
    if (!content) continue
    const figure = parseRaw(await loadText(store.blobs, storedOf(content)), 'the figure', acceptedBefore)
    const uids = sourcesIn(figure)
      .filter((source) => formatFid(source.grid) === formatFid(grid))
      .flatMap((source) => source.uids)
    yield { plot, uids: [...new Set(uids)] }
  }
}

/** A warning for each plot that no longer finds its columns. */
export function brokenWarnings(broken: readonly BrokenPlot[]): string[] {
  return broken.map(
    ({ plot, columns }) =>
      `plot ${plot.filename} (${formatFid(plot)}) shows ${columns.length === 1 ? 'a column' : 'columns'} that no longer ${columns.length === 1 ? 'exists' : 'exist'}: ${listed(columns)}; ${columns.length === 1 ? 'its trace is' : 'their traces are'} empty until ${columns.length === 1 ? 'it comes' : 'they come'} back`,
  )
}
