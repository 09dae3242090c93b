/** The numbers of a board in words, for mails. */
import { Problem } from '../../../contract/errors.ts'
import { WorkBudget } from '../../../json/index.ts'
import type { Principal } from '../../access/access.ts'
import { listItems, parseBoard, toNode } from '../../boards/content.ts'
import { parseRowFilter } from '../../boards/filters.ts'
import { fidOfItem } from '../../boards/item-files.ts'
import { loadBoardText } from '../../boards/load.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { createLiveReader } from './board-items.ts'
import { describeNumber } from './board-number.ts'
import type { SortingService } from './grid-page.ts'

/** Maximum number of numbers in a mail. */
const MAX_NUMBERS = 30

/** Describes the numbers of a board, as a user may see them, one text each. Those that cannot be read are left out. */
export async function describeNumbers(
  service: SortingService,
  principal: Principal,
  board: FileRow,
  query: URLSearchParams,
  user: string,
): Promise<string[]> {
  const stored = parseBoard(await loadBoardText(service, board))
  const work = new WorkBudget(service.limits)
  const filter = parseRowFilter(stored, query)
  const live = {
    service,
    principal,
    file: board,
    filter,
    version: undefined,
    scheme: 'light',
    isFollowed: false,
  } as const
  const reader = createLiveReader(live, user, work)
  const numbers = listItems(toNode(stored)).filter(({ number }) => number !== undefined)
  const texts: string[] = []
  for (const item of numbers.slice(0, MAX_NUMBERS)) {
    const fid = fidOfItem(service, item)
    if (!fid || performance.now() > reader.deadline) continue
    try {
      texts.push(
        await service.orders.runInSlot(user, () => describeNumber(reader, item, fid), work.isAborted),
      )
    } catch (error) {
      // The picture says why.
      if (!(error instanceof Problem)) throw error
    }
  }
  return texts
}
