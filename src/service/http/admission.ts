import { Problem } from '../../contract/errors.ts'
import type { LimitName } from '../../contract/limits.ts'
import { turnIsLong } from '../../json/index.ts'

interface Waiting {
  begin: () => void
  refuse: (problem: Problem) => void
  /** When it is refused, by the clock of `performance`. */
  until: number
  gone: (() => boolean) | undefined
}

interface Share {
  running: number
  waiting: Waiting[]
}

/** The share of the whole that one user may have. */
const USER_SHARE = 0.5

/**
 * A bounded number of requests at once, and a bounded number that wait, on the whole and for each user.
 * Users take turns. What does not fit, or waits too long, is refused: `overloaded`, 503.
 */
export class Admission {
  private readonly shares = new Map<string, Share>()
  /** Users with requests that wait, in the order of their turns. */
  private readonly turns: string[] = []
  private running = 0
  private waiting = 0
  private sweeping: NodeJS.Timeout | undefined
  private granting = false

  constructor(
    private readonly most: { running: number; waiting: number; wait: number },
    private readonly limit: LimitName,
  ) {}

  /** Whether a new request would be refused, whoever sends it. */
  get full(): boolean {
    return this.waiting >= this.most.waiting
  }

  /** Whether a new request of this user would be refused. */
  fullFor(user: string): boolean {
    const waiting = this.shares.get(user)?.waiting.length ?? 0
    return this.full || waiting >= this.most.waiting * USER_SHARE
  }

  /** Requests at work and requests that wait. */
  get load(): { running: number; waiting: number } {
    return { running: this.running, waiting: this.waiting }
  }

  /** Runs `work` when it is its turn. `gone` tells whether the client still wants the answer. */
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
    // In a long turn of the event loop requests are only taken in: those that are there can be counted,
    // and what must be answered at once is.
    if (this.waiting === 0 && this.mayRun(share) && !turnIsLong()) {
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

  private start(share: Share): void {
    this.running++
    share.running++
  }

  /** Lets in whoever's turn it is; after a long turn of the event loop only in the next one. */
  private grant(): void {
    if (this.granting || this.waiting === 0) return
    if (turnIsLong()) {
      this.granting = true
      setImmediate(() => {
        this.granting = false
        this.grant()
      })
      return
    }
    // Users that have all they may have are passed by, once each.
    for (let passed = 0; passed < this.turns.length && this.running < this.most.running; ) {
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
        next.refuse(new Problem('aborted', 'the client went away'))
        this.forget(user, share)
      } else {
        this.start(share)
        next.begin()
      }
    }
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

/** Bytes of bodies in memory, on the whole and for each user. */
export class ByteBudget {
  private readonly users = new Map<string, number>()
  private held = 0

  constructor(private readonly most: number) {}

  /** Counts bytes for as long as `work` runs; it tells of each chunk. Problem `overloaded` beyond the limit. */
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
          throw new Problem('overloaded', 'too many large requests at once (limit bodies_bytes)')
        count(bytes)
      })
    } finally {
      count(-own)
    }
  }
}
