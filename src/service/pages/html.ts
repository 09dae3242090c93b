/** Escapes text for HTML content and attribute values. */
export function text(plain: string): string {
  const escapes: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return plain.replace(/[&<>"']/g, (c) => escapes[c])
}

/** A complete HTML page without scripts or external resources. `body` is HTML, `title` is plain text. */
export function document(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${text(title)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; background: #fff }
h1 { font-size: 1.4rem; margin: 0 }
h2 { font-size: 1.1rem; margin: 2rem 0 .3rem }
p { color: #555; margin: .3rem 0 }
div { overflow-x: auto; margin-top: 1rem }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; white-space: pre; border-bottom: 1px solid #eee }
td.n { text-align: right; font-variant-numeric: tabular-nums }
pre { font-size: 13px; overflow-x: auto; background: #f6f6f6; padding: 1rem }
details { margin: .3rem 0 }
summary { cursor: pointer }
code.m { display: inline-block; min-width: 6.5rem; font-weight: 600 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #161616 } p { color: #999 } th, td { border-color: #333 } pre { background: #222 } a { color: #8bf } }
</style>
<h1>${text(title)}</h1>
${body}
</html>
`
}
