// Escapes characters that could manipulate a terminal.
/**
 * Characters that can manipulate a terminal or disguise a name: control characters, direction marks, and
 * characters without width. The joiners U+200C and U+200D are part of words and emoji.
 */
const UNSAFE_CHARACTERS =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/**
 * Replaces characters that terminals interpret or hide: names and data come from other users. Line breaks
 * become ↵.
 */
export function escapeTerminal(text: string): string {
  return text.replace(/\r?\n/g, '↵').replace(UNSAFE_CHARACTERS, '\ufffd')
}

/** Like `escapeTerminal`, but keeps line breaks and tabs. */
export function escapeTerminalLines(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (c) => (c === '\n' || c === '\t' ? c : '\ufffd'))
}
