import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, type ClientOptions, type Fetch } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import {
  checkUrl,
  databaseUrl,
  LOCAL,
  localLinks,
  loginName,
  makeFoldersPrivate,
  type Setting,
  type SettingName,
} from '../config/settings.ts'
import { embeddedFetch } from './embedded.ts'

export interface Connection {
  client: Client
  /** The server's URL; undefined if the service runs in this process. */
  server: string | undefined
  close(): Promise<void>
}

export interface ConnectOptions {
  environment: NodeJS.ProcessEnv
  /** Whether the command changes data. Otherwise a database that does not exist is not created. */
  changes?: boolean
  onRetry: (problem: Problem, wait: number) => void
  /** Aborts requests and waits for retries. */
  signal: AbortSignal | undefined
  idempotencyKey: string | undefined
  message?: string
  plan: ClientOptions['plan']
  /** Prints requests and answers. */
  trace?: (line: string) => void
  /** A PEM file of certificates that are trusted too. */
  caFile?: string
}

/** Connects to the configured server, or else to a service in this process on the user's own database. */
export async function connect(
  settings: Record<SettingName, Setting>,
  options: ConnectOptions,
): Promise<Connection> {
  const { url, user, api_key, ca_file, profile } = settings
  const { environment, changes, trace, caFile, ...rest } = options
  const clientOptions = { ...rest, writes: changes }
  if (url.value) {
    const server = checkUrl(url.value)
    if (user.source.startsWith('environment') && !api_key.value)
      throw new Problem('usage', `a user is set (${user.source}), but no API key`, {
        hint: 'Set GRIDLINE_API_KEY as well, or unset the user to read public files only.',
      })
    return remote(server, {
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
  if (isCi(environment) && profile.value !== LOCAL)
    throw new Problem('unauthenticated', 'no server is set, and this is a CI job (CI is set)', {
      hint: 'Set GRIDLINE_URL, GRIDLINE_USER and GRIDLINE_API_KEY, or use a database on this machine with --local.',
    })
  const database = databaseUrl(environment)
  if (!changes && !existsSync(database.slice('sqlite:'.length)))
    return temporary({ ...clientOptions, environment, trace })
  makeFoldersPrivate(environment)
  return embedded(database, { ...clientOptions, environment, trace })
}

type EmbeddedOptions = Omit<ConnectOptions, 'changes' | 'caFile'>

/** A service in this process, on a database that ends with it: for data that is only read. */
export async function temporary(options: EmbeddedOptions): Promise<Connection> {
  let folder: string
  try {
    folder = mkdtempSync(join(tmpdir(), 'gridline-'))
  } catch (error) {
    throw new Problem('no_temporary_folder', `${tmpdir()} cannot be written to: ${(error as Error).message}`)
  }
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  // Also if the command is interrupted.
  process.once('exit', remove)
  const connection = await embedded(`sqlite:${join(folder, 'gridline.db')}`, options)
  return {
    ...connection,
    close: async () => {
      await connection.close()
      remove()
    },
  }
}

/** A service in this process. */
async function embedded(
  database: string,
  { environment, trace, ...clientOptions }: EmbeddedOptions,
): Promise<Connection> {
  const links = localLinks(environment)
  // Only here does the command line load the service. Everything else uses `fetch`.
  const { createService } = await import('../../service/index.ts')
  const service = await createService({
    database,
    url: links.url,
    actingAs: loginName(),
    // Local users could fetch URLs themselves. Private networks are still refused.
    urlImport: true,
    environment,
    // There is no server log: print errors to stderr with GRIDLINE_DEBUG.
    log: ({ error }) => {
      if (error !== undefined && environment.GRIDLINE_DEBUG) process.stderr.write(`${error}\n`)
    },
  })
  return {
    client: new Client({
      ...clientOptions,
      fetch: await withTrace(embeddedFetch(service), trace),
      url: links.url,
    }),
    server: undefined,
    close: () => service.close(),
  }
}

/** Connects to a server, with or without credentials. */
export async function remote(
  server: string,
  {
    trace,
    caFile,
    ...options
  }: Omit<ClientOptions, 'fetch' | 'url' | 'proxy'> & Partial<Pick<ConnectOptions, 'trace' | 'caFile'>>,
): Promise<Connection> {
  const { proxyFor, remoteFetch } = await import('./remote.ts')
  const { fetch: send, close } = remoteFetch(caFile)
  const fetch = await withTrace(send, trace)
  return { client: new Client({ ...options, fetch, url: server, proxy: proxyFor(server) }), server, close }
}

async function withTrace(fetch: Fetch, trace: ConnectOptions['trace']): Promise<Fetch> {
  if (!trace) return fetch
  const { traced } = await import('../output/trace.ts')
  return traced(fetch, trace)
}

/** Whether this runs in a CI job (`CI` is set). */
function isCi({ CI }: NodeJS.ProcessEnv): boolean {
  return CI !== undefined && !/^(|0|false|no)$/i.test(CI)
}
