import type { Client } from '../client/index.ts'
import type { FileMeta } from '../contract/resources.ts'
import { childrenOf } from './lists.ts'

/** A file with the folders that it is in, below where the search began. */
export interface Found {
  file: FileMeta
  folders: string[]
}

/** A file, or for a folder everything in it at any depth: folders before what they contain. */
export async function filesBelow(client: Client, file: FileMeta, folders: string[] = []): Promise<Found[]> {
  const found: Found[] = [{ file, folders }]
  if (file.filetype !== 'fold') return found
  for (const child of await childrenOf(client, file.fid))
    found.push(...(await filesBelow(client, child, [...folders, file.filename])))
  return found
}
