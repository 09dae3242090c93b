/// <reference lib="dom" />
// Sharing a file: who can see it and why, people and teams, and the secret link.

import type { ResultOf } from '../contract/operations/index.ts'
import { call, formatError, request } from './api.ts'
import {
  create,
  createAction,
  createButton,
  createCommand,
  createCopyButton,
  createField,
  createSelect,
  onAction,
  openDialog,
  pressOnEnter,
  runOnce,
} from './dom.ts'
import { createEmbedding } from './embedding.ts'

onAction({
  share: (button) =>
    new ShareDialog(button.closest<HTMLElement>('[data-fid]')!.dataset as unknown as SharedFile).open(),
})

/** The file of the page. */
interface SharedFile {
  fid: string
  name: string
  type: string
}

type FileMeta = ResultOf<'files.get'>
type Collaborator = ResultOf<'collaborators.list'>[number]

/** End of the name of a team, in the field for users and teams. */
const TEAM_SUFFIX = ' (team)'

/** Maximum number of folders above a file that are looked at. */
const MAX_FOLDERS = 20

class ShareDialog {
  private readonly dialog
  private readonly content = create('div')
  private meta!: FileMeta
  private etag: string | undefined
  private isChanged = false
  private people: Collaborator[] = []
  /** Names of the items of a board that not all readers can see. */
  private privateItems: string[] = []
  /** Access through the folders above the file, in words. */
  private folderReasons: string[] = []

  constructor(private readonly file: SharedFile) {
    this.dialog = openDialog(`Share ${file.name}`, {
      // The page says who can see the file.
      onClose: () => {
        if (this.isChanged && !document.querySelector('.editing')) location.reload()
      },
    })
    this.dialog.body.append(this.content)
  }

  async open(): Promise<void> {
    try {
      await this.load()
    } catch (error) {
      this.dialog.say(formatError(error))
    }
  }

  private get path(): { fid: string } {
    return { fid: this.file.fid }
  }

  private async load(): Promise<void> {
    const [response, people] = await Promise.all([
      request('files.get', { path: this.path }),
      call('collaborators.list', { path: this.path }),
    ])
    this.etag = response.headers.get('etag') ?? undefined
    this.meta = await response.json()
    this.people = people
    if (this.file.type === 'dashboard') {
      const { private_items = [] } = await call('dashboards.get', { path: this.path })
      this.privateItems = private_items.map(({ filename }) => filename)
    }
    this.folderReasons = await this.loadFolderReasons()
    this.show()
  }

  private createAction(label: string, action: () => Promise<unknown>, more = {}): HTMLButtonElement {
    return createAction(label, action, this.dialog.say, more)
  }

  /** Says who can see the file through its folders. */
  private async loadFolderReasons(): Promise<string[]> {
    const reasons: string[] = []
    let { parent } = this.meta
    for (let level = 0; level < MAX_FOLDERS && parent >= 0; level++) {
      const path = { fid: `${this.meta.owner}:${parent}` }
      const [folder, people] = await Promise.all([
        call('files.get', { path }),
        call('collaborators.list', { path }),
      ])
      const name = folder.filename
      if (folder.world_readable) reasons.push(`Everybody: the folder ${name} is public.`)
      if (folder.share_key) reasons.push(`Everybody with the secret link of the folder ${name}.`)
      for (const person of people) reasons.push(`${this.nameOf(person)}: through the folder ${name}.`)
      parent = folder.parent
    }
    return reasons
  }

  /** Changes the file, if nobody else has changed it meanwhile, and shows it again. */
  private async change(json: object, message: string): Promise<boolean> {
    try {
      await call('files.update', { path: this.path, json, headers: { 'if-match': this.etag } })
      this.isChanged = true
      await this.load()
      this.dialog.say(message)
      return true
    } catch (error) {
      const { status } = error as { status?: number }
      // A choice that was not stored is not shown.
      await this.load().catch(() => this.show())
      this.dialog.say(
        status === 412
          ? 'Somebody else has changed this file. This is how it is now; nothing was changed.'
          : formatError(error),
      )
      return false
    }
  }

  private show(): void {
    const { share_key } = this.meta
    const focused = labelOf(document.activeElement)
    this.content.replaceChildren(
      create('h3', {}, 'Who can see it'),
      this.createAccess(),
      create('ul', {}, ...this.listReasons().map((reason) => create('li', {}, reason))),
      create('h3', {}, 'People and teams'),
      this.createPeople(),
      create('h3', {}, 'Secret link'),
      share_key ? this.createLink(share_key) : this.createLinkOffer(),
      ...(this.privateItems.length > 0 || this.meta.share_items ? this.createItems() : []),
      ...(this.file.type === 'plot' ? createEmbedding(this.file, this.meta) : []),
      createCommand(`gridline share ${this.file.fid} --link${this.meta.share_items ? ' --with-items' : ''}`),
    )
    this.focusAgain(focused)
  }

  /** Returns the focus to the control with a label, after everything was shown again. */
  private focusAgain(label: string): void {
    const controls = [...this.content.querySelectorAll<HTMLElement>('button, input, select')]
    if (label !== '') (controls.find((control) => labelOf(control) === label) ?? controls[0])?.focus()
  }

  private createAccess(): HTMLElement {
    const field = createSelect(
      [
        ['false', 'private'],
        ['true', 'public: anyone can see it'],
      ],
      { value: String(this.meta.world_readable), 'aria-label': 'Access' },
    )
    field.addEventListener('change', () => {
      const isPublic = field.value === 'true'
      this.change({ world_readable: isPublic }, isPublic ? 'Anyone can see it now.' : 'It is private now.')
    })
    return field
  }

