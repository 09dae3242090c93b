// `gridline config`: shows and changes settings.
import { resolve } from 'node:path'
import { isBuiltIn } from '../../charts/figure/themes.ts'
import { assertLocale } from '../../charts/normalize/locale.ts'
import { closest, hintWith } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { themeNamed } from '../charts/themes.ts'
import {
  checkUrl,
  formatNamed,
  formats,
  originOf,
  type Profile,
  type SettingName,
  settingNames,
} from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { array, object } from '../core/prints.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'value',
  columns: [
    { field: 'setting', title: 'SETTING' },
    { field: 'value', title: 'VALUE', format: (value: string | null) => value ?? '' },
    { field: 'source', title: 'FROM' },
  ],
}

/** Formats a value for display. API keys are abbreviated; null if unset. */
function shown(name: SettingName, value: string | undefined): string | null {
  if (value === undefined) return null
  return name === 'api_key' ? `${value.slice(0, 4)}…` : value
}

/** Returns a setting name. Throws `usage` for other texts. */
function checked(name: string): SettingName {
  if ((settingNames as readonly string[]).includes(name)) return name as SettingName
  const suggestion = closest(name, settingNames)
  throw new Problem('usage', `no setting named ${name}`, {
    hint: hintWith(suggestion, `Available settings: ${settingNames.join(', ')}`),
  })
}

/** Returns a setting as an output row. */
async function row(context: Context, name: SettingName) {
  const { value, source } = (await context.settings())[name]
  return { setting: name, value: shown(name, value), source }
}

const fields = { setting: 'name of the setting', value: 'its value, or null', source: 'origin of the value' }

const get = defineCommand({
  prints: object([], fields),
  arguments: '<setting>',
  completes: [{ words: settingNames }],
  examples: ['gridline config get url', 'gridline config get format --quiet'],
  async run(context, [name]) {
    return { one: await row(context, checked(name)), view }
  },
})

const list = defineCommand({
  prints: array([], fields),
  lists: {},
  examples: ['gridline config list', 'gridline config list --json'],
  async run(context) {
    return { many: await Promise.all(settingNames.map((name) => row(context, name))), view }
  },
})

const unset = defineCommand({
  prints: object([], fields),
  arguments: '<setting>',
  completes: [{ words: settingNames }],
  examples: ['gridline config unset format', 'gridline config unset url'],
  async run(context, [settingName]) {
    const name = checked(settingName)
    const settings = await context.settings()
    await context.config.change((config) => {
      if (name === 'format' || name === 'profile' || name === 'theme' || name === 'locale') {
        delete config[name]
        return
      }
      const profile = config.profiles?.[settings.profile.value!]
      if (!profile) return
      delete profile[name]
      // Without URL, the key has no server.
      if (name === 'url') {
        delete profile.api_key
        delete profile.keychain
        delete profile.key_origin
        delete profile.ca_file
      }
    })
    return { one: await row(context, name), view }
  },
})

const set = defineCommand({
  prints: object([], fields),
  arguments: '<setting> <value>',
  completes: [{ words: settingNames }, undefined],
  examples: ['gridline config set format csv', 'gridline config set url https://charts.example.com'],
  async run(context, [settingName, text]) {
    const name = checked(settingName)
    // An absolute path works in every folder.
    const value = name === 'ca_file' ? resolve(text) : text
    if (name === 'profile')
      throw new Problem('usage', 'profile cannot be set here; use: gridline profile use NAME')
    if (name === 'format' && formatNamed(value) === undefined) {
      throw new Problem('usage', `no format named ${value}`, {
        hint: `Available formats: ${formats.join(', ')}`,
      })
    }
    // An absolute path works in every folder.
    const theme = name !== 'theme' ? undefined : isBuiltIn(value) ? value : resolve(value)
    if (theme !== undefined) themeNamed(theme)
    if (name === 'locale') assertLocale(value, 'locale')
    const settings = await context.settings()
    await context.config.change((config) => {
      if (name === 'theme' || name === 'locale') {
        config[name] = theme ?? value
        return
      }
      if (name === 'format') {
        config.format = formatNamed(value)
        return
      }
      const profile = settings.profile.value!
      const previous = config.profiles?.[profile] ?? {}
      // Does not compile for settings outside of profiles: they need a branch above.
      const field: keyof Profile = name
      const updated = field === 'url' ? withUrl(previous, checkUrl(value)) : { ...previous, [field]: value }
      // The key is stored here, not in the keychain.
      if (name === 'api_key') delete updated.keychain
      if (name === 'api_key') updated.key_origin = updated.url && originOf(updated.url)
      if (previous.api_key && !updated.api_key)
        context.messages.warning(
          `the API key of profile ${profile} was for ${previous.key_origin ?? previous.url} and was removed; log in with: gridline login ${updated.url}`,
        )
      config.profiles = { ...config.profiles, [profile]: updated }
      config.profile = profile
    })
    const current = await row(context, name)
    if (current.value !== shown(name, name === 'url' ? checkUrl(value) : (theme ?? value)))
      context.messages.warning(`${current.source} overrides the new value`)
    return { one: current, view }
  },
})

/** Returns a profile with another URL. Drops user and key if they are for another server. */
function withUrl(profile: Profile, url: string): Profile {
  const origin = profile.key_origin ?? (profile.url && originOf(profile.url))
  const key_origin = originOf(url)
  if (!(profile.api_key || profile.keychain) || origin === undefined || origin === key_origin)
    return { ...profile, url, ...(profile.api_key || profile.keychain ? { key_origin } : {}) }
  return { url }
}

export const commands: readonly CommandEntry[] = [
  subcommand('get', 'Show a setting and the origin of its value', get),
  subcommand('set', 'Change a setting', set),
  subcommand('unset', 'Reset a setting to its default', unset),
  subcommand('list', 'Show all settings and the origin of their values', list),
]
