// Line ends in fields of one line, which drop them: names of columns and texts can have some.

const SHOWN: Record<string, string> = { '\n': '⏎', '\r': '␍' }
/** Stands before a character that is meant itself. */
const ESCAPE = '␛'

/** Query parameter of a page with a form whose fields show line ends. */
export const LINE_ENDS_PARAMETER = 'ends'

/** Returns whether a field of one line would drop a part of a text. */
export function hasLineEnds(text: string): boolean {
  return /[\r\n]/.test(text)
}

/** Returns a text as a field of one line shows it. */
export function showLineEnds(text: string): string {
  return text.replace(/[\r\n⏎␍␛]/g, (c) => SHOWN[c] ?? ESCAPE + c)
}

/** Returns the text of a field of one line, with line ends. */
export function readLineEnds(shown: string): string {
  return shown.replace(
    /␛([⏎␍␛])|[⏎␍]/g,
    (sign, itself?: string) => itself ?? (sign === SHOWN['\n'] ? '\n' : '\r'),
  )
}
