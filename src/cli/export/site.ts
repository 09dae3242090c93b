// Exports files as a site of files, at the paths that they have on the server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import type { Client } from '../../client/index.ts'
import { buildPath } from '../../contract/build-path.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { formatEmbedBlock } from '../../contract/web/embed-block.ts'
import { runEach } from '../files/batch.ts'
import type { TreeEntry } from '../files/list-tree.ts'
import type { Failure } from '../output/failure.ts'
import type { ExportFolder } from './export-folder.ts'
import {
  addSiteLinks,
  pictureOf,
  removeAbout,
  renderList,
  rootOf,
  type SharedPage,
  type SiteCard,
  type SiteLink,
  shareScripts,
} from './site-pages.ts'

/** Number of files that are exported at once. Each may need a drawing. */
const JOBS = 2
/** Maximum number of cells and rows that the page of a grid shows. */
const MAX_PAGE_CELLS = 100_000
const MAX_PAGE_ROWS = 2000
const SEARCH_SCRIPT = 'assets/site-search.js'
const INDEX = 'index.html'

export interface SiteOptions {
  title: string
  /** Whether private files are exported, too. */
  showsPrivate: boolean
  /** URL at which the site will be, for embed blocks. */
  url: string | undefined
  note(text: string): void
}

/** Exports files and folders into a folder. */
export class SiteExport {
  private readonly cards = new Map<string, SiteCard>()
  private readonly scripts = new Map<string, string>()
  private readonly folderById = new Map<string, TreeEntry>()
  private hasPictures = true

  constructor(
    private readonly client: Client,
    private readonly folder: ExportFolder,
    private readonly entries: readonly TreeEntry[],
    private readonly options: SiteOptions,
  ) {
    // As on the server, the name of a private folder stays unknown, and what it is in.
    for (const entry of entries)
      if (entry.file.filetype === 'fold' && (options.showsPrivate || entry.file.world_readable))
        this.folderById.set(entry.file.fid, entry)
  }

  async run(): Promise<{ files: number; failures: Failure[] }> {
    const items = this.entries
      .filter(({ file }) => Object.hasOwn(this.exporters, file.filetype))
      .map((entry) => ({ ...entry, subject: [...entry.folders, entry.file.filename].join('/') }))
    const { items: exported, failures } = await runEach(
      items,
      async (entry) => {
        this.cards.set(entry.file.fid, await this.exporters[entry.file.filetype]!(entry))
        return []
      },
      JOBS,
    )
    if (!this.hasPictures) this.options.note('The server has no Chromium: the site has no pictures.')
    if (failures.length > 0) return { files: exported.length, failures }
    await this.writeLists()
    for (const [path, code] of [...this.scripts].sort(([a], [b]) => (a < b ? -1 : 1)))
      await this.folder.write(path, Buffer.from(code))
    const asset = (name: string): Buffer => readFileSync(join(buildPath('assets'), name))
    await this.folder.write(SEARCH_SCRIPT, asset('site-search.js'))
    await this.folder.write('embed.js', asset('embed.js'))
    await this.folder.write('404.png', asset('missing.png'))
    await this.folder.write('favicon.svg', asset('favicon.svg'))
    // Some hosts leave out names that begin with a tilde otherwise.
    await this.folder.write('.nojekyll', Buffer.alloc(0))
    this.folder.finish()
    return { files: items.length, failures }
  }

  /** Exports a file of each type that a site has. */
  private readonly exporters: Partial<Record<FileMeta['filetype'], (entry: TreeEntry) => Promise<SiteCard>>> =
    {
      plot: (entry) => this.exportPlot(entry),
      grid: (entry) => this.exportGrid(entry),
      dashboard: (entry) => this.exportBoard(entry),
    }

