// Checks the language of a chart.
import { Problem } from '../../contract/errors.ts'
import { findSupportedLocale } from '../figure/locale.ts'

/** Throws `usage` for a tag of no known language. */
export function assertLocale(tag: string, flag: string): void {
  if (findSupportedLocale(tag) === undefined)
    throw new Problem('usage', `${flag} ${tag}: unknown language tag`, {
      hint: 'For example: de, fr or en-GB.',
    })
}
