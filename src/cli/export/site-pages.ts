// HTML of an exported site. Links are relative, so that it also works from disk.
import { createHash } from 'node:crypto'
import { escapeHtml } from '../../contract/html.ts'

/** Policy of all pages: nothing comes from other hosts. `file:` is for pages that are opened from disk. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' file:",
  "style-src 'unsafe-inline'",
  "img-src 'self' file: data: blob:",
  'font-src data:',
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const STYLE = `body { margin: 1rem auto; padding: 0 1rem; max-width: 70rem; font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff }
nav { margin-bottom: .5rem } a { color: #1a5fb4 } input { font: inherit; padding: .3rem .6rem; width: min(20rem, 100%); box-sizing: border-box }
ul { list-style: none; margin: 1rem 0; padding: 0; display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)) }
li { border: 1px solid #d7dae0; border-radius: 6px; padding: .8rem; overflow-wrap: anywhere }
li[hidden] { display: none } li img { width: 100%; aspect-ratio: 7 / 5; object-fit: contain; display: block }
li p { margin: .2rem 0 0; font-size: 13px; color: #5b6575 }`

/** Style of what a site adds to the page of a file. */
const FILE_STYLE = `.site { font: 13px/1.5 system-ui, sans-serif } .site a { color: #1a5fb4 }
.site textarea { display: block; width: 100%; height: 6rem; box-sizing: border-box; font: 12px monospace }
@media print { .site { display: none } }`
const CHART_STYLE = `.site { padding: .3rem .8rem }
@media screen { #picture { inset: 2.5rem 0 6rem; max-height: calc(100% - 8.5rem) } }`
const TABLE_STYLE = '.site { margin-bottom: .5rem }'

/** A file in a list. Paths are relative to the root of the site. */
export interface SiteCard {
  title: string
  /** More text to search in: the title of a chart. */
  words?: string
  page: string
  /** Picture of a chart. */
  picture?: string
  about: string
}

/** Returns the way from a page to the root of the site. */
export function rootOf(page: string): string {
  return '../'.repeat(page.split('/').length - 1)
}

/** Escapes a path for an attribute. */
function hrefOf(path: string): string {
  return escapeHtml(path.split('/').map(encodeURIComponent).join('/').replaceAll('%7E', '~'))
}

/** A link to a page of the site, by its path from the root. */
export interface SiteLink {
  title: string
  page: string
}

/** Renders links, one after the other. */
function renderLinks(links: readonly SiteLink[], root: string, separator: string): string {
  return links
    .map(({ title, page }) => `<a href="${root}${hrefOf(page)}">${escapeHtml(title)}</a>`)
    .join(separator)
}

/**
 * Renders the page of a list of files. `search`: path of its script, from the root. `above`: the pages above it.
 * `folders`: those inside.
 */
