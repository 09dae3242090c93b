// Lists of public plots.
import { pathOf } from '../../contract/operations/index.ts'
import type { PlotMeta, PlotPage } from '../../contract/resources/index.ts'
import { resolveVisibleFiles } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { createPage, formatPageUrl, ListCursors } from '../core/paging.ts'
import { loadListedFigures, loadMetas, type PendingMeta, withFigure } from '../files/meta.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

const DEFAULT_PAGE_PLOTS = 20
/** Maximum page size. Pages of plots contain figures. */
const MAX_PAGE_PLOTS = 100
const FEED_PLOTS = 50

type Key = { value: number; owner: string; idlocal: number }

/** Lists public plots, newest first or by views. Cursors hold a key, not an offset, so pages stay stable. */
export async function listPublicPlots(
  service: Service,
  call: OperationCall<'plots.list'>,
): Promise<PlotPage> {
  const { order_by, min_quality, max_quality, page_size, cursor } = call.query
  const order = order_by === undefined ? 'creation_time' : 'views'
  const descending = order_by !== 'views'
  const size = Math.min(page_size ?? DEFAULT_PAGE_PLOTS, MAX_PAGE_PLOTS)
  const cursors = new ListCursors<Key>(service.cursors, `plots ${order}`)
  const from = await cursors.parse(cursor)
  const { page, described } = await service.store.read(async (readers) => {
    const rows = await readers.plots.listPublic(
      {
        order,
        descending: descending !== (from?.backwards === true),
        minQuality: min_quality,
        maxQuality: max_quality,
        after: from?.key,
        limit: size + 1,
      },
      await readers.folders.listDirtyOwners(),
    )
    const page = createPage(rows, size, from)
    return { page, described: await loadPlotMetas(service, readers, page.items, call) }
  })
  const link = async (file: FileRow | undefined, backwards: boolean): Promise<string | null> => {
    if (!file) return null
    const key = { value: file[order], owner: file.owner, idlocal: file.idlocal }
    return formatPageUrl(service.url, pathOf('plots.list'), {
      order_by,
      min_quality,
      max_quality,
      page_size,
      cursor: await cursors.format(key, backwards),
    })
  }
  return {
    next: await link(page.next, false),
    previous: await link(page.previous, true),
    results: await loadFigures(service, described),
  }
}

/** Lists plots picked by an operator, in random order. */
export async function loadFeed(service: Service, call: OperationCall<'plots.feed'>): Promise<PlotPage> {
  const described = await service.store.read(async (readers) =>
    loadPlotMetas(service, readers, await readers.plots.listPicked(FEED_PLOTS), call),
  )
  for (let k = described.length - 1; k > 0; k--) {
    const swapped = Math.floor(Math.random() * (k + 1))
    ;[described[k], described[swapped]] = [described[swapped], described[k]]
  }
  return { next: null, previous: null, results: await loadFigures(service, described) }
}

/** Loads the metadata of those plots of a page that the caller can see and that are not in the trash. */
async function loadPlotMetas(
  service: Service,
  readers: Readers,
  files: readonly FileRow[],
  call: OperationCall<never> | Call,
): Promise<PendingMeta[]> {
  const visible = await resolveVisibleFiles(readers, files, call)
  // Owners can see their trashed plots, but not in this list.
  const active = visible.flatMap((access) => (access?.state === 'active' ? [access] : []))
  return loadMetas(service, readers, active, call)
}

async function loadFigures(service: Service, described: readonly PendingMeta[]): Promise<PlotMeta[]> {
  const blobs = await loadListedFigures(service, described)
  return (await Promise.all(described.map((meta) => withFigure(service, meta, blobs)))) as PlotMeta[]
}
