/** The state of a board: it changes when a table or number that its reader sees does. */
import { createHash } from 'node:crypto'
import { parseFid } from '../../../contract/fid.ts'
import type { BoardItem } from '../../../contract/resources/index.ts'
import { authorizeCall, type FileRequest, loadVisibleFile, type Principal } from '../../access/access.ts'
import { listItems, parseBoard, toNode } from '../../boards/content.ts'
import { loadBoardText } from '../../boards/load.ts'
import type { Service } from '../../core/context.ts'
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
    return fingerprintBoard(readers, principal, board!, items)
  }
}

async function fingerprintBoard(
  readers: Readers,
  principal: Principal,
  board: FileRow,
  items: readonly BoardItem[],
): Promise<string> {
  const hash = createHash('sha256').update(`${board.version}`)
  for (const fid of new Set(items.flatMap(({ table, number }) => table ?? number ?? []))) {
    const grid = parseFid(fid)
    const visible = grid && (await loadVisibleFile(readers, grid, principal))
    hash.update(` ${fid} ${visible?.state === 'active' ? visible.file.version : '-'}`)
  }
  return hash.digest('hex').slice(0, 32)
}
