/**
 * Returns a text with its ASCII letters in lower case. Others stay: e-mail addresses that only Unicode considers equal,
 * such as those with a Kelvin sign (U+212A) and a `k`, belong to different people.
 */
export function lowerCaseAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
