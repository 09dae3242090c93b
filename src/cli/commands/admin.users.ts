// `gridline admin user` and `admin key`: lists and changes users, quotas and keys.
import { Problem } from '../../contract/errors.ts'
import { formatBytes } from '../../contract/limits.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { loginName } from '../config/settings.ts'
import { type Command, type CommandEntry, defineCommand, dryRunOption, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'
import { changeStore, confirmChange, confirmOptions, databaseOption, withStore } from './admin.store.ts'

const USER_FIELDS = {
  username: 'the name',
  email: 'the e-mail address, or null',
  is_admin: 'whether the user is an administrator',
  date_joined: 'a time',
  disabled_at: 'time at which the user was disabled, or null',
  files: 'number of files, including the trash',
  keys: 'number of usable keys',
}

const userView: TableView = {
  id: 'username',
  columns: [
    { field: 'username', title: 'USERNAME' },
    { field: 'email', title: 'EMAIL' },
    { field: 'is_admin', title: 'ADMIN', format: (isAdmin: boolean) => (isAdmin ? 'admin' : '') },
    { field: 'files', title: 'FILES', align: 'right' },
    { field: 'keys', title: 'KEYS', align: 'right' },
    { field: 'date_joined', title: 'JOINED', time: true },
    { field: 'disabled_at', title: 'DISABLED', time: true },
  ],
}

const list = defineCommand({
  output: arrayOf([], USER_FIELDS),
  lists: {},
  options: [databaseOption],
  examples: ['gridline admin user list', 'gridline admin user list --json username,files,disabled_at'],
  async run(context, _, { database: url }) {
    const users = await withStore(context, url, ({ listUsers }, store) => listUsers(store))
    return { items: users, view: userView, empty: 'No users.' }
  },
})

type Service = typeof import('../../service/admin.ts')
type Store = import('../../service/admin.ts').Store

/** Change of a user that asks for confirmation. */
interface UserChange {
  arguments: string
  examples: readonly string[]
  /** Note that is printed after the change. */
  note: string
  /** Returns the question about a user. Throws if the change is impossible. */
  ask(
    user: Awaited<ReturnType<Service['findUser']>>,
    given: { service: Service; store: Store; newName: string; database: string | undefined },
  ): string | Promise<string>
  apply(service: Service, store: Store, username: string, newName: string): Promise<object>
}

/** Declares a command that finds a user, asks for confirmation, and changes the user. */
function defineUserChange({ arguments: syntax, examples, note, ask, apply }: UserChange): Command {
  return defineCommand({
    output: objectOf([], USER_FIELDS),
    arguments: syntax,
    options: [...confirmOptions, databaseOption],
    examples,
    async run(context, [name, newName], options) {
      const { database } = options
      const changeUser = async (service: Service, store: Store): Promise<object | undefined> => {
        const user = await service.findUser(store, name)
        const question = await ask(user, { service, store, newName, database })
        if (!(await confirmChange(context, question, options))) return undefined
        return apply(service, store, user.username, newName)
      }
      const user = await withStore(context, database, changeUser, options)
      if (!user) return undefined
      context.messages.note(note)
      return { item: user, view: userView }
    },
  })
}

const disable = defineUserChange({
  arguments: '<user>',
  examples: ['gridline admin user disable bob', 'gridline admin user disable bob --yes'],
  note: 'Running servers refuse the user within two seconds.',
  ask: ({ username, keys, files }) =>
    `Disable ${username}? All sessions end.${describeEffect(keys, 'key', ['stops working', 'stop working'])} No more mails and messages are sent. Files (${files}), links and shares stay, and grids that follow a URL or other grids still do.`,
  apply: ({ setDisabled }, store, username) => setDisabled(store, username, true),
})

const unlink = defineUserChange({
  arguments: '<user>',
  examples: ['gridline admin user unlink bob', 'gridline admin user unlink bob --yes'],
  note: 'Running servers end the sessions within two seconds.',
  ask: ({ username, email }) =>
    `Unlink ${username} from the identity provider? All sessions end. ${email === null ? `Without an e-mail address, nobody can sign in as ${username} there again.` : `Whoever next signs in there as ${email} becomes ${username}.`}`,
  apply: ({ unlinkUser }, store, username) => unlinkUser(store, username),
})

const enable = defineCommand({
  output: objectOf([], USER_FIELDS),
  arguments: '<user>',
  options: [dryRunOption, databaseOption],
  examples: ['gridline admin user enable bob', 'gridline admin user enable bob --json'],
  async run(context, [name], { dryRun: dry, database: url }) {
    const user = await changeStore(context, url, dry && `let ${name} sign in`, ({ setDisabled }, store) =>
      setDisabled(store, name, false),
    )
    if (!user) return undefined
    context.messages.note('Keys that were not revoked work again. Browsers must sign in again.')
    return { item: user, view: userView }
  },
})

const rename = defineUserChange({
  arguments: '<user> <name>',
  examples: ['gridline admin user rename bob robert', 'gridline admin user rename bob robert --yes'],
  note: 'Running servers use the new name within two seconds.',
  async ask({ username, keys, files }, { service, store, newName, database }) {
    if (database === undefined && username === loginName())
      throw new Problem('usage', `cannot rename ${username}: it is the user of this machine`, {
        hint: 'Commands without a server use the login name of this machine.',
      })
    await service.checkNewUsername(store, username, newName)
    return `Rename ${username} to ${newName}?${describeEffect(files, 'file', ['gets an id and a link with the new name', 'get ids and links with the new name'])} Keys (${keys}), sessions, shares and teams are kept. Links, keys and scripts with the name ${username} still work, and nobody else can take this name.`
  },
  apply: ({ renameUser }, store, username, newName) => renameUser(store, username, newName),
})

const remove = defineUserChange({
  arguments: '<user>',
  examples: ['gridline admin user delete bob', 'gridline admin user delete bob --yes'],
  note: 'To release the disk space, run: gridline admin compact',
  ask: ({ username, keys, files }) =>
    `Permanently delete ${username} with ${formatCount(files, 'file')}, ${formatCount(keys, 'key')}, all sessions, teams and shares? Links to the files stop working, and plots of others lose data from them. To keep the files, use gridline admin user disable ${username} instead.`,
  apply: ({ deleteUser }, store, username) => deleteUser(store, username),
})

const quotaFields = {
  username: 'the name',
  is_own: 'whether the user has a custom quota',
  quota: 'maximum files, rows and bytes of the user, as an object; null for no limit',
  used: 'files, rows and bytes stored by the user, as an object',
}

const formatByteLimit = (bytes: number | null): string => (bytes === null ? 'none' : formatBytes(bytes))

const quotaView: TableView = {
  id: 'username',
  columns: [
    { field: 'username', title: 'USERNAME' },
    {
      field: 'is_own',
      title: 'QUOTA',
      format: (isCustom: boolean) => (isCustom ? 'of the user' : 'of all users'),
    },
    ...(['files', 'rows', 'bytes'] as const).map((unit) => ({
      field: `quota.${unit}`,
      title: unit.toUpperCase(),
      format: (_: unknown, { quota, used }: { quota: QuotaAmounts; used: QuotaAmounts }) => {
        const text = unit === 'bytes' ? formatByteLimit : (n: number | null) => String(n ?? 'none')
        return `${text(used[unit])} of ${quota[unit] === null ? 'any' : text(quota[unit])}`
      },
    })),
  ],
}

type QuotaAmounts = Record<'files' | 'rows' | 'bytes', number | null>

/** Parses `10GiB`, `500MB`, `1e6` or `none`. Returns null for `none`; throws `usage` for other texts. */
function parseAmount(flag: string, text: string, isBytes: boolean): number | null {
  if (text === 'none') return null
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?(?:e\d+)?)\s*([kmgt]i?b?|b)?$/i.exec(text.trim()) ?? []
  const scale = unit.toLowerCase().replace(/b$/, '')
  const power = ['', 'k', 'm', 'g', 't'].indexOf(scale.replace('i', ''))
  const exact = Number(number) * (scale.endsWith('i') ? 1024 : 1000) ** power
  const value = isBytes ? Math.round(exact) : exact
  if (number === undefined || !Number.isSafeInteger(value) || (!isBytes && unit !== ''))
    throw new Problem('usage', `${flag} ${text}: must be a number${isBytes ? ' of bytes' : ''}, or none`, {
      hint: isBytes ? 'Such as 10GiB, 500MB or 1048576.' : 'Such as 1000 or 1e6.',
    })
  return value
}

