// Pages of lists, and their cursors.
import type { CursorSigner } from './cursors.ts'

/** Start of a page: after the item with this key, or before it if `backwards`. */
export interface Position<K> {
  key: K
  backwards: boolean
}

/** Positions in one list as cursors. A cursor is valid only for the list named `list`. */
export class ListCursors<K> {
  constructor(
    private readonly signer: CursorSigner,
    private readonly list: string,
  ) {}

  /** Returns the position of a cursor; undefined without one. Throws `invalid_request` for other lists. */
  async parse(cursor: string | undefined): Promise<Position<K> | undefined> {
    return cursor === undefined ? undefined : this.signer.verify<Position<K>>(cursor, this.list)
  }

  /** Returns a signed cursor for a position. */
  format(key: K, backwards = false): Promise<string> {
    return this.signer.sign({ key, backwards } satisfies Position<K>, this.list)
  }
}

/** Page of a list, in list order. */
export interface PageOf<T> {
  items: T[]
  /** Last item of the page, if there is a next page. */
  next: T | undefined
  /** First item of the page, if there is a previous page. */
  previous: T | undefined
}

/** Creates a page of `size` items from up to `size + 1` items, which are in the order they were read. */
export function createPage<T>(
  rows: readonly T[],
  size: number,
  from: Position<unknown> | undefined,
): PageOf<T> {
  const items = rows.slice(0, size)
  const hasMore = rows.length > size
  const backwards = from?.backwards === true
  if (backwards) items.reverse()
  return {
    items,
    next: backwards || hasMore ? items.at(-1) : undefined,
    previous: (backwards ? hasMore : from !== undefined) ? items[0] : undefined,
  }
}

/** Returns the URL of a page. Undefined parameters are left out; array items become repeated parameters. */
export function formatPageUrl(url: string, path: string, query: Record<string, unknown>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const item of [value].flat()) if (item !== undefined) parameters.append(name, String(item))
  return `${url}${path}?${parameters}`
}
