import type { CursorSigner } from './cursors.ts'

/** Where a page starts: after the item with this key or, backwards, before it. The form of all cursors. */
export interface Position<K> {
  key: K
  backwards: boolean
}

/** Positions in one list as cursors. A cursor is valid for the list named `list` only. */
export class ListCursors<K> {
  constructor(
    private readonly signer: CursorSigner,
    private readonly list: string,
  ) {}

  /** The position of a cursor; undefined without one. Throws `invalid_request` for a cursor of another list. */
  async position(cursor: string | undefined): Promise<Position<K> | undefined> {
    return cursor === undefined ? undefined : this.signer.verify<Position<K>>(cursor, this.list)
  }

  cursor(key: K, backwards = false): Promise<string> {
    return this.signer.sign({ key, backwards } satisfies Position<K>, this.list)
  }
}

/** A page of a list, in the order of the list. */
export interface PageOf<T> {
  items: T[]
  /** The item after which the next page starts; undefined on the last page. */
  next: T | undefined
  /** The item before which the previous page ends; undefined on the first page. */
  previous: T | undefined
}

/** A page of `size` items from up to `size + 1` found at a position, in the direction they were read. */
export function pageOf<T>(found: readonly T[], size: number, from: Position<unknown> | undefined): PageOf<T> {
  const items = found.slice(0, size)
  const more = found.length > size
  const backwards = from?.backwards === true
  if (backwards) items.reverse()
  return {
    items,
    next: backwards || more ? items.at(-1) : undefined,
    previous: (backwards ? more : from !== undefined) ? items[0] : undefined,
  }
}

/** The URL of a page of a list. Parameters that are undefined are left out; arrays are repeated. */
export function pageUrl(url: string, path: string, query: Record<string, unknown>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) parameters.append(name, String(one))
  return `${url}${path}?${parameters}`
}
