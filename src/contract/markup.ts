/** A text as plotly.js shows it: `<`, `>` and `&` are no markup. */
export function escapedMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
