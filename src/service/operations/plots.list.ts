import { type OperationName, pathOf } from '../../contract/operations/index.ts'
import type { PlotMeta, PlotPage } from '../../contract/resources.ts'
import { visibleFile } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { type Described, describe, withFigure } from '../files/meta.ts'
import type { FileRow } from '../store/files.ts'
import type { Readers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

const PAGE = 20
/** Maximum page size: pages of plots contain figures. */
const LARGEST_PAGE = 100
const FEED = 50

type Position = [value: number, owner: string, idlocal: number]

/** Public plots, newest first or by views. Cursors hold a key, not an offset, so pages stay stable. */
export async function publicPlots(service: Service, call: OperationCall<'plots.list'>): Promise<PlotPage> {
  const { order_by, min_quality, max_quality, page_size, cursor } = call.query
  const order = order_by === undefined ? 'creation_time' : 'views'
  const descending = order_by !== 'views'
  const size = Math.min(page_size ?? PAGE, LARGEST_PAGE)
  const from =
    cursor === undefined ? undefined : await service.cursors.verify<CursorContent>(cursor, `plots ${order}`)
  const backwards = from?.backwards === true
  const { rows, described } = await service.store.read(async (readers) => {
    const found = await readers.plots.public({
      order,
      descending: descending !== backwards,
      minQuality: min_quality,
      maxQuality: max_quality,
      after: from && { value: from.at[0], owner: from.at[1], idlocal: from.at[2] },
      limit: size + 1,
    })
    const page = found.slice(0, size)
    if (backwards) page.reverse()
    return { rows: found, described: await describeAll(service, readers, page, call) }
  })
  const page = rows.slice(0, size)
  if (backwards) page.reverse()
  const more = rows.length > size
  const link = async (file: FileRow | undefined, back: boolean): Promise<string | null> => {
    if (!file) return null
    const at: Position = [file[order], file.owner, file.idlocal]
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries({ order_by, min_quality, max_quality, page_size }))
      if (value !== undefined) query.set(name, String(value))
    query.set(
      'cursor',
      await service.cursors.sign({ at, backwards: back } satisfies CursorContent, `plots ${order}`),
    )
    return `${service.url}${pathOf('plots.list' satisfies OperationName)}?${query}`
  }
  return {
    next: backwards || more ? await link(page[page.length - 1], false) : null,
    previous: (backwards ? more : from) ? await link(page[0], true) : null,
    results: (await Promise.all(described.map((one) => withFigure(service, one, true)))) as PlotMeta[],
  }
}

interface CursorContent {
  at: Position
  backwards: boolean
}

/** Plots picked by an operator, in random order. */
export async function feed(service: Service, call: OperationCall<'plots.feed'>): Promise<PlotPage> {
  const described = await service.store.read(async (readers) =>
    describeAll(service, readers, await readers.plots.picked(FEED), call),
  )
  for (let k = described.length - 1; k > 0; k--) {
    const other = Math.floor(Math.random() * (k + 1))
    ;[described[k], described[other]] = [described[other], described[k]]
  }
  const results = (await Promise.all(described.map((one) => withFigure(service, one, true)))) as PlotMeta[]
  return { next: null, previous: null, results }
}

async function describeAll(
  service: Service,
  readers: Readers,
  files: readonly FileRow[],
  call: OperationCall<never> | Call,
): Promise<Described[]> {
  const described: Described[] = []
  for (const file of files) {
    const found = await visibleFile(readers, file, call)
    if (found) described.push(await describe(service, readers, found, call))
  }
  return described
}