export function renderList(
  page: string,
  title: string,
  cards: readonly SiteCard[],
  { search, above, folders }: { search: string; above: readonly SiteLink[]; folders: readonly SiteLink[] },
): string {
  const root = rootOf(page)
  const items = cards.map(({ title: name, words = '', page: target, picture, about }) => {
    const image = picture === undefined ? '' : `<img src="${root}${hrefOf(picture)}" alt="" loading="lazy">`
    const text = escapeHtml(`${name} ${words} ${about}`.toLowerCase())
    return `<li data-text="${text}"><a href="${root}${hrefOf(target)}">${image}${escapeHtml(name)}</a><p>${escapeHtml(about)}</p></li>`
  })
  const back = above.length > 0 ? `<nav>${renderLinks(above, root, ' / ')}</nav>\n` : ''
  const inside = folders.length > 0 ? `<p>Folders: ${renderLinks(folders, root, ' · ')}</p>\n` : ''
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="${root}favicon.svg">
<title>${escapeHtml(title)}</title>
<style>
${STYLE}
</style>
${back}<h1>${escapeHtml(title)}</h1>
<input id="search" type="search" placeholder="Search" aria-label="Search" hidden>
${inside}<p id="none" hidden>Nothing found.</p>
<ul>
${items.join('\n')}
</ul>
<script src="${root}${hrefOf(search)}"></script>
</html>
`
}

/** A script of self-contained pages, which the pages of a site share. */
export interface SharedScript {
  path: string
  code: string
}

const INLINE_SCRIPT = /<script>(.*?)<\/script>/s
const SEAL = /<!-- sha256 [0-9a-f]{64} -->\n$/
const SOURCE = / · source: <a [^>]*>[^<]*<\/a>/

/** A page that loads its scripts, and the scripts. */
export interface SharedPage {
  /** Renders the page. `root`: way to the root of the site. */
  render(root: string): string
  scripts: readonly SharedScript[]
}

/** Splits a self-contained page. */
export function shareScripts(html: string): SharedPage {
  const scripts: SharedScript[] = []
  const parts = html
    .replace(SEAL, '')
    .replace(SOURCE, '')
    .replace(/(?<=<meta http-equiv="content-security-policy" content=")[^"]*/, () => POLICY)
    // Texts and codes take turns.
    .split(INLINE_SCRIPT)
  const texts = parts.filter((_, k) => k % 2 === 0)
  for (const code of parts.filter((_, k) => k % 2 === 1))
    scripts.push({ path: `assets/${createHash('sha256').update(code).digest('hex').slice(0, 16)}.js`, code })
  const render = (root: string): string =>
    texts
      .map((text, k) => (k === 0 ? text : `<script src="${root}${scripts[k - 1].path}"></script>${text}`))
      .join('')
  return { render, scripts }
}

/**
 * Adds the links of a site to the page of a file: to the pages above it, and to downloads, which get the name of the
 * file. Paths are from the root.
 */
export function addSiteLinks(
  html: string,
  root: string,
  {
    above,
    name,
    downloads,
    embed,
  }: {
    above: readonly SiteLink[]
    name: string
    downloads: readonly string[]
    embed?: string
  },
): string {
  const links = downloads.map((path) => {
    const [, extension] = /\.(\w+)$/.exec(path)!
    return `<a href="${root}${hrefOf(path)}" download="${escapeHtml(`${name}.${extension}`)}">${extension.toUpperCase()}</a>`
  })
  const block =
    embed === undefined
      ? ''
      : `<details><summary>Embed</summary><textarea readonly aria-label="HTML">${escapeHtml(embed)}</textarea></details>`
  // Its policy allows no icon.
  const isBoard = html.includes('<div class="board">')
  const isTable = html.includes('<table>') && !isBoard
  const files = links.join(' · ')
  const nav = `<nav class="site">${renderLinks(above, root, ' / ')}${isTable ? ` · ${files}` : ''}</nav>`
  // Functions, since texts may contain a dollar sign.
  return html
    .replace('<title>', () => `${isBoard ? '' : `<link rel="icon" href="${root}favicon.svg">\n`}<title>`)
    .replace('</style>', () => `${FILE_STYLE}\n${isTable ? TABLE_STYLE : CHART_STYLE}\n</style>\n${nav}`)
    .replace(
      /<p id="about">.*<\/p>/,
      (about) => about + (isTable ? '' : `\n<div class="site">${files}${block}</div>`),
    )
}

/** Removes the line about a chart: the page that embeds it says that. */
export function removeAbout(html: string): string {
  return html.replace(/<p id="about">.*<\/p>\n/, '')
}

/** Returns the picture in a self-contained page; undefined without one. */
export function pictureOf(html: string): Buffer | undefined {
  const [, data] = /<img id="picture"[^>]* src="data:image\/svg\+xml;base64,([^"]*)">/.exec(html) ?? []
  return data === undefined ? undefined : Buffer.from(data, 'base64')
}
