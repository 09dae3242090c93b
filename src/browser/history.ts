/// <reference lib="dom" />
// The history of a file: its versions with who, when and what changed, pictures of charts, differences of grids.
import type { ResultOf } from '../contract/operations/index.ts'
import { call, formatError, request } from './api.ts'
import {
  create,
  createAction,
  createButton,
  createCommand,
  type OpenDialog,
  onAction,
  openDialog,
  runOnce,
} from './dom.ts'
import { createDifference, loadDiff, MAX_LISTED_ROWS } from './grid-difference.ts'

type Version = ResultOf<'versions.list'>['versions'][number]

/** Number of versions that are loaded at once. */
const PAGE_SIZE = 20

onAction({
  history: (button) => {
    const { fid = '', name = '', type = '' } = button.closest<HTMLElement>('[data-fid]')!.dataset
    const dialog = new HistoryDialog(fid, name, type === 'plot', button.dataset.own === 'true')
    // Who may not list drafts has none here.
    return Promise.all([dialog.load(), dialog.loadDrafts().catch(() => {})])
  },
})

class HistoryDialog {
  private readonly dialog: OpenDialog
  private readonly drafts = create('div')
  private readonly list = create('ol', { class: 'history' })
  private readonly more: HTMLButtonElement
  private next: number | null = null
  private readonly figures = new Map<number, Promise<ChartFigure>>()

  constructor(
    private readonly fid: string,
    name: string,
    private readonly isPlot: boolean,
    private readonly isOwner: boolean,
  ) {
    this.dialog = openDialog(`History of ${name}`, { isWide: true })
    this.more = createButton('Earlier versions', () => runOnce([this.more], () => this.load()))
    this.more.hidden = true
    this.dialog.body.append(this.drafts, this.list, this.more, createCommand(`gridline history ${fid}`))
  }

  async load(): Promise<void> {
    try {
      const query = { page_size: PAGE_SIZE, ...(this.next !== null && { before: this.next }) }
      const { versions, next } = await call('versions.list', { path: { fid: this.fid }, query })
      this.next = next
      this.more.hidden = next === null
      // The version before the last one of a page is probably the one with the number before.
      const beforeLast = next === null ? undefined : versions.at(-1)!.version - 1
      this.list.append(
        ...versions.map((version, k) => this.createItem(version, versions[k + 1]?.version ?? beforeLast)),
      )
      if (this.list.childElementCount === 0) this.dialog.say('There are no versions yet.')
    } catch (error) {
      this.dialog.say(formatError(error))
    }
  }

  /** Lists the drafts of the file. */
  async loadDrafts(): Promise<void> {
    const { drafts } = await call('drafts.list')
    const items = drafts
      .filter(({ fid, is_new }) => fid === this.fid && !is_new)
      .map(({ name, made_at, made_by, expires_at, web_url }) => {
        const { pathname, search } = new URL(web_url)
        const made = `${formatTime(made_at)}${made_by === null ? '' : ` by ${made_by}`}`
        const remove = async (): Promise<void> => {
          await call('drafts.delete', { path: { id: name }, query: { fid: [this.fid] } as never })
          await this.loadDrafts()
          this.dialog.say(`The draft ${name} is deleted.`)
        }
        const actions = create(
          'div',
          { class: 'actions' },
          create('a', { href: pathname + search, 'aria-label': `Open draft ${name}` }, 'Open'),
          createAction('Delete', remove, this.dialog.say, { 'aria-label': `Delete draft ${name}` }),
        )
        const heading = create('b', {}, `Draft ${name}`)
        const time = create('p', {}, `${made}, until ${formatTime(expires_at)}`)
        return create('li', {}, create('div', {}, heading, time, actions))
      })
    this.drafts.replaceChildren(
      ...(items.length === 0
        ? []
        : [
            create(
              'p',
              {},
              this.isPlot ? '' : 'To publish a draft, drop its file on the page of the grid again.',
            ),
            create('ul', { class: 'history' }, ...items),
          ]),
    )
  }

  /** `before`: the version before; undefined if it is not loaded. It can be any lower number, since versions are removed. */
  private createItem(version: Version, before: number | undefined): HTMLLIElement {
    const { version: number, is_current, made_at, made_by, message, source, kept, name } = version
    const changed = create('p', { class: 'lead' }, describeCounts(version))
    const detail = create('div')
    const item = create(
      'li',
      {},
      this.isPlot && this.createPicture(number),
      create(
        'div',
        {},
        create('b', {}, `Version ${number}${name === null ? '' : ` (${name})`}`),
        is_current && ' · current',
        kept && ' · kept',
        create('p', {}, `${formatTime(made_at)}${made_by === null ? '' : ` by ${made_by}`}`),
        changed,
        message !== null && create('p', {}, `“${message}”`),
        source !== null && !source.startsWith('sha256:') && create('p', {}, `from ${source}`),
        this.createActions(version, detail),
        detail,
      ),
    )
    if (this.isPlot && before !== undefined) this.describeChart(before, number, changed)
    return item
  }

  /** Loads the pictures of visible versions only; a version that is gone has none. */
  private createPicture(number: number): HTMLImageElement {
    const src = `/~${this.fid.replace(':', '/')}.png?width=480&height=300&version=${number}`
    const picture = create('img', { alt: `The chart in version ${number}`, loading: 'lazy', src })
    let tries = 0
    picture.addEventListener('error', () => {
      // A busy server draws it later.
      if (tries++ < 3) setTimeout(() => picture.setAttribute('src', `${src}&try=${tries}`), 2000 * 2 ** tries)
      else picture.remove()
    })
    return picture
  }

