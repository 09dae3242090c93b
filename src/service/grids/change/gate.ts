import { randomBytes } from 'node:crypto'
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import type { Store } from '../../store/store.ts'

/** How long a grid is held without being held again, in ms: others wait so long for a server that has died. */
const LEASE_MS = 3_000
const RENEW_MS = 1_000
/** How long a change waits for another one, and how often it looks, in ms. */
const LOCK_TIMEOUT_MS = 20_000
const POLL_MS = 25

/**
 * Holds a grid while its columns change, in its row: appends and folds of other servers wait (`isHeld`), which would
 * otherwise come between reading the layout and changing it, again and again. Only for fairness: what a change commits
 * is right because it compares the layout. See docs/adr/0029.
 */
export class Gate {
  readonly by = randomBytes(8).toString('hex')
  private again: NodeJS.Timeout | undefined
  /** Holding the grid again, at most once at a time. */
  private holding: Promise<unknown> | undefined

  constructor(
    private readonly store: Store,
    private readonly fid: Fid,
  ) {}

  get isClosed(): boolean {
    return this.again !== undefined
  }

  /** Holds the grid. Waits for another change that holds it. */
  async close(): Promise<void> {
    if (this.isClosed) return
    for (const start = performance.now(); !(await this.hold()); ) {
      if (performance.now() - start > LOCK_TIMEOUT_MS)
        throw new Problem('overloaded', 'another change of this grid takes too long')
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    this.again = setInterval(() => {
      this.holding ??= this.hold()
        .catch(() => {})
        .finally(() => {
          this.holding = undefined
        })
    }, RENEW_MS)
    this.again.unref()
  }

  /** Lets go of the grid, unless the change has done so. */
  async open(): Promise<void> {
    if (!this.isClosed) return
    clearInterval(this.again)
    this.again = undefined
    // It would hold the grid after this.
    await this.holding
    const { owner, idlocal } = this.fid
    await this.store.write([owner], ({ grids }) => grids.hold(owner, idlocal, this.by, Date.now(), 0))
  }

  private hold(): Promise<boolean> {
    const { owner, idlocal } = this.fid
    return this.store.write([owner], ({ grids }) => {
      const now = Date.now()
      return grids.hold(owner, idlocal, this.by, now, now + LEASE_MS)
    })
  }
}
