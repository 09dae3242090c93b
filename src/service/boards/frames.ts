/** Signed texts with which the charts of a board are opened in its frames: what the board shows of them, and to whom. */
import { createHash } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import { loadVisibleFile, ownerPrincipal, type Principal, type RowFilter } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { listItems, parseBoard, toNode } from './content.ts'
import { filtersOf } from './filters.ts'
import { fidOfItem, loadItemFile } from './item-files.ts'
import { loadBoardText } from './load.ts'

const SIGNATURE_PURPOSE = 'row filter'

/** Query parameter of a signed text, in the frame of a chart. */
export const FRAME_TOKEN = 'rows'

/** A chart of a board, and the values that it is filtered by, until a time in ms since 1970. */
interface SignedFrame {
  board: string
  plot: string
  filter: RowFilter
  until: number
  /** Hash of the share key that the board was opened with. */
  key?: string
}

const DAY_MS = 24 * 3600_000

/**
 * Signs what a frame of a board shows: other values than those of its filters would tell of data it does not show. The
 * text is the same for a day, so that frames need not load again.
 */
export function signFrame(
  { cursors }: Service,
  board: Fid,
  { plot, filter, principal }: { plot: Fid; filter: RowFilter; principal: Principal },
): Promise<string> {
  const until = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS
  const key = principal.shareKey === undefined ? undefined : hashKey(principal.shareKey)
  const signed: SignedFrame = { board: formatFid(board), plot: formatFid(plot), filter, until, key }
  return cursors.sign(signed, SIGNATURE_PURPOSE)
}

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}

/** Reader of a chart in a frame. */
interface FrameReader {
  reader: Principal
  /** Whether only the board shows the chart to them. */
  isOfBoard: boolean
}

/**
 * Returns who reads the chart of a frame: `principal`, with the filter of the signed text, and to whom the board shows
 * the chart if it shares its items. Throws `not_found` if the text has expired, or if the board does not show this any
 * more: the chart must not show all rows instead.
 */
export async function resolveFrame(
  service: Service,
  text: string | null,
  plot: Fid,
  principal: Principal,
): Promise<FrameReader> {
  if (text === null) return { reader: principal, isOfBoard: false }
  const signed = await service.cursors.tryVerify<SignedFrame>(text, SIGNATURE_PURPOSE)
  const board = signed && (await loadFrameBoard(service, signed, plot))
  if (!board || !signed.filter.every(({ column }) => board.columns.has(column)))
    throw new Problem('not_found', 'this chart has changed or is not shared any more; load the board again')
  const { file } = board
  const filter = signed.filter.length > 0 && { rowFilter: signed.filter }
  const item = await service.store.read(async (readers) => {
    const isKey = file.share_key !== null && signed.key === hashKey(file.share_key)
    const viewer = { caller: principal.caller, ...(isKey && { shareKey: file.share_key! }) }
    const found = await loadItemFile(readers, plot, { board: file, principal })
    return found?.isOpen || (await loadVisibleFile(readers, file, viewer)) ? found : undefined
  })
  if (!item || item.isOpen) return { reader: { ...principal, ...filter }, isOfBoard: false }
  return { reader: { ...item.principal, ...filter }, isOfBoard: true }
}

/** Returns the board of a frame, and the columns by which it filters; undefined if it does not show the plot. */
async function loadFrameBoard(
  service: Service,
  { board: boardFid, plot: plotFid, filter, until }: SignedFrame,
  plot: Fid,
): Promise<{ file: FileRow; columns: Set<string> } | undefined> {
  const fid = parseFid(boardFid)
  if (!fid || plotFid !== formatFid(plot) || !(until > Date.now())) return undefined
  if (filter.length > 0 && fid.owner !== plot.owner) return undefined
  const visible = await service.store.read((readers) =>
    loadVisibleFile(readers, fid, ownerPrincipal(fid.owner)),
  )
  if (visible?.state !== 'active' || visible.file.filetype !== 'dashboard') return undefined
  const { file } = visible
  const board = parseBoard(await loadBoardText(service, file))
  const isShown = listItems(toNode(board)).some((item) => {
    const shown = item.plot === undefined ? undefined : fidOfItem(service, item)
    return shown && formatFid(shown) === plotFid
  })
  return isShown ? { file, columns: new Set(filtersOf(board).map(({ column }) => column)) } : undefined
}
