// Lists folders recursively.
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { defaultLimits } from '../../contract/limits.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { listChildren } from './pages.ts'

/** File with its folders, relative to the start of the listing. */
export interface TreeEntry {
  file: FileMeta
  folders: string[]
}

/** Lists a file, or for folders everything below: folders before their content. */
export async function listTree(
  client: Client,
  file: FileMeta,
  folders: string[] = [],
  ancestors: readonly string[] = [],
): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [{ file, folders }]
  if (file.filetype !== 'fold') return entries
  // A malicious server could return endless folders.
  if (ancestors.includes(file.fid) || ancestors.length >= defaultLimits.path_depth)
    throw new Problem('failed', `invalid response: the folder ${file.fid} contains itself`)
  for (const child of await listChildren(client, file.fid))
    entries.push(...(await listTree(client, child, [...folders, file.filename], [...ancestors, file.fid])))
  return entries
}
