/** Lets the files of a board's items know the board. */
import { ownerPrincipal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { FileKey } from '../store/schema/file-key.ts'
import { listItems, parseBoard, toNode } from './content.ts'
import { fidOfItem, loadItemFile } from './item-files.ts'
import { loadBoardText } from './load.ts'

/** Service in which boards refer to their items. */
export type ItemService = Pick<Service, 'store' | 'formerNames'>

/** Replaces the references from a board to the files that it shows, as far as its owner may read them. */
export async function referToItems(service: ItemService, { owner, idlocal }: FileKey): Promise<void> {
  const { store } = service
  const file = await store.read(({ files }) => files.get(owner, idlocal))
  if (file?.filetype !== 'dashboard') return
  const items = listItems(toNode(parseBoard(await loadBoardText(service, file))))
  const targets = await store.read(async (readers) => {
    const found = new Map<string, FileKey>()
    const viewer = { board: file, principal: ownerPrincipal(owner) }
    for (const item of items) {
      const fid = fidOfItem(service, item)
      const shown = fid && (await loadItemFile(readers, fid, viewer, item))
      if (fid && shown) found.set(`${fid.owner}:${fid.idlocal}`, fid)
    }
    return [...found.values()]
  })
  await store.write([owner, ...targets.map((target) => target.owner)], async ({ files, plots }) => {
    if (await files.get(owner, idlocal)) await plots.setReferences({ owner, idlocal }, 'item', targets)
  })
}
