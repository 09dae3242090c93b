/** JSON responses as pages. */
import { escapeHtml } from '../../../contract/html.ts'
import { renderDocument } from '../html.ts'

/** Renders a JSON response as HTML (`?format=api`): indented, with links for URLs of this service. */
export function renderJsonPage(url: string, path: string, body: unknown): string {
  const json = JSON.stringify(body, null, 2) ?? ''
  const html = escapeHtml(json).replace(/&quot;(https?:\/\/[^\s]*?)&quot;/g, (whole, link: string) =>
    link.startsWith(escapeHtml(`${url}/`)) ? `&quot;<a href="${link}">${link}</a>&quot;` : whole,
  )
  return renderDocument(path, `<pre>${html}</pre>`)
}