  /** Writes the lists of the site, of each user and of each folder. */
  private async writeLists(): Promise<void> {
    const compare = new Intl.Collator('en', { numeric: true }).compare
    const files = this.entries
      .filter(({ file }) => this.cards.has(file.fid))
      .sort((a, b) => compare(a.file.filename, b.file.filename) || compare(a.file.fid, b.file.fid))
    const write = (
      page: string,
      title: string,
      above: readonly SiteLink[],
      folders: readonly SiteLink[],
      list: readonly TreeEntry[],
    ): Promise<string> => {
      const cards = list.map(({ file }) => this.cards.get(file.fid)!)
      const html = renderList(page, title, cards, { search: SEARCH_SCRIPT, above, folders })
      return this.folder.write(page, Buffer.from(html))
    }
    // Folders without exported files stay unknown.
    const used = new Set(files.flatMap((entry) => this.foldersOf(entry)))
    const folders = this.entries.filter((entry) => used.has(entry))
    const tops = folders.filter((entry) => this.foldersOf(entry).length === 0).map(toLink)
    await write(INDEX, this.home.title, [], tops, files)
    for (const owner of new Set(files.map(({ file }) => file.owner)))
      await write(
        `~${owner}/${INDEX}`,
        owner,
        [this.home],
        tops.filter(({ page }) => page.startsWith(`~${owner}/`)),
        files.filter(({ file }) => file.owner === owner),
      )
    for (const entry of folders) {
      const inner = folders.filter((one) => this.foldersOf(one).at(-1) === entry)
      const inside = files.filter((one) => this.foldersOf(one).includes(entry))
      await write(toLink(entry).page, entry.file.filename, this.linksAbove(entry), inner.map(toLink), inside)
    }
  }

  private get home(): SiteLink {
    return { title: this.options.title, page: INDEX }
  }

  /** Returns the folders of a file that readers may know, from the outermost one. */
  private foldersOf({ file }: TreeEntry): TreeEntry[] {
    const parent = this.folderById.get(`${file.owner}:${file.parent}`)
    return parent === undefined ? [] : [...this.foldersOf(parent), parent]
  }

  /** Returns the links to the start and to the folders of a file. */
  private linksAbove(entry: TreeEntry): SiteLink[] {
    return [this.home, ...this.foldersOf(entry).map(toLink)]
  }

  private async get(path: string): Promise<AsyncIterable<Uint8Array>> {
    return (await this.client.send('GET', path, {}, {})).bytes()
  }

  private async exportPlot(entry: TreeEntry): Promise<SiteCard> {
    const { file } = entry
    const folders = this.foldersOf(entry).map((folder) => folder.file.filename)
    const base = baseOf(file)
    const html = await text(await this.get(`/${base}.html`))
    const about = [...folders, file.date_modified.slice(0, 10)].join(' · ')
    const card: SiteCard = { title: file.filename, words: titleOf(html), page: `${base}/${INDEX}`, about }
    const downloads: string[] = []
    const picture = pictureOf(html)
    if (picture) {
      card.picture = `${base}.svg`
      await this.folder.write(card.picture, picture)
      await this.folder.write(`${base}.png`, await this.get(`/${base}.png`))
      downloads.push(`${base}.png`, card.picture)
    } else this.hasPictures = false
    for (const format of ['csv', 'json']) {
      await this.folder.write(`${base}.${format}`, await this.get(`/${base}.${format}`))
      downloads.push(`${base}.${format}`)
    }
    const fid = parseFid(file.fid)!
    const embed =
      this.options.url === undefined ? undefined : formatEmbedBlock(this.options.url, fid, file.filename)
    const shared = shareScripts(html)
    await this.writePage(card.page, shared, (page) =>
      addSiteLinks(page, rootOf(card.page), {
        above: this.linksAbove(entry),
        name: file.filename,
        downloads,
        embed,
      }),
    )
    await this.writePage(`${base}.html`, shared, (page) => page)
    // A host adds a slash to the path of a directory, so that old frames find the page.
    await this.writePage(`${base}.embed/${INDEX}`, shared, removeAbout)
    return card
  }

  /** Writes a page whose scripts are shared with others. */
  private async writePage(path: string, page: SharedPage, change: (html: string) => string): Promise<void> {
    for (const script of page.scripts) this.scripts.set(script.path, script.code)
    await this.folder.write(path, Buffer.from(change(page.render(rootOf(path)))))
  }

