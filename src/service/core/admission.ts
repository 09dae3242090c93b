// Limits running and waiting requests, and the memory of request bodies (docs/adr/0008).
import { Problem } from '../../contract/errors.ts'
import type { LimitName } from '../../contract/limits.ts'
import { turnIsLong } from '../../json/index.ts'

interface Waiting {
  begin: () => void
  refuse: (problem: Problem) => void
  /** Time at which the request is refused, in ms of `performance.now()`. */
  until: number
  gone: (() => boolean) | undefined
}

interface Share {
  running: number
  waiting: Waiting[]
}

/** Requests that may start in every iteration of the event loop, even in a long one. */
const ALWAYS_STARTED = 4

/** Maximum fraction of the capacity that one user may use. */
const USER_SHARE = 0.5

/**
 * Limits running and waiting requests, in total and per user. Waiting requests are served round robin by
 * user. Throws `overloaded` (503) if the queue is full or the wait is too long. See docs/adr/0008.
 */
export class Admission {
  private readonly shares = new Map<string, Share>()
  /** Users with waiting requests, in round-robin order. */
  private readonly turns: string[] = []
  private running = 0
  private waiting = 0
  private sweeping: NodeJS.Timeout | undefined
  private granting = false
  /** Requests started in this iteration of the event loop, since it became long. */
  private started = 0
  private counting = false

  constructor(
    /** Maximum number of running and waiting requests, and maximum wait, in ms. */
    private readonly most: { running: number; waiting: number; wait: number },
    private readonly limit: LimitName,
  ) {}

  /** True if a new request of any user would be refused. */
  get full(): boolean {
    return this.waiting >= this.most.waiting
  }

  /** Returns whether a new request of this user would be refused. */
  fullFor(user: string): boolean {
    const waiting = this.shares.get(user)?.waiting.length ?? 0
    return this.full || waiting >= this.most.waiting * USER_SHARE
  }

  /** Number of running and of waiting requests. */
  get load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting }
  }

  /** Runs `work` as soon as a slot is free. `isAborted` returns whether the client has disconnected. */
  async run<T>(user: string, work: () => Promise<T>, isAborted?: () => boolean): Promise<T> {
    await this.enter(user, isAborted)
    try {
      return await work()
    } finally {
      this.leave(user)
    }
  }

  /** Takes a slot now (undefined), or queues until one is free. Throws `overloaded` if the queue is full. */
  private enter(user: string, isAborted: (() => boolean) | undefined): Promise<void> | undefined {
    let share = this.shares.get(user)
    if (!share) {
      share = { running: 0, waiting: [] }
      this.shares.set(user, share)
    }
    // In a long iteration of the event loop, only queue the request: the queue stays bounded, and health
    // checks stay fast.
    if (this.waiting === 0 && this.mayRun(share) && this.hasTurn()) {
      this.start(share)
      return undefined
    }
    if (this.fullFor(user)) throw this.busy()
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.most.wait
      share.waiting.push({ begin: resolve, refuse: reject, until, gone: isAborted })
      if (share.waiting.length === 1) this.turns.push(user)
      this.waiting++
      this.sweeping ??= setInterval(() => this.refuseLate(), 100).unref()
      this.grant()
    })
  }

  private leave(user: string): void {
    const share = this.shares.get(user)!
    this.running--
    share.running--
    this.forget(user, share)
    this.grant()
  }

  private mayRun({ running }: Share): boolean {
    return this.running < this.most.running && running < Math.max(1, this.most.running * USER_SHARE)
  }

  /**
   * Returns whether a request may start in this iteration of the event loop. A few always may: otherwise work
   * that resumes in every iteration would keep all others from starting.
   */
  private hasTurn(): boolean {
    if (!turnIsLong()) return true
    if (!this.counting) {
      this.counting = true
      this.started = 0
      setImmediate(() => {
        this.counting = false
      })
    }
    return this.started < ALWAYS_STARTED
  }

  private start(share: Share): void {
    this.started++
    this.running++
    share.running++
  }

  /** Starts waiting requests. In a long iteration of the event loop, continues in the next one. */
  private grant(): void {
    if (this.granting || this.waiting === 0) return
    if (!this.hasTurn()) {
      this.granting = true
      setImmediate(() => {
        this.granting = false
        this.grant()
      })
      return
    }
    // Skip each user at their limit once.
    for (let passed = 0; passed < this.turns.length && this.running < this.most.running && this.hasTurn(); ) {
      const user = this.turns.shift()!
      const share = this.shares.get(user)!
      if (!this.mayRun(share)) {
        this.turns.push(user)
        passed++
        continue
      }
      passed = 0
      const next = this.take(share)
      if (share.waiting.length > 0) this.turns.push(user)
      if (next.gone?.()) {
        next.refuse(new Problem('aborted', 'the client disconnected'))
        this.forget(user, share)
      } else {
        this.start(share)
        next.begin()
      }
    }
    // The iteration became long: continue in the next one.
    if (this.waiting > 0 && !this.granting && !this.hasTurn()) this.grant()
  }

  /** Removes the user's oldest request from the queue. */
  private take(share: Share): Waiting {
    this.waiting--
    return share.waiting.shift()!
  }

  /** Refuses requests that have waited too long. */
  private refuseLate(): void {
    const now = performance.now()
    for (const [user, share] of this.shares) {
      while (share.waiting.length > 0 && share.waiting[0].until <= now) this.take(share).refuse(this.busy())
      if (share.waiting.length > 0) continue
      const index = this.turns.indexOf(user)
      if (index >= 0) this.turns.splice(index, 1)
      this.forget(user, share)
    }
    if (this.waiting > 0) return
    clearInterval(this.sweeping)
    this.sweeping = undefined
  }

  private forget(user: string, share: Share): void {
    if (share.running === 0 && share.waiting.length === 0) this.shares.delete(user)
  }

  private busy(): Problem {
    return new Problem('overloaded', `the server is busy (limit ${this.limit})`)
  }
}

/** Limits the bytes of request bodies in memory, in total and per user. */
export class ByteBudget {
  private readonly users = new Map<string, number>()
  private held = 0

  constructor(
    private readonly most: number,
    private readonly limit: LimitName,
  ) {}

  /** True if more than half of the budget is used. Slow clients are then disconnected. */
  get pressed(): boolean {
    return this.held > this.most / 2
  }

  /** Runs `work`, and counts the bytes that it reports until it ends. Throws `overloaded` above the limit. */
  async hold<T>(user: string, work: (take: (bytes: number) => void) => Promise<T>): Promise<T> {
    let reported = 0
    const count = (bytes: number): void => {
      reported += bytes
      this.held += bytes
      const total = (this.users.get(user) ?? 0) + bytes
      if (total > 0) this.users.set(user, total)
      else this.users.delete(user)
    }
    try {
      return await work((bytes) => {
        if (this.held + bytes > this.most || (this.users.get(user) ?? 0) + bytes > this.most * USER_SHARE)
          throw new Problem('overloaded', `too many large requests at once (limit ${this.limit})`)
        count(bytes)
      })
    } finally {
      count(-reported)
    }
  }
}
