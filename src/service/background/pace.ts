// Lets a few runs of something follow each other at once, and then one per interval.

/** Number of keys above which those that may run again at once are forgotten. */
const MAX_KEYS = 1000

/** Counts the recent runs of each key on this server. */
export class Pace {
  /** Key → time when none of its runs counts any more, in ms since 1970. */
  private readonly until = new Map<string, number>()

  /** At most `burst` runs at once; each counts for `intervalMs`, one after the other. */
  constructor(
    private readonly burst: number,
    private readonly intervalMs: number,
  ) {}

  /** Returns whether a run may begin now. */
  mayRun(key: string): boolean {
    return this.countedMs(key, Date.now()) <= (this.burst - 1) * this.intervalMs
  }

  /** Counts a run that began at a time, in ms since 1970, and has ended now: what counted then still does. */
  add(key: string, startedAt: number): void {
    const now = Date.now()
    if (this.until.size > MAX_KEYS)
      for (const [other, time] of this.until) if (time <= now) this.until.delete(other)
    const counted = this.countedMs(key, startedAt) + this.intervalMs
    this.until.set(key, now + Math.min(counted, this.burst * this.intervalMs))
  }

  /** Returns for how long runs count from a time on, in ms. */
  private countedMs(key: string, time: number): number {
    const left = (this.until.get(key) ?? 0) - time
    // The clock may have been set back.
    return left > this.burst * this.intervalMs ? 0 : Math.max(left, 0)
  }
}
