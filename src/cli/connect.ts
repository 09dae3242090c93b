import { Client } from '../client/index.ts'
import { Problem } from '../contract/errors.ts'
import { embeddedFetch } from './embedded.ts'
import { checkUrl, databaseUrl, loginName, type Setting, type SettingName } from './settings.ts'

/** Where links of the embedded service will be found: `gridline serve` without flags serves them there. */
export const EMBEDDED_URL = 'http://127.0.0.1:8080'

export interface Connection {
  client: Client
  /** The server's address, or undefined where the service runs in this process. */
  server: string | undefined
  close(): Promise<void>
}

/** A client of the server that is set, or else of the service in this process, over the user's own database. */
export async function connect(
  settings: Record<SettingName, Setting>,
  environment: NodeJS.ProcessEnv,
  onRetry: (problem: Problem, wait: number) => void,
): Promise<Connection> {
  const { url, user, api_key } = settings
  if (url.value) {
    if (!/^https?:\/\//i.test(url.value)) {
      throw new Problem('usage', `not an address: ${url.value} (${url.source})`, {
        hint: 'Give one like https://charts.example.com',
      })
    }
    const server = checkUrl(url.value)
    if (user.source.startsWith('environment') && !api_key.value)
      throw new Problem('usage', `a user is set (${user.source}), but no API key`, {
        hint: 'Set GRIDLINE_API_KEY too, or unset the user to read what is public.',
      })
    const { remoteFetch } = await import('./remote.ts')
    const { fetch, close } = remoteFetch()
    return {
      client: new Client({ fetch, url: server, user: user.value, apiKey: api_key.value, onRetry }),
      server,
      close,
    }
  }
  if (api_key.value) {
    throw new Problem('usage', `an API key is set (${api_key.source}), but no server`, {
      hint: 'Set GRIDLINE_URL, or log in with: gridline login URL',
    })
  }
  // The one place that knows the service: everything else goes through its fetch.
  const { createService } = await import('../service/index.ts')
  const service = await createService({
    database: databaseUrl(environment),
    url: EMBEDDED_URL,
    actingAs: loginName(),
    // Whoever runs it fetches with their own hands; private networks are left out all the same.
    urlImport: true,
    environment,
    // There is no log to look into: a fault is told where it happened, to whoever asks.
    log: ({ error }) => {
      if (error !== undefined && environment.GRIDLINE_DEBUG) process.stderr.write(`${error}\n`)
    },
  })
  return {
    client: new Client({ fetch: embeddedFetch(service), url: EMBEDDED_URL }),
    server: undefined,
    close: () => service.close(),
  }
}
