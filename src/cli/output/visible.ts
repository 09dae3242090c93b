/** Replaces control characters: names come from other users and could manipulate the terminal. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd')
}
