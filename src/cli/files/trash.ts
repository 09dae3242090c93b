// Lists the trash.
import type { Client } from '../../client/index.ts'
import { undefinedIfNotFound } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { loadPages, PAGE_ITEMS } from './pages.ts'

/** Trashed file with the path of its former folder; undefined if that was deleted. */
export interface TrashedFile {
  file: FileMeta
  folder: string | undefined
}

/** Lists trashed files, optionally only names accepted by `isMeant`. */
export async function listTrashedFiles(
  client: Client,
  isMatch: (name: string) => boolean = () => true,
  maxFiles?: number,
): Promise<TrashedFile[]> {
  const all = await loadPages(
    async (cursor) =>
      (await client.call('folders.trashed', { query: { page_size: PAGE_ITEMS, cursor } })).children,
    maxFiles,
  )
  const folders = new Map<string, string | undefined>()
  const results: TrashedFile[] = []
  for (const file of all.filter(({ filename }) => isMatch(filename))) {
    const fid = `${file.owner}:${file.parent}`
    if (!folders.has(fid)) folders.set(fid, file.parent === ROOT ? '' : await loadFolderPath(client, fid))
    results.push({ file, folder: folders.get(fid) })
  }
  return results
}

/** Returns the path of a folder; undefined if it does not exist. */
async function loadFolderPath(client: Client, fid: string): Promise<string | undefined> {
  const result = await undefinedIfNotFound(client.call('files.path', { fid }))
  return result?.path.replace(/^\/|\/$/g, '')
}
