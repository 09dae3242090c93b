// Checks language tags against the languages of this runtime.

/** Returns the canonical tag of a supported language; undefined for any other value. */
export function findSupportedLocale(tag: unknown): string | undefined {
  try {
    return typeof tag === 'string' ? Intl.DateTimeFormat.supportedLocalesOf(tag)[0] : undefined
  } catch {
    // Not a well-formed tag.
    return undefined
  }
}
