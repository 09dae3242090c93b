/** HTML of all pages: escaping, links and the document frame. */
import { escapeHtml } from '../../contract/html.ts'
import { assetPathOf } from './assets.ts'
import { LOGO } from './icons.ts'

/** Colors of a page or chart: `auto` follows the reader's system. */
export type ColorScheme = 'light' | 'dark' | 'auto'

/** Reads the color scheme from `?theme=light|dark|auto`. Default: light. */
export function readColorScheme(query: URLSearchParams, defaultScheme: ColorScheme = 'light'): ColorScheme {
  const theme = query.get('theme')
  return theme === 'light' || theme === 'dark' || theme === 'auto' ? theme : defaultScheme
}

/** Returns share key and version as a query string, for links to the same file; empty without them. */
export function accessQueryOf({ shareKey, version }: { shareKey?: string; version?: string }): string {
  return [
    ...(shareKey === undefined ? [] : [`share_key=${encodeURIComponent(shareKey)}`]),
    ...(version === undefined ? [] : [`version=${encodeURIComponent(version)}`]),
  ].join('&')
}

/** Appends query parameters to a URL, except for empty ones. */
export function appendQuery(url: string, ...parameters: (string | false | undefined)[]): string {
  const query = parameters.filter(Boolean).join('&')
  return url + (query && `?${query}`)
}

export interface DocumentOptions {
  /** Additional HTML of the head. */
  head?: string
  /** HTML above the heading. */
  above?: string
  /** True if the page is a form in a centered card. */
  isCard?: boolean | 'wide'
  /** Color scheme. Default: that of the reader's system. */
  scheme?: ColorScheme
  /** Text in the search field. */
  searchText?: string
  /** User who is signed in; null if nobody is. Undefined: the page has no navigation. */
  user?: string | null
  /** Path that is shown after signing in. Default: the start page. */
  next?: string
  /** Paths of scripts. */
  scripts?: readonly string[]
  /** Data of the scripts, by name. */
  data?: Readonly<Record<string, string>>
  /** Subject of the page, for scripts: a folder, or a grid. */
  context?: Readonly<Record<string, string | undefined>>
}

/** Renders `data-*` attributes. */
export function renderData(data: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(data)
    .map(([name, value]) => (value === undefined ? '' : ` data-${name}="${escapeHtml(value)}"`))
    .join('')
}

/** Renders a button that a script handles; it is hidden without scripts. `label` is HTML. */
export function renderActionButton(
  action: string,
  script: string,
  label: string,
  data: Readonly<Record<string, string | undefined>> = {},
  className = '',
  isPressed = false,
): string {
  const classes = `${className === '' ? '' : ` class="${className}"`}${isPressed ? ' aria-pressed="true"' : ''}`
  return `<button type="button"${classes}${renderData({ action, script: assetPathOf(script), ...data })} hidden>${label}</button>`
}

function renderNavigation(user: string | null, searched: string, next: string | undefined): string {
  const back = next === undefined ? '' : `?next=${encodeURIComponent(next)}`
  const account =
    user === null
      ? `<a href="${escapeHtml(`/signin${back}`)}">Sign in</a>`
      : `${renderActionButton('add', 'add.js', 'Add data')} <a href="/~${escapeHtml(user)}/">${escapeHtml(user)}</a> <a href="/account">Account</a> <form method="post" action="/signout"><button type="submit">Sign out</button></form>`
  const search =
    user === null
      ? ''
      : `<form class="search" method="get" action="/" role="search"><input type="search" name="q" value="${escapeHtml(searched)}" placeholder="Search names, columns and titles" aria-label="Search names, columns and titles" maxlength="200"></form>`
  return `<header class="top"><a class="skip" href="#main">Skip to the content</a><nav aria-label="Site"><a class="home" href="/">${LOGO}Gridline</a>${search}<span class="account">${account}</span></nav></header>\n`
}

const FOOTER =
  '<footer class="foot"><span>Gridline: charts and grids from the command line</span><a href="/connect">Connect a client</a><a href="/v2/docs">API</a></footer>\n'

/** Renders a complete HTML page. `body` is HTML, `title` is plain text. */
export function renderDocument(
  title: string,
  body: string,
  {
    head = '',
    above = '',
    scripts = [],
    data = {},
    context = {},
    user,
    next,
    isCard = false,
    scheme = 'auto',
    searchText: searched = '',
  }: DocumentOptions = {},
): string {
  const attributes = renderData(data)
  const content = `<h1>${escapeHtml(title)}</h1>\n${body}`
  return `<!doctype html>
<html lang="en"${scheme === 'auto' ? '' : ` data-scheme="${scheme}"`}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<title>${escapeHtml(title)}</title>
${head}<link rel="stylesheet" href="${assetPathOf('style.css')}">
${user === undefined ? '' : renderNavigation(user, searched, next)}<main id="main"${renderData(context)}>
${above}${isCard ? `<div class="card${isCard === 'wide' ? ' wide' : ''}">${content}</div>` : content}
</main>
${user === undefined ? '' : FOOTER}${scripts.map((path) => `<script src="${path}"${attributes}></script>\n`).join('')}</html>
`
}
