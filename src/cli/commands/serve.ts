// `gridline serve`: runs the server.
import { Problem } from '../../contract/errors.ts'
import { type Limits, listChangedLimits, readLimits } from '../../contract/limits.ts'
import type { Listening, ProviderOptions, RunningService } from '../../service/index.ts'
import { loadTheme } from '../charts/themes.ts'
import {
  databaseUrl,
  deleteLocalServerRecord,
  loginName,
  makeFoldersPrivate,
  normalizeServerUrl,
  recordLocalServer,
} from '../config/settings.ts'
import type { Context } from '../core/context.ts'
import { defineCommand, type Option, type OptionValues } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { RequestLog } from '../output/request-log.ts'
import { SignalQueue } from './serve.signals.ts'
import { type Certificate, formatTrustHints, prepareCertificate, readKeyPairOptions } from './serve.tls.ts'

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

const serveOptions = [
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
    flags: '--tls-cert <file>',
    variable: 'GRIDLINE_TLS_CERT',
    description: 'serve HTTPS with this certificate (PEM, with its issuers); read again when it changes',
  },
  {
    flags: '--tls-key <file>',
    variable: 'GRIDLINE_TLS_KEY',
    description: 'private key of --tls-cert (PEM)',
  },
  {
    flags: '--tls <kind>',
    variable: 'GRIDLINE_TLS',
    choices: ['self-signed'],
    description: 'serve HTTPS with a certificate made for this machine: self-signed',
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
    description: 'SMTP server for invitations, alerts and mailings: smtp://user:password@host:587',
  },
  {
    flags: '--mail-from <address>',
    variable: 'GRIDLINE_MAIL_FROM',
    description: 'sender of e-mails (default: gridline@HOST, where HOST is the host of --url)',
  },
  {
    flags: '--oidc-issuer <url>',
    variable: 'GRIDLINE_OIDC_ISSUER',
    description: 'OpenID Connect provider for signing in with the browser',
  },
  {
    flags: '--oidc-client-id <id>',
    variable: 'GRIDLINE_OIDC_CLIENT_ID',
    description: 'OAuth client id; secret: GRIDLINE_OIDC_CLIENT_SECRET; redirect URI: URL/signin/oidc/return',
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
    flags: '--allow-private-urls',
    variable: 'GRIDLINE_ALLOW_PRIVATE_URLS',
    description:
      'allow refreshes, imports and messages of alerts to reach private addresses, such as this machine',
  },
  {
    flags: '--no-sql',
    variable: 'GRIDLINE_NO_SQL',
    description: 'run no queries in SQL (gridline query)',
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
] as const satisfies readonly Option[]

