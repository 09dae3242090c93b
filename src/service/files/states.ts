import { Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import type { FileRow, FileWriter } from '../store/files.ts'

/** Active → trashed, a folder with all below it; what is there already stays there. Reference section 3. */
export async function trash(files: FileWriter, file: FileRow): Promise<null> {
  if (file.trashed_at === null) await files.trash(file)
  return null
}

/**
 * Trashed → active, a folder with all that was trashed with it. Refused where its name is taken. A file
 * whose folder is in the trash, or gone, comes back into the home folder. Returns warnings.
 */
export async function restore(files: FileWriter, file: FileRow): Promise<string[]> {
  if (file.trashed_at === null) return []
  const { owner, filename } = file
  const folder = file.parent === ROOT ? undefined : await files.get(owner, file.parent)
  const parent = folder?.trashed_at === null ? folder.idlocal : ROOT
  const taken = file.filetype === 'extra' ? undefined : await files.named(owner, parent, filename)
  if (taken) throw nameConflict(file, taken)
  const double = file.filetype === 'fold' ? await files.doubleIn(file) : undefined
  if (double !== undefined)
    throw new Problem(
      'conflict',
      `cannot restore '${filename}' (${formatFid(file)}): two files in it are named '${double}', which already exists then`,
      { hint: 'Rename one of them first.' },
    )
  await files.restore(file, parent)
  return parent === file.parent ? [] : ['its folder is in the trash: it is in the home folder now']
}

function nameConflict(file: FileRow, taken: FileRow): Problem {
  return new Problem(
    'conflict',
    `cannot restore '${file.filename}' (${formatFid(file)}): a file named '${taken.filename}' (${formatFid(taken)}) already exists there`,
    { field: 'filename', hint: 'Rename one of the two first.' },
  )
}

/** Trashed → gone, a folder with all below it. */
export async function remove(files: FileWriter, file: FileRow): Promise<null> {
  if (file.trashed_at === null)
    throw new Problem('conflict', `'${file.filename}' is not in the trash`, {
      hint: 'Move it to the trash first: POST …/trash, gridline trash.',
    })
  await files.remove(file)
  return null
}
