// Counts the memory of what a step keeps until it has read all rows.
import { Problem } from '../../../contract/errors.ts'
import { formatBytes, type Limits } from '../../../contract/limits.ts'

/** Maximum memory that a step keeps, as a multiple of the largest result. */
const KEPT_RESULTS = 2

/** Size of an entry of a map of strings beside its text, in bytes. */
export const ENTRY_BYTES = 100

/** Hints of its error, by the query parameter of a step. */
const HINTS = {
  group: 'Choose fewer rows with a where, or group by columns with fewer different values.',
  pivot: 'Choose fewer rows with a where, or a pivot with fewer different values.',
  join: 'Join a table with fewer rows or columns.',
}

/** Memory that a step keeps. Throws `too_large` above twice `query_result_bytes`. */
export class KeptMemory {
  private bytes = 0
  private readonly maxBytes: number

  constructor(
    { query_result_bytes }: Limits,
    private readonly step: keyof typeof HINTS,
  ) {
    this.maxBytes = KEPT_RESULTS * query_result_bytes
  }

  add(bytes: number): void {
    this.bytes += bytes
    if (this.bytes > this.maxBytes)
      throw new Problem(
        'too_large',
        `${this.step}: this needs more than ${formatBytes(this.maxBytes)} of memory (twice the limit query_result_bytes)`,
        { field: this.step, hint: HINTS[this.step] },
      )
  }
}
