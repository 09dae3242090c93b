// `gridline serve`: runs the server.
import { Problem } from '../../contract/errors.ts'
import { listChangedLimits, readLimits } from '../../contract/limits.ts'
import type { ProviderOptions, RunningService } from '../../service/index.ts'
import { loadTheme } from '../charts/themes.ts'
import {
  databaseUrl,
  deleteLocalServerRecord,
  loginName,
  makeFoldersPrivate,
  normalizeServerUrl,
  recordLocalServer,
} from '../config/settings.ts'
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { RequestLog } from '../output/request-log.ts'

/** Returns hints for connecting other clients. */
function formatClientHints(url: string): string[] {
  return [
    `  Chart Studio (Python): chart_studio.tools.set_config_file(plotly_domain="${url}", plotly_api_domain="${url}")`,
    `  R: Sys.setenv(plotly_domain = "${url}", plotly_api_domain = "${url}")`,
    `  plotly.js share button: plotlyServerURL: "${url}/newchart"`,
    `  Python notebooks and Dash: fig.show(config={"plotlyServerURL": "${url}/newchart"})`,
  ]
}

/** Maximum time to close database connections, in ms. */
const CLOSE_TIMEOUT_MS = 10_000

type Signal = 'SIGINT' | 'SIGTERM'

/** Queue of the signals that ask the process to end. No signal is lost. */
class SignalQueue {
  private readonly pending: Signal[] = []
  private resolveNext: ((signal: Signal) => void) | undefined

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Listen before removing the other listeners: without a listener, a signal ends the process.
      const previousListeners = process.listeners(signal)
      process.on(signal, () => {
        if (this.resolveNext) this.resolveNext(signal)
        else this.pending.push(signal)
      })
      for (const listener of previousListeners) process.removeListener(signal, listener)
    }
  }

  /** Waits for the next signal. Returns undefined after `timeoutMs`, if given. */
  next(timeoutMs?: number): Promise<Signal | undefined> {
    const signal = this.pending.shift()
    if (signal) return Promise.resolve(signal)
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => done(undefined), timeoutMs)
      const done = (received: Signal | undefined): void => {
        clearTimeout(timer)
        this.resolveNext = undefined
        resolve(received)
      }
      this.resolveNext = done
    })
  }

  /** Returns the result of `work`, or the signal if one arrives first. */
  async raceWith<T>(work: Promise<T>): Promise<T | Signal> {
    const outcome = await Promise.race([work, this.next()])
    this.resolveNext = undefined
    return outcome as T | Signal
  }
}

/** Adds the limits of `--limit name=value` to the environment. Throws `usage`. */
function applyLimitOptions(
  environment: NodeJS.ProcessEnv,
  limitOptions: readonly string[],
): NodeJS.ProcessEnv {
  const pairs = limitOptions.map((text) => {
    const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined) throw new Problem('usage', `--limit ${text}: must be NAME=NUMBER`)
    const variable = `GRIDLINE_LIMIT_${name.toUpperCase()}`
    try {
      readLimits({ [variable]: value })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw new Problem('usage', error.message.replace(variable, `--limit ${name}`), { hint: error.hint })
    }
    return [variable, value]
  })
  return { ...environment, ...Object.fromEntries(pairs) }
}

