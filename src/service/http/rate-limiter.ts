/** Limits the rate of requests. */
import { Problem } from '../../contract/errors.ts'
import { Lru } from '../store/schema/lru.ts'

const MINUTE_MS = 60_000
/** Maximum number of users and addresses with a bucket. */
const MAX_BUCKETS = 100_000

/** Token buckets by user or IP address. Each holds the requests of one minute; processes count separately. */
export class RateLimiter {
  private readonly buckets = new Lru<{ remaining: number; at: number }>(MAX_BUCKETS, () => 1)

  constructor(
    /** Requests per minute; 0 for no limit. */
    private readonly perMinute: number,
    /** Monotonic clock, in ms: a change of the system clock must not lock anybody out. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Counts one request. Throws `rate_limited` beyond the limit. */
  countRequest(key: string): void {
    if (this.perMinute === 0) return
    const now = this.now()
    const bucket = this.buckets.get(key) ?? { remaining: this.perMinute, at: now }
    bucket.remaining = Math.min(
      this.perMinute,
      bucket.remaining + ((now - bucket.at) / MINUTE_MS) * this.perMinute,
    )
    bucket.at = now
    this.buckets.set(key, bucket)
    if (bucket.remaining < 1) {
      const wait = Math.ceil(((1 - bucket.remaining) / this.perMinute) * 60)
      throw new RateLimitedProblem(this.perMinute, wait)
    }
    bucket.remaining--
  }
}

export class RateLimitedProblem extends Problem {
  constructor(
    perMinute: number,
    /** Seconds until the next request is accepted. */
    readonly waitSeconds: number,
  ) {
    super('rate_limited', `more than ${perMinute} requests per minute (limit requests_per_minute)`, {
      hint: `Wait ${waitSeconds} s, then try again.`,
    })
  }
}
