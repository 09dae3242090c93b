/** JSON responses as pages. */
import { document, text } from '../html.ts'

/** Renders a JSON response as HTML (`?format=api`): indented, with links for URLs of this service. */
export function jsonPage(url: string, path: string, body: unknown): string {
  const json = JSON.stringify(body, null, 2) ?? ''
  const html = text(json).replace(/&quot;(https?:\/\/[^\s]*?)&quot;/g, (whole, link: string) =>
    link.startsWith(text(`${url}/`)) ? `&quot;<a href="${link}">${link}</a>&quot;` : whole,
  )
  return document(path, `<pre>${html}</pre>`)
}
