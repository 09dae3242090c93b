import { visible } from './visible.ts'

/** Entities, and a space without width where GitHub would see a mention, a reference, an emoji or a commit. */
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
    .replace(/:(?=\/\/)/g, '&#58;')
    .replace(/:(?=[\w\\-]+:)/g, ':&#8203;')
    .replace(/\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}\b/gi, (id) => `${id.slice(0, 6)}&#8203;${id.slice(6)}`)
    .replace(/\bwww\./gi, 'www&#46;')
}
