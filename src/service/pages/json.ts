import { document, text } from './html.ts'

/** An answer for a browser: the JSON indented, addresses of this service as links. Reference section 1, `?format=api`. */
export function jsonPage(url: string, path: string, body: unknown): string {
  const json = JSON.stringify(body, null, 2) ?? ''
  const html = text(json).replace(/&quot;(https?:\/\/[^\s]*?)&quot;/g, (whole, link: string) =>
    link.startsWith(text(`${url}/`)) ? `&quot;<a href="${link}">${link}</a>&quot;` : whole,
  )
  return document(path, `<pre>${html}</pre>`)
}
