// Failures of batch commands.
import type { Problem } from '../../contract/errors.ts'

/** Failed item of a batch. */
export interface Failure {
  subject: string
  problem: Problem
  /** Items not attempted after this failure. */
  untried?: readonly string[]
}
