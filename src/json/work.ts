// Budget of the work of one request, so that it neither delays others nor continues after a disconnect.
import { Problem } from '../contract/errors.ts'
import { defaultLimits, type Limits } from '../contract/limits.ts'
import { breathe, turnIsLong } from './turn.ts'

/** Number of units between two checks of the clock: less than a millisecond of work. */
const STEP_UNITS = 20_000

/** Origin of a request, which decides its budget: limits `evaluation_work` and `anonymous_work`. */
export type Worker = 'user' | 'anonymous' | 'server'

/** Work budget of one request. A unit is one character read, or one comparison. */
export class Work {
  private done = 0
  private next = STEP_UNITS
  private readonly most: number

  /** `gone` returns whether the client has disconnected. */
  constructor(
    readonly limits: Limits = defaultLimits,
    private readonly worker: Worker = 'server',
    readonly gone: () => boolean = () => false,
  ) {
    const { evaluation_work, anonymous_work } = limits
    this.most = { user: evaluation_work, anonymous: anonymous_work, server: Number.POSITIVE_INFINITY }[worker]
  }

  /**
   * Adds units. Returns whether the caller should await `pause` now. Throws `too_large` beyond the budget.
   */
  spend(units: number): boolean {
    this.done += units
    if (this.done < this.next) return false
    this.next = this.done + STEP_UNITS
    if (this.done > this.most) throw this.exhausted()
    return turnIsLong()
  }

  /** Adds units, and pauses if it is time. */
  async take(units: number): Promise<void> {
    if (this.spend(units)) await this.pause()
  }

  /** Yields to the event loop. Throws `aborted` if the client has disconnected. */
  async pause(): Promise<void> {
    if (this.gone()) throw new Problem('aborted', 'the client disconnected')
    await breathe()
  }

  private exhausted(): Problem {
    const limit = this.worker === 'anonymous' ? 'anonymous_work' : 'evaluation_work'
    return new Problem('too_large', `this request takes more than ${this.most} steps (limit ${limit})`, {
      hint: 'Request fewer rows, columns, conditions or rules.',
    })
  }
}
