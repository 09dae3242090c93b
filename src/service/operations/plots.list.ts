// Lists of public plots.
import { pathOf } from '../../contract/operations/index.ts'
import type { PlotMeta, PlotPage } from '../../contract/resources/index.ts'
import { type AuthorizedFile, visibleFiles } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { ListCursors, pageOf, pageUrl } from '../core/paging.ts'
import { type Described, describeAll, listedFigures, withFigure } from '../files/meta.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

const PAGE = 20
/** Maximum page size. Pages of plots contain figures. */
const MAX_PAGE = 100
const FEED = 50

type Key = { value: number; owner: string; idlocal: number }

/** Lists public plots, newest first or by views. Cursors hold a key, not an offset, so pages stay stable. */
export async function publicPlots(service: Service, call: OperationCall<'plots.list'>): Promise<PlotPage> {
  const { order_by, min_quality, max_quality, page_size, cursor } = call.query
  const order = order_by === undefined ? 'creation_time' : 'views'
  const descending = order_by !== 'views'
  const size = Math.min(page_size ?? PAGE, MAX_PAGE)
  const cursors = new ListCursors<Key>(service.cursors, `plots ${order}`)
  const from = await cursors.position(cursor)
  const { page, described } = await service.store.read(async (readers) => {
    const rows = await readers.plots.public(
      {
        order,
        descending: descending !== (from?.backwards === true),
        minQuality: min_quality,
        maxQuality: max_quality,
        after: from?.key,
        limit: size + 1,
      },
      await readers.folders.marked(),
    )
    const page = pageOf(rows, size, from)
    return { page, described: await describedPage(service, readers, page.items, call) }
  })
  const link = async (file: FileRow | undefined, backwards: boolean): Promise<string | null> => {
    if (!file) return null
    const key = { value: file[order], owner: file.owner, idlocal: file.idlocal }
    return pageUrl(service.url, pathOf('plots.list'), {
      order_by,
      min_quality,
      max_quality,
      page_size,
      cursor: await cursors.cursor(key, backwards),
    })
  }
  return {
    next: await link(page.next, false),
    previous: await link(page.previous, true),
    results: await withFigures(service, described),
  }
}

/** Lists plots picked by an operator, in random order. */
export async function feed(service: Service, call: OperationCall<'plots.feed'>): Promise<PlotPage> {
  const described = await service.store.read(async (readers) =>
    describedPage(service, readers, await readers.plots.picked(FEED), call),
  )
  for (let k = described.length - 1; k > 0; k--) {
    const swapped = Math.floor(Math.random() * (k + 1))
    ;[described[k], described[swapped]] = [described[swapped], described[k]]
  }
  return { next: null, previous: null, results: await withFigures(service, described) }
}

/** Loads the metadata of the visible plots of a page. */
async function describedPage(
  service: Service,
  readers: Readers,
  files: readonly FileRow[],
  call: OperationCall<never> | Call,
): Promise<Described[]> {
  const visible = await visibleFiles(readers, files, call)
  // Owners can see their trashed plots, but not in this list.
  const active = visible.filter((access) => access?.state === 'active') as AuthorizedFile[]
  return describeAll(service, readers, active, call)
}

async function withFigures(service: Service, described: readonly Described[]): Promise<PlotMeta[]> {
  const blobs = await listedFigures(service, described)
  return (await Promise.all(described.map((meta) => withFigure(service, meta, blobs)))) as PlotMeta[]
}
