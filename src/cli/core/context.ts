import { baseOfLink, type Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { quoted } from '../../contract/shell.ts'
import { Keychain } from '../config/keychain.ts'
import {
  type ConfigFile,
  ConfigStore,
  checkUrl,
  type Format,
  LOCAL,
  localLinks,
  places,
  resolveSettings,
  type Setting,
  type SettingName,
} from '../config/settings.ts'
import { type Connection, type ConnectOptions, connect, remote, temporary } from '../connect/connect.ts'
import { Messages, type ProgressStyle } from '../output/messages.ts'
import { Planned } from './dry-run.ts'
import { nextAfter } from './next.ts'

export interface GlobalFlags {
  json?: string | true
  jq?: string
  template?: string
  /** For lists and details. Some commands have formats of their own. */
  format?: Format
  quiet?: boolean
  progress?: ProgressStyle | 'auto'
  verbose?: boolean
  caFile?: string
  outputFile?: string
  dryRun?: boolean
  profile?: string
  local?: boolean
  /** Seconds. */
  timeout?: string
  idempotencyKey?: string
  message?: string
}

/** The environment of a command. Expensive parts are created on first use. */
export class Context {
  readonly config: ConfigStore
  readonly messages: Messages
  readonly keychain: Keychain
  /** Keys from the keychain, by profile: it may ask the user each time. */
  private readonly keys = new Map<string, Promise<string>>()
  private connection: Promise<Connection> | undefined
  /** Connections to other servers (of links), by base URL. */
  private readonly others = new Map<string, Promise<Connection>>()
  /** Whether the command changes data. Others create nothing, not even an empty database. */
  changes = false
  private waitingUntil = 0
  /** Aborts requests when --timeout expires. */
  private readonly ending = new AbortController()

  constructor(
    readonly environment: NodeJS.ProcessEnv,
    readonly flags: GlobalFlags,
    /** The words of the command line. */
    argv: readonly string[] = [],
  ) {
    this.config = new ConfigStore(places(environment).config)
    this.keychain = new Keychain(environment)
    this.messages = new Messages(
      flags.quiet === true,
      flags.json !== undefined || flags.jq !== undefined,
      environment,
      flags.progress,
    )
    this.messages.next = (problem) => nextAfter(problem, argv)
  }

  async settings(): Promise<Record<SettingName, Setting>> {
    const file = await this.withKey(await this.config.read(), this.flags.profile)
    return resolveSettings(file, this.environment, this.flags)
  }

  /** The settings with the key of the profile in use, where that is in the keychain. */
  private async withKey(file: ConfigFile, chosen: string | undefined): Promise<ConfigFile> {
    const name = chosen ?? this.environment.GRIDLINE_PROFILE ?? file.profile ?? 'default'
    const profile = file.profiles?.[name]
    if (!profile?.keychain || !profile.key_origin || this.environment.GRIDLINE_API_KEY) return file
    if (!this.keys.has(name)) this.keys.set(name, this.keychain.get(name, profile.key_origin))
    const api_key = await this.keys.get(name)
    return { ...file, profiles: { ...file.profiles, [name]: { ...profile, api_key } } }
  }

  /** Rejects when --timeout expires. Never settles without a timeout. */
  readonly timedOut: Promise<never> = new Promise((_, reject) => {
    this.ending.signal.addEventListener('abort', () => reject(this.ending.signal.reason))
  })

  /** Whether --timeout has expired. */
  get isOver(): boolean {
    return this.ending.signal.aborted
  }

  /** Starts the timer of --timeout. */
  startClock(): void {
    const { timeout } = this.flags
    if (timeout === undefined) return
    const seconds = Number(timeout)
    if (!(seconds > 0))
      throw new Problem('usage', `--timeout ${timeout}: must be a number of seconds, greater than 0`)
    const late = new Problem('unreachable', `timed out after ${timeout} s (--timeout)`, {
      hint: 'The request may still have been applied. With --idempotency-key, repeating the command is safe.',
    })
    this.timedOut.catch(() => {})
    setTimeout(() => this.ending.abort(late), seconds * 1000).unref()
  }

  connect(): Promise<Connection> {
    this.connection ??= this.settings().then((settings) => connect(settings, this.connectOptions()))
    return this.connection
  }

  /** A connection with another profile, whatever the environment says. */
  async connectTo(profile: string): Promise<Connection> {
    const {
      GRIDLINE_URL: _url,
      GRIDLINE_USER: _user,
      GRIDLINE_API_KEY: _key,
      ...environment
    } = this.environment
    const settings = resolveSettings(await this.withKey(await this.config.read(), profile), environment, {
      profile,
    })
    if (!settings.url.value && profile !== LOCAL)
      throw new Problem('usage', `the profile ${profile} has no server`, {
        hint: `Log in with: gridline login URL --profile ${profile}`,
      })
    const opened = connect(settings, this.connectOptions())
    this.others.set(`profile ${profile}`, opened)
    return opened
  }

  async client(): Promise<Client> {
    return (await this.connect()).client
  }

  /**
   * The client for reading `file`. Links of other servers are read there, without credentials: a link works
   * without settings.
   */
  async clientFor(file: string): Promise<Client> {
    const base = baseOfLink(file)
    if (base === undefined) return this.client()
    const { url } = await this.settings()
    const own = url.value ? checkUrl(url.value) : localLinks(this.environment).url
    const isOwn = new URL(base).origin === new URL(own).origin
    // A server at this machine's link URL may serve another database: send secret links to that server.
    const isSecret = new URL(file).searchParams.has('share_key')
    if (isOwn && (url.value || !isSecret || !(await answers(base)))) return this.client()
    if (url.value && !isOwn && (await isNamedBy(await this.client(), base))) return this.client()
    if (!this.others.has(base)) this.others.set(base, remote(base, this.connectOptions()))
    return (await this.others.get(base)!).client
  }

  /** The client of a service in this process whose data ends with the command. */
  async temporaryClient(): Promise<Client> {
    const { environment, signal, onRetry, trace, idempotencyKey } = this.connectOptions()
    const key = 'temporary'
    if (!this.others.has(key))
      this.others.set(
        key,
        temporary({ environment, signal, onRetry, trace, idempotencyKey, plan: undefined }),
      )
    return (await this.others.get(key)!).client
  }

  /** Notes that links to the local database work only while `gridline serve` runs. */
  async noteLinks(name?: string): Promise<void> {
    if ((await this.connect()).server !== undefined) return
    const { url, running } = localLinks(this.environment)
    if (running) return
    const { port } = new URL(url)
    const flags = port === '8080' || port === '' ? '' : ` --port ${port}`
    this.messages.aside(
      name === undefined
        ? `To open links to files on this machine, run: gridline serve${flags}`
        : `To see it in the browser, run: gridline open ${quoted(name)}`,
    )
  }

  async close(): Promise<void> {
    for (const opened of [this.connection, ...this.others.values()])
      await (await opened?.catch(() => undefined))?.close()
  }

  private get traces(): boolean {
    return this.flags.verbose === true || this.environment.GRIDLINE_DEBUG === 'http'
  }

  /** Requests that run at once fail and wait together: that is said once. */
  private noteRetry({ message }: Problem, wait: number): void {
    const now = performance.now()
    if (now < this.waitingUntil) return
    this.waitingUntil = now + wait
    this.messages.note(`${message}; retrying in ${Math.round(wait / 100) / 10} s`)
  }

  connectOptions(): ConnectOptions {
    return {
      environment: this.environment,
      changes: this.changes,
      signal: this.flags.timeout === undefined ? undefined : this.ending.signal,
      idempotencyKey: this.flags.idempotencyKey,
      message: this.flags.message,
      trace: this.traces ? (line) => this.messages.line(line) : undefined,
      caFile: this.flags.caFile ?? (this.environment.GRIDLINE_CA_FILE || undefined),
      plan: this.flags.dryRun ? (...what) => new Planned(...what) : undefined,
      onRetry: (problem, wait) => this.noteRetry(problem, wait),
    }
  }
}

/** Whether a server answers at a URL. */
async function answers(base: string): Promise<boolean> {
  const { client, close } = await remote(base, { signal: AbortSignal.timeout(2000) })
  try {
    await client.call('service.health')
    return true
  } catch {
    return false
  } finally {
    await close()
  }
}

/** Whether the links of the server in use have the origin of `base`. */
async function isNamedBy(client: Client, base: string): Promise<boolean> {
  const addresses = Object.values(await client.call('service.index'))
  return addresses.some(
    (address) => URL.canParse(address) && new URL(address).origin === new URL(base).origin,
  )
}
