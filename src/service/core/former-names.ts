import { formatFid, parseFid } from '../../contract/fid.ts'
import type { Store } from '../store/store.ts'

/** How long names are kept before they are read again, in ms. */
const FRESH_MS = 2000

/** The names that users had before they were renamed: links, keys and scripts with them still work. */
export class FormerNames {
  private names: ReadonlyMap<string, string> = new Map()
  private readUntil = 0

  constructor(private readonly store: Store) {}

  /** Reads the names again if that was long ago. */
  async refresh(): Promise<void> {
    if (performance.now() < this.readUntil) return
    // Requests that come meanwhile use the names from before.
    this.readUntil = performance.now() + FRESH_MS
    const rows = await this.store.read(({ accounts }) => accounts.formerNames()).catch(() => undefined)
    // Without the database, requests fail by themselves.
    if (!rows) return
    this.names = new Map(rows.map(({ name, owner }) => [name, owner]))
  }

  /** The present name of a user. */
  current(name: string): string {
    return this.names.get(name) ?? name
  }

  /** A fid or `owner:id:uid` reference with the present name. */
  inFid(text: string): string {
    if (this.names.size === 0) return text
    const end = text.indexOf(':')
    return end <= 0 ? text : this.current(text.slice(0, end)) + text.slice(end)
  }

  /** A query whose `user` has the present name. */
  inQuery(query: string): string {
    if (this.names.size === 0 || !query.includes('user=')) return query
    const parameters = new URLSearchParams(query)
    const user = parameters.get('user')
    if (user === null || !this.names.has(user)) return query
    parameters.set('user', this.current(user))
    return String(parameters)
  }

  /** A path with the present names: `/~alice/3`, `/v2/grids/alice:3/…` and `/v2/users/alice`. */
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
