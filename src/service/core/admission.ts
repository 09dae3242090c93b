// Limits running and waiting requests, and the memory of request bodies (docs/adr/0008).
import { Problem } from '../../contract/errors.ts'
import type { LimitName } from '../../contract/limits.ts'
import { shouldYield } from '../../json/index.ts'

interface WaitingRequest {
  begin: () => void
  refuse: (problem: Problem) => void
  /** Time at which the request is refused, in ms of `performance.now()`. */
  expiresAt: number
  isAborted: (() => boolean) | undefined
}

interface UserQueue {
  running: number
  waiting: WaitingRequest[]
}

/** Requests that may start in every iteration of the event loop, even in a long one. */
const MIN_STARTS_PER_ITERATION = 4

/** Maximum fraction of the capacity that one user may use. */
const MAX_USER_SHARE = 0.5

/**
 * Limits running and waiting requests, in total and per user. Waiting requests are served round robin by
 * user. Throws `overloaded` (503) if the queue is full or the wait is too long. See docs/adr/0008.
 */
export class Admission {
  private readonly shares = new Map<string, UserQueue>()
  /** Users with waiting requests, in round-robin order. */
  private readonly roundRobin: string[] = []
  private running = 0
  private waiting = 0
  private expiryTimer: NodeJS.Timeout | undefined
  private isGrantScheduled = false
  /** Requests started in this iteration of the event loop, since it became long. */
  private startedInIteration = 0
  private isResetScheduled = false

  constructor(
    /** Maximum number of running and waiting requests, and maximum wait, in ms. */
    private readonly limits: { running: number; waiting: number; wait: number },
    private readonly limitName: LimitName,
  ) {}

  /** True if a new request of any user would be refused. */
  get isFull(): boolean {
    return this.waiting >= this.limits.waiting
  }

  /** Returns whether a new request of this user would be refused. */
  isFullFor(user: string): boolean {
    const waiting = this.shares.get(user)?.waiting.length ?? 0
    return this.isFull || waiting >= this.limits.waiting * MAX_USER_SHARE
  }

