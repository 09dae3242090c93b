// Replaces former usernames in requests by current ones, so that old links, keys and scripts keep working.
import { formatFid, parseFid } from '../../contract/fid.ts'
import type { Store } from '../store/store.ts'
import { waitAtMost } from './wait-at-most.ts'

/** Time for which names are cached, in ms. */
const CACHE_MS = 2000
/** Time that a request waits for names once they are known, in ms: not all requests need the database. */
const MAX_WAIT_MS = 5000

/** Cache of former usernames. */
export class FormerNames {
  private names: ReadonlyMap<string, string> = new Map()
  private expiresAt = 0
  /** Number of the last load, and of the last one that has ended. */
  private begun = 0
  private loaded = 0

  constructor(private readonly store: Store) {}

  /** Loads the names again if the cache has expired. */
  async refresh(): Promise<void> {
    if (performance.now() < this.expiresAt) return
    // Concurrent requests use the cached names.
    this.expiresAt = performance.now() + CACHE_MS
    const loading = this.load()
    await (this.loaded === 0 ? loading : waitAtMost(MAX_WAIT_MS, loading, undefined))
  }

  private async load(): Promise<void> {
    const number = ++this.begun
    const rows = await this.store.read(({ accounts }) => accounts.listFormerNames()).catch(() => undefined)
    // If the database is down, requests fail by themselves.
    if (!rows || number < this.loaded) return
    this.loaded = number
    this.names = new Map(rows.map(({ name, owner }) => [name, owner]))
  }

  /** Returns the current name of a user. */
  currentName(name: string): string {
    return this.names.get(name) ?? name
  }

  /** Returns a fid or an `owner:id:uid` reference with the owner's current name. */
  currentFid(text: string): string {
    if (this.names.size === 0) return text
    const end = text.indexOf(':')
    return end <= 0 ? text : this.currentName(text.slice(0, end)) + text.slice(end)
  }

  /** Returns a query string with current names, in `user` and in ids of files. */
  currentQuery(query: string): string {
    if (this.names.size === 0 || !/(?:^|&)(?:user|fid|base)=/.test(query)) return query
    const given = [...new URLSearchParams(query)]
    const current = given.map(([name, value]): [string, string] => {
      if (name === 'user') return [name, this.currentName(value)]
      return [name, name === 'fid' || name === 'base' ? this.currentFid(value) : value]
    })
    return current.some(([, value], k) => value !== given[k][1])
      ? String(new URLSearchParams(current))
      : query
  }

  /** Returns a path with current names: `/~alice/3`, `/v2/grids/alice:3/…` and `/v2/users/alice`. */
  currentPath(path: string): string {
    if (this.names.size === 0) return path
    const parts = path.split('/')
    return parts
      .map((part, k) => {
        if (k === 1 && part.startsWith('~')) return `~${this.currentName(part.slice(1))}`
        if (k === 3 && parts[2] === 'users') return this.currentName(part)
        const fid = k === 3 && parts[1] === 'v2' ? parseFid(part) : undefined
        return fid ? formatFid({ ...fid, owner: this.currentName(fid.owner) }) : part
      })
      .join('/')
  }
}
