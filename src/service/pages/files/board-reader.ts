/** Reads the grids of a board. */
import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { BoardItem } from '../../../contract/resources/index.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { canWrite, type RowFilter } from '../../access/access.ts'
import { type ItemFile, type ItemViewer, loadItemFile } from '../../boards/item-files.ts'
import type { Service } from '../../core/context.ts'
import type { ResolvedVersion } from '../../files/versions.ts'
import { createFirstRows } from '../../grids/column/cursor.ts'
import { type Snapshot, takeVersionSnapshot, trimSnapshot } from '../../grids/column/snapshot.ts'
import type { Selection } from '../../grids/read/selection.ts'
import { type ReshapeQuery, reshape } from '../../grids/reshape/index.ts'
import { findGridVersion } from '../../plots/versions.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow } from '../../store/aggregates/grids.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import type { Readers } from '../../store/store.ts'
import { renderStale } from './derivation-note.ts'
import type { SortingService } from './grid-page.ts'

/** Place of a chart on the page. */
export interface ChartPlace {
  /** Height in pixels. */
  height: number
  /** Returns its width, in pixels, on a page whose items have this width. */
  widthOn(pageWidth: number): number
  /** Whether an item beside it has a title, and it has none: then it is as high as the title more. */
  isBesideTitle: boolean
}

/** Distance between items, in pixels. */
export const GAP_PIXELS = 16

/** Reads the items of a board for one reader. */
export interface BoardReader extends ItemViewer {
  service: SortingService
  /** Renders a chart that the reader may see. */
  renderPlot(chart: ItemFile, item: BoardItem, place: ChartPlace): Promise<string>
  /** Filter that all items follow, as far as their grids have its columns. */
  filter: RowFilter
  /** Version in which the grids are read; undefined for the current one. */
  version: ResolvedVersion | undefined
  user: string
  work: WorkBudget
  /** End of the time for items, in ms of `performance.now()`. */
  deadline: number
}

/** A grid that an item reads. */
export interface ItemGrid extends ItemFile {
  snap: Snapshot
  /** Version that the item shows; undefined for the current one. */
  version: VersionRow | undefined
  /** Since when its refreshes fail, in ms since 1970. */
  staleSince: number | null
}

/** Takes a snapshot of the columns of a grid that the reader may see. */
export async function takeItemSnapshot(
  reader: BoardReader,
  fid: Fid,
  choose: (columns: ColumnRow[]) => ColumnRow[],
): Promise<ItemGrid> {
  const { service, principal, board, version } = reader
  const taken = await service.store.read(async (readers) => {
    const visible = await loadItemFile(readers, fid, reader)
    if (visible?.file.filetype !== 'grid' || visible.state !== 'active') throw hiddenError('grid')
    // Who can write a board chooses its grids: their past and drafts are for those who can write them.
    const row = (await canWrite(readers, visible.file, { caller: principal.caller }))
      ? await findGridVersion(readers, { owner: board.owner, principal, version }, visible.file)
      : undefined
    if (row === 'expired') throw hiddenError('version of the grid')
    if (version && !visible.isOpen)
      throw new Problem('not_found', 'the board shows only the current content of this grid')
    if (version?.time !== undefined && !row && (await hasChangedSince(readers, visible.file, version.time)))
      throw new Problem('not_found', 'what this grid had at that time has expired, or it was created later')
    const snap = await takeVersionSnapshot(service.store, readers, fid, row, choose)
    return {
      ...visible,
      snap,
      version: row,
      staleSince: visible.file.stale_since,
    }
  })
  return { ...taken, snap: await trimSnapshot(taken.snap) }
}

/** Makes a table of the rows that an item selects. */
export async function reshapeRows(
  { service, work }: BoardReader,
  filter: Selection,
  snap: Snapshot,
  query: ReshapeQuery,
): Promise<Snapshot> {
  const chosen = await filter.select(service.orders, snap, work)
  const rows = 'rows' in chosen ? chosen.rows : createFirstRows(snap.rows)
  return reshape(filter.printedSnapshot(snap), query, {
    ...{ rows, other: undefined, limits: service.limits, work },
  })
}

async function hasChangedSince({ versions }: Readers, grid: FileRow, time: number): Promise<boolean> {
  if (grid.creation_time > time) return true
  const current = await versions.get(grid.owner, grid.idlocal, grid.content_version)
  return current !== undefined && Number(current.made_at) > time
}

/** Creates the error for a file that the reader cannot see. */
export function hiddenError(what: string): Problem {
  return new Problem('not_found', `this ${what} is private, in the trash or deleted`)
}

/** Renders a message as a sentence. */
export function renderNote(message: string): string {
  return `<p class="note">${escapeHtml(message[0].toUpperCase() + message.slice(1))}.</p>`
}

type SourceGrid = Pick<ItemGrid, 'file' | 'isOpen' | 'staleSince'>

/** Renders the name of the grid of an item, with a link for those who can open it, and since when it is stale. */
export function renderSource({ url }: Service, { file, isOpen, staleSince }: SourceGrid): string {
  const name = escapeHtml(file.filename)
  const link = isOpen ? `<a href="${escapeHtml(formatWebUrl(url, file))}">${name}</a>` : name
  return staleSince === null ? link : `${link} · ${renderStale(staleSince)}`
}
