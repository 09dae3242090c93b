// Lock on the columns of a grid, across servers.
import { randomBytes } from 'node:crypto'
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import type { Store } from '../../store/store.ts'

/** Time until a lock expires that is not renewed, in ms: others wait so long for a server that has died. */
const LEASE_MS = 3_000
const RENEW_MS = 1_000
/** How long a change waits for another one, and the interval between two tries, in ms. */
const LOCK_TIMEOUT_MS = 20_000
const POLL_MS = 25

/**
 * Lease on the columns of a grid, in its row: appends and flushes of other servers wait. Without it, they could come
 * between reading the layout and changing it again and again. It gives fairness only; `changeLayout` is correct without
 * it, because it compares layouts. See docs/adr/0029.
 */
export class LayoutLock {
  readonly by = randomBytes(8).toString('hex')
  private renewal: NodeJS.Timeout | undefined
  /** The renewal that runs now; at most one at a time. */
  private renewing: Promise<unknown> | undefined

  constructor(
    private readonly store: Store,
    private readonly fid: Fid,
  ) {}

  get isHeld(): boolean {
    return this.renewal !== undefined
  }

  /** Acquires the lock. Throws `overloaded` if another change holds it for 20 s. */
  async acquire(): Promise<void> {
    if (this.isHeld) return
    for (const start = performance.now(); !(await this.hold()); ) {
      if (performance.now() - start > LOCK_TIMEOUT_MS)
        throw new Problem('overloaded', 'another change of this grid takes too long')
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    this.renewal = setInterval(() => {
      this.renewing ??= this.hold()
        .catch(() => {})
        .finally(() => {
          this.renewing = undefined
        })
    }, RENEW_MS)
    this.renewal.unref()
  }

  /** Releases the lock, if it is held. */
  async release(): Promise<void> {
    if (!this.isHeld) return
    clearInterval(this.renewal)
    this.renewal = undefined
    // A renewal that ends later would take the lock again.
    await this.renewing
    const { owner, idlocal } = this.fid
    await this.store.write([owner], ({ grids }) => grids.acquireLock(owner, idlocal, this.by, Date.now(), 0))
  }

  private hold(): Promise<boolean> {
    const { owner, idlocal } = this.fid
    return this.store.write([owner], ({ grids }) => {
      const now = Date.now()
      return grids.acquireLock(owner, idlocal, this.by, now, now + LEASE_MS)
    })
  }
}
