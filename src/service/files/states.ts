import { Problem } from '../../contract/errors.ts'
import { formatFid, ROOT } from '../../contract/fid.ts'
import type { FileRow, FileWriter } from '../store/files.ts'

/** Moves a file to the trash; a folder with everything active below it. See docs/api.md#trash. */
export async function trash(files: FileWriter, file: FileRow): Promise<null> {
  if (file.trashed_at === null) await files.trash(file)
  return null
}

/**
 * Restores a file from the trash; a folder with everything that was trashed with it. Throws if the name is
 * taken. If the file's folder is trashed or gone, the file goes to the home folder. Returns warnings.
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
      `cannot restore '${filename}' (${formatFid(file)}): two files in it are named '${double}', so that name already exists`,
      { hint: 'Rename one of them first.' },
    )
  await files.restore(file, parent)
  return parent === file.parent ? [] : ['its folder is in the trash, so it was restored to the home folder']
}

function nameConflict(file: FileRow, taken: FileRow): Problem {
  return new Problem(
    'conflict',
    `cannot restore '${file.filename}' (${formatFid(file)}): a file named '${taken.filename}' (${formatFid(taken)}) already exists there`,
    { field: 'filename', hint: 'Rename one of the two first.' },
  )
}

/** Deletes a trashed file permanently; a folder with everything below it. */
export async function remove(files: FileWriter, file: FileRow): Promise<null> {
  if (file.trashed_at === null)
    throw new Problem('conflict', `'${file.filename}' is not in the trash`, {
      hint: 'Move it to the trash first, with POST …/trash or gridline trash.',
    })
  await files.remove(file)
  return null
}
