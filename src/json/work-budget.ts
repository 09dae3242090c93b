// Budget of the work of one request, so that it neither delays others nor continues after a disconnect.
import { Problem } from '../contract/errors.ts'
import { defaultLimits, type Limits } from '../contract/limits.ts'
import { shouldYield, yieldToEventLoop } from './event-loop.ts'

/** Number of units between two checks of the clock: less than a millisecond of work. */
const CHECK_INTERVAL_UNITS = 20_000

/** Origin of a request, which decides its budget: limits `evaluation_work` and `anonymous_work`. */
export type RequestOrigin = 'user' | 'anonymous' | 'server'

/** Work budget of one request. A unit is one character read, or one comparison. */
export class WorkBudget {
  private spentUnits = 0
  private nextCheck = CHECK_INTERVAL_UNITS
  private readonly maxUnits: number

  /** `gone` returns whether the client has disconnected. */
  constructor(
    readonly limits: Limits = defaultLimits,
    private readonly origin: RequestOrigin = 'server',
    readonly isAborted: () => boolean = () => false,
  ) {
    const { evaluation_work, anonymous_work } = limits
    this.maxUnits = { user: evaluation_work, anonymous: anonymous_work, server: Number.POSITIVE_INFINITY }[
      origin
    ]
  }

  /**
   * Adds units. Returns whether the caller should await `pause` now. Throws `too_large` beyond the budget.
   */
  spend(units: number): boolean {
    this.spentUnits += units
    if (this.spentUnits < this.nextCheck) return false
    this.nextCheck = this.spentUnits + CHECK_INTERVAL_UNITS
    if (this.spentUnits > this.maxUnits) throw this.exhaustedError()
    return shouldYield()
  }

  /** Adds units, and pauses if it is time. */
  async spendAndPause(units: number): Promise<void> {
    if (this.spend(units)) await this.pause()
  }

  /** Yields to the event loop. Throws `aborted` if the client has disconnected. */
  async pause(): Promise<void> {
    if (this.isAborted()) throw new Problem('aborted', 'the client disconnected')
    await yieldToEventLoop()
  }

  private exhaustedError(): Problem {
    const limit = this.origin === 'anonymous' ? 'anonymous_work' : 'evaluation_work'
    return new Problem('too_large', `this request takes more than ${this.maxUnits} steps (limit ${limit})`, {
      hint: 'Request fewer rows, columns, conditions or rules.',
    })
  }
}
