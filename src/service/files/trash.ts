// Trash: moves files to it, restores them, and deletes them permanently.
import { Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import type { AuthorizedFile } from '../access/access.ts'
import { FROM_QUERY } from '../store/aggregates/derivations.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { trashStateOf } from '../store/aggregates/folders.ts'
import type { Writers } from '../store/store.ts'

/** Moves a file or a folder with its content to the trash. Frees its name at once. See docs/api.md#trash. */
export async function trashFile(
  { files, folders }: Writers,
  { file, state }: Pick<AuthorizedFile, 'file' | 'state'>,
): Promise<null> {
  if (state === 'trashed') return null
  const { owner, idlocal } = file
  await files.change(owner, idlocal, { trashed_at: Date.now(), live_name: null })
  if (file.filetype === 'fold') await folders.propagateState(owner, idlocal)
  return null
}

/**
 * Restores a file from the trash; a folder with its content, except files that were trashed individually.
 * Throws if the name is taken. A file whose folder is trashed or deleted is restored to the home folder.
 * Returns warnings.
 */
export async function restoreFile(
  { files, folders, jobs }: Writers,
  access: AuthorizedFile,
): Promise<string[]> {
  if (access.state === 'active') return []
  const { file } = access
  const { owner, idlocal, filename, filetype } = file
  const isInTrash = trashStateOf(NOT_TRASHED, await folders.loadAncestors(file)) !== 'active'
  const parent = isInTrash ? ROOT : file.parent
  const existing = filetype === 'extra' ? undefined : await files.findByName(owner, parent, filename)
  if (existing) throw nameConflict(file, existing)
  const live_name = filetype === 'extra' ? null : filename
  await files.change(owner, idlocal, { trashed_at: null, live_name, parent, hidden: 0 })
  if (filetype === 'fold') await folders.propagateState(owner, idlocal)
  // It was not refreshed in the trash.
  if (file.derived === FROM_QUERY) await jobs.scheduleRefresh(file)
  return isInTrash ? ['its folder is in the trash, so it was restored to the home folder'] : []
}

/** State fields of a file that is not itself in the trash. */
const NOT_TRASHED = { trashed_at: null, removed_at: null }

function nameConflict(file: FileRow, existing: FileRow): Problem {
  return new Problem(
    'conflict',
    `cannot restore '${file.filename}' (${formatFid(file)}): a file named '${existing.filename}' (${formatFid(existing)}) already exists there`,
    { field: 'filename', hint: 'Rename one of the two first.' },
  )
}

/** Permanently deletes a trashed file; a folder with its content. */
export async function deleteFile(
  { files, folders }: Writers,
  { file, state }: Pick<AuthorizedFile, 'file' | 'state'>,
): Promise<null> {
  if (state === 'active')
    throw new Problem('conflict', `'${file.filename}' is not in the trash`, {
      hint: 'Move it to the trash first, with POST …/trash or gridline trash.',
    })
  const { owner, idlocal } = file
  if (file.filetype !== 'fold') await files.deleteRows(owner, [idlocal])
  else {
    await files.markDeleted(file)
    await folders.propagateState(owner, idlocal)
  }
  return null
}
