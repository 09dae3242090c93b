/** Finds the files that the items of a board show, with the rights of its reader. See docs/boards.md#sharing. */
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { BoardItem } from '../../contract/resources/index.ts'
import { type AuthorizedFile, loadVisibleFile, ownerPrincipal, type Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers } from '../store/store.ts'

/** A reader of a board. */
export interface ItemViewer {
  board: Pick<FileRow, 'owner' | 'share_items'>
  principal: Principal
}

/** File of an item, as a reader of the board may see it. */
export interface ItemFile extends AuthorizedFile {
  /** The reader of the board, perhaps with a share key, or as somebody to whom the board shows the file. */
  principal: Principal
  /** Whether the reader can open the file itself; otherwise only the board shows it. */
  isOpen: boolean
}

/** Returns the id of the file of an item: its owner can have another name now. Undefined for a text. */
export function fidOfItem(
  { formerNames }: Pick<Service, 'formerNames'>,
  { plot, table, number }: BoardItem,
): Fid | undefined {
  return parseFid(formerNames.currentFid(plot ?? table ?? number ?? ''))
}

/**
 * Loads the file of an item. Undefined if the reader of the board may not see it there. A board that shares its items
 * shows files that its owner may read, but none that were made after the owner has chosen the items.
 */
export async function loadItemFile(
  readers: Readers,
  fid: Fid,
  { board, principal }: ItemViewer,
  { share_key: shareKey }: Pick<BoardItem, 'share_key'> = {},
): Promise<ItemFile | undefined> {
  const own = shareKey === undefined ? principal : { ...principal, shareKey }
  const visible = await loadVisibleFile(readers, fid, own)
  if (visible) return { ...visible, principal: own, isOpen: true }
  if (board.share_items === 0) return undefined
  const ofOwner = await loadVisibleFile(readers, fid, ownerPrincipal(board.owner))
  if (!ofOwner || ofOwner.file.creation_time > board.share_items) return undefined
  const reader = { ...own, shownFile: fid }
  const shown = await loadVisibleFile(readers, fid, reader)
  return shown && { ...shown, principal: reader, isOpen: false }
}

/** Lists the files that a board shows to its owner, but without `share_items` not to everybody. */
export async function listPrivateItems(
  service: Pick<Service, 'formerNames'>,
  readers: Readers,
  owner: string,
  items: readonly BoardItem[],
): Promise<Pick<FileRow, 'owner' | 'idlocal' | 'filename' | 'filetype'>[]> {
  const found = new Map<string, FileRow>()
  for (const item of items) {
    const fid = fidOfItem(service, item)
    if (!fid || found.has(formatFid(fid))) continue
    if (await loadVisibleFile(readers, fid, { caller: undefined, shareKey: item.share_key })) continue
    // Files in the trash can be restored.
    const visible = await loadVisibleFile(readers, fid, ownerPrincipal(owner))
    if (visible?.file.filetype === (item.plot === undefined ? 'grid' : 'plot'))
      found.set(formatFid(fid), visible.file)
  }
  return [...found.values()]
}
