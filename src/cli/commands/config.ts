// `gridline config`: shows and changes settings.
import { resolve } from 'node:path'
import { isBuiltInTheme } from '../../charts/figure/themes.ts'
import { assertLocale } from '../../charts/normalize/locale.ts'
import { Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import { loadTheme } from '../charts/themes.ts'
import {
  normalizeServerUrl,
  OUTPUT_FORMATS,
  originOf,
  type Profile,
  parseFormatName,
  SETTING_NAMES,
  type SettingName,
} from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import { type CommandEntry, defineCommand, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
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
function formatValue(name: SettingName, value: string | undefined): string | null {
  if (value === undefined) return null
  return name === 'api_key' ? `${value.slice(0, 4)}…` : value
}

/** Returns a setting name. Throws `usage` for other texts. */
function parseSettingName(name: string): SettingName {
  const setting = SETTING_NAMES.find((known) => known === name)
  if (setting !== undefined) return setting
  const suggestion = findClosest(name, SETTING_NAMES)
  throw new Problem('usage', `no setting named ${name}`, {
    hint: withSuggestion(suggestion, `Available settings: ${SETTING_NAMES.join(', ')}`),
  })
}

/** Returns a setting as an output row. */
async function loadRow(context: Context, name: SettingName) {
  const { value, source } = (await context.settings())[name]
  return { setting: name, value: formatValue(name, value), source }
}

const SETTING_FIELDS = {
  setting: 'name of the setting',
  value: 'its value, or null',
  source: 'origin of the value',
}

const get = defineCommand({
  output: objectOf([], SETTING_FIELDS),
  arguments: '<setting>',
  completion: [{ words: SETTING_NAMES }],
  examples: ['gridline config get url', 'gridline config get format --quiet'],
  async run(context, [name]) {
    return { item: await loadRow(context, parseSettingName(name)), view }
  },
})

const list = defineCommand({
  output: arrayOf([], SETTING_FIELDS),
  lists: {},
  examples: ['gridline config list', 'gridline config list --json'],
  async run(context) {
    return { items: await Promise.all(SETTING_NAMES.map((name) => loadRow(context, name))), view }
  },
})

const unset = defineCommand({
  output: objectOf([], SETTING_FIELDS),
  arguments: '<setting>',
  completion: [{ words: SETTING_NAMES }],
  examples: ['gridline config unset format', 'gridline config unset url'],
  async run(context, [settingName]) {
    const name = parseSettingName(settingName)
    const profileName = (await context.settings()).profile.value!
    const removesKey = name === 'api_key' || name === 'url'
    const { keychain, key_origin } = (await context.config.read()).profiles?.[profileName] ?? {}
    if (removesKey && keychain && key_origin) await context.keychain.delete(profileName, key_origin)
    await context.config.update((config) => {
      if (name === 'format' || name === 'profile' || name === 'theme' || name === 'locale') {
        delete config[name]
        return
      }
      const profile = config.profiles?.[profileName]
      if (!profile) return
      delete profile[name]
      // Without URL, the key has no server.
      if (name === 'url') delete profile.ca_file
      if (removesKey) {
        delete profile.api_key
        delete profile.keychain
        delete profile.key_origin
      }
    })
    return { item: await loadRow(context, name), view }
  },
})

const set = defineCommand({
  output: objectOf([], SETTING_FIELDS),
  arguments: '<setting> <value>',
  completion: [{ words: SETTING_NAMES }, undefined],
  examples: ['gridline config set format csv', 'gridline config set url https://charts.example.com'],
  async run(context, [settingName, text]) {
    const name = parseSettingName(settingName)
    // An absolute path works in every folder.
    const value = name === 'ca_file' ? resolve(text) : text
    if (name === 'profile')
      throw new Problem('usage', 'profile cannot be set here; use: gridline profile use NAME')
    if (name === 'format' && parseFormatName(value) === undefined) {
      throw new Problem('usage', `no format named ${value}`, {
        hint: `Available formats: ${OUTPUT_FORMATS.join(', ')}`,
      })
    }
    // An absolute path works in every folder.
    const theme = name !== 'theme' ? undefined : isBuiltInTheme(value) ? value : resolve(value)
    if (theme !== undefined) loadTheme(theme)
    if (name === 'locale') assertLocale(value, 'locale')
    const settings = await context.settings()
    await context.config.update((config) => {
      if (name === 'theme' || name === 'locale') {
        config[name] = theme ?? value
        return
      }
      if (name === 'format') {
        config.format = parseFormatName(value)
        return
      }
      const profile = settings.profile.value!
      const previous = config.profiles?.[profile] ?? {}
      // Does not compile for settings outside of profiles: they need a branch above.
      const field: keyof Profile = name
      const updated =
        field === 'url' ? withUrl(previous, normalizeServerUrl(value)) : { ...previous, [field]: value }
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
    const current = await loadRow(context, name)
    if (current.value !== formatValue(name, name === 'url' ? normalizeServerUrl(value) : (theme ?? value)))
      context.messages.warning(`${current.source} overrides the new value`)
    return { item: current, view }
  },
})

/** Returns a profile with another URL. If it has a key for another server, all other settings are dropped. */
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
