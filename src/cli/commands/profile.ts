// `gridline profile`: lists, switches and removes profiles.
import { Problem } from '../../contract/errors.ts'
import { LOCAL_PROFILE, loginName, unknownProfileProblem } from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { arrayOf, otherOutput } from '../core/output-schema.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'profile',
  columns: [
    { field: 'current', title: '', format: (current: boolean) => (current ? '*' : '') },
    { field: 'profile', title: 'PROFILE' },
    {
      field: 'url',
      title: 'SERVER',
      format: (url: string | undefined) => url ?? 'this machine',
    },
    { field: 'user', title: 'USER' },
  ],
}

/** Throws `not_found` for an unknown profile. */
async function assertProfileExists(context: Context, name: string): Promise<void> {
  const { profiles = {} } = await context.config.read()
  if (Object.hasOwn(profiles, name) || name === LOCAL_PROFILE) return
  throw unknownProfileProblem('not_found', name, profiles)
}

const list = defineCommand({
  output: arrayOf([], {
    profile: 'name of the profile',
    url: 'URL of the server, absent for this machine',
    user: 'your username',
    current: 'whether the profile is active',
  }),
  lists: {},
  examples: ['gridline profile list', 'gridline profile list --json profile,url'],
  async run(context) {
    const { profiles = {} } = await context.config.read()
    const { profile } = await context.settings()
    const rows = Object.entries(profiles).map(([name, { url, user }]) => ({
      profile: name,
      url,
      user,
      current: name === profile.value,
    }))
    if (!Object.hasOwn(profiles, LOCAL_PROFILE)) {
      const isCurrent = profile.value === LOCAL_PROFILE || (rows.length === 0 && profile.source === 'default')
      rows.push({ profile: LOCAL_PROFILE, url: undefined, user: loginName(), current: isCurrent })
    }
    return { items: rows, view }
  },
})

const use = defineCommand({
  output: otherOutput('nothing'),
  completion: ['profile'],
  examples: ['gridline profile use work', 'gridline profile use local'],
  arguments: '<name>',
  async run(context, [name]) {
    await assertProfileExists(context, name)
    await context.config.update((config) => {
      config.profile = name
    })
    context.messages.note(`Using profile ${name}.`)
    return undefined
  },
})

const remove = defineCommand({
  output: otherOutput('nothing'),
  completion: ['profile'],
  examples: ['gridline profile remove work', 'gridline profile rm old'],
  arguments: '<name>',
  async run(context, [name]) {
    await assertProfileExists(context, name)
    if (!Object.hasOwn((await context.config.read()).profiles ?? {}, name))
      throw new Problem('usage', `cannot remove the profile ${name}: it is the database on this machine`)
    const { keychain, key_origin } = (await context.config.read()).profiles![name]
    if (keychain && key_origin) await context.keychain.delete(name, key_origin)
    await context.config.update((config) => {
      delete config.profiles?.[name]
      if (config.profile === name) delete config.profile
    })
    context.messages.note(`Removed profile ${name}.`)
    return undefined
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand('list', 'List profiles; * marks the active one', list),
  subcommand('use', 'Switch to a profile', use),
  subcommand('remove', 'Remove a profile and its key', remove, ['rm']),
]
