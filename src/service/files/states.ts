import { Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import type { AuthorizedFile } from '../access/access.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { stateIn } from '../store/aggregates/folders.ts'
import type { Writers } from '../store/store.ts'

/** Moves a file to the trash; a folder with everything in it. Frees its name at once. See docs/api.md#trash. */
export async function trash(
  { files, folders }: Writers,
  { file, state }: Pick<AuthorizedFile, 'file' | 'state'>,
): Promise<null> {
  if (state === 'trashed') return null
  const { owner, idlocal } = file
  await files.change(owner, idlocal, { trashed_at: Date.now(), live_name: null })
  if (file.filetype === 'fold') await folders.tell(owner, idlocal)
  return null
}

/**
 * Restores a file from the trash; a folder with everything in it, except what was trashed on its own. Throws if the
 * name is taken. If the file's folder is in the trash or gone, the file goes to the home folder. Returns warnings.
 */
export async function restore({ files, folders }: Writers, found: AuthorizedFile): Promise<string[]> {
  if (found.state === 'active') return []
  const { file } = found
  const { owner, idlocal, filename, filetype } = file
  const isInTrash = stateIn(NOT_TRASHED, await folders.above(file)) !== 'active'
  const parent = isInTrash ? ROOT : file.parent
  const taken = filetype === 'extra' ? undefined : await files.named(owner, parent, filename)
  if (taken) throw nameConflict(file, taken)
  const live_name = filetype === 'extra' ? null : filename
  await files.change(owner, idlocal, { trashed_at: null, live_name, parent, hidden: 0 })
  if (filetype === 'fold') await folders.tell(owner, idlocal)
  return isInTrash ? ['its folder is in the trash, so it was restored to the home folder'] : []
}

/** A file that is not in the trash itself. */
const NOT_TRASHED = { trashed_at: null, removed_at: null }

function nameConflict(file: FileRow, taken: FileRow): Problem {
  return new Problem(
    'conflict',
    `cannot restore '${file.filename}' (${formatFid(file)}): a file named '${taken.filename}' (${formatFid(taken)}) already exists there`,
    { field: 'filename', hint: 'Rename one of the two first.' },
  )
}

/** Deletes a trashed file permanently; a folder with everything in it. */
export async function remove(
  { files, folders }: Writers,
  { file, state }: Pick<AuthorizedFile, 'file' | 'state'>,
): Promise<null> {
  if (state === 'active')
    throw new Problem('conflict', `'${file.filename}' is not in the trash`, {
      hint: 'Move it to the trash first, with POST …/trash or gridline trash.',
    })
  const { owner, idlocal } = file
  if (file.filetype !== 'fold') await files.removeRows(owner, [idlocal])
  else {
    await files.markRemoved(file)
    await folders.tell(owner, idlocal)
  }
  return null
}
