import { Problem } from '../../contract/errors.ts'

/** Throws `usage` for a tag that is no language. */
export function assertLocale(tag: string, flag: string): void {
  try {
    if (Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0) return
  } catch {
    // It is not the form of a tag.
  }
  throw new Problem('usage', `${flag} ${tag}: no language has this tag`, {
    hint: 'For example: de, fr or en-GB.',
  })
}
