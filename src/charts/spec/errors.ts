// Errors of chart options, and of the data that a chart shows.
import { Problem } from '../../contract/errors.ts'

/** Creates a `usage` error with a hint that says how to fix it. */
export function createUsageError(message: string, hint?: string): Problem {
  return new Problem('usage', message, { hint })
}

/** Creates a `bad_data` error about the values of a column. */
export function createDataError(message: string, field: string | undefined, hint?: string): Problem {
  return new Problem('bad_data', message, { field, hint })
}
