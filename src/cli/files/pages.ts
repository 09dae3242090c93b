// Reads lists of files, page by page.
import type { Client } from '../../client/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'

/** Number of items per request. */
export const PAGE_ITEMS = 500

/** Loads all pages of a list, up to `most` items. */
export async function loadPages<T>(
  loadPage: (cursor: string | undefined) => Promise<{ results: T[]; next: string | null }>,
  maxItems = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = []
  for (let cursor: string | undefined; ; ) {
    const { results, next } = await loadPage(cursor)
    all.push(...results)
    cursor = next === null ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined)
    if (cursor === undefined || all.length >= maxItems) return all.slice(0, maxItems)
  }
}

/** Lists the files of a folder; of the home folder if `fid` is undefined. */
export async function listChildren(client: Client, fid: string | undefined): Promise<FileMeta[]> {
  return loadPages(async (cursor) => {
    const query = { page_size: PAGE_ITEMS, cursor }
    const folder =
      fid === undefined
        ? await client.call('folders.home', { query })
        : await client.call('folders.get', { fid, query })
    return folder.children!
  })
}