/** Returns the identity provider from the options. Throws `usage` if incomplete or invalid. */
function parseProvider(
  options: {
    oidcIssuer?: string
    oidcClientId?: string
    oidcDomain?: string[]
    oidcTeam?: string[]
    oidcGroupsClaim?: string
  },
  environment: NodeJS.ProcessEnv,
): ProviderOptions | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcDomain, oidcTeam, oidcGroupsClaim } = options
  if (issuer === undefined) {
    if ([clientId, oidcDomain, oidcTeam, oidcGroupsClaim].some((option) => option !== undefined))
      throw new Problem('usage', '--oidc-issuer is missing: other --oidc options need it')
    return undefined
  }
  if (clientId === undefined)
    throw new Problem('usage', '--oidc-client-id is missing: the id of this server at the identity provider')
  const isLocalhost = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/|$)/.test(issuer)
  if (!URL.canParse(issuer) || !(issuer.startsWith('https://') || isLocalhost))
    throw new Problem('usage', `--oidc-issuer ${issuer}: must be a URL that starts with https://`)
  const invalidDomain = oidcDomain?.find((domain) => !/^@?[^\s@]+\.[^\s@]+$/.test(domain))
  if (invalidDomain !== undefined)
    throw new Problem('usage', `--oidc-domain ${invalidDomain}: must be a domain, such as example.com`)
  const teams = oidcTeam?.map((text) => {
    const [, group, owner, team] = /^(.+)=([^=:]+):([^=:]+)$/.exec(text) ?? []
    if (team === undefined)
      throw new Problem('usage', `--oidc-team ${text}: must be GROUP=OWNER:TEAM`, {
        hint: 'For example: engineering=alice:engineers. A missing team is created.',
      })
    return { group, owner, team }
  })
  return {
    issuer,
    clientId,
    clientSecret: environment.GRIDLINE_OIDC_CLIENT_SECRET || undefined,
    domains: oidcDomain?.map((domain) => domain.toLowerCase().replace(/^@/, '')),
    groupsClaim: oidcGroupsClaim,
    teams,
  }
}

