import type { Problem } from '../../contract/errors.ts'

/** One of several things that could not be done. */
export interface Failure {
  of: string
  problem: Problem
  /** What was not tried any more after it. */
  untried?: readonly string[]
}