type ServeOptions = OptionValues<typeof serveOptions>

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
  options: Pick<ServeOptions, 'oidcIssuer' | 'oidcClientId' | 'oidcDomain' | 'oidcTeam' | 'oidcGroupsClaim'>,
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
  options: serveOptions,
  examples: [
    'gridline serve',
    'gridline serve --host 0.0.0.0 --url https://charts.example.com',
    'gridline serve --database postgres://gridline@db/gridline',
    'gridline serve --theme house.json',
  ],
  async run(context, _, options) {
    const settings = readSettings(context.environment, options)
    const { host, port, proxies, database, url, healthPort, environment } = settings
    const service = await import('../../service/index.ts')
    const isTraced = await service.useOpenTelemetry()
    if (!database) makeFoldersPrivate(context.environment)
    const publicUrl = url === undefined ? undefined : normalizeServerUrl(url)
    // Listen first: the port is part of links. Start the service afterwards.
    let current: RunningService | undefined
    const log = new RequestLog(process.stderr)
    const limits = readLimits(environment)
    const signals = new SignalQueue()
    const certificate = await prepareCertificate(context.environment, settings)
    const tls = certificate && { files: certificate, report: (text: string) => context.messages.note(text) }
    const listening = await service.listen(() => current, { host, port, limits, proxies, tls })
    const localUrl = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${listening.port}`
    const server: Server = {
      context,
      settings,
      limits,
      signals,
      log,
      listening,
      localUrl,
      publicUrl,
      certificate,
    }
    try {
      if (healthPort !== undefined) server.health = await service.startHealthThread(host, healthPort)
      const running = await startService(server)
      current = running
      running.startJobs()
      running.cacheResponses()
      const maintenanceTimer = setInterval(
        () => running.store.engine.updateStatistics().catch(() => {}),
        3600_000,
      )
      // From now on, the local database uses this URL in links.
      if (!database) recordLocalServer(context.environment, publicUrl ?? localUrl)
      if (isTraced) context.messages.note('recording spans with the OpenTelemetry of this process')
      await announce(server, running)
      const signal = await signals.next()
      // SIGTERM comes from an operator: drain first. SIGINT comes from a terminal.
      if (signal === 'SIGTERM') {
        context.messages.note(`stopping in ${limits.drain_seconds} seconds (limit drain_seconds)`)
        running.drain()
        await signals.next(limits.drain_seconds * 1000)
      }
      clearInterval(maintenanceTimer)
      await stopServer(server, running, signal === 'SIGTERM' ? limits.stop_seconds * 1000 : undefined)
    } catch (error) {
      await server.health?.close()
      await listening.stop(0)
      throw error
    }
    return undefined
  },
})

type Settings = ReturnType<typeof readSettings>

/** Checks the options, and groups those of the service. Throws `usage`. */
function readSettings(processEnvironment: NodeJS.ProcessEnv, options: ServeOptions) {
  const {
    host = '127.0.0.1',
    port = 8080,
    database,
    blobs,
    url,
    proxies,
    healthPort,
    tls,
    tlsCert,
    tlsKey,
    smtp,
    mailFrom,
    allowUrlImport,
    allowPrivateUrls,
    sql,
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
  const environment = applyLimitOptions(processEnvironment, limitOptions)
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
  const keyPair = readKeyPairOptions({ tls, tlsCert, tlsKey, url })
  const provider = { oidcIssuer, oidcClientId, oidcDomain, oidcTeam, oidcGroupsClaim }
  const service = {
    ...{ blobs, smtp, mailFrom, serverName, environment },
    urlImport: allowUrlImport === true,
    privateUrls: allowPrivateUrls === true,
    sql: sql !== false,
  }
  return { host, port, proxies, database, url, healthPort, theme, environment, provider, service, keyPair }
}

/** Server that listens. */
interface Server {
  context: Context
  settings: Settings
  limits: Limits
  signals: SignalQueue
  log: RequestLog
  listening: Listening
  /** URL on this machine. */
  localUrl: string
  /** URL of --url, for links. */
  publicUrl: string | undefined
  /** Certificate of HTTPS. */
  certificate: Certificate | undefined
  health?: Awaited<ReturnType<typeof import('../../service/index.ts').startHealthThread>>
}

/** Creates the service on its database. Exits if a signal arrives before the service is ready. */
async function startService(server: Server): Promise<RunningService> {
  const { context, settings, signals, log, localUrl, publicUrl } = server
  const { service, theme, provider } = settings
  const { createService, reserveSpace } = await import('../../service/index.ts')
  const database = settings.database ?? databaseUrl(context.environment)
  const addToLog = context.flags.quiet === true ? undefined : log.add.bind(log)
  const starting = createService({
    ...service,
    database,
    url: publicUrl ?? localUrl,
    mailFrom: service.mailFrom ?? `gridline@${new URL(publicUrl ?? localUrl).hostname}`,
    provider: parseProvider(provider, context.environment),
    theme: theme === undefined ? undefined : loadTheme(theme),
    log: addToLog,
    audit: addToLog,
  })
  const running = await signals.raceWith(starting)
  if (typeof running === 'string') {
    // The end of the process rolls back the transaction of a migration; the next start continues.
    context.messages.note('stopped before the server was ready')
    process.exit(running === 'SIGINT' ? 130 : 0)
  }
  // With --blobs, the location was checked when the database was opened.
  if (service.blobs === undefined) await running.store.locations.checkCurrent()
  if (database.startsWith('sqlite:'))
    reserveSpace(database.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''))
  return running
}

/** Prints where the server listens, and what its operator should know. */
async function announce(server: Server, running: RunningService): Promise<void> {
  const { settings, limits, listening, health, localUrl, publicUrl, certificate } = server
  const { messages } = server.context
  const { host, database } = settings
  const changedNames = listChangedLimits(limits)
  if (changedNames.length > 0) messages.note(`limits: ${changedNames.join(', ')}`)
  messages.line(`listening on ${localUrl}${publicUrl ? ` for ${publicUrl}` : ''}`)
  if (certificate?.fingerprint !== undefined)
    for (const line of formatTrustHints(publicUrl ?? localUrl, certificate)) messages.line(line)
  if (health) messages.note(`/healthz is also available at http://${host}:${health.port}/healthz`)
  const isOpen = !/^(127\.|localhost$|::1$)/.test(host)
  if (isOpen) messages.note(`reachable from other machines on port ${listening.port} (--host ${host})`)
  if (isOpen && !certificate && !publicUrl?.startsWith('https:'))
    messages.warning(
      'API keys and data are sent unencrypted over HTTP; put a proxy with HTTPS in front, and start with --url https://… (see docs/operating.md)',
    )
  if (!database && !(await running.store.read(({ accounts }) => accounts.hasKeys(loginName()))))
    messages.note(
      `To see your files in the browser: gridline open. To log in from elsewhere, create a key: gridline admin create-key ${loginName()}`,
    )
  for (const line of formatClientHints(publicUrl ?? localUrl)) messages.aside(line)
}

/** Stops listening and closes the database. `graceMs`: time for running requests; another signal ends it. */
async function stopServer(server: Server, running: RunningService, graceMs?: number): Promise<void> {
  const { context, settings, signals, log, listening, health } = server
  context.messages.note('stopping')
  await Promise.race([listening.stop(graceMs), signals.next()])
  await listening.stop(0)
  // All requests are done: do not wait for a database, or a receiver of messages, that does not respond.
  const closed = running.close().then(() => 'closed')
  const timeout = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), CLOSE_TIMEOUT_MS).unref()
  })
  const isClosed = (await Promise.race([closed, signals.next(), timeout])) === 'closed'
  log.flush()
  await health?.close()
  // A random port changes with the next start.
  if (!settings.database && settings.port === 0) deleteLocalServerRecord(context.environment)
  if (!isClosed) {
    context.messages.warning(
      'the database, or a receiver of messages, does not respond; closed all connections',
    )
    process.exit(0)
  }
}
