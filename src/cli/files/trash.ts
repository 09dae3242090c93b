import type { Client } from '../../client/index.ts'
import { ifFound } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { PAGE_ITEMS, pages } from './lists.ts'

/** A trashed file, and the path of the folder it was in; undefined if that no longer exists. */
export interface Trashed {
  file: FileMeta
  folder: string | undefined
}

/** Trashed files whose names match, or all. */
export async function trashedFiles(
  client: Client,
  isMeant: (name: string) => boolean = () => true,
  most?: number,
): Promise<Trashed[]> {
  const all = await pages(
    async (cursor) =>
      (await client.call('folders.trashed', { query: { page_size: PAGE_ITEMS, cursor } })).children,
    most,
  )
  const folders = new Map<string, string | undefined>()
  const found: Trashed[] = []
  for (const file of all.filter(({ filename }) => isMeant(filename))) {
    const fid = `${file.owner}:${file.parent}`
    if (!folders.has(fid)) folders.set(fid, file.parent === ROOT ? '' : await pathOfFolder(client, fid))
    found.push({ file, folder: folders.get(fid) })
  }
  return found
}

async function pathOfFolder(client: Client, fid: string): Promise<string | undefined> {
  const found = await ifFound(client.call('files.path', { fid }))
  return found?.path.replace(/^\/|\/$/g, '')
}
