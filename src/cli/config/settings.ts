// Settings: config file, profiles, environment, and the URL of the local server.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { errorCodeOf, errorMessageOf, Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import { writePrivateFile } from './private-file.ts'

/** All settings by name. */
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

/** Environment variable of each setting. (GRIDLINE_HOME sets the directory of config and data.) */
const SETTING_VARIABLES: Record<SettingName, string> = {
  url: 'GRIDLINE_URL',
  user: 'GRIDLINE_USER',
  api_key: 'GRIDLINE_API_KEY',
  ca_file: 'GRIDLINE_CA_FILE',
  format: 'GRIDLINE_FORMAT',
  theme: 'GRIDLINE_THEME',
  locale: 'GRIDLINE_LOCALE',
  profile: 'GRIDLINE_PROFILE',
}

export const SETTING_NAMES = Object.keys(SETTING_VARIABLES) as SettingName[]

/** Output formats. */
export const OUTPUT_FORMATS = ['table', 'tsv', 'csv', 'json', 'ndjson', 'md'] as const

export type OutputFormat = (typeof OUTPUT_FORMATS)[number]

/** Returns the format of a name, or undefined. `jsonl` is a synonym of `ndjson`. */
export function parseFormatName(name: string): OutputFormat | undefined {
  return OUTPUT_FORMATS.find((format) => format === (name === 'jsonl' ? 'ndjson' : name))
}

export interface Profile {
  url?: string
  user?: string
  api_key?: string
  /** True if the key is in the system's keychain, not here. */
  keychain?: true
  /** Origin of the server that the key is for. The key is never sent to another one. */
  key_origin?: string
  /** Absolute path of a PEM file of additional trusted certificates. */
  ca_file?: string
}

/** Name of the built-in profile: the database on this machine. */
export const LOCAL_PROFILE = 'local'

/** Content of config.json. */
export interface ConfigFile {
  profile?: string
  format?: string
  theme?: string
  locale?: string
  profiles?: Record<string, Profile>
}

/** Resolved setting with its source. */
export interface Setting {
  value: string | undefined
  /** Such as `environment GRIDLINE_URL`, `profile work`, `config file`, `default`. */
  source: string
}

export interface Directories {
  /** Directory of the config file. */
  config: string
  /** Directory of the database. */
  data: string
}

/** Returns the directories of config and database. */
export function directoriesOf(environment: NodeJS.ProcessEnv): Directories {
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

/** Returns the URL of the database on this machine. */
export function databaseUrl(environment: NodeJS.ProcessEnv): string {
  return `sqlite:${join(directoriesOf(environment).data, 'gridline.db')}`
}

/** Returns the login name as a valid username, for the embedded service. Fallback: `me`. */
export function loginName(): string {
  let name = 'me'
  try {
    name = userInfo().username
  } catch {
    // In containers, the user id can lack a name.
  }
  const clean = name.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9_]+$/g, '')
  return isUsername(clean) ? clean : 'me'
}

/** Content of serve.json: address and process of `gridline serve` for the local database. */
interface ServerRecord {
  url: string
  pid: number
}

function serverRecordPath(environment: NodeJS.ProcessEnv): string {
  return join(directoriesOf(environment).data, 'serve.json')
}

/** Returns the base URL of links to the local database, and whether its server is running. */
export function readLocalServer(environment: NodeJS.ProcessEnv): { url: string; running: boolean } {
  try {
    const { url, pid } = JSON.parse(readFileSync(serverRecordPath(environment), 'utf8')) as ServerRecord
    return { url: normalizeServerUrl(url), running: isProcessRunning(pid) }
  } catch {
    return { url: DEFAULT_LOCAL_URL, running: false }
  }
}

/** Default URL of `gridline serve`, used if none is recorded. */
const DEFAULT_LOCAL_URL = 'http://127.0.0.1:8080'

/** Records the URL of the running server in serve.json. */
export function recordLocalServer(environment: NodeJS.ProcessEnv, url: string): void {
  const file = serverRecordPath(environment)
  const serving: ServerRecord = { url, pid: process.pid }
  writePrivateFile(file, JSON.stringify(serving))
}

