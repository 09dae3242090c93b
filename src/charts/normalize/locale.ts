import { Problem } from '../../contract/errors.ts'
import { knownLocale } from '../figure/locale.ts'

/** Throws `usage` for a tag that is no language. */
export function assertLocale(tag: string, flag: string): void {
  if (knownLocale(tag) === undefined)
    throw new Problem('usage', `${flag} ${tag}: no language has this tag`, {
      hint: 'For example: de, fr or en-GB.',
    })
}