  private createActions(
    { version: number, is_current, kept, web_url }: Version,
    detail: HTMLElement,
  ): HTMLElement {
    const { fid } = this
    const { pathname, search } = new URL(web_url)
    const buttons: HTMLButtonElement[] = []
    const act = (label: string, action: () => Promise<void>): HTMLButtonElement =>
      createAction(label, action, this.dialog.say, { 'aria-label': `${label}: version ${number}` }, buttons)
    const reload = async (message: string): Promise<void> => {
      this.list.replaceChildren()
      this.next = null
      await this.load()
      this.dialog.say(message)
    }
    return create(
      'div',
      { class: 'actions' },
      create('a', { href: pathname + search, 'aria-label': `Open version ${number}` }, 'Open'),
      !this.isPlot && number > 1 && act('Show the difference', () => this.showDifference(number, detail)),
      !is_current &&
        act('Restore this version', async () => {
          const { action } = await call('versions.revert', {
            path: { fid },
            json: { version: String(number) },
          })
          if (action === 'unchanged') this.dialog.say('The file already has this content.')
          else location.reload()
        }),
      act(kept ? 'Stop keeping' : 'Keep', async () => {
        await call('versions.keep', { path: { fid }, json: { version: String(number), kept: !kept } })
        await reload(
          kept
            ? `Version ${number} may expire again.`
            : `Version ${number} is kept: it does not expire, and every reader can open it.`,
        )
      }),
      this.isOwner &&
        !is_current &&
        act('Remove for good', async () => {
          if (!confirm(`Remove version ${number} for good? This cannot be undone.`)) return
          await call('versions.forget', { path: { fid }, query: { version: String(number) } })
          await reload(`Version ${number} is removed.`)
        }),
    )
  }

  private async showDifference(number: number, detail: HTMLElement): Promise<void> {
    const { versions } = await call('versions.list', {
      path: { fid: this.fid },
      query: { before: number, page_size: 1 },
    })
    if (versions.length === 0) throw new Error('The versions before this one are gone.')
    const [before] = versions
    const query = {
      version: String(number),
      base_version: String(before.version),
      limit: MAX_LISTED_ROWS,
      context: true,
    }
    const difference = createDifference(await loadDiff(this.fid, query))
    const since = create('p', {}, `Changes since version ${before.version}`)
    detail.replaceChildren(...(before.version < number - 1 ? [since] : []), ...difference)
  }

  /** Loads the figure of a version, once. */
  private loadFigure(version: number): Promise<ChartFigure> {
    const query = { version: String(version) }
    const figure =
      this.figures.get(version) ??
      request('plots.content', { path: { fid: this.fid }, query: query as never }).then((response) =>
        response.json(),
      )
    this.figures.set(version, figure)
    return figure
  }

  /** Says what changed in a chart between two versions. */
  private async describeChart(from: number, to: number, place: HTMLElement): Promise<void> {
    const [before, after] = await Promise.all([this.loadFigure(from), this.loadFigure(to)]).catch(() => [])
    if (before && after) place.textContent = describeChanges(before, after)
  }
}

/** The parts of a figure that changes are described by. */
interface ChartFigure {
  data?: unknown[]
  layout?: {
    title?: string | { text?: string }
    meta?: { theme?: string; spec?: { type?: string; options?: Record<string, unknown> } }
  } & Record<string, unknown>
}

/** Describes in words what changed between two figures: "title, type". */
function describeChanges(before: ChartFigure, after: ChartFigure): string {
  const changed = new Set<string>()
  const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
  const titleOf = ({ layout }: ChartFigure): unknown =>
    typeof layout?.title === 'object' ? layout.title?.text : layout?.title
  if (titleOf(before) !== titleOf(after)) changed.add('title')
  const [old, next] = [before, after].map(({ layout }) => layout?.meta?.spec)
  if (old && next) {
    if (old.type !== next.type) changed.add('type')
    for (const name of new Set([...Object.keys(old.options ?? {}), ...Object.keys(next.options ?? {})]))
      if (!isSame(old.options?.[name], next.options?.[name])) changed.add(wordsOf(name))
  }
  if (before.layout?.meta?.theme !== after.layout?.meta?.theme) changed.add('theme')
  for (const name of ['width', 'height'])
    if (!isSame(before.layout?.[name], after.layout?.[name])) changed.add(name)
  if (changed.size === 0 && before.data?.length !== after.data?.length) changed.add('series')
  if (changed.size === 0 && !isSame(before.data, after.data))
    changed.add(old && next ? 'colors and styles' : 'data and styles')
  if (changed.size === 0 && !isSame(before.layout, after.layout)) changed.add('layout')
  return changed.size === 0 ? 'the same figure' : `changed: ${[...changed].join(', ')}`
}

/** Returns the words of an option: `rangeX` → `range x`. */
const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** Operations in words, where their names say little. */
const OPERATION_WORDS: Readonly<Record<string, string>> = {
  create: 'created',
  copy: 'copied',
  replace: 'replaced',
  append: 'added to',
  update: 'updated by key',
  columns: 'corrected',
  figure: 'changed',
  revert: 'restored',
}

/** Says in words what an operation changed in a grid. */
function describeCounts(version: Version): string {
  const parts: string[] = []
  const add = (number: number | null, what: string): void => {
    if (number) parts.push(`${what}: ${number.toLocaleString('en')}`)
  }
  add(version.rows_added, 'rows added')
  add(version.rows_removed, 'rows removed')
  add(version.rows_changed, 'rows changed')
  add(version.columns_added, 'columns added')
  add(version.columns_removed, 'columns removed')
  add(version.columns_changed, 'columns renamed or retyped')
  const words = OPERATION_WORDS[version.operation] ?? version.operation
  const operation = version.of_version === null ? words : `${words} to version ${version.of_version}`
  return parts.length > 0 ? `${operation}: ${parts.join(', ')}` : operation
}

function formatTime(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}
