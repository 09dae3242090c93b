import { visible } from './visible.ts'

/** Entities, and a space without width where GitHub would see a mention or a reference. */
const ESCAPED: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '&': '&amp;',
  '@': '@&#8203;',
  '#': '#&#8203;',
}

/** Text in Markdown, also in the cell of a table: one line, and nothing in it is markup. */
export function markdown(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return visible(short)
    .replace(/[\\`*_{}[\]<>()#+!|~@&-]/g, (c) => ESCAPED[c] ?? `\\${c}`)
    .replace(/\bhttps?:/gi, (scheme) => scheme.replace(':', '&#58;'))
    .replace(/\bwww\./gi, 'www&#46;')
}
