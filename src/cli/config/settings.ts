import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { closest, hintWith } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { writePrivately } from './private-file.ts'

/** All settings. */
export interface Settings {
  url: string
  user: string
  api_key: string
  ca_file: string
  format: string
  theme: string
  locale: string
  profile: string
}

export type SettingName = keyof Settings

/** Setting → environment variable. (GRIDLINE_HOME sets the directory of config and data.) */
const environmentVariables: Record<SettingName, string> = {
  url: 'GRIDLINE_URL',
  user: 'GRIDLINE_USER',
  api_key: 'GRIDLINE_API_KEY',
  ca_file: 'GRIDLINE_CA_FILE',
  format: 'GRIDLINE_FORMAT',
  theme: 'GRIDLINE_THEME',
  locale: 'GRIDLINE_LOCALE',
  profile: 'GRIDLINE_PROFILE',
}

export const settingNames = Object.keys(environmentVariables) as SettingName[]

/** Formats of output. */
export const formats = ['table', 'tsv', 'csv', 'json', 'ndjson'] as const

export type Format = (typeof formats)[number]

/** A format by its name; `jsonl` is another name for `ndjson`. */
export function formatNamed(name: string): Format | undefined {
  return formats.find((format) => format === (name === 'jsonl' ? 'ndjson' : name))
}

export interface Profile {
  url?: string
  user?: string
  api_key?: string
  /** The key is in the keychain of the system, not here. */
  keychain?: true
  /** The origin of the server that the key is for. It is never sent to another one. */
  key_origin?: string
  /** A PEM file of certificates that are trusted too, as an absolute path. */
  ca_file?: string
}

/** The built-in profile: the database of this machine. */
export const LOCAL = 'local'

/** The content of the config file. */
export interface ConfigFile {
  profile?: string
  format?: string
  theme?: string
  locale?: string
  profiles?: Record<string, Profile>
}

export interface Setting {
  value: string | undefined
  /** `environment GRIDLINE_URL`, `profile work`, `config file`, `default`. */
  source: string
}

export interface Places {
  /** Directory of the config file. */
  config: string
  /** Directory of the database. */
  data: string
}

export function places(environment: NodeJS.ProcessEnv): Places {
  const home = environment.GRIDLINE_HOME
  if (home) return { config: home, data: home }
  const user = homedir()
  if (process.platform === 'win32') {
    const folder = join(environment.APPDATA ?? join(user, 'AppData', 'Roaming'), 'gridline')
    return { config: folder, data: folder }
  }
  return {
    config: join(environment.XDG_CONFIG_HOME || join(user, '.config'), 'gridline'),
    data: join(environment.XDG_DATA_HOME || join(user, '.local', 'share'), 'gridline'),
  }
}

export function databaseUrl(environment: NodeJS.ProcessEnv): string {
  return `sqlite:${join(places(environment).data, 'gridline.db')}`
}

/** The login name, made a valid username: the user of the embedded service. */
export function loginName(): string {
  let name = 'me'
  try {
    name = userInfo().username
  } catch {
    // In containers, the user id may have no name.
  }
  const clean = name.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9_]+$/g, '')
  return isUsername(clean) ? clean : 'me'
}

/** The content of serve.json: where `gridline serve` serves the database of this machine. */
interface Serving {
  url: string
  pid: number
}

function servingFile(environment: NodeJS.ProcessEnv): string {
  return join(places(environment).data, 'serve.json')
}

/** The base URL of links to the database of this machine, and whether the server process is running. */
export function localLinks(environment: NodeJS.ProcessEnv): { url: string; running: boolean } {
  try {
    const { url, pid } = JSON.parse(readFileSync(servingFile(environment), 'utf8')) as Serving
    return { url: checkUrl(url), running: isRunning(pid) }
  } catch {
    return { url: EMBEDDED_URL, running: false }
  }
}