/** Deletes the recorded URL. For random ports, which the next server does not use. */
export function deleteLocalServerRecord(environment: NodeJS.ProcessEnv): void {
  rmSync(serverRecordPath(environment), { force: true })
}

/** Returns whether a process exists. */
function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCodeOf(error) === 'EPERM'
  }
}

/**
 * Removes access of other users to the config and data directories, also of those made by earlier versions.
 */
export function makeFoldersPrivate(environment: NodeJS.ProcessEnv): void {
  const { config, data } = directoriesOf(environment)
  for (const folder of new Set([config, data])) {
    try {
      const { uid, mode } = statSync(folder)
      // Leave shared directories such as /tmp and home directories unchanged.
      const isOurs = uid === process.getuid?.() && (mode & 0o1000) === 0 && folder !== homedir()
      if (isOurs && (mode & 0o077) !== 0) chmodSync(folder, 0o700)
    } catch {
      // Does not exist yet.
    }
  }
}

/** Reads and writes config.json. Writes are atomic; only the owner can read the file. */
export class ConfigStore {
  constructor(private readonly folder: string) {}

  get path(): string {
    return join(this.folder, 'config.json')
  }

  /** Reads the file without the library, which takes longer to load than most commands run. */
  async read(): Promise<ConfigFile> {
    if (!existsSync(this.path)) return {}
    try {
      const config: unknown = JSON.parse(readFileSync(this.path, 'utf8').replace(/^\ufeff/, ''))
      if (isConfigFile(config)) return config
    } catch (error) {
      throw this.unreadableProblem(errorMessageOf(error))
    }
    throw this.unreadableProblem('expected an object with settings and profiles')
  }

  /** Reads, changes and writes the config. Throws `failed` if it cannot be written. */
  async update(change: (config: ConfigFile) => void): Promise<void> {
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
      throw new Problem('failed', `cannot write ${this.path}: ${errorMessageOf(error)}`)
    }
  }

  private unreadableProblem(reason: string): Problem {
    return new Problem('bad_data', `cannot read ${this.path}: ${reason}`, { hint: 'Fix or delete the file.' })
  }
}

function isConfigFile(value: unknown): value is ConfigFile {
  const isObject = (candidate: unknown): candidate is Record<string, unknown> =>
    typeof candidate === 'object' && candidate !== null && !Array.isArray(candidate)
  const hasTexts = (candidate: unknown): boolean =>
    isObject(candidate) &&
    Object.values(candidate).every((text) => typeof text === 'string' || typeof text === 'boolean')
  if (!isObject(value)) return false
  const { profiles = {}, ...texts } = value
  return hasTexts(texts) && isObject(profiles) && Object.values(profiles).every(hasTexts)
}

const UNSET: Setting = { value: undefined, source: 'default' }

/** Resolves each setting and its source. Precedence: flag, environment, profile, config file, default. */
export function resolveSettings(
  config: ConfigFile,
  environment: NodeJS.ProcessEnv,
  flags: { profile?: string; local?: boolean },
): Record<SettingName, Setting> {
  const profile = resolveProfileName(config, environment, flags)
  const stored = findProfile(config, profile)
  const general = {
    format: resolveFormat(config, environment),
    theme: resolveGeneral('theme', config, environment),
    locale: resolveGeneral('locale', config, environment),
    profile,
  }
  // The local profile, selected by a flag, overrides GRIDLINE_URL.
  if (!stored && profile.value === LOCAL_PROFILE && profile.source.startsWith('--'))
    return { url: UNSET, user: UNSET, api_key: UNSET, ca_file: UNSET, ...general }
  // A key is for one server: ignore it if the URL points to another one.
  const url = environment.GRIDLINE_URL || stored?.url
  const keyOrigin = stored?.key_origin ?? (stored?.url && originOf(stored.url))
  const isOtherServer = url !== undefined && keyOrigin !== undefined && originOf(url) !== keyOrigin
  const fromEnvironment = (name: SettingName) => readEnvironment(name, environment)
  const fromProfile = (name: 'url' | 'user' | 'api_key' | 'ca_file'): Setting | undefined => {
    if (!stored?.[name] || (isOtherServer && name !== 'url')) return undefined
    const keychainPrefix = name === 'api_key' && stored.keychain ? 'keychain, ' : ''
    return { value: stored[name], source: `${keychainPrefix}profile ${profile.value}` }
  }
  // User and key are a pair: if the environment sets one, do not take the other from the profile.
  const isOtherUser = fromEnvironment('user') && environment.GRIDLINE_USER !== stored?.user
  return {
    url: fromEnvironment('url') ?? fromProfile('url') ?? UNSET,
    user: fromEnvironment('user') ?? (fromEnvironment('api_key') ? UNSET : fromProfile('user')) ?? UNSET,
    api_key: fromEnvironment('api_key') ?? (isOtherUser ? UNSET : fromProfile('api_key')) ?? UNSET,
    ca_file: fromEnvironment('ca_file') ?? fromProfile('ca_file') ?? UNSET,
    ...general,
  }
}

