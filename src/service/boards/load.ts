/** Loads and stores the content of boards. */
import { Problem } from '../../contract/errors.ts'
import type { Board } from '../../contract/resources/index.ts'
import type { AuthorizedFile } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed, storeCompressed } from '../store/aggregates/slice-json.ts'
import type { FileKey } from '../store/schema/file-key.ts'
import { parseBoard } from './content.ts'

export const BOARD_MEDIA_TYPE = 'application/json'

/**
 * Loads the content of a board as JSON text. Access must have been checked. Only writers get the file that it was made
 * from: it can have comments, and names of files that readers do not know.
 */
export async function loadBoardContent(
  service: Pick<Service, 'store'>,
  { file, permission }: Pick<AuthorizedFile, 'file' | 'permission'>,
): Promise<string> {
  const text = await loadBoardText(service, file)
  if (permission !== 'read' || !text.includes('"source"')) return text
  const board = parseBoard(text)
  const rows = board.settings.board as Board | undefined
  if (!rows) return text
  const { source: _, ...shown } = rows
  return JSON.stringify({ ...board, settings: { ...board.settings, board: shown } })
}

/** Stores the text of a board, to which nothing refers yet. */
export function storeBoardText({ store }: Pick<Service, 'store'>, owner: string, text: string) {
  return storeCompressed(store.blobs, owner, 1, Buffer.from(text))
}

/** Loads the content of a board as it is stored. */
export async function loadBoardText(
  { store }: Pick<Service, 'store'>,
  { owner, idlocal }: FileKey,
): Promise<string> {
  const content = await store.read(({ plots }) => plots.getContent(owner, idlocal))
  if (!content) throw new Problem('damaged', 'the content of this board is missing')
  return (await loadDecompressed(store.blobs, storedContentOf(content))).toString('utf8')
}
