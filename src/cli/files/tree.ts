import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { defaultLimits } from '../../contract/limits.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { childrenOf } from './lists.ts'

/** A file with the folders that it is in, below where the search began. */
export interface Found {
  file: FileMeta
  folders: string[]
}

/** A file, or for a folder everything in it at any depth: folders before what they contain. */
export async function filesBelow(
  client: Client,
  file: FileMeta,
  folders: string[] = [],
  above: readonly string[] = [],
): Promise<Found[]> {
  const found: Found[] = [{ file, folders }]
  if (file.filetype !== 'fold') return found
  // No folder contains itself; a server that says so would never end.
  if (above.includes(file.fid) || above.length >= defaultLimits.path_depth)
    throw new Problem('failed', `the server says that the folder ${file.fid} contains itself`)
  for (const child of await childrenOf(client, file.fid))
    found.push(...(await filesBelow(client, child, [...folders, file.filename], [...above, file.fid])))
  return found
}
