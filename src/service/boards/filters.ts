/** Filters of boards: columns by whose values readers can filter all items. See docs/boards.md#filters. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { BoardFilter } from '../../contract/resources/index.ts'
import { ownerPrincipal, type RowFilter, resolveVisibleFile } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { listItems, parseBoard, type StoredBoard, toNode } from './content.ts'
import { loadBoardText } from './load.ts'

const SIGNATURE_PURPOSE = 'row filter'
/** Maximum length of a value, in characters. */
const MAX_VALUE_CHARACTERS = 1000

/** Query parameter of a signed filter, in the frame of a plot. */
export const FILTER_TOKEN = 'rows'

/** Prefix of the query parameters of filters: `filter.city=Oslo`. */
export const FILTER_PREFIX = 'filter.'

/** Returns the filters that a board offers. */
export function filtersOf({ settings }: StoredBoard): readonly BoardFilter[] {
  return (settings.board as { filters?: BoardFilter[] } | undefined)?.filters ?? []
}

/** Returns the filter that a query asks for, of those that the board offers; its defaults for the others. */
export function parseRowFilter(board: StoredBoard, query: URLSearchParams): RowFilter {
  return filtersOf(board).flatMap(({ column, default: preset = '' }) => {
    const value = (query.get(FILTER_PREFIX + column) ?? preset).slice(0, MAX_VALUE_CHARACTERS)
    return value === '' ? [] : [{ column, value }]
  })
}

/** A filter of a board, for one of its plots, until a time in ms since 1970. */
interface SignedFilter {
  board: string
  plot: string
  filter: RowFilter
  until: number
}

const DAY_MS = 24 * 3600_000

/**
 * Signs a filter for the frame of a plot: others than those that the board offers would tell of data it does not show.
 * The text is the same for a day, so that frames need not load again.
 */
export function signRowFilter(
  { cursors }: Service,
  board: Fid,
  plot: Fid,
  filter: RowFilter,
): Promise<string> {
  const until = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS
  const signed: SignedFilter = { board: formatFid(board), plot: formatFid(plot), filter, until }
  return cursors.sign(signed, SIGNATURE_PURPOSE)
}

/**
 * Returns the filter of a signed text; undefined without one. Throws `not_found` if it has expired, or if the board does
 * not offer it for this plot any more: the plot must not show all rows instead.
 */
export async function resolveRowFilter(
  service: Service,
  text: string | null,
  plot: Fid,
): Promise<RowFilter | undefined> {
  if (text === null) return undefined
  const signed = await service.cursors.tryVerify<SignedFilter>(text, SIGNATURE_PURPOSE)
  const offered = signed && (await findOffered(service, signed, plot))
  if (!offered || !signed.filter.every(({ column }) => offered.has(column)))
    throw new Problem('not_found', 'the filter of this chart has ended; load the board again')
  return signed.filter
}

/** Returns the columns by which a board filters a plot; undefined if it does not show the plot. */
async function findOffered(
  service: Service,
  { board: boardFid, plot: plotFid, until }: SignedFilter,
  plot: Fid,
): Promise<Set<string> | undefined> {
  const fid = parseFid(boardFid)
  if (!fid || plotFid !== formatFid(plot) || fid.owner !== plot.owner || !(until > Date.now()))
    return undefined
  const file = await service.store.read(async (readers) => {
    const row = await readers.files.get(fid.owner, fid.idlocal)
    const visible = row && (await resolveVisibleFile(readers, row, ownerPrincipal(fid.owner)))
    return visible?.state === 'active' && row?.filetype === 'dashboard' ? row : undefined
  })
  if (!file) return undefined
  const board = parseBoard(await loadBoardText(service, file))
  const isShown = listItems(toNode(board)).some((item) => {
    const shown = item.plot && parseFid(service.formerNames.currentFid(item.plot))
    return shown && formatFid(shown) === plotFid
  })
  return isShown ? new Set(filtersOf(board).map(({ column }) => column)) : undefined
}

/**
 * Throws `forbidden` if somebody else than its owner changes what the filters of a board tell: they are answered with
 * the rights of the owner.
 */
export function assertOwnFilters(before: StoredBoard, after: StoredBoard): void {
  const [old, next] = [filtersOf(before), filtersOf(after)]
  if (old.length === 0 && next.length === 0) return
  const plotsOf = (board: StoredBoard) => new Set(listItems(toNode(board)).flatMap(({ plot }) => plot ?? []))
  const known = plotsOf(before)
  const isNew = next.length > 0 && [...plotsOf(after)].some((plot) => !known.has(plot))
  const isSame = next.every(({ column }) => old.some((one) => one.column === column))
  if (isNew || !isSame)
    throw new Problem(
      'forbidden',
      'only the owner of a board can add filters, or charts to a board with filters',
      {
        hint: 'Ask its owner, or copy the board.',
      },
    )
}
