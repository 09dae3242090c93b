// Queue of the signals that stop `gridline serve`.

type Signal = 'SIGINT' | 'SIGTERM'

/** Queue of the signals that ask the process to end. No signal is lost. */
export class SignalQueue {
  private readonly pending: Signal[] = []
  private resolveNext: ((signal: Signal) => void) | undefined

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Listen before removing the other listeners: without a listener, a signal ends the process.
      const previousListeners = process.listeners(signal)
      process.on(signal, () => {
        if (this.resolveNext) this.resolveNext(signal)
        else this.pending.push(signal)
      })
      for (const listener of previousListeners) process.removeListener(signal, listener)
    }
  }

  /** Waits for the next signal. Returns undefined after `timeoutMs`, if given. */
  next(): Promise<Signal>
  next(timeoutMs: number): Promise<Signal | undefined>
  next(timeoutMs?: number): Promise<Signal | undefined> {
    const signal = this.pending.shift()
    if (signal) return Promise.resolve(signal)
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => done(undefined), timeoutMs)
      const done = (received: Signal | undefined): void => {
        clearTimeout(timer)
        this.resolveNext = undefined
        resolve(received)
      }
      this.resolveNext = done
    })
  }

  /** Returns the result of `work`, or the signal if one arrives first. */
  async raceWith<T>(work: Promise<T>): Promise<T | Signal> {
    try {
      return await Promise.race([work, this.next()])
    } finally {
      this.resolveNext = undefined
    }
  }
}
