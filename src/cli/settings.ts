import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { Problem } from '../contract/errors.ts'
import { isUsername } from '../contract/fid.ts'

/** What a person can set, and where each value may come from. */
export interface Settings {
  url: string
  user: string
  api_key: string
  format: string
  profile: string
}
export type SettingName = keyof Settings

export const settingNames: readonly SettingName[] = ['url', 'user', 'api_key', 'format', 'profile']

/** Environment variables by setting. GRIDLINE_HOME says where files are kept. */
export const environmentVariables: Record<SettingName, string> = {
  url: 'GRIDLINE_URL',
  user: 'GRIDLINE_USER',
  api_key: 'GRIDLINE_API_KEY',
  format: 'GRIDLINE_FORMAT',
  profile: 'GRIDLINE_PROFILE',
}

export const formats = ['table', 'tsv', 'json'] as const

export interface Profile {
  url?: string
  user?: string
  api_key?: string
}

/** The file a person's settings are kept in. */
export interface ConfigFile {
  profile?: string
  format?: string
  profiles?: Record<string, Profile>
}

export interface Setting {
  value: string | undefined
  /** `environment GRIDLINE_URL`, `profile work`, `config file`, `default`. */
  source: string
}

export interface Places {
  /** Folder of the config file. */
  config: string
  /** Folder of the database. */
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

/** The login name, as a username: the embedded service's only user. */
export function loginName(): string {
  let name = 'me'
  try {
    name = userInfo().username
  } catch {
    // Containers may run under a user id that has no name.
  }
  const clean = name.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9_]+$/g, '')
  return isUsername(clean) ? clean : 'me'
}

/** The config file through the library that writes it whole or not at all, readable by its owner only. */
export class ConfigStore {
  private opened: Promise<{ store: ConfigFile }> | undefined

  constructor(private readonly folder: string) {}

  get path(): string {
    return join(this.folder, 'config.json')
  }

  async read(): Promise<ConfigFile> {
    // The library takes longer to load than most commands run: without a file there is nothing to read.
    if (!existsSync(this.path)) return {}
    return (await this.open()).store
  }

  async change(change: (config: ConfigFile) => void): Promise<void> {
    const config = structuredClone(await this.read())
    change(config)
    const opened = await this.open()
    opened.store = config
  }

  private open(): Promise<{ store: ConfigFile }> {
    this.opened ??= import('conf').then(({ default: Conf }) => {
      try {
        return new Conf<Record<string, unknown>>({
          cwd: this.folder,
          configName: 'config',
          configFileMode: 0o600,
        }) as { store: ConfigFile }
      } catch (error) {
        throw new Problem('bad_data', `${this.path}: cannot be read: ${(error as Error).message}`, {
          hint: 'Mend or delete the file.',
        })
      }
    })
    return this.opened
  }
}

/** The value of each setting and where it comes from: flag, environment, profile, config file, default. */
export function resolveSettings(
  config: ConfigFile,
  environment: NodeJS.ProcessEnv,
  flags: { profile?: string },
): Record<SettingName, Setting> {
  const fromEnvironment = (name: SettingName): Setting | undefined => {
    const variable = environmentVariables[name]
    return environment[variable]
      ? { value: environment[variable], source: `environment ${variable}` }
      : undefined
  }
  const profile: Setting =
    (flags.profile ? { value: flags.profile, source: '--profile' } : undefined) ??
    fromEnvironment('profile') ??
    (config.profile
      ? { value: config.profile, source: 'config file' }
      : { value: 'default', source: 'default' })
  const chosen = config.profiles?.[profile.value!]
  if (!chosen && profile.source !== 'default' && profile.source !== 'config file') {
    throw new Problem('usage', `no profile is called ${profile.value}`, {
      hint: 'Make it with: gridline login URL --profile NAME',
    })
  }
  // A key belongs to its server: with another address from the environment, the profile's key stays home.
  const elsewhere =
    Boolean(environment.GRIDLINE_URL) &&
    checkUrl(environment.GRIDLINE_URL!) !== (chosen?.url && checkUrl(chosen.url))
  const fromProfile = (name: keyof Profile): Setting | undefined =>
    chosen?.[name] && !(elsewhere && name !== 'url')
      ? { value: chosen[name], source: `profile ${profile.value}` }
      : undefined
  const unset: Setting = { value: undefined, source: 'default' }
  const format =
    fromEnvironment('format') ?? (config.format ? { value: config.format, source: 'config file' } : unset)
  if (format.value !== undefined && !formats.some((known) => known === format.value)) {
    throw new Problem('usage', `no such format: ${format.value} (${format.source})`, {
      hint: `Formats are ${formats.join(', ')}.`,
    })
  }
  return {
    url: fromEnvironment('url') ?? fromProfile('url') ?? unset,
    // A name and a key belong together: of what the environment names one of, the profile gives not the other.
    user: fromEnvironment('user') ?? (fromEnvironment('api_key') ? unset : fromProfile('user')) ?? unset,
    api_key:
      fromEnvironment('api_key') ??
      (fromEnvironment('user') && environment.GRIDLINE_USER !== chosen?.user
        ? unset
        : fromProfile('api_key')) ??
      unset,
    format,
    profile,
  }
}

/** `localhost:8080` → `http://localhost:8080`; Problem for what is no address. */
export function checkUrl(text: string): string {
  const full = /^https?:\/\//i.test(text)
    ? text
    : `${/^(localhost|127\.|\[::1\])/.test(text) ? 'http' : 'https'}://${text}`
  try {
    const { protocol, host, pathname } = new URL(full)
    return `${protocol}//${host}${pathname}`.replace(/\/+$/, '')
  } catch {
    throw new Problem('usage', `not an address: ${text}`, {
      hint: 'Give one like https://charts.example.com',
    })
  }
}
