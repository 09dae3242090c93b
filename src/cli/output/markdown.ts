// Escapes text for Markdown.
import { escapeTerminal } from './escape-terminal.ts'

/** Escapes as entities. Zero-width spaces prevent mentions, references, emoji and commit links on GitHub. */
const ENTITIES: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '&': '&amp;',
  '@': '@&#8203;',
  '#': '#&#8203;',
}

/** Escapes text for Markdown and its table cells: one line, no markup, at most 200 characters. */
export function escapeMarkdown(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}…` : text
  return escapeTerminal(short)
    .replace(/[\\`*_{}[\]<>()#+!|~@&-]/g, (c) => ENTITIES[c] ?? `\\${c}`)
    .replace(/:(?=\/\/)/g, '&#58;')
    .replace(/:(?=[\w\\-]+:)/g, ':&#8203;')
    .replace(/\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}\b/gi, (id) => `${id.slice(0, 6)}&#8203;${id.slice(6)}`)
    .replace(/\bwww\./gi, 'www&#46;')
}
