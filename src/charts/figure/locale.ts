/** The tag of a language as this machine knows it; undefined for one that it does not know. */
export function knownLocale(tag: unknown): string | undefined {
  try {
    return typeof tag === 'string' ? Intl.DateTimeFormat.supportedLocalesOf(tag)[0] : undefined
  } catch {
    // It is not the form of a tag.
    return undefined
  }
}
