// Errors of chart options.
import { Problem } from '../../contract/errors.ts'

/** Creates a `usage` error with a hint that says how to fix it. */
export function createUsageError(message: string, hint?: string): Problem {
  return new Problem('usage', message, { hint })
}
