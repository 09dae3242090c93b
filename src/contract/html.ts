// Escapes texts for HTML.

const SPECIAL_CHARACTERS = /[&<>"'\r]/
const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // Browsers read CR LF as LF.
  '\r': '&#13;',
}

/** Escapes text for HTML content and attribute values. */
export function escapeHtml(plain: string): string {
  return SPECIAL_CHARACTERS.test(plain) ? plain.replace(/[&<>"'\r]/g, (c) => ESCAPES[c]) : plain
}
