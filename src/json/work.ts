/** The work of one request: counted by what it costs, so that no request delays others or works for nobody. */
import { Problem } from '../contract/errors.ts'
import { defaultLimits, type Limits } from '../contract/limits.ts'
import { breathe, turnIsLong } from './turn.ts'

/** Units between two looks at the clock: a fraction of a millisecond. */
const STEP_UNITS = 20_000

/** Who a request is from decides how much it may cost: limits `evaluation_work` and `anonymous_work`. */
export type Worker = 'user' | 'anonymous' | 'server'

/** Budget of one request. A unit is one character that is read, or one comparison. */
export class Work {
  private done = 0
  private next = STEP_UNITS
  private readonly most: number

  /** `gone`: whether the client has disconnected. */
  constructor(
    readonly limits: Limits = defaultLimits,
    private readonly worker: Worker = 'server',
    readonly gone: () => boolean = () => false,
  ) {
    const { evaluation_work, anonymous_work } = limits
    this.most = { user: evaluation_work, anonymous: anonymous_work, server: Number.POSITIVE_INFINITY }[worker]
  }

  /** Counts units. Returns whether the caller should await `pause` now. Throws `too_large` beyond the budget. */
  spend(units: number): boolean {
    this.done += units
    if (this.done < this.next) return false
    this.next = this.done + STEP_UNITS
    if (this.done > this.most) throw this.exhausted()
    return turnIsLong()
  }

  /** Counts units, and pauses if it is time. */
  async take(units: number): Promise<void> {
    if (this.spend(units)) await this.pause()
  }

  /** Lets other requests work. Throws `aborted` if the client has disconnected. */
  async pause(): Promise<void> {
    if (this.gone()) throw new Problem('aborted', 'the client disconnected')
    await breathe()
  }

  private exhausted(): Problem {
    const limit = this.worker === 'anonymous' ? 'anonymous_work' : 'evaluation_work'
    return new Problem('too_large', `this request takes more than ${this.most} steps (limit ${limit})`, {
      hint: 'Ask for fewer rows, columns, conditions or rules.',
    })
  }
}
