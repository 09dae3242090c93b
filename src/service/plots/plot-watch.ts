// Follows what one reader sees of one plot, for all streams of that reader.

/** Interval of comments on streams without changes, in ms: they make proxies keep them open. */
const HEARTBEAT_MS = 15_000

/** Event of a stream: it sends a new fingerprint or a comment, or ends. */
export type WatchEvent = { fingerprint: string } | 'silent' | 'ended'

/** How a watch looks for changes. */
export interface WatchSource {
  /** Waits until the next check. Returns the waiting time, in ms. */
  waitForCheck(): Promise<number>
  /** Returns the current fingerprint; undefined if the reader has lost access. */
  check(): Promise<string | undefined>
  /** Called once, when nobody follows the watch. */
  onEnd(): void
}

/** Checks one fingerprint regularly, as long as there are streams. */
export class PlotWatch {
  private readonly waiting = new Set<(event: WatchEvent) => void>()
  private streams = 0
  private isRunning = false
  private isEnded = false

  constructor(
    private fingerprint: string,
    private readonly source: WatchSource,
  ) {}

  /** Adds a stream whose page shows `fingerprint`, which was just read. Call the result to remove it. */
  join(fingerprint: string): () => void {
    this.streams++
    this.update(fingerprint)
    if (!this.isRunning) void this.run()
    let isOpen = true
    return () => {
      if (isOpen) this.streams--
      isOpen = false
    }
  }

  /** Waits for the next event of a stream whose page shows `known`. `cancel` makes it the end. */
  next(known: string): { event: Promise<WatchEvent>; cancel: () => void } {
    if (this.isEnded) return { event: Promise.resolve('ended' as const), cancel: () => {} }
    if (this.fingerprint !== known)
      return { event: Promise.resolve({ fingerprint: this.fingerprint }), cancel: () => {} }
    let cancel = (): void => {}
    const event = new Promise<WatchEvent>((resolve) => {
      this.waiting.add(resolve)
      cancel = () => {
        this.waiting.delete(resolve)
        resolve('ended')
      }
    })
    return { event, cancel }
  }

  /** Ends all streams. */
  end(): void {
    this.isEnded = true
    this.emit('ended')
  }

  private async run(): Promise<void> {
    this.isRunning = true
    let silentMs = 0
    while (this.streams > 0 && !this.isEnded) {
      silentMs += await this.source.waitForCheck()
      if (this.streams === 0 || this.isEnded) break
      const fingerprint = await this.source.check()
      if (fingerprint === undefined) this.end()
      else if (this.update(fingerprint)) silentMs = 0
      else if (silentMs >= HEARTBEAT_MS) {
        silentMs = 0
        this.emit('silent')
      }
    }
    this.isRunning = false
    this.isEnded = true
    this.source.onEnd()
  }

  /** Returns whether the fingerprint is new. */
  private update(fingerprint: string): boolean {
    if (fingerprint === this.fingerprint) return false
    this.fingerprint = fingerprint
    this.emit({ fingerprint })
    return true
  }

  private emit(event: WatchEvent): void {
    const waiting = [...this.waiting]
    this.waiting.clear()
    for (const resolve of waiting) resolve(event)
  }
}
