// Groups appends that arrive at the same time into one transaction.
import { Problem } from '../../../../contract/errors.ts'
import type { Fid } from '../../../../contract/fid.ts'
import type { Store } from '../../../store/store.ts'
import { misfitIn } from '../../given/json-rows.ts'
import type { Append, Appended } from '../../service.ts'
import { type Applied, appendTo, MAX_TAIL_BYTES, type Outcome } from './apply.ts'

/** Tail size beyond which appends wait for the flush. */
const FULL_TAIL_BYTES = 8 * MAX_TAIL_BYTES
/** How long an append waits for another server that changes columns, and the interval between two tries, in ms. */
const LOCK_TIMEOUT_MS = 20_000
const POLL_MS = 25
/** Appends in one transaction. */
const MAX_GROUP_APPENDS = 1024

interface Waiting {
  append: Append
  /** When it arrived, in ms. */
  since: number
  resolve: (result: Appended | undefined) => void
  reject: (error: unknown) => void
}

/**
 * Groups concurrent appends into one transaction: few tail rows per grid and one commit. Each append resolves
 * when it is on disk. The cost does not depend on the size of the grid.
 */
export class AppendQueue {
  private readonly waiting = new Map<string, Waiting[]>()
  private readonly running = new Set<string>()
  private readonly gates = new Map<string, Promise<unknown>>()

  constructor(
    private readonly store: Store,
    private readonly flush: (fid: Fid) => Promise<void>,
  ) {}

  /** Adds an append. Resolves when its rows are on disk; with undefined if they need a plan (`needsPlan`). */
  async add(append: Append): Promise<Appended | undefined> {
    await this.gates.get(keyOf(append.fid))
    return new Promise<Appended | undefined>((resolve, reject) => {
      this.enqueue({ append, since: performance.now(), resolve, reject })
    })
  }

  private enqueue(one: Waiting): void {
    const scope = this.store.engine.groupsWritesAcrossOwners ? '' : one.append.fid.owner
    const list = this.waiting.get(scope)
    if (list) list.push(one)
    else this.waiting.set(scope, [one])
    if (!this.running.has(scope)) this.drain(scope)
  }

  /** Runs `work` while appends to the grid wait. */
  async hold<T>(fid: Fid, work: () => Promise<T>): Promise<T> {
    const key = keyOf(fid)
    const before = this.gates.get(key)
    const run = (async () => {
      await before
      return work()
    })()
    const gate = run.then(nothing, nothing)
    this.gates.set(key, gate)
    try {
      return await run
    } finally {
      if (this.gates.get(key) === gate) this.gates.delete(key)
    }
  }

  private async drain(scope: string): Promise<void> {
    this.running.add(scope)
    for (let list = this.waiting.get(scope); list?.length; list = this.waiting.get(scope)) {
      // Wait while more appends arrive in each turn of the event loop: they share the commit.
      for (let before = 0; before < list.length && list.length < MAX_GROUP_APPENDS; ) {
        before = list.length
        await new Promise(setImmediate)
      }
      await this.commit(list.splice(0, MAX_GROUP_APPENDS))
    }
    this.waiting.delete(scope)
    this.running.delete(scope)
  }

  private async commit(group: Waiting[]): Promise<void> {
    const byGrid = new Map<string, Waiting[]>()
    for (const one of group) {
      const key = keyOf(one.append.fid)
      const list = byGrid.get(key)
      if (list) list.push(one)
      else byGrid.set(key, [one])
    }
    try {
      // With idempotency keys, the transaction can be repeated after a commit with an unknown outcome.
      const repeatable = group.every(({ append }) => append.write.key !== undefined)
      const owner = group[0].append.fid.owner
      const store = this.store.engine.groupsWritesAcrossOwners ? this.store : this.store.forOwner(owner)
      const done = await store.write(
        group.map(({ append }) => append.fid.owner),
        async (writers) => {
          const results: { list: Waiting[]; applied: Applied }[] = []
          for (const list of byGrid.values())
            results.push({
              list,
              applied: await appendTo(
                writers,
                list.map(({ append }) => append),
              ),
            })
          return results
        },
        { repeatable },
      )
      for (const { list, applied } of done) this.settle(list, applied)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  /** Answers the appends to one grid. Flushes its tail now if it grows faster than it is flushed. */
  private settle(list: readonly Waiting[], { outcomes, tailBytes }: Applied): void {
    for (const [k, one] of list.entries()) this.answer(one, outcomes[k])
    const { fid } = list[0].append
    if (tailBytes > FULL_TAIL_BYTES) this.hold(fid, () => this.flush(fid)).catch(nothing)
  }

  private answer(one: Waiting, outcome: Outcome): void {
    switch (outcome.kind) {
      case 'applied':
        one.resolve(outcome.result)
        break
      case 'plan':
        one.resolve(undefined)
        break
      case 'refused':
        one.reject(outcome.error)
        break
      case 'misfit':
        misfitIn(one.append.bodies, outcome.misfit).then(one.reject, one.reject)
        break
      case 'held':
        if (performance.now() - one.since > LOCK_TIMEOUT_MS)
          one.reject(new Problem('overloaded', 'a change of the columns of this grid takes too long'))
        else setTimeout(() => this.enqueue(one), POLL_MS)
    }
  }
}

function keyOf({ owner, idlocal }: Fid): string {
  return `${owner}:${idlocal}`
}

function nothing(): void {}