/** The default URL of `gridline serve`, used if none is recorded. */
const EMBEDDED_URL = 'http://127.0.0.1:8080'

export function recordServing(environment: NodeJS.ProcessEnv, url: string): void {
  const file = servingFile(environment)
  const serving: Serving = { url, pid: process.pid }
  writePrivately(file, JSON.stringify(serving))
}

/** Deletes the recorded URL, if it cannot be served again (random port). */
export function forgetServing(environment: NodeJS.ProcessEnv): void {
  rmSync(servingFile(environment), { force: true })
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Makes the directories of config and data private, also those created by earlier versions. */
export function makeFoldersPrivate(environment: NodeJS.ProcessEnv): void {
  const { config, data } = places(environment)
  for (const folder of new Set([config, data])) {
    try {
      const { uid, mode } = statSync(folder)
      // Leave shared directories such as /tmp and home directories unchanged.
      const own = uid === process.getuid?.() && (mode & 0o1000) === 0 && folder !== homedir()
      if (own && (mode & 0o077) !== 0) chmodSync(folder, 0o700)
    } catch {
      // The directory does not exist yet.
    }
  }
}

/** Reads and writes the config file. Writes are atomic; only the owner can read it. */
export class ConfigStore {
  constructor(private readonly folder: string) {}

  get path(): string {
    return join(this.folder, 'config.json')
  }

  /** Reads the file itself: loading the library takes longer than most commands run. */
  async read(): Promise<ConfigFile> {
    if (!existsSync(this.path)) return {}
    try {
      const config: unknown = JSON.parse(readFileSync(this.path, 'utf8').replace(/^\ufeff/, ''))
      if (isConfig(config)) return config
    } catch (error) {
      throw this.unreadable((error as Error).message)
    }
    throw this.unreadable('it is not what gridline writes')
  }

  async change(change: (config: ConfigFile) => void): Promise<void> {
    const config = await this.read()
    change(config)
    const { Conf } = await import('../../vendor/conf.ts')
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 })
      const file = new Conf<Record<string, unknown>>({
        cwd: this.folder,
        configName: 'config',
        configFileMode: 0o600,
      })
      file.store = { ...config }
    } catch (error) {
      throw new Problem('failed', `cannot write ${this.path}: ${(error as Error).message}`)
    }
  }

  private unreadable(reason: string): Problem {
    return new Problem('bad_data', `cannot read ${this.path}: ${reason}`, { hint: 'Fix or delete the file.' })
  }
}

function isConfig(value: unknown): value is ConfigFile {
  const isObject = (one: unknown): one is Record<string, unknown> =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
  const hasTexts = (one: unknown): boolean =>
    isObject(one) && Object.values(one).every((text) => typeof text === 'string' || typeof text === 'boolean')
  if (!isObject(value)) return false
  const { profiles = {}, ...texts } = value
  return hasTexts(texts) && isObject(profiles) && Object.values(profiles).every(hasTexts)
}