const quota = defineCommand({
  output: objectOf([], quotaFields),
  arguments: '<user>',
  options: [
    {
      flags: '--files <count>',
      description: 'maximum number of files, including the trash; none for no limit',
    },
    { flags: '--rows <count>', description: 'maximum number of rows in all grids; none for no limit' },
    {
      flags: '--bytes <size>',
      description: 'maximum uncompressed size, including earlier versions: 10GiB; none for no limit',
    },
    {
      flags: '--default',
      description: 'reset to the default quota (limits user_files, user_rows, user_bytes)',
    },
    dryRunOption,
    databaseOption,
  ],
  examples: [
    'gridline admin user quota bob',
    'gridline admin user quota bob --files 1000 --rows 1e7 --bytes 10GiB',
    'gridline admin user quota bob --default',
  ],
  async run(context, [name], { files, rows, bytes, default: isDefault, dryRun: dry, database: url }) {
    const change = {
      ...(files !== undefined && { files: parseAmount('--files', files, false) }),
      ...(rows !== undefined && { rows: parseAmount('--rows', rows, false) }),
      ...(bytes !== undefined && { bytes: parseAmount('--bytes', bytes, true) }),
    }
    const isChanged = Object.keys(change).length > 0
    if (isDefault && isChanged)
      throw new Problem('usage', '--default cannot be used with --files, --rows or --bytes')
    if (!isDefault && !isChanged)
      return {
        item: await withStore(context, url, ({ loadUserQuota }, store) => loadUserQuota(store, name)),
        view: quotaView,
      }
    const user = await changeStore(
      context,
      url,
      dry && `change the quota of ${name}`,
      ({ setUserQuota }, store) => setUserQuota(store, name, isDefault ? undefined : change),
    )
    if (!user) return undefined
    const exceeded = (['files', 'rows', 'bytes'] as const).filter(
      (unit) => user.quota[unit] !== null && user.used[unit] > user.quota[unit],
    )
    if (exceeded.length > 0)
      context.messages.warning(
        `${user.username} exceeds the quota of ${exceeded.join(' and ')}: nothing is deleted, but nothing can be added`,
      )
    context.messages.note('Running servers apply the change within two seconds.')
    return { item: user, view: quotaView }
  },
})

