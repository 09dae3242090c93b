import { visible } from './visible.ts'

/** Text in Markdown, also in the cell of a table: one line, and nothing in it is markup. */
export function markdown(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return visible(short)
    .replace(/[\\`*_{}[\]<>()#+!|~@&-]/g, (c) => (c === '<' ? '&lt;' : c === '&' ? '&amp;' : `\\${c}`))
    .replace(/\bhttps?:/gi, (scheme) => scheme.replace(':', '&#58;'))
    .replace(/\bwww\./gi, 'www&#46;')
}