  /** Says in words who can see the file, and why. */
  private listReasons(): string[] {
    const { world_readable, share_key } = this.meta
    return [
      'You: it is yours.',
      ...(world_readable ? ['Everybody: it is public.'] : []),
      ...(share_key ? ['Everybody with the secret link.'] : []),
      ...this.people.map(
        (person) =>
          `${this.nameOf(person)}: ${person.type === 'team' ? 'the members of the team ' : ''}can ${person.readonly ? 'see' : 'change'} it.`,
      ),
      ...(this.file.type === 'plot' ? ['Who can see this chart can see the data that it shows.'] : []),
      ...this.folderReasons,
    ]
  }

  private createPeople(): HTMLElement {
    const rows = this.people.map((person) =>
      create(
        'li',
        {},
        `${this.nameOf(person)} · can ${person.readonly ? 'see' : 'change'}`,
        this.createAction('Remove', () => this.remove(person), {
          'aria-label': `Remove ${this.nameOf(person)}`,
        }),
      ),
    )
    const name = create('input', {
      list: 'known-people',
      placeholder: 'username, team or e-mail address',
      autocapitalize: 'none',
      spellcheck: false,
    })
    const right = createSelect(
      [
        ['true', 'can see'],
        ['false', 'can change'],
      ],
      { class: 'short', 'aria-label': 'Right' },
    )
    const known = create('datalist', { id: 'known-people' })
    const add: HTMLButtonElement = createButton('Add', () =>
      runOnce([add], () => this.add(name.value.trim(), right.value === 'true')),
    )
    pressOnEnter(name, add)
    this.listKnown().then(
      (names) => known.replaceChildren(...names.map((one) => new Option(one, one))),
      () => {},
    )
    return create(
      'div',
      {},
      create('ul', { class: 'people' }, ...rows),
      create('div', { class: 'filter' }, createField('Add', name), right, add, known),
    )
  }

  /** Lists names that the caller may know: of the teams, and their members. */
  private async listKnown(): Promise<string[]> {
    const { teams } = await call('teams.list')
    return [
      ...new Set([
        ...teams.map(({ name, owner }) => `${owner}:${name}${TEAM_SUFFIX}`),
        ...teams.flatMap(({ members }) => members),
      ]),
    ].sort()
  }

  private async add(name: string, readonly: boolean): Promise<void> {
    if (name === '') return this.dialog.say('Whom? Enter a name.')
    if (name === this.meta.owner) return this.dialog.say('It is yours already.')
    try {
      const isTeam = name.endsWith(TEAM_SUFFIX)
      const json = {
        readonly,
        ...(isTeam ? { teams: [name.slice(0, -TEAM_SUFFIX.length)] } : { users: [name] }),
      }
      const { warnings } = await call('collaborators.add', { path: this.path, json })
      await this.load()
      this.dialog.say(
        warnings.length > 0 ? warnings.join(' ') : `${name} ${readonly ? 'can see' : 'can change'} it now.`,
      )
    } catch (error) {
      this.dialog.say(formatError(error))
    }
  }

  /** Returns the name of a person or team; `owner:name` for a team of another user. */
  private nameOf({ username, owner, name, email }: Collaborator): string {
    const team = owner === undefined || owner === this.meta.owner ? name : `${owner}:${name}`
    return username ?? team ?? email ?? ''
  }

  private async remove(person: Collaborator): Promise<void> {
    const name = this.nameOf(person)
    const json = person.type === 'team' ? { teams: [`${person.owner}:${person.name}`] } : { users: [name] }
    try {
      const { remaining_access, warnings } = await call('collaborators.remove', { path: this.path, json })
      await this.load()
      const more = [...(remaining_access ?? []), ...warnings]
      this.dialog.say([`${name} is no longer a collaborator.`, ...more].join(' '))
    } catch (error) {
      this.dialog.say(formatError(error))
    }
  }

  private createLink(key: string): HTMLElement {
    const url = `${location.origin}${new URL(this.meta.web_url).pathname}?share_key=${key}`
    const field = create('input', { value: url, readOnly: true, 'aria-label': 'Secret link' })
    return create(
      'div',
      { class: 'filter' },
      field,
      createCopyButton(field),
      this.createAction('Renew', async () => {
        if (await this.change({ share_key_enabled: false }, 'The link has ended.'))
          await this.change({ share_key_enabled: true }, 'The link is new. The former one has ended.')
      }),
      this.createAction('End', () => this.change({ share_key_enabled: false }, 'The link has ended.')),
    )
  }

  private createLinkOffer(): HTMLElement {
    return create(
      'p',
      {},
      'Anyone with the link can see the file, without an account. ',
      this.createAction('Create a link', () =>
        this.change({ share_key_enabled: true }, 'Anyone with the link can see it.'),
      ),
    )
  }

  /** Returns the choice of whether readers of a board see items of private files. */
  private createItems(): HTMLElement[] {
    const field = createSelect(
      [
        ['false', 'what they may see anyway'],
        ['true', 'all of them'],
      ],
      { value: String(this.meta.share_items) },
    )
    field.addEventListener('change', () => {
      const isAll = field.value === 'true'
      this.change(
        { share_items: isAll },
        isAll ? 'Its readers see all items now.' : 'Its readers see only what they may see anyway.',
      )
    })
    const names = this.privateItems.join(', ') || 'none'
    const text = this.meta.share_items
      ? `Its readers see what the board shows of these private files: ${names}.`
      : `Not all readers can see these files: ${names}.`
    return [
      create('h3', {}, 'Charts, tables and numbers'),
      createField('Its readers see', field),
      create('p', { class: 'note' }, text),
    ]
  }
}

/** Returns by what a control is known. */
function labelOf(control: Element | null): string {
  return (
    control?.getAttribute('aria-label') ??
    control?.closest('label')?.textContent ??
    control?.textContent ??
    ''
  )
}
