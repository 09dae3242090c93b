// Groups concurrent appends into one transaction.
import { Problem } from '../../../../contract/errors.ts'
import type { Fid } from '../../../../contract/fid.ts'
import type { Store } from '../../../store/store.ts'
import { findMisfit } from '../../input/json-rows.ts'
import type { Append, Appended } from '../../service.ts'
import { type AppendOutcome, type AppendOutcomes, applyAppends, MAX_TAIL_BYTES } from './apply.ts'

/** Size of a tail above which appends wait for its flush, in bytes. */
const MAX_UNFLUSHED_BYTES = 8 * MAX_TAIL_BYTES
/** Maximum wait for the layout lock of another server, and interval between two attempts, in ms. */
const LOCK_TIMEOUT_MS = 20_000
const POLL_MS = 25
/** Maximum number of appends in one transaction. */
const MAX_GROUP_APPENDS = 1024

interface QueuedAppend {
  append: Append
  /** Time of arrival (`performance.now()`), in ms. */
  arrivedAt: number
  resolve: (result: Appended | undefined) => void
  reject: (error: unknown) => void
}

/** Groups concurrent appends into one transaction: few tail rows per grid, and one commit. */
export class AppendQueue {
  private readonly waiting = new Map<string, QueuedAppend[]>()
  private readonly running = new Set<string>()
  private readonly pauses = new Map<string, Promise<unknown>>()

  constructor(
    private readonly store: Store,
    private readonly flush: (fid: Fid) => Promise<void>,
  ) {}

  /** Queues an append. Resolves when its rows are on disk; to undefined if nothing was written since the grid needs a plan (`needsPlan`). */
  async add(append: Append): Promise<Appended | undefined> {
    await this.pauses.get(gridKeyOf(append.fid))
    return new Promise<Appended | undefined>((resolve, reject) => {
      this.enqueue({ append, arrivedAt: performance.now(), resolve, reject })
    })
  }

  private enqueue(waiting: QueuedAppend): void {
    const scope = this.store.engine.groupsWritesAcrossOwners ? '' : waiting.append.fid.owner
    const list = this.waiting.get(scope)
    if (list) list.push(waiting)
    else this.waiting.set(scope, [waiting])
    if (!this.running.has(scope)) this.drain(scope)
  }

  /** Runs `work` while appends to the grid wait. One at a time for each grid. */
  async pauseWhile<T>(fid: Fid, work: () => Promise<T>): Promise<T> {
    const key = gridKeyOf(fid)
    const before = this.pauses.get(key)
    const run = (async () => {
      await before
      return work()
    })()
    const gate = run.then(doNothing, doNothing)
    this.pauses.set(key, gate)
    try {
      return await run
    } finally {
      if (this.pauses.get(key) === gate) this.pauses.delete(key)
    }
  }

  private async drain(scope: string): Promise<void> {
    this.running.add(scope)
    for (let list = this.waiting.get(scope); list?.length; list = this.waiting.get(scope)) {
      // Wait while each iteration of the event loop brings more appends: they share the commit.
      for (let before = 0; before < list.length && list.length < MAX_GROUP_APPENDS; ) {
        before = list.length
        await new Promise(setImmediate)
      }
      await this.commitGroup(list.splice(0, MAX_GROUP_APPENDS))
    }
    this.waiting.delete(scope)
    this.running.delete(scope)
  }

  private async commitGroup(group: QueuedAppend[]): Promise<void> {
    const byGrid = new Map<string, QueuedAppend[]>()
    for (const waiting of group) {
      const key = gridKeyOf(waiting.append.fid)
      const list = byGrid.get(key)
      if (list) list.push(waiting)
      else byGrid.set(key, [waiting])
    }
    try {
      // With idempotency keys, the transaction can be repeated if the outcome of its commit is unknown.
      const repeatable = group.every(({ append }) => append.write.key !== undefined)
      const owner = group[0].append.fid.owner
      const store = this.store.engine.groupsWritesAcrossOwners ? this.store : this.store.forOwner(owner)
      const done = await store.write(
        group.map(({ append }) => append.fid.owner),
        async (writers) => {
          const results: { list: QueuedAppend[]; applied: AppendOutcomes }[] = []
          for (const list of byGrid.values())
            results.push({
              list,
              applied: await applyAppends(
                writers,
                list.map(({ append }) => append),
              ),
            })
          return results
        },
        { repeatable },
      )
      for (const { list, applied } of done) this.resolveAppends(list, applied)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  /**
   * Resolves the appends to one grid. Flushes its tail now if it grows faster than background jobs flush it.
   */
  private resolveAppends(list: readonly QueuedAppend[], { outcomes, tailBytes }: AppendOutcomes): void {
    for (const [k, waiting] of list.entries()) this.resolveAppend(waiting, outcomes[k])
    const { fid } = list[0].append
    if (tailBytes > MAX_UNFLUSHED_BYTES) this.pauseWhile(fid, () => this.flush(fid)).catch(doNothing)
  }

  private resolveAppend(waiting: QueuedAppend, outcome: AppendOutcome): void {
    switch (outcome.kind) {
      case 'applied':
        waiting.resolve(outcome.result)
        break
      case 'plan':
        waiting.resolve(undefined)
        break
      case 'refused':
        waiting.reject(outcome.error)
        break
      case 'misfit':
        findMisfit(waiting.append.bodies, outcome.misfit).then(waiting.reject, waiting.reject)
        break
      case 'held':
        if (performance.now() - waiting.arrivedAt > LOCK_TIMEOUT_MS)
          waiting.reject(new Problem('overloaded', 'a change of the columns of this grid takes too long'))
        else setTimeout(() => this.enqueue(waiting), POLL_MS)
    }
  }
}

function gridKeyOf({ owner, idlocal }: Fid): string {
  return `${owner}:${idlocal}`
}

function doNothing(): void {}
