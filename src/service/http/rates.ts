import { Problem } from '../../contract/errors.ts'

const MINUTE = 60_000
const REMEMBERED = 100_000

/**
 * Requests of one user or address: as many at once as a minute allows, refilled as the minute goes by.
 * Each process counts for itself.
 */
export class Rates {
  private readonly buckets = new Map<string, { left: number; at: number }>()

  constructor(
    /** 0: any number. */
    private readonly perMinute: number,
    /** Milliseconds of a clock that is never set: a clock that is set back must lock nobody out. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts one request; Problem `rate_limited` where there have been too many. */
  take(who: string): void {
    if (this.perMinute === 0) return
    const now = this.now()
    const bucket = this.buckets.get(who) ?? { left: this.perMinute, at: now }
    bucket.left = Math.min(this.perMinute, bucket.left + ((now - bucket.at) / MINUTE) * this.perMinute)
    bucket.at = now
    if (this.buckets.size >= REMEMBERED) this.buckets.clear()
    this.buckets.set(who, bucket)
    if (bucket.left < 1) {
      const wait = Math.ceil(((1 - bucket.left) / this.perMinute) * 60)
      throw new RateLimited(this.perMinute, wait)
    }
    bucket.left--
  }
}

export class RateLimited extends Problem {
  constructor(
    perMinute: number,
    /** Seconds until the next request is let in. */
    readonly wait: number,
  ) {
    super('rate_limited', `more than ${perMinute} requests a minute (limit requests_per_minute)`, {
      hint: `Wait ${wait} s, then try again.`,
    })
  }
}
