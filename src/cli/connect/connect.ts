// Connects a command to a server, or to a service in this process.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type ClientOptions, type Fetch } from '../../client/index.ts'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import {
  databaseUrl,
  LOCAL_PROFILE,
  loginName,
  makeFoldersPrivate,
  normalizeServerUrl,
  readLocalServer,
  type Setting,
  type SettingName,
} from '../config/settings.ts'
import { createEmbeddedFetch } from './embedded.ts'

/** Client with its connection. `close` ends it. */
export interface Connection {
  client: Client
  /** URL of the server; undefined if the service runs in this process. */
  server: string | undefined
  close(): Promise<void>
}

export interface ConnectOptions {
  environment: NodeJS.ProcessEnv
  /** True if the command may change data. Otherwise a missing database is not created. */
  changesData?: boolean
  /** Called before a retry; `wait` in ms. */
  onRetry: (problem: Problem, wait: number) => void
  /** Called with what is wrong with the data of a response. */
  onWarning: (text: string) => void
  /** Aborts requests, and waits between retries. */
  signal: AbortSignal | undefined
  idempotencyKey: string | undefined
  message?: string
  planError: ClientOptions['planError']
  /** Prints a line for each request and response. */
  trace?: (line: string) => void
  /** PEM file of additional trusted certificates. */
  caFile?: string
  /** Called if the database on this machine is new. `file`: its path. */
  onNewDatabase: (file: string) => void
}

/**
 * Connects to the configured server, or else to an in-process service on the user's database. Throws `usage`
 * or `unauthenticated` for incomplete settings.
 */
export async function connect(
  settings: Record<SettingName, Setting>,
  options: ConnectOptions,
): Promise<Connection> {
  const { url, user, api_key, ca_file, profile } = settings
  const { environment, changesData, trace, caFile, onNewDatabase, ...rest } = options
  const clientOptions = { ...rest, mayWrite: changesData }
  if (url.value) {
    const server = normalizeServerUrl(url.value)
    if (user.source.startsWith('environment') && !api_key.value)
      throw new Problem('usage', `a user is set (${user.source}), but no API key`, {
        hint: 'Set GRIDLINE_API_KEY as well, or unset the user to read public files only.',
      })
    return connectRemote(server, {
      ...clientOptions,
      trace,
      caFile: caFile ?? ca_file.value,
      user: user.value,
      apiKey: api_key.value,
      keyFrom: api_key.source,
    })
  }
  if (api_key.value) {
    throw new Problem('usage', `an API key is set (${api_key.source}), but no server`, {
      hint: 'Set GRIDLINE_URL, or log in with: gridline login URL',
    })
  }
  if (isCi(environment) && profile.value !== LOCAL_PROFILE)
    throw new Problem('unauthenticated', 'no server is set, and this is a CI job (CI is set)', {
      hint: 'Set GRIDLINE_URL, GRIDLINE_USER and GRIDLINE_API_KEY, or use a database on this machine with --local.',
    })
  const database = databaseUrl(environment)
  const file = database.slice('sqlite:'.length)
  const isNew = !existsSync(file)
  if (isNew && !changesData) return connectTemporary({ ...clientOptions, environment, trace })
  makeFoldersPrivate(environment)
  const connection = await connectEmbedded(database, { ...clientOptions, environment, trace })
  if (isNew) onNewDatabase(file)
  return connection
}

type EmbeddedOptions = Omit<ConnectOptions, 'changesData' | 'caFile' | 'onNewDatabase'>

/** Starts an in-process service on a temporary database, deleted on close: for commands that only read. */
export async function connectTemporary(options: EmbeddedOptions): Promise<Connection> {
  let folder: string
  try {
    folder = mkdtempSync(join(tmpdir(), 'gridline-'))
  } catch (error) {
    throw new Problem('no_temporary_folder', `cannot write to ${tmpdir()}: ${errorMessageOf(error)}`)
  }
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // Also after an interrupt.
  process.once('exit', remove)
  const connection = await connectEmbedded(`sqlite:${join(folder, 'gridline.db')}`, options)
  return {
    ...connection,
    close: async () => {
      await connection.close()
      remove()
    },
  }
}

/** Starts an in-process service on a database. */
async function connectEmbedded(
  database: string,
  { environment, trace, ...clientOptions }: EmbeddedOptions,
): Promise<Connection> {
  const links = readLocalServer(environment)
  // Loaded only here: the service is large. All other code uses `fetch`.
  const { createService } = await import('../../service/index.ts')
  const service = await createService({
    database,
    url: links.url,
    actingAs: loginName(),
    // Safe: local users can fetch URLs themselves, and private networks are refused unless they allow them.
    urlImport: true,
    privateUrls: /^(?:1|true|yes|on)$/i.test(environment.GRIDLINE_ALLOW_PRIVATE_URLS ?? ''),
    environment,
    // No server log: errors go to stderr with GRIDLINE_DEBUG.
    log: ({ error }) => {
      if (error !== undefined && environment.GRIDLINE_DEBUG) process.stderr.write(`${error}\n`)
    },
  })
  return {
    client: new Client({
      ...clientOptions,
      fetch: await withTrace(createEmbeddedFetch(service), trace),
      url: links.url,
      isInProcess: true,
    }),
    server: undefined,
    close: () => service.close(),
  }
}

/** Connects to a server. Credentials are optional. */
export async function connectRemote(
  server: string,
  {
    trace,
    caFile,
    ...options
  }: Omit<ClientOptions, 'fetch' | 'url' | 'proxy'> & Partial<Pick<ConnectOptions, 'trace' | 'caFile'>>,
): Promise<Connection> {
  const { describeProxy, createRemoteFetch } = await import('./remote.ts')
  const { fetch: send, close } = createRemoteFetch(caFile)
  const fetch = await withTrace(send, trace)
  return {
    client: new Client({ ...options, fetch, url: server, proxy: describeProxy(server) }),
    server,
    close,
  }
}

/** Wraps a `Fetch` so that it traces requests, if `trace` is given. */
async function withTrace(fetch: Fetch, trace: ConnectOptions['trace']): Promise<Fetch> {
  if (!trace) return fetch
  const { traceFetch } = await import('../output/trace.ts')
  return traceFetch(fetch, trace)
}

/** Returns whether this is a CI job (`CI` is set). */
function isCi({ CI }: NodeJS.ProcessEnv): boolean {
  return CI !== undefined && !/^(|0|false|no)$/i.test(CI)
}
