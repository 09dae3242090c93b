/** Finds the files that the items of a board show, with the rights of its reader. See docs/boards.md#sharing. */
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { BoardItem } from '../../contract/resources/index.ts'
import { type AuthorizedFile, loadVisibleFile, ownerPrincipal, type Principal } from '../access/access.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers } from '../store/store.ts'

/** A reader of a board. */
export interface ItemViewer {
  board: Pick<FileRow, 'owner' | 'share_items'>
  principal: Principal
}

/** File of an item, as a reader of the board may see it. */
export interface ItemFile extends AuthorizedFile {
  /** Reads it: the reader of the board, perhaps with a share key; or the owner of the board. */
  principal: Principal
  /** Whether the reader can open the file itself; otherwise only the board shows it. */
  isOpen: boolean
}

/** Loads the file of an item. Undefined if the reader of the board may not see it there. */
export async function loadItemFile(
  readers: Readers,
  fid: Fid,
  { board, principal }: ItemViewer,
  { share_key: shareKey }: Pick<BoardItem, 'share_key'> = {},
): Promise<ItemFile | undefined> {
  const own = shareKey === undefined ? principal : { ...principal, shareKey }
  const visible = await loadVisibleFile(readers, fid, own)
  if (visible) return { ...visible, principal: own, isOpen: true }
  if (board.share_items !== 1) return undefined
  const owner = { ...ownerPrincipal(board.owner), isAborted: principal.isAborted }
  const shown = await loadVisibleFile(readers, fid, owner)
  return shown && { ...shown, principal: owner, isOpen: false }
}

/** Lists the files that a board shows to its owner, but without `share_items` not to everybody. */
export async function listPrivateItems(
  readers: Readers,
  owner: string,
  items: readonly BoardItem[],
): Promise<Pick<FileRow, 'owner' | 'idlocal' | 'filename' | 'filetype'>[]> {
  const found = new Map<string, FileRow>()
  for (const { plot, table, number, share_key: shareKey } of items) {
    const fid = parseFid(plot ?? table ?? number ?? '')
    if (!fid || found.has(formatFid(fid))) continue
    if (await loadVisibleFile(readers, fid, { caller: undefined, shareKey })) continue
    const visible = await loadVisibleFile(readers, fid, ownerPrincipal(owner))
    if (visible?.state === 'active') found.set(formatFid(fid), visible.file)
  }
  return [...found.values()]
}
