// Escapes texts for HTML.

const SPECIAL_CHARACTERS = /[&<>"']/
const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML content and attribute values. */
export function escapeHtml(plain: string): string {
  return SPECIAL_CHARACTERS.test(plain) ? plain.replace(/[&<>"']/g, (c) => ESCAPES[c]) : plain
}
