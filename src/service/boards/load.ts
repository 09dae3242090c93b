/** Loads the content of boards. */
import { Problem } from '../../contract/errors.ts'
import type { Service } from '../core/context.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed } from '../store/aggregates/slice-json.ts'
import type { FileKey } from '../store/schema/file-key.ts'

/** Loads the content of a board as JSON text. Access must have been checked. */
export async function loadBoardText(
  { store }: Pick<Service, 'store'>,
  { owner, idlocal }: FileKey,
): Promise<string> {
  const content = await store.read(({ plots }) => plots.getContent(owner, idlocal))
  if (!content) throw new Problem('damaged', 'the content of this board is missing')
  return (await loadDecompressed(store.blobs, storedContentOf(content))).toString('utf8')
}
