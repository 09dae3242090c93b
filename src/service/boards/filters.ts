/** Filters of boards: columns by whose values readers can filter all items. See docs/boards.md#filters. */
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { BoardFilter } from '../../contract/resources/index.ts'
import { ownerPrincipal, type RowFilter, resolveVisibleFile } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { parseBoard, type StoredBoard } from './content.ts'
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

/** A filter of a board, for one of its plots. */
interface SignedFilter {
  board: string
  plot: string
  filter: RowFilter
}

/** Signs a filter for the frame of a plot: others than those that the board offers would tell of data it does not show. */
export function signRowFilter(
  { cursors }: Service,
  board: Fid,
  plot: Fid,
  filter: RowFilter,
): Promise<string> {
  return cursors.sign(
    { board: formatFid(board), plot: formatFid(plot), filter } satisfies SignedFilter,
    SIGNATURE_PURPOSE,
  )
}

/** Returns the filter of a signed text, if the board still offers it for this plot; otherwise none. */
export async function resolveRowFilter(
  service: Service,
  text: string | null,
  plot: Fid,
): Promise<RowFilter | undefined> {
  const signed =
    text === null ? undefined : await service.cursors.tryVerify<SignedFilter>(text, SIGNATURE_PURPOSE)
  const board = parseFid(signed?.board ?? '')
  if (!signed || !board || signed.plot !== formatFid(plot)) return undefined
  const file = await service.store.read(async (readers) => {
    const row = await readers.files.get(board.owner, board.idlocal)
    const visible = row && (await resolveVisibleFile(readers, row, ownerPrincipal(board.owner)))
    return visible?.state === 'active' && row?.filetype === 'dashboard' ? row : undefined
  })
  if (!file || file.owner !== plot.owner) return undefined
  const offered = new Set(
    filtersOf(parseBoard(await loadBoardText(service, file))).map(({ column }) => column),
  )
  return signed.filter.every(({ column }) => offered.has(column)) ? signed.filter : undefined
}