/** Resolves each setting with its source: flag, environment, profile, config file or default. */
export function resolveSettings(
  config: ConfigFile,
  environment: NodeJS.ProcessEnv,
  flags: { profile?: string; local?: boolean },
): Record<SettingName, Setting> {
  const fromEnvironment = (name: SettingName): Setting | undefined => {
    const variable = environmentVariables[name]
    return environment[variable]
      ? { value: environment[variable], source: `environment ${variable}` }
      : undefined
  }
  const profile: Setting =
    (flags.local ? { value: LOCAL, source: '--local' } : undefined) ??
    (flags.profile ? { value: flags.profile, source: '--profile' } : undefined) ??
    fromEnvironment('profile') ??
    (config.profile
      ? { value: config.profile, source: 'config file' }
      : { value: 'default', source: 'default' })
  const known = config.profiles && Object.hasOwn(config.profiles, profile.value!)
  const chosen = known && !flags.local ? config.profiles![profile.value!] : undefined
  const local = !chosen && profile.value === LOCAL
  if (!chosen && !local && profile.source !== 'default' && profile.source !== 'config file') {
    throw noProfile('usage', profile.value!, config.profiles)
  }
  // The local profile chosen by a flag overrides GRIDLINE_URL.
  const alone = local && profile.source.startsWith('--')
  const url = alone ? undefined : environment.GRIDLINE_URL || chosen?.url
  // A key belongs to one server: ignore it if the URL is set to another one, in whatever way.
  const keyOrigin = chosen?.key_origin ?? (chosen?.url && originOf(chosen.url))
  const elsewhere = url !== undefined && keyOrigin !== undefined && originOf(url) !== keyOrigin
  const fromProfile = (name: 'url' | 'user' | 'api_key' | 'ca_file'): Setting | undefined => {
    if (!chosen?.[name] || (elsewhere && name !== 'url')) return undefined
    const kept = name === 'api_key' && chosen.keychain ? 'keychain, ' : ''
    return { value: chosen[name], source: `${kept}profile ${profile.value}` }
  }
  const unset: Setting = { value: undefined, source: 'default' }
  const format =
    fromEnvironment('format') ?? (config.format ? { value: config.format, source: 'config file' } : unset)
  if (format.value !== undefined && formatNamed(format.value) === undefined) {
    throw new Problem('usage', `unknown format: ${format.value} (${format.source})`, {
      hint: `Available formats: ${formats.join(', ')}.`,
    })
  }
  const [theme, locale] = (['theme', 'locale'] as const).map(
    (name) =>
      fromEnvironment(name) ?? (config[name] ? { value: config[name], source: 'config file' } : unset),
  )
  const ofCharts = { theme, locale }
  if (alone) return { url: unset, user: unset, api_key: unset, ca_file: unset, format, ...ofCharts, profile }
  return {
    url: fromEnvironment('url') ?? fromProfile('url') ?? unset,
    // User and key belong together: if the environment sets one, do not take the other from the profile.
    user: fromEnvironment('user') ?? (fromEnvironment('api_key') ? unset : fromProfile('user')) ?? unset,
    api_key:
      fromEnvironment('api_key') ??
      (fromEnvironment('user') && environment.GRIDLINE_USER !== chosen?.user
        ? unset
        : fromProfile('api_key')) ??
      unset,
    ca_file: fromEnvironment('ca_file') ?? fromProfile('ca_file') ?? unset,
    format,
    ...ofCharts,
    profile,
  }
}

/** The error for a profile that does not exist. */
export function noProfile(
  code: 'usage' | 'not_found',
  name: string,
  profiles: ConfigFile['profiles'] = {},
): Problem {
  const names = [...Object.keys(profiles), LOCAL]
  const meant = closest(name, names)
  return new Problem(code, `no profile named ${name}`, {
    hint: hintWith(
      meant,
      `Available profiles: ${names.join(', ')}. Create one with: gridline login URL --profile ${name}`,
    ),
  })
}

/** The origin (scheme, host and port) of a server URL. */
export function originOf(url: string): string {
  return new URL(checkUrl(url)).origin
}

/** Normalizes a server URL: adds a scheme, removes the `/v2` of the API. Throws `usage` if invalid. */
export function checkUrl(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !/^https?:\/\//i.test(text))
    throw new Problem('usage', `not a server URL: ${text}`, {
      hint: 'Use a URL such as https://charts.example.com',
    })
  const full = /^https?:\/\//i.test(text)
    ? text
    : `${/^(localhost|127\.|\[::1\])/.test(text) ? 'http' : 'https'}://${text}`
  try {
    const { protocol, host, pathname } = new URL(full)
    return `${protocol}//${host}${pathname}`.replace(/\/+$/, '').replace(/\/v2$/, '')
  } catch {
    throw new Problem('usage', `not a valid URL: ${text}`, {
      hint: 'Use a URL such as https://charts.example.com',
    })
  }
}