/** Returns the setting of an environment variable; undefined if it is not set or empty. */
function readEnvironment(name: SettingName, environment: NodeJS.ProcessEnv): Setting | undefined {
  const variable = SETTING_VARIABLES[name]
  const value = environment[variable]
  return value ? { value, source: `environment ${variable}` } : undefined
}

/** Resolves a setting that no profile has. */
function resolveGeneral(
  name: 'format' | 'theme' | 'locale' | 'profile',
  config: ConfigFile,
  environment: NodeJS.ProcessEnv,
): Setting {
  const stored: Setting = config[name] ? { value: config[name], source: 'config file' } : UNSET
  return readEnvironment(name, environment) ?? stored
}

function resolveProfileName(
  config: ConfigFile,
  environment: NodeJS.ProcessEnv,
  flags: { profile?: string; local?: boolean },
): Setting {
  if (flags.local) return { value: LOCAL_PROFILE, source: '--local' }
  if (flags.profile) return { value: flags.profile, source: '--profile' }
  const { value = 'default', source } = resolveGeneral('profile', config, environment)
  return { value, source }
}

/** Returns the stored profile that is selected. Throws `usage` if it was named for this command and does not exist. */
function findProfile({ profiles }: ConfigFile, { value, source }: Setting): Profile | undefined {
  if (source === '--local') return undefined
  if (profiles && Object.hasOwn(profiles, value!)) return profiles[value!]
  if (value !== LOCAL_PROFILE && source !== 'default' && source !== 'config file')
    throw unknownProfileProblem('usage', value!, profiles)
  return undefined
}

/** Resolves the output format. Throws `usage` for an unknown one. */
function resolveFormat(config: ConfigFile, environment: NodeJS.ProcessEnv): Setting {
  const format = resolveGeneral('format', config, environment)
  if (format.value === undefined || parseFormatName(format.value) !== undefined) return format
  throw new Problem('usage', `unknown format: ${format.value} (${format.source})`, {
    hint: `Available formats: ${OUTPUT_FORMATS.join(', ')}.`,
  })
}

/** Creates the error for an unknown profile. */
export function unknownProfileProblem(
  code: 'usage' | 'not_found',
  name: string,
  profiles: ConfigFile['profiles'] = {},
): Problem {
  const names = [...Object.keys(profiles), LOCAL_PROFILE]
  const suggestion = findClosest(name, names)
  return new Problem(code, `no profile named ${name}`, {
    hint: withSuggestion(
      suggestion,
      `Available profiles: ${names.join(', ')}. Create one with: gridline login URL --profile ${name}`,
    ),
  })
}

/** Returns the origin (scheme, host and port) of a server URL. */
export function originOf(url: string): string {
  return new URL(normalizeServerUrl(url)).origin
}

/** Normalizes a server URL: adds a scheme, removes the API's `/v2`. Throws `usage` if invalid. */
export function normalizeServerUrl(text: string): string {
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
