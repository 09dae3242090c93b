/// <reference lib="dom" />
// The account page: keys, sessions and teams.
import { call, formatError } from './api.ts'
import { create, createAction, createField, createSelect, findSection, pressOnEnter } from './dom.ts'

/** Lifetimes of a new key, in days. */
const LIFETIMES = [
  [28, '28 days'],
  [7, '7 days'],
  [1, 'a day'],
] as const
/** Choice of a key that lives as long as the session. */
const SESSION = 'session'

/** Returns the minutes until the session ends, which a key cannot outlive; undefined if it does not end. */
function findMinutesLeft(): number | undefined {
  const { ends } = document.querySelector('main')!.dataset
  return ends === undefined ? undefined : Math.floor((Number(ends) - Date.now()) / 60_000)
}

/** Returns the lifetimes that a new key can have. */
function listLifetimes(): (readonly [value: string, label: string])[] {
  const left = findMinutesLeft() ?? Number.POSITIVE_INFINITY
  const fitting = LIFETIMES.filter(([days]) => days * 24 * 60 < left)
  return [
    ...(fitting.length < LIFETIMES.length ? ([[SESSION, 'as long as this session']] as const) : []),
    ...fitting.map(([days, label]) => [`${days}d`, label] as const),
  ]
}

const keys = findSection('keys')
const teams = findSection('teams')
const status = create('p', { role: 'status' })
keys.before(status)

/** Returns a button that acts, and shows its error on the page. */
function act(label: string, action: () => Promise<unknown>, more = {}): HTMLButtonElement {
  const say = (text: string): void => {
    status.textContent = text
  }
  return createAction(
    label,
    () => {
      say('')
      return action()
    },
    say,
    more,
  )
}

const formatDay = (time: string | null): string =>
  time === null ? 'no end' : new Date(time).toLocaleDateString()

async function showKeys(): Promise<void> {
  const { keys: list } = await call('keys.list')
  const name = create('input', { maxlength: 100, placeholder: 'laptop' })
  const scopes = createSelect([
    ['read,write', 'read and change files'],
    ['read', 'only read'],
  ])
  const lifetime = createSelect(listLifetimes())
  keys.replaceChildren(
    create(
      'ul',
      { class: 'people' },
      ...list.map((key) =>
        create(
          'li',
          {},
          `${key.name || 'without a name'} · ${key.scopes.join(', ')} · ends: ${formatDay(key.expires_at)}`,
          act(
            'Revoke',
            async () => {
              if (!confirm(`Revoke the key ${key.name || key.id}? Programs with it stop working.`)) return
              await call('keys.revoke', { path: { id: key.id } })
              await showKeys()
            },
            { 'aria-label': `Revoke the key ${key.name || key.id}` },
          ),
        ),
      ),
    ),
    create(
      'div',
      { class: 'fields' },
      createField('Name of a new key', name),
      createField('It may', scopes),
      createField('It is valid for', lifetime),
      act('Create a key', async () => {
        const json = {
          name: name.value.trim(),
          scopes: scopes.value.split(','),
          expires: lifetime.value === SESSION ? `${findMinutesLeft()}m` : lifetime.value,
        }
        const key = await call('keys.create', { json: json as never })
        await showKeys()
        keys.append(
          create(
            'p',
            { class: 'note' },
            'Save this key now. It is not shown again: ',
            create('code', { id: 'new-key' }, key.api_key),
          ),
        )
      }),
    ),
  )
}

async function showTeams(): Promise<void> {
  const { teams: list } = await call('teams.list')
  const owner = document.querySelector('main')!.dataset.user
  const name = create('input', { maxlength: 100 })
  teams.replaceChildren(
    ...list.map((team) => {
      const path = { team: `${team.owner}:${team.name}` }
      const member = create('input', { placeholder: 'username', autocapitalize: 'none', spellcheck: false })
      const isOwner = team.owner === owner
      return create(
        'div',
        {},
        create('h3', {}, isOwner ? team.name : `${team.name} of ${team.owner}`),
        create(
          'ul',
          { class: 'people' },
          ...team.members.map((user) =>
            create(
              'li',
              {},
              user,
              isOwner &&
                act(
                  'Remove',
                  async () => {
                    await call('members.remove', { path, json: { users: [user] } })
                    await showTeams()
                  },
                  { 'aria-label': `Remove ${user} from ${team.name}` },
                ),
            ),
          ),
        ),
        isOwner &&
          create(
            'div',
            { class: 'filter' },
            createField('Add to the team', member),
            pressOnEnter(
              member,
              act('Add', async () => {
                await call('members.add', { path, json: { users: [member.value.trim()] } })
                await showTeams()
              }),
            ),
            act('Delete the team', async () => {
              if (!confirm(`Delete the team ${team.name}? Its members lose what is shared with it.`)) return
              await call('teams.delete', { path })
              await showTeams()
            }),
          ),
      )
    }),
    create(
      'div',
      { class: 'filter' },
      createField('Name of a new team', name),
      pressOnEnter(
        name,
        act('Create a team', async () => {
          await call('teams.create', { json: { name: name.value.trim() } })
          await showTeams()
        }),
      ),
    ),
  )
}

async function showProfile(): Promise<void> {
  const { email, quota, used } = await call('users.current')
  const ofQuota = (number: number | null, limit: number | null): string =>
    `${(number ?? 0).toLocaleString('en')}${limit === null ? '' : ` of ${limit.toLocaleString('en')}`}`
  const rows: [string, string][] = [
    ...(email === null ? [] : [['E-mail', email] as [string, string]]),
    ['Files', ofQuota(used.files, quota.files)],
    ...(quota.rows === null ? [] : [['Rows', ofQuota(used.rows, quota.rows)] as [string, string]]),
    ...(quota.bytes === null ? [] : [['Bytes', ofQuota(used.bytes, quota.bytes)] as [string, string]]),
  ]
  findSection('profile').append(
    ...rows.flatMap(([name, value]) => [create('dt', {}, name), create('dd', {}, value)]),
  )
}

findSection('sessions').append(
  act('Sign out everywhere', async () => {
    if (!confirm('Sign out of all browsers, also of this one?')) return
    await call('sessions.delete')
    location.assign('/')
  }),
)

for (const show of [showProfile, showKeys, showTeams])
  show().catch((error) => {
    status.textContent = formatError(error)
  })