export const command = defineCommand({
  output: otherOutput('nothing; its log is JSON'),
  options: [
    {
      flags: '--host <address>',
      variable: 'GRIDLINE_HOST',
      description: 'address to listen on (default: 127.0.0.1)',
    },
    {
      flags: '--port <port>',
      integer: { max: 65_535 },
      variable: 'GRIDLINE_PORT',
      description: 'port to listen on; 0 for any free port (default: 8080)',
    },
    {
      flags: '--database <url>',
      variable: 'GRIDLINE_DATABASE',
      description: 'sqlite:FILE or postgres://… (default: the database on this machine)',
    },
    {
      flags: '--blobs <place>',
      variable: 'GRIDLINE_BLOBS',
      description:
        'storage of large values: sql (the database), file:DIR or s3://bucket/prefix?endpoint=…&region=… (default: unchanged)',
    },
    {
      flags: '--url <url>',
      variable: 'GRIDLINE_PUBLIC_URL',
      description: 'public URL of the server, used in links',
    },
    {
      flags: '--health-port <port>',
      integer: { max: 65535 },
      variable: 'GRIDLINE_HEALTH_PORT',
      description: 'also serve /healthz on this port, from a thread that load does not delay',
    },
    {
      flags: '--proxies <count>',
      integer: { max: 16 },
      variable: 'GRIDLINE_PROXIES',
      description: 'number of trusted proxies that add to X-Forwarded-For (default: 0)',
    },
    {
      flags: '--smtp <url>',
      variable: 'GRIDLINE_SMTP',
      description: 'SMTP server for sending invitations: smtp://user:password@host:587',
    },
    {
      flags: '--mail-from <address>',
      variable: 'GRIDLINE_MAIL_FROM',
      description: 'sender of invitations (default: gridline@HOST, where HOST is the host of --url)',
    },
    {
      flags: '--oidc-issuer <url>',
      variable: 'GRIDLINE_OIDC_ISSUER',
      description: 'OpenID Connect provider for signing in with the browser',
    },
    {
      flags: '--oidc-client-id <id>',
      variable: 'GRIDLINE_OIDC_CLIENT_ID',
      description:
        'OAuth client id; secret: GRIDLINE_OIDC_CLIENT_SECRET; redirect URI: URL/signin/oidc/return',
    },
    {
      flags: '--oidc-domain <domain>',
      variable: 'GRIDLINE_OIDC_DOMAINS',
      repeatable: true,
      description: 'allow only verified e-mail addresses of this domain (default: all users of the provider)',
    },
    {
      flags: '--oidc-team <group=owner:team>',
      variable: 'GRIDLINE_OIDC_TEAMS',
      repeatable: true,
      description: 'sync a team with a group of the identity provider',
    },
    {
      flags: '--oidc-groups-claim <name>',
      variable: 'GRIDLINE_OIDC_GROUPS_CLAIM',
      description: 'claim with the groups of a user (default: groups)',
    },
    {
      flags: '--server-name <name>',
      variable: 'GRIDLINE_SERVER_NAME',
      description: 'unique name of this server on a shared database',
    },
    {
      flags: '--allow-url-import',
      variable: 'GRIDLINE_ALLOW_URL_IMPORT',
      description: 'allow grids to be created from files at public URLs (source_url)',
    },
    {
      flags: '--theme <theme>',
      variable: 'GRIDLINE_THEME',
      description: 'default theme of new charts: a built-in theme or a JSON file',
    },
    {
      flags: '--limit <name=value>',
      repeatable: true,
      description: 'set a limit, such as requests_per_minute=600; see docs/api.md [GRIDLINE_LIMIT_NAME]',
    },
  ],
  examples: [
    'gridline serve',
    'gridline serve --host 0.0.0.0 --url https://charts.example.com',
    'gridline serve --database postgres://gridline@db/gridline',
    'gridline serve --theme house.json',
  ],
  async run(context, _, options) {
    const {
      host = '127.0.0.1',
      port: requestedPort = 8080,
      database,
      blobs,
      url,
      proxies,
      healthPort,
      smtp,
      mailFrom,
      allowUrlImport,
      theme,
      serverName,
      limit: limitOptions = [],
      oidcIssuer,
      oidcClientId,
      oidcDomain,
      oidcTeam,
      oidcGroupsClaim,
      ...unread
    } = options
    // Does not compile if an option is declared above, but not read here.
    unread satisfies Record<string, never>
    const oidcOptions = { oidcIssuer, oidcClientId, oidcDomain, oidcTeam, oidcGroupsClaim }
    const environment = applyLimitOptions(context.environment, limitOptions)
    if (serverName !== undefined && !/^[A-Za-z0-9-]{1,80}$/.test(serverName))
      throw new Problem('usage', '--server-name: use up to 80 letters, digits and hyphens')
    if (smtp !== undefined && !(URL.canParse(smtp) && /^smtps?:\/\/[^/]/.test(smtp)))
      throw new Problem('usage', '--smtp: must be smtp://user:password@host:587, or begin with smtps://')
    if (mailFrom !== undefined && !/^[^\s@]+@[^\s@]+$|^[^<>]*<[^\s@<>]+@[^\s@<>]+>$/.test(mailFrom))
      throw new Problem('usage', `--mail-from ${mailFrom}: must be an e-mail address`)
    if (database === 'sqlite::memory:')
      throw new Problem('usage', '--database sqlite::memory:: a server needs a persistent database', {
        hint: 'Name a file: --database sqlite:FILE',
      })
    const { createService, listen, reserveSpace, startHealthThread, useOpenTelemetry } = await import(
      '../../service/index.ts'
    )
    const isTraced = await useOpenTelemetry()
    const { messages } = context
    const quiet = context.flags.quiet === true
    if (!database) makeFoldersPrivate(context.environment)
    const publicUrl = url === undefined ? undefined : normalizeServerUrl(url)
    // Listen first: the port is part of links. Start the service afterwards.
    let service: RunningService | undefined
    const log = new RequestLog(process.stderr)
    const databaseAddress = database ?? databaseUrl(context.environment)
    const limits = readLimits(environment)
    const signals = new SignalQueue()
    const listening = await listen(() => service, { host, port: requestedPort, limits, proxies })
    const localUrl = `http://${host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${listening.port}`
    let health: Awaited<ReturnType<typeof startHealthThread>> | undefined
    try {
      if (healthPort !== undefined) health = await startHealthThread(host, healthPort)
      const starting = createService({
        database: databaseAddress,
        blobs,
        url: publicUrl ?? localUrl,
        smtp,
        mailFrom: mailFrom ?? `gridline@${new URL(publicUrl ?? localUrl).hostname}`,
        urlImport: allowUrlImport === true,
        provider: parseProvider(oidcOptions, context.environment),
        serverName,
        theme: theme === undefined ? undefined : loadTheme(theme),
        log: quiet ? undefined : (line) => log.add(line),
        audit: quiet ? undefined : (line) => log.add(line),
        environment,
      })
      const running = await signals.raceWith(starting)
      if (typeof running === 'string') {
        // The end of the process rolls back the transaction of a migration; the next start continues.
        messages.note('stopped before the server was ready')
        process.exit(running === 'SIGINT' ? 130 : 0)
      }
      // With --blobs, the location was checked when the database was opened.
      if (blobs === undefined) await running.store.locations.checkCurrent()
      service = running
      if (databaseAddress.startsWith('sqlite:') && databaseAddress !== 'sqlite::memory:')
        reserveSpace(databaseAddress.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''))
      running.startJobs()
      const maintenanceTimer = setInterval(
        () => running.store.engine.updateStatistics().catch(() => {}),
        3600_000,
      )
      // From now on, the local database uses this URL in links.
      if (!database) recordLocalServer(context.environment, publicUrl ?? localUrl)
      const changedNames = listChangedLimits(limits)
      if (isTraced) messages.note('recording spans with the OpenTelemetry of this process')
      if (changedNames.length > 0) messages.note(`limits: ${changedNames.join(', ')}`)
      messages.line(`listening on ${localUrl}${publicUrl ? ` for ${publicUrl}` : ''}`)
      if (health) messages.note(`/healthz is also available at http://${host}:${health.port}/healthz`)
      const isOpen = !/^(127\.|localhost$|::1$)/.test(host)
      if (isOpen) messages.note(`reachable from other machines on port ${listening.port} (--host ${host})`)
      if (isOpen && !publicUrl?.startsWith('https:'))
        messages.warning(
          'API keys and data are sent unencrypted over HTTP; put a proxy with HTTPS in front, and start with --url https://… (see docs/operating.md)',
        )
      if (!database && !(await running.store.read(({ accounts }) => accounts.hasKeys(loginName()))))
        messages.note(`To log in to this server, create a key: gridline admin create-key ${loginName()}`)
      for (const line of formatClientHints(publicUrl ?? localUrl)) messages.aside(line)
      const signal = await signals.next()
      // SIGTERM comes from an operator: drain first. SIGINT comes from a terminal.
      if (signal === 'SIGTERM') {
        messages.note(`stopping in ${limits.drain_seconds} seconds (limit drain_seconds)`)
        running.drain()
        await signals.next(limits.drain_seconds * 1000)
      }
      clearInterval(maintenanceTimer)
      messages.note('stopping')
      const stopping = listening.stop(signal === 'SIGTERM' ? limits.stop_seconds * 1000 : undefined)
      await Promise.race([stopping, signals.next()])
      await listening.stop(0)
      // All requests are done: do not wait for a database that does not respond.
      const closed = running.close().then(() => 'closed')
      const timeout = new Promise<undefined>((resolve) => {
        setTimeout(() => resolve(undefined), CLOSE_TIMEOUT_MS).unref()
      })
      const isClosed = (await Promise.race([closed, signals.next(), timeout])) === 'closed'
      log.flush()
      await health?.close()
      // A random port changes with the next start.
      if (!database && requestedPort === 0) deleteLocalServerRecord(context.environment)
      if (!isClosed) {
        messages.warning('the database does not respond; closed its connections')
        process.exit(0)
      }
    } catch (error) {
      await health?.close()
      await listening.stop(0)
      throw error
    }
    return undefined
  },
})