  private async exportBoard(entry: TreeEntry): Promise<SiteCard> {
    const { file } = entry
    const folders = this.foldersOf(entry).map((folder) => folder.file.filename)
    const base = baseOf(file)
    // A site that strangers read has what they see of the board.
    const query = this.options.showsPrivate ? '' : '?as=anyone'
    const html = await text(await this.get(`/${base}.html${query}`))
    const about = [...folders, file.date_modified.slice(0, 10)].join(' · ')
    const card: SiteCard = { title: file.filename, page: `${base}/${INDEX}`, about }
    const downloads: string[] = []
    if (html.includes('<img ')) {
      card.picture = `${base}.png`
      await this.folder.write(card.picture, await this.get(`/${base}.png${query}`))
      downloads.push(card.picture)
    }
    for (const path of [card.page, `${base}.html`, `${base}.embed/${INDEX}`]) {
      const page = replaceLinks(html, rootOf(path), this.entries)
      const linked = path.includes('.embed/')
        ? removeAbout(page)
        : addSiteLinks(page, rootOf(path), { above: this.linksAbove(entry), name: file.filename, downloads })
      await this.folder.write(path, Buffer.from(linked))
    }
    return card
  }

  private async exportGrid(entry: TreeEntry): Promise<SiteCard> {
    const { file } = entry
    const folders = this.foldersOf(entry).map((folder) => folder.file.filename)
    const base = baseOf(file)
    const { cols, row_count } = await this.client.call('grids.get', { fid: file.fid })
    const count = formatCount(row_count, 'row')
    const about = [...folders, `${count}: ${cols.map(({ name }) => name).join(', ')}`].join(' · ')
    const card: SiteCard = { title: file.filename, page: `${base}/${INDEX}`, about }
    const head = Math.min(MAX_PAGE_ROWS, Math.floor(MAX_PAGE_CELLS / Math.max(1, cols.length)))
    const query = { format: 'html' as const, head }
    const html = await buffer((await this.client.response('grids.content', { fid: file.fid, query })).bytes())
    const downloads = [`${base}.csv`, `${base}.json`]
    for (const path of downloads) await this.folder.write(path, await this.get(`/${path}`))
    const rest = `<p>The first ${head.toLocaleString('en')} of ${row_count.toLocaleString('en')} rows. The CSV file has all.</p>\n<table>`
    const page = shareScripts(html.toString('utf8').replace('<table>', head < row_count ? rest : '<table>'))
    for (const path of [card.page, `${base}.html`])
      await this.writePage(path, page, (one) =>
        addSiteLinks(one, rootOf(path), { above: this.linksAbove(entry), name: file.filename, downloads }),
      )
    return card
  }
}

/** Replaces links to files on the server by links within the site, if it has them. */
function replaceLinks(html: string, root: string, entries: readonly TreeEntry[]): string {
  const bases = new Set(entries.map(({ file }) => baseOf(file)))
  return html.replace(/<a href="https?:\/\/[^"/]+\/(~[^"/]+\/\d+)\/"/g, (link, base: string) =>
    bases.has(base) ? `<a href="${root}${base}/${INDEX}"` : link,
  )
}

/** Returns the link to the list of a folder. */
function toLink({ file }: TreeEntry): SiteLink {
  return { title: file.filename, page: `${baseOf(file)}/${INDEX}` }
}

/** Returns the title of the figure in a self-contained page. */
function titleOf(html: string): string {
  const [, figure = '{}'] = /<script type="application\/json" id="figure">(.*?)<\/script>/s.exec(html) ?? []
  const { layout } = JSON.parse(figure) as { layout?: { title?: { text?: unknown } | string } }
  const title = typeof layout?.title === 'object' ? layout.title?.text : layout?.title
  return typeof title === 'string' ? title : ''
}

/** Returns the path of a file on its server, without an ending. */
function baseOf({ fid }: Pick<FileMeta, 'fid'>): string {
  const parsed = parseFid(fid)
  if (!parsed) throw new Problem('failed', `invalid response: ${fid}`)
  return `~${parsed.owner}/${parsed.idlocal}`
}
