import type { Client } from '../../client/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'

/** Items that the command line asks for in one page of a list. */
export const PAGE_ITEMS = 500

/** The results of all pages of a list, up to `most`. */
export async function pages<T>(
  read: (cursor: string | undefined) => Promise<{ results: T[]; next: string | null }>,
  most = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = []
  for (let cursor: string | undefined; ; ) {
    const { results, next } = await read(cursor)
    all.push(...results)
    cursor = next === null ? undefined : (new URL(next).searchParams.get('cursor') ?? undefined)
    if (cursor === undefined || all.length >= most) return all.slice(0, most)
  }
}

/** All files of a folder, or of the home folder if `fid` is undefined. */
export async function childrenOf(client: Client, fid: string | undefined): Promise<FileMeta[]> {
  return pages(async (cursor) => {
    const query = { page_size: PAGE_ITEMS, cursor }
    const folder =
      fid === undefined
        ? await client.call('folders.home', { query })
        : await client.call('folders.get', { fid, query })
    return folder.children!
  })
}
