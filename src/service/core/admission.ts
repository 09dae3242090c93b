import { Problem } from '../../contract/errors.ts'
import type { LimitName } from '../../contract/limits.ts'
import { turnIsLong } from '../../json/index.ts'

interface Waiting {
  begin: () => void
  refuse: (problem: Problem) => void
  /** When the request is refused, in ms of `performance.now()`. */
  until: number
  gone: (() => boolean) | undefined
}

interface Share {
  running: number
  waiting: Waiting[]
}

/** Requests that start in a turn of the event loop even if it is long. */
const ALWAYS_STARTED = 4

/** The fraction of the capacity that one user may use. */
const USER_SHARE = 0.5

/**
 * Limits how many requests run and how many wait, in total and per user. Waiting requests are served round
 * robin by user. Requests that exceed a limit or wait too long fail with `overloaded` (503). See docs/adr/0008.
 */
export class Admission {
  private readonly shares = new Map<string, Share>()
  /** Users with waiting requests, in round-robin order. */
  private readonly turns: string[] = []
  private running = 0
  private waiting = 0
  private sweeping: NodeJS.Timeout | undefined
  private granting = false
  /** Requests started in this turn of the event loop, once it is long. */
  private started = 0
  private counting = false

  constructor(
    private readonly most: { running: number; waiting: number; wait: number },
    private readonly limit: LimitName,
  ) {}

  /** Whether a new request of any user would be refused. */
  get full(): boolean {
    return this.waiting >= this.most.waiting
  }

  /** Whether a new request of this user would be refused. */
  fullFor(user: string): boolean {
    const waiting = this.shares.get(user)?.waiting.length ?? 0
    return this.full || waiting >= this.most.waiting * USER_SHARE
  }

  /** The numbers of running and waiting requests. */
  get load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting }
  }

  /** Runs `work` when it is its turn. `gone` tells whether the client has disconnected. */
  async run<T>(user: string, work: () => Promise<T>, gone?: () => boolean): Promise<T> {
    await this.enter(user, gone)
    try {
      return await work()
    } finally {
      this.leave(user)
    }
  }

  private enter(user: string, gone: (() => boolean) | undefined): Promise<void> | undefined {
    let share = this.shares.get(user)
    if (!share) {
      share = { running: 0, waiting: [] }
      this.shares.set(user, share)
    }
    // If this turn of the event loop is already long, only queue the request: the queue can then be
    // bounded, and health checks are still answered promptly.
    if (this.waiting === 0 && this.mayRun(share) && this.hasTurn()) {
      this.start(share)
      return undefined
    }
    if (this.fullFor(user)) throw this.busy()
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.most.wait
      share.waiting.push({ begin: resolve, refuse: reject, until, gone })
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
   * Whether a request may start in this turn of the event loop. A few always may: long work of others that resumes in
   * each turn would otherwise keep all from starting, forever.
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

  /** Starts waiting requests. If this turn of the event loop is already long, continues in the next one. */
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
    // Skip each user who is at their limit, once.
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
    // The turn got long: the others follow in the next one.
    if (this.waiting > 0 && !this.granting && !this.hasTurn()) this.grant()
  }

  private take(share: Share): Waiting {
    this.waiting--
    return share.waiting.shift()!
  }

  private refuseLate(): void {
    const now = performance.now()
    for (const [user, share] of this.shares) {
      while (share.waiting.length > 0 && share.waiting[0].until <= now) this.take(share).refuse(this.busy())
      if (share.waiting.length > 0) continue
      const turn = this.turns.indexOf(user)
      if (turn >= 0) this.turns.splice(turn, 1)
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

  /** Whether more than half is taken: then slow clients are no longer waited for. */
  get pressed(): boolean {
    return this.held > this.most / 2
  }

  /** Counts the bytes that `work` reports until it ends. Throws `overloaded` beyond the limit. */
  async hold<T>(user: string, work: (take: (bytes: number) => void) => Promise<T>): Promise<T> {
    let own = 0
    const count = (bytes: number): void => {
      own += bytes
      this.held += bytes
      const of = (this.users.get(user) ?? 0) + bytes
      if (of > 0) this.users.set(user, of)
      else this.users.delete(user)
    }
    try {
      return await work((bytes) => {
        if (this.held + bytes > this.most || (this.users.get(user) ?? 0) + bytes > this.most * USER_SHARE)
          throw new Problem('overloaded', `too many large requests at once (limit ${this.limit})`)
        count(bytes)
      })
    } finally {
      count(-own)
    }
  }
}