const keyFields = {
  username: 'the user',
  id: 'the id of the key',
  name: 'its label',
  scopes: 'an array of scopes',
  created_at: 'a time',
  expires_at: 'a time, or null',
}

const keyView: TableView = {
  id: 'id',
  columns: [
    { field: 'username', title: 'USERNAME' },
    { field: 'id', title: 'ID' },
    { field: 'name', title: 'NAME' },
    { field: 'scopes', title: 'SCOPES', format: (scopes: string[]) => scopes.join(',') },
    { field: 'created_at', title: 'CREATED', time: true },
    { field: 'expires_at', title: 'EXPIRES' },
  ],
}

const keyList = defineCommand({
  output: arrayOf([], keyFields),
  arguments: '<user>',
  lists: {},
  options: [databaseOption],
  examples: ['gridline admin key list bob', 'gridline admin key list bob --json id,name,expires_at'],
  async run(context, [name], { database: url }) {
    const keys = await withStore(context, url, ({ listKeys }, store) => listKeys(store, name))
    return { items: keys, view: keyView, empty: `${name} has no keys.` }
  },
})

const keyRevoke = defineCommand({
  output: arrayOf([], keyFields),
  arguments: '<user> [id...]',
  options: [
    { flags: '--all', description: 'revoke all keys of the user, and end all sessions' },
    ...confirmOptions,
    databaseOption,
  ],
  examples: ['gridline admin key revoke bob 3f1c0a9be2d4', 'gridline admin key revoke bob --all --yes'],
  async run(context, [name, ...ids], options) {
    if ((ids.length === 0) !== (options.all === true))
      throw new Problem('usage', 'expected ids of keys, or --all', {
        hint: `See: gridline admin key list ${name}`,
      })
    const revoked = await withStore(
      context,
      options.database,
      async ({ listKeys, revokeKeys }, store) => {
        const keys = await listKeys(store, name)
        const target = options.all
          ? `${formatCount(keys.length, 'key')} of ${name} and end all sessions`
          : ids.join(', ')
        const question = `Revoke ${target}? Programs that use them stop working.`
        const unknown = ids.find((id) => !keys.some((key) => key.id === id))
        if (options.dryRun && unknown !== undefined)
          throw new Problem('not_found', `${name} has no API key ${unknown}`, {
            hint: `See: gridline admin key list ${name}`,
          })
        // Keys named by id need no confirmation.
        if ((options.all || options.dryRun) && !(await confirmChange(context, question, options)))
          return undefined
        return revokeKeys(store, name, options.all ? 'all' : ids)
      },
      options,
    )
    if (!revoked) return undefined
    context.messages.note('Running servers refuse revoked keys within two seconds.')
    return { items: revoked, view: keyView, empty: `${name} has no keys.` }
  },
})

/** Describes the effect on files or keys: `Their 2 files stay`. Empty if there are none. */
function describeEffect(count: number, noun: string, [singularVerb, pluralVerb]: [string, string]): string {
  return count === 0 ? '' : ` Their ${formatCount(count, noun)} ${count === 1 ? singularVerb : pluralVerb}.`
}

export const userCommands: readonly CommandEntry[] = [
  subcommand('list', 'List all users', list, ['ls']),
  subcommand(
    'disable',
    'Disable the keys, sessions, mailings and alerts of a user; files and links are kept',
    disable,
  ),
  subcommand('enable', 'Let a disabled user sign in again', enable),
  subcommand('unlink', 'Let another account of the identity provider sign in as a user', unlink),
  subcommand('quota', 'Show or change the quota of a user', quota),
  subcommand('rename', 'Rename a user; links and keys with the former name still work', rename),
  subcommand('delete', 'Permanently delete a user with all files', remove),
]

export const keyCommands: readonly CommandEntry[] = [
  subcommand('list', 'List the keys of a user', keyList, ['ls']),
  subcommand('revoke', 'Revoke keys of a user', keyRevoke),
]
