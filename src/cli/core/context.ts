// Context of a running command: settings, connections, messages and timeout.
import { baseOfLink, type Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { Keychain } from '../config/keychain.ts'
import {
  type ConfigFile,
  ConfigStore,
  directoriesOf,
  LOCAL_PROFILE,
  normalizeServerUrl,
  type OutputFormat,
  readLocalServer,
  resolveSettings,
  type Setting,
  type SettingName,
} from '../config/settings.ts'
import {
  type Connection,
  type ConnectOptions,
  connect,
  connectRemote,
  connectTemporary,
} from '../connect/connect.ts'
import { Messages, type ProgressStyle } from '../output/messages.ts'
import { Planned } from './dry-run.ts'
import { suggestCommand } from './next-command.ts'

export interface GlobalFlags {
  json?: string | true
  jq?: string
  template?: string
  /** Output format. Some commands define their own --format. */
  format?: OutputFormat
  quiet?: boolean
  progress?: ProgressStyle | 'auto'
  verbose?: boolean
  caFile?: string
  outputFile?: string
  dryRun?: boolean
  profile?: string
  local?: boolean
  /** In seconds. */
  timeout?: string
  idempotencyKey?: string
  message?: string
}

/** Context of a running command. Expensive parts are created on first use. */
export class Context {
  readonly config: ConfigStore
  readonly messages: Messages
  readonly keychain: Keychain
  /** Keys read from the keychain, by profile: each read can prompt the user. */
  private readonly keys = new Map<string, Promise<string>>()
  private connection: Promise<Connection> | undefined
  /** Connections to servers of links and other profiles, by base URL or `profile NAME`. */
  private readonly otherConnections = new Map<string, Promise<Connection>>()
  /** True if the command may change data. Otherwise nothing is created, not even an empty database. */
  mayWrite = false
  /** Time (`performance.now()`) until which retries are not announced again. */
  private quietUntil = 0
  /** Warnings of data that were written. */
  private readonly warnings = new Set<string>()
  /** Aborts requests when --timeout expires. */
  private readonly timeoutController = new AbortController()

  constructor(
    readonly environment: NodeJS.ProcessEnv,
    readonly flags: GlobalFlags,
    /** Words of the command line, for suggestions after errors. */
    argv: readonly string[] = [],
  ) {
    this.config = new ConfigStore(directoriesOf(environment).config)
    this.keychain = new Keychain(environment)
    this.messages = new Messages(
      flags.quiet === true,
      flags.json !== undefined || flags.jq !== undefined,
      environment,
      flags.progress,
    )
    const selected = flags.jq ?? flags.json
    this.messages.lacksWarnings = typeof selected === 'string' && !selected.includes('warnings')
    this.messages.suggestNext = (problem) => suggestCommand(problem, argv)
  }

  async settings(): Promise<Record<SettingName, Setting>> {
    const file = await this.withKey(await this.config.read(), this.flags.profile)
    return resolveSettings(file, this.environment, this.flags)
  }

  /** Adds the API key of the profile from the keychain, if it is stored there. */
  private async withKey(file: ConfigFile, chosen: string | undefined): Promise<ConfigFile> {
    const name = chosen ?? this.environment.GRIDLINE_PROFILE ?? file.profile ?? 'default'
    const profile = file.profiles?.[name]
    if (!profile?.keychain || !profile.key_origin || this.environment.GRIDLINE_API_KEY) return file
    if (!this.keys.has(name)) this.keys.set(name, this.keychain.get(name, profile.key_origin))
    const api_key = await this.keys.get(name)
    return { ...file, profiles: { ...file.profiles, [name]: { ...profile, api_key } } }
  }

  /** Rejects when --timeout expires; otherwise never settles. */
  readonly timedOut: Promise<never> = new Promise((_, reject) => {
    this.timeoutController.signal.addEventListener('abort', () =>
      reject(this.timeoutController.signal.reason),
    )
  })

  /** Returns whether --timeout has expired. */
  get hasTimedOut(): boolean {
    return this.timeoutController.signal.aborted
  }

  /** Starts the timer of --timeout. Throws `usage` unless it is a positive number. */
  startTimeout(): void {
    const { timeout } = this.flags
    if (timeout === undefined) return
    const seconds = Number(timeout)
    if (!(seconds > 0))
      throw new Problem('usage', `--timeout ${timeout}: must be a number of seconds above 0`)
    const late = new Problem('unreachable', `timed out after ${timeout} s (--timeout)`, {
      hint: 'The request may still have been applied. With --idempotency-key, repeating the command is safe.',
    })
    this.timedOut.catch(() => {})
    setTimeout(() => this.timeoutController.abort(late), seconds * 1000).unref()
  }

  connect(): Promise<Connection> {
    this.connection ??= this.settings().then((settings) => connect(settings, this.connectOptions()))
    return this.connection
  }

  /** Connects to another profile; ignores environment variables for server, user and key. */
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
    if (!settings.url.value && profile !== LOCAL_PROFILE)
      throw new Problem('usage', `the profile ${profile} has no server`, {
        hint: `Log in with: gridline login URL --profile ${profile}`,
      })
    const connection = connect(settings, this.connectOptions())
    this.otherConnections.set(`profile ${profile}`, connection)
    return connection
  }

  async client(): Promise<Client> {
    return (await this.connect()).client
  }

  /**
   * Returns a client that can read `file`. Links to other servers are read there, without credentials or
   * settings.
   */
  async clientFor(file: string): Promise<Client> {
    const base = baseOfLink(file)
    if (base === undefined) return this.client()
    const { url } = await this.settings()
    const serverUrl = url.value ? normalizeServerUrl(url.value) : readLocalServer(this.environment).url
    const isOwnServer = new URL(base).origin === new URL(serverUrl).origin
    // A server at this machine's link URL may serve another database: send secret links to that server.
    const isSecret = new URL(file).searchParams.has('share_key')
    if (isOwnServer && (url.value || !isSecret || !(await isServerAt(base)))) return this.client()
    if (url.value && !isOwnServer && (await hasLinksTo(await this.client(), base))) return this.client()
    if (!this.otherConnections.has(base))
      this.otherConnections.set(base, connectRemote(base, this.connectOptions()))
    return (await this.otherConnections.get(base)!).client
  }

  /** Returns the client of an in-process service whose data is deleted when the command ends. */
  async temporaryClient(): Promise<Client> {
    const { environment, signal, onRetry, onWarning, trace, idempotencyKey } = this.connectOptions()
    const key = 'temporary'
    if (!this.otherConnections.has(key))
      this.otherConnections.set(
        key,
        connectTemporary({
          ...{ environment, signal, onRetry, onWarning, trace, idempotencyKey },
          planError: undefined,
        }),
      )
    return (await this.otherConnections.get(key)!).client
  }

  /** Notes that links to the local database only work while `gridline serve` runs. */
  async noteLinksNeedServer(name?: string): Promise<void> {
    if ((await this.connect()).server !== undefined) return
    const { url, running } = readLocalServer(this.environment)
    if (running) return
    const { port } = new URL(url)
    const flags = port === '8080' || port === '' ? '' : ` --port ${port}`
    this.messages.aside(
      name === undefined
        ? `To open links to files on this machine, run: gridline serve${flags}`
        : `To see it in the browser, run: gridline open ${quoteShellWord(name)}`,
    )
  }

  async close(): Promise<void> {
    for (const connection of [this.connection, ...this.otherConnections.values()])
      await (await connection?.catch(() => undefined))?.close()
  }

  private get isTracing(): boolean {
    return this.flags.verbose === true || this.environment.GRIDLINE_DEBUG === 'http'
  }

  /** Warns of data. What several responses say is written once. */
  private warnOnce(text: string): void {
    if (this.warnings.has(text)) return
    this.warnings.add(text)
    this.messages.warning(text)
  }

  /** Announces a retry. Parallel requests that wait together are announced once. */
  private noteRetry({ message }: Problem, wait: number): void {
    const now = performance.now()
    if (now < this.quietUntil) return
    this.quietUntil = now + wait
    this.messages.note(`${message}; retrying in ${Math.round(wait / 100) / 10} s`)
  }

  connectOptions(): ConnectOptions {
    return {
      environment: this.environment,
      changesData: this.mayWrite,
      signal: this.flags.timeout === undefined ? undefined : this.timeoutController.signal,
      idempotencyKey: this.flags.idempotencyKey,
      message: this.flags.message,
      trace: this.isTracing ? (line) => this.messages.line(line) : undefined,
      caFile: this.flags.caFile ?? (this.environment.GRIDLINE_CA_FILE || undefined),
      planError: this.flags.dryRun ? (...details) => new Planned(...details) : undefined,
      onRetry: (problem, wait) => this.noteRetry(problem, wait),
      onWarning: (text) => this.warnOnce(text),
      onNewDatabase: (file) =>
        this.messages.note(`Your data is on this machine: ${file}. For a server: gridline login URL`),
    }
  }
}

/** Returns whether a server answers at a URL within 2 seconds. */
async function isServerAt(base: string): Promise<boolean> {
  const { client, close } = await connectRemote(base, { signal: AbortSignal.timeout(2000) })
  try {
    await client.call('service.health')
    return true
  } catch {
    return false
  } finally {
    await close()
  }
}

/** Returns whether the server's own links have the origin of `base`. */
async function hasLinksTo(client: Client, base: string): Promise<boolean> {
  const urls = Object.values(await client.call('service.index'))
  return urls.some((url) => URL.canParse(url) && new URL(url).origin === new URL(base).origin)
}
