/**
 * What could manipulate the terminal, or make a name look like another one: control characters, characters that change
 * the direction of text, and characters without a width. The joiners U+200C and U+200D are part of words and emoji.
 */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** Replaces characters that a terminal would obey or hide: names and data come from other users. Line ends become ↵. */
export function visible(text: string): string {
  return text.replace(/\r?\n/g, '↵').replace(HIDDEN, '\ufffd')
}

/** The same for text of several lines, with tabs. */
export function visibleLines(text: string): string {
  return text.replace(HIDDEN, (c) => (c === '\n' || c === '\t' ? c : '\ufffd'))
}