  /** Number of running and of waiting requests. */
  get load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting }
  }

  /** Runs `work` as soon as a slot is free. `isAborted` returns whether the client has disconnected. */
  async run<T>(user: string, work: () => Promise<T>, isAborted?: () => boolean): Promise<T> {
    await this.acquireSlot(user, isAborted)
    try {
      return await work()
    } finally {
      this.releaseSlot(user)
    }
  }

  /** Takes a slot now (undefined), or queues until one is free. Throws `overloaded` if the queue is full. */
  private acquireSlot(user: string, isAborted: (() => boolean) | undefined): Promise<void> | undefined {
    let share = this.shares.get(user)
    if (!share) {
      share = { running: 0, waiting: [] }
      this.shares.set(user, share)
    }
    // In a long iteration of the event loop, only queue the request: the queue stays bounded, and health
    // checks stay fast.
    if (this.waiting === 0 && this.hasCapacity(share) && this.canStartNow()) {
      this.start(share)
      return undefined
    }
    if (this.isFullFor(user)) throw this.overloaded()
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.limits.wait
      share.waiting.push({ begin: resolve, refuse: reject, expiresAt: until, isAborted })
      if (share.waiting.length === 1) this.roundRobin.push(user)
      this.waiting++
      this.expiryTimer ??= setInterval(() => this.refuseExpired(), 100).unref()
      this.startWaiting()
    })
  }

  private releaseSlot(user: string): void {
    const share = this.shares.get(user)!
    this.running--
    share.running--
    this.deleteIfUnused(user, share)
    this.startWaiting()
  }

  private hasCapacity({ running }: UserQueue): boolean {
    return this.running < this.limits.running && running < Math.max(1, this.limits.running * MAX_USER_SHARE)
  }

  /**
   * Returns whether a request may start in this iteration of the event loop. A few always may: otherwise work
   * that resumes in every iteration would keep all others from starting.
   */
  private canStartNow(): boolean {
    if (!shouldYield()) return true
    if (!this.isResetScheduled) {
      this.isResetScheduled = true
      this.startedInIteration = 0
      setImmediate(() => {
        this.isResetScheduled = false
      })
    }
    return this.startedInIteration < MIN_STARTS_PER_ITERATION
  }

  private start(share: UserQueue): void {
    this.startedInIteration++
    this.running++
    share.running++
  }

  /** Starts waiting requests. In a long iteration of the event loop, continues in the next one. */
  private startWaiting(): void {
    if (this.isGrantScheduled || this.waiting === 0) return
    if (!this.canStartNow()) {
      this.isGrantScheduled = true
      setImmediate(() => {
        this.isGrantScheduled = false
        this.startWaiting()
      })
      return
    }
    // Skip each user at their limit once.
    for (
      let passed = 0;
      passed < this.roundRobin.length && this.running < this.limits.running && this.canStartNow();
    ) {
      const user = this.roundRobin.shift()!
      const share = this.shares.get(user)!
      if (!this.hasCapacity(share)) {
        this.roundRobin.push(user)
        passed++
        continue
      }
      passed = 0
      const next = this.dequeue(share)
      if (share.waiting.length > 0) this.roundRobin.push(user)
      if (next.isAborted?.()) {
        next.refuse(new Problem('aborted', 'the client disconnected'))
        this.deleteIfUnused(user, share)
      } else {
        this.start(share)
        next.begin()
      }
    }
    // The iteration became long: continue in the next one.
    if (this.waiting > 0 && !this.isGrantScheduled && !this.canStartNow()) this.startWaiting()
  }

  /** Removes the user's oldest request from the queue. */
  private dequeue(share: UserQueue): WaitingRequest {
    this.waiting--
    return share.waiting.shift()!
  }

  /** Refuses requests that have waited too long. */
  private refuseExpired(): void {
    const now = performance.now()
    for (const [user, share] of this.shares) {
      while (share.waiting.length > 0 && share.waiting[0].expiresAt <= now)
        this.dequeue(share).refuse(this.overloaded())
      if (share.waiting.length > 0) continue
      const index = this.roundRobin.indexOf(user)
      if (index >= 0) this.roundRobin.splice(index, 1)
      this.deleteIfUnused(user, share)
    }
    if (this.waiting > 0) return
    clearInterval(this.expiryTimer)
    this.expiryTimer = undefined
  }

  private deleteIfUnused(user: string, share: UserQueue): void {
    if (share.running === 0 && share.waiting.length === 0) this.shares.delete(user)
  }

  private overloaded(): Problem {
    return new Problem('overloaded', `the server is busy (limit ${this.limitName})`)
  }
}

/** Limits the bytes of request bodies in memory, in total and per user. */
export class ByteBudget {
  private readonly users = new Map<string, number>()
  private usedBytes = 0

  constructor(
    private readonly maxBytes: number,
    private readonly limitName: LimitName,
  ) {}

  /** True if more than half of the budget is used. Slow clients are then disconnected. */
  get isHalfUsed(): boolean {
    return this.usedBytes > this.maxBytes / 2
  }

  /** Runs `work`, and counts the bytes that it reports until it ends. Throws `overloaded` above the limit. */
  async runCounted<T>(user: string, work: (take: (bytes: number) => void) => Promise<T>): Promise<T> {
    let reported = 0
    const count = (bytes: number): void => {
      reported += bytes
      this.usedBytes += bytes
      const total = (this.users.get(user) ?? 0) + bytes
      if (total > 0) this.users.set(user, total)
      else this.users.delete(user)
    }
    try {
      return await work((bytes) => {
        if (
          this.usedBytes + bytes > this.maxBytes ||
          (this.users.get(user) ?? 0) + bytes > this.maxBytes * MAX_USER_SHARE
        )
          throw new Problem('overloaded', `too many large requests at once (limit ${this.limitName})`)
        count(bytes)
      })
    } finally {
      count(-reported)
    }
  }
}
