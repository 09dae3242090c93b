/** Reads the grids of a board. */
import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { BoardItem } from '../../../contract/resources/index.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { type AuthorizedFile, loadVisibleFile, type Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { type Snapshot, takeSnapshot } from '../../grids/column/snapshot.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow } from '../../store/aggregates/grids.ts'
import type { SortingService } from './grid-page.ts'

/** Place of a chart: its height in pixels, and its part of the width of the page. */
export interface ChartPlace {
  height: number
  share: number
}

/** Reads the items of a board for one reader. */
export interface BoardReader {
  /** Owner of the board. */
  owner: string
  service: SortingService
  principal: Principal
  /** Renders a chart that the reader may see. */
  renderPlot(file: FileRow, item: BoardItem, place: ChartPlace): Promise<string>
  user: string
  work: WorkBudget
  /** End of the time for items, in ms of `performance.now()`. */
  deadline: number
}

/** Takes a snapshot of the columns of a grid that the reader may see. */
export async function takeItemSnapshot(
  { service, principal }: Pick<BoardReader, 'service' | 'principal'>,
  fid: Fid,
  choose: (columns: ColumnRow[]) => ColumnRow[],
): Promise<AuthorizedFile & { snap: Snapshot; staleSince: number | null }> {
  return service.store.read(async (readers) => {
    const visible = await loadVisibleFile(readers, fid, principal)
    if (visible?.file.filetype !== 'grid' || visible.state !== 'active') throw hiddenError('grid')
    const { owner, idlocal, derived } = visible.file
    const refreshed = derived
      ? await readers.derivations.get(owner, idlocal)
      : await readers.urlRefreshes.get(owner, idlocal)
    const snap = await takeSnapshot(service.store, readers, fid, choose)
    return { ...visible, snap, staleSince: refreshed?.failed_at ?? null }
  })
}

/** Creates the error for a file that the reader cannot see. */
export function hiddenError(what: string): Problem {
  return new Problem('not_found', `this ${what} is private, in the trash or deleted`)
}

/** Renders the link to the grid of an item, and since when it is stale. */
export function renderSource({ url }: Service, file: FileRow, staleSince: number | null): string {
  const link = `<a href="${escapeHtml(formatWebUrl(url, file))}">${escapeHtml(file.filename)}</a>`
  return staleSince === null
    ? link
    : `${link} · <strong>stale since ${new Date(staleSince).toISOString().slice(0, 16).replace('T', ' ')} UTC</strong>`
}
