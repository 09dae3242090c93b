/** The state of a board: it changes when a table, number or chart that its reader sees does. */
import { createHash } from 'node:crypto'
import type { BoardItem } from '../../../contract/resources/index.ts'
import { authorizeCall, type FileRequest, type Principal } from '../../access/access.ts'
import { listItems, parseBoard, toNode } from '../../boards/content.ts'
import { fidOfItem, loadItemFile } from '../../boards/item-files.ts'
import { loadBoardText } from '../../boards/load.ts'
import type { Service } from '../../core/context.ts'
import { listPlotGrids } from '../../plots/filter-rows.ts'
import type { FindFingerprint } from '../../plots/live-plots.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'

/** Loads the items of a board, and returns a function that finds its fingerprint. Throws `not_found`. */
export async function createFindBoardState(service: Service, request: FileRequest): Promise<FindFingerprint> {
  const { file } = await service.store.read((readers) => authorizeCall(readers, request))
  const items = listItems(toNode(parseBoard(await loadBoardText(service, file))))
  return async (readers, { fid, ...principal }) => {
    const board = await readers.files.get(fid.owner, fid.idlocal)
    // A board with other items is loaded as a new page.
    await authorizeCall(readers, request)
    return fingerprintBoard(service, readers, { principal, board: board! }, items)
  }
}

async function fingerprintBoard(
  service: Service,
  readers: Readers,
  { principal, board }: { principal: Principal; board: FileRow },
  items: readonly BoardItem[],
): Promise<string> {
  const hash = createHash('sha256').update(`${board.version}`)
  const files = new Map(items.map((item) => [item.plot ?? item.table ?? item.number ?? '', item]))
  for (const [text, item] of files) {
    const fid = fidOfItem(service, item)
    if (!fid) continue
    const visible = await loadItemFile(readers, fid, { board, principal }, item)
    hash.update(` ${text} ${visible?.state === 'active' ? visible.file.version : '-'}`)
    if (visible?.file.filetype !== 'plot') continue
    for (const grid of await listPlotGrids(readers, fid))
      hash.update(` ${(await readers.files.get(grid.owner, grid.idlocal))?.version ?? '-'}`)
  }
  return hash.digest('hex').slice(0, 32)
}
