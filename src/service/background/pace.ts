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
    return this.countedMs(key) <= (this.burst - 1) * this.intervalMs
  }

  /** Counts a run. */
  add(key: string): void {
    const now = Date.now()
    if (this.until.size > MAX_KEYS)
      for (const [other, time] of this.until) if (time <= now) this.until.delete(other)
    this.until.set(key, now + Math.min(this.countedMs(key) + this.intervalMs, this.burst * this.intervalMs))
  }

  /** Returns for how long runs count from now, in ms. */
  private countedMs(key: string): number {
    const left = (this.until.get(key) ?? 0) - Date.now()
    // The clock may have been set back.
    return left > this.burst * this.intervalMs ? 0 : Math.max(left, 0)
  }
}
