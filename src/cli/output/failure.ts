import type { Problem } from '../../contract/errors.ts'

/** A failed item of a batch. */
export interface Failure {
  of: string
  problem: Problem
  /** Items not tried after this failure. */
  untried?: readonly string[]
}
