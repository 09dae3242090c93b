// Checks the language of a chart.

import { findSupportedLocale } from '../figure/locale.ts'
import { createUsageError } from '../spec/errors.ts'

/** Throws `usage` for a tag of no known language. */
export function assertLocale(tag: string, flag: string): void {
  if (findSupportedLocale(tag) === undefined)
    throw createUsageError(`${flag} ${tag}: unknown language tag`, 'For example: de, fr or en-GB.')
}
