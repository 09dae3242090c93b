// Lock on the column layout of a grid, across servers.
import { randomBytes } from 'node:crypto'
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import type { Store } from '../../store/store.ts'

/** Lifetime of a lock without renewal, in ms: how long others wait for a server that has died. */
const LEASE_MS = 3_000
const RENEWAL_MS = 1_000
/** Maximum wait for another change, and interval between two attempts, in ms. */
const LOCK_TIMEOUT_MS = 20_000
const POLL_MS = 25

/**
 * Lease on the columns of a grid, stored in its row: appends and flushes of other servers wait. It prevents
 * starvation only: `changeLayout` is correct without it, since it compares layouts. See docs/adr/0029.
 */
export class LayoutLock {
  readonly id = randomBytes(8).toString('hex')
  private renewal: NodeJS.Timeout | undefined
  /** The running renewal; at most one at a time. */
  private runningRenewal: Promise<unknown> | undefined

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
    for (const start = performance.now(); !(await this.tryAcquire()); ) {
      if (performance.now() - start > LOCK_TIMEOUT_MS)
        throw new Problem('overloaded', 'another change of this grid takes too long')
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    this.renewal = setInterval(() => {
      this.runningRenewal ??= this.tryAcquire()
        .catch(() => {})
        .finally(() => {
          this.runningRenewal = undefined
        })
    }, RENEWAL_MS)
    this.renewal.unref()
  }

  /** Releases the lock, if it is held. */
  async release(): Promise<void> {
    if (!this.isHeld) return
    clearInterval(this.renewal)
    this.renewal = undefined
    // A renewal that ends later would acquire the lock again.
    await this.runningRenewal
    const { owner, idlocal } = this.fid
    await this.store.write([owner], ({ grids }) => grids.acquireLock(owner, idlocal, this.id, Date.now(), 0))
  }

  private tryAcquire(): Promise<boolean> {
    const { owner, idlocal } = this.fid
    return this.store.write([owner], ({ grids }) => {
      const now = Date.now()
      return grids.acquireLock(owner, idlocal, this.id, now, now + LEASE_MS)
    })
  }
}
