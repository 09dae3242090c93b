const SPECIAL = /[&<>"']/
const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML content and attribute values. */
export function text(plain: string): string {
  return SPECIAL.test(plain) ? plain.replace(/[&<>"']/g, (c) => escapes[c]) : plain
}

/** Colors of a page or chart: `auto` follows the reader's system. */
export type ColorScheme = 'light' | 'dark' | 'auto'

/** The colors that an address asks for: `?theme=light|dark|auto`. An embedded chart is light unless told otherwise. */
export function schemeIn(query: URLSearchParams, usual: ColorScheme = 'light'): ColorScheme {
  const given = query.get('theme')
  return given === 'light' || given === 'dark' || given === 'auto' ? given : usual
}

/** The share key of a reader as a query parameter, for links that must open the same file; empty without one. */
export function shareKeyQuery(shareKey: string | undefined): string {
  return shareKey === undefined ? '' : `share_key=${encodeURIComponent(shareKey)}`
}

/** A URL with query parameters, of which empty and absent ones are left out. */
export function withQuery(url: string, ...parameters: (string | false | undefined)[]): string {
  const query = parameters.filter(Boolean).join('&')
  return url + (query && `?${query}`)
}

/** The policy of pages. They hold texts of users: no inline scripts, and nothing from other hosts. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ')

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --line: #d8dee4; --back: #fff; --panel: #f6f8fa; --link: #0b5cad }
@media (prefers-color-scheme: dark) { :root { --text: #e3e6ea; --soft: #9aa4af; --line: #343a42; --back: #16181d; --panel: #1f2329; --link: #7db7ff } }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 74rem; padding: 1.2rem 1rem 3rem; color: var(--text); background: var(--back) }
a { color: var(--link) }
a:focus-visible, button:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .2rem 0; overflow-wrap: anywhere }
h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem }
p { color: var(--soft); margin: .3rem 0 }
ul { padding-left: 1.2rem }
li { overflow-wrap: anywhere }
.scroll { overflow-x: auto; margin-top: 1rem }
table { border-collapse: collapse; font-size: 14px }
th, td { padding: .25rem .8rem .25rem 0; text-align: left; white-space: pre; border-bottom: 1px solid var(--line) }
th .type { display: block; font-weight: 400; font-size: 12px; color: var(--soft) }
th a { color: var(--text) }
tbody th { font-weight: 400; font-size: 12px; color: var(--soft); text-align: right }
td.n { text-align: right; font-variant-numeric: tabular-nums }
pre { font-size: 13px; overflow-x: auto; background: var(--panel); padding: .8rem; border-radius: 6px; margin: .4rem 0 }
details { margin: .3rem 0 }
summary { cursor: pointer }
code.m { display: inline-block; min-width: 6.5rem; font-weight: 600 }
.chart { display: block; width: 100%; height: min(70vh, 40rem); min-height: 20rem; border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0 }
.actions { display: flex; flex-wrap: wrap; gap: .4rem .9rem }
.note { border-left: 3px solid #bf8700; padding: .3rem .8rem; background: var(--panel); color: var(--text); margin: .8rem 0 }
nav { display: flex; gap: 1rem; align-items: center; border-bottom: 1px solid var(--line); padding-bottom: .6rem; margin-bottom: 1rem }
nav .home { font-weight: 600; color: var(--text); text-decoration: none }
nav .account { margin-left: auto; display: flex; gap: .8rem; align-items: center }
nav form { margin: 0 }
input, select { font: inherit; color: var(--text); background: var(--back); border: 1px solid var(--line); border-radius: 6px; padding: .3rem .6rem; min-width: 18rem; max-width: 100% }
.files { list-style: none; padding: 0 }
.files li { padding: .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
.files .kind { color: var(--soft); font-size: 13px }
input.short { min-width: 0; width: 7rem }
nav.pager { border: 0; flex-wrap: wrap; padding: 0; margin: .8rem 0 0 }
nav.pager [aria-disabled] { color: var(--soft); opacity: .6 }
button { font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .2rem .7rem; cursor: pointer }
`

export interface DocumentOptions {
  /** More of the head, as HTML. */
  head?: string
  /** The user who is signed in; null if nobody is. Without it, the page has no navigation. */
  user?: string | null
  /** Paths of scripts. */
  scripts?: readonly string[]
  /** Data of the scripts, by name. */
  data?: Readonly<Record<string, string>>
}

function navigation(user: string | null): string {
  const account =
    user === null
      ? '<a href="/signin">Sign in</a>'
      : `<a href="/~${text(user)}/">${text(user)}</a> <form method="post" action="/signout"><button type="submit">Sign out</button></form>`
  return `<nav><a class="home" href="/">Gridline</a> <span class="account">${account}</span></nav>\n`
}

/** A complete HTML page. `body` is HTML, `title` is plain text. */
export function document(
  title: string,
  body: string,
  { head = '', scripts = [], data = {}, user }: DocumentOptions = {},
): string {
  const attributes = Object.entries(data)
    .map(([name, value]) => ` data-${name}="${text(value)}"`)
    .join('')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<title>${text(title)}</title>
${head}<style>${STYLE}</style>
${user === undefined ? '' : navigation(user)}<main>
<h1>${text(title)}</h1>
${body}
</main>
${scripts.map((path) => `<script src="${path}"${attributes}></script>\n`).join('')}</html>
`
}
