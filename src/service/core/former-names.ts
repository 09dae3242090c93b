// Replaces former usernames in requests by current ones, so that old links, keys and scripts keep working.
import { formatFid, parseFid } from '../../contract/fid.ts'
import type { Store } from '../store/store.ts'

/** Time for which names are cached, in ms. */
const FRESH_MS = 2000

/** Cache of former usernames. */
export class FormerNames {
  private names: ReadonlyMap<string, string> = new Map()
  private readUntil = 0

  constructor(private readonly store: Store) {}

  /** Loads the names again if the cache has expired. */
  async refresh(): Promise<void> {
    if (performance.now() < this.readUntil) return
    // Concurrent requests use the cached names.
    this.readUntil = performance.now() + FRESH_MS
    const rows = await this.store.read(({ accounts }) => accounts.formerNames()).catch(() => undefined)
    // If the database is down, requests fail by themselves.
    if (!rows) return
    this.names = new Map(rows.map(({ name, owner }) => [name, owner]))
  }

  /** Returns the current name of a user. */
  current(name: string): string {
    return this.names.get(name) ?? name
  }

  /** Returns a fid or an `owner:id:uid` reference with the owner's current name. */
  inFid(text: string): string {
    if (this.names.size === 0) return text
    const end = text.indexOf(':')
    return end <= 0 ? text : this.current(text.slice(0, end)) + text.slice(end)
  }

  /** Returns a query string with the current name in `user`. */
  inQuery(query: string): string {
    if (this.names.size === 0 || !query.includes('user=')) return query
    const parameters = new URLSearchParams(query)
    const user = parameters.get('user')
    if (user === null || !this.names.has(user)) return query
    parameters.set('user', this.current(user))
    return String(parameters)
  }

  /** Returns a path with current names: `/~alice/3`, `/v2/grids/alice:3/…` and `/v2/users/alice`. */
  inPath(path: string): string {
    if (this.names.size === 0) return path
    const parts = path.split('/')
    return parts
      .map((part, k) => {
        if (k === 1 && part.startsWith('~')) return `~${this.current(part.slice(1))}`
        if (k === 3 && parts[2] === 'users') return this.current(part)
        const fid = k === 3 && parts[1] === 'v2' ? parseFid(part) : undefined
        return fid ? formatFid({ ...fid, owner: this.current(fid.owner) }) : part
      })
      .join('/')
  }
}
