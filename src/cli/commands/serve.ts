import { Problem } from '../../contract/errors.ts'
import { changedLimits, limitsFrom } from '../../contract/limits.ts'
import type { ProviderOptions, RunningService } from '../../service/index.ts'
import { themeNamed } from '../charts/themes.ts'
import {
  checkUrl,
  databaseUrl,
  forgetServing,
  loginName,
  makeFoldersPrivate,
  recordServing,
} from '../config/settings.ts'
import { defineCommand } from '../core/define.ts'
import { other } from '../core/prints.ts'
import { RequestLog } from '../output/request-log.ts'

/** What connects other clients to this server. */
function clientLines(url: string): string[] {
  return [
    `  Chart Studio (Python): chart_studio.tools.set_config_file(plotly_domain="${url}", plotly_api_domain="${url}")`,
    `  R: Sys.setenv(plotly_domain = "${url}", plotly_api_domain = "${url}")`,
    `  plotly.js share button: plotlyServerURL: "${url}/newchart"`,
    `  Python notebooks and Dash: fig.show(config={"plotlyServerURL": "${url}/newchart"})`,
  ]
}

/** How long connections to the database may take to close, in ms. */
const CLOSING_MS = 10_000

type Signal = 'SIGINT' | 'SIGTERM'

/** The signals that ask this process to end, in order: none is lost, whenever it arrives. */
class Signals {
  private readonly arrived: Signal[] = []
  private waiting: ((signal: Signal) => void) | undefined

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Before those of other commands go: in between, a signal would end the process.
      const others = process.listeners(signal)
      process.on(signal, () => {
        if (this.waiting) this.waiting(signal)
        else this.arrived.push(signal)
      })
      for (const listener of others) process.removeListener(signal, listener)
    }
  }

  /** The next signal; undefined after some ms without one. */
  next(patience?: number): Promise<Signal | undefined> {
    const signal = this.arrived.shift()
    if (signal) return Promise.resolve(signal)
    return new Promise((resolve) => {
      const timer = patience === undefined ? undefined : setTimeout(() => done(undefined), patience)
      const done = (found: Signal | undefined): void => {
        clearTimeout(timer)
        this.waiting = undefined
        resolve(found)
      }
      this.waiting = done
    })
  }

  /** What `work` resolves to, unless a signal arrives before that. */
  async unless<T>(work: Promise<T>): Promise<T | Signal> {
    const done = await Promise.race([work, this.next()])
    this.waiting = undefined
    return done as T | Signal
  }
}

/** The environment with limits of `--limit name=value`. Throws `usage` for text that is none. */
function withLimits(environment: NodeJS.ProcessEnv, given: readonly string[]): NodeJS.ProcessEnv {
  const pairs = given.map((text) => {
    const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined) throw new Problem('usage', `--limit ${text}: must be a name, =, and a number`)
    const variable = `GRIDLINE_LIMIT_${name.toUpperCase()}`
    try {
      limitsFrom({ [variable]: value })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw new Problem('usage', error.message.replace(variable, `--limit ${name}`), { hint: error.hint })
    }
    return [variable, value]
  })
  return { ...environment, ...Object.fromEntries(pairs) }
}

/** The identity provider of the options. Throws `usage` for one that is not complete. */
function providerOf(
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
      throw new Problem('usage', '--oidc-issuer is missing: the other options of OpenID Connect need it')
    return undefined
  }
  if (clientId === undefined)
    throw new Problem('usage', '--oidc-client-id is missing: the id of this server at the identity provider')
  const isHere = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/|$)/.test(issuer)
  if (!URL.canParse(issuer) || !(issuer.startsWith('https://') || isHere))
    throw new Problem('usage', `--oidc-issuer ${issuer}: must be a URL that starts with https://`)
  const wrong = oidcDomain?.find((domain) => !/^@?[^\s@]+\.[^\s@]+$/.test(domain))
  if (wrong !== undefined)
    throw new Problem('usage', `--oidc-domain ${wrong}: must be a domain, such as example.com`)
  const teams = oidcTeam?.map((text) => {
    const [, group, owner, team] = /^(.+)=([^=:]+):([^=:]+)$/.exec(text) ?? []
    if (team === undefined)
      throw new Problem('usage', `--oidc-team ${text}: must be GROUP=OWNER:TEAM`, {
        hint: 'Such as engineering=alice:engineers. The team is made if it does not exist.',
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
  prints: other('nothing; its log is JSON'),
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
        'where large values are stored: sql (the database), file:DIR or s3://bucket/prefix?endpoint=…&region=… (default: where they are)',
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
      description: 'answer /healthz on this port too, from a thread of its own that no load delays',
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
      description: 'identity provider (OpenID Connect) that people sign in with in the browser',
    },
    {
      flags: '--oidc-client-id <id>',
      variable: 'GRIDLINE_OIDC_CLIENT_ID',
      description:
        'id of this server at the identity provider; its secret is in GRIDLINE_OIDC_CLIENT_SECRET, and the address to return to is URL/signin/oidc/return',
    },
    {
      flags: '--oidc-domain <domain>',
      variable: 'GRIDLINE_OIDC_DOMAINS',
      repeatable: true,
      description:
        'domain of verified e-mail addresses that may sign in (default: whoever the provider lets in)',
    },
    {
      flags: '--oidc-team <group=owner:team>',
      variable: 'GRIDLINE_OIDC_TEAMS',
      repeatable: true,
      description: 'make the people of a group members of a team, and others not',
    },
    {
      flags: '--oidc-groups-claim <name>',
      variable: 'GRIDLINE_OIDC_GROUPS_CLAIM',
      description: 'claim with the groups of a person (default: groups)',
    },
    {
      flags: '--server-name <name>',
      variable: 'GRIDLINE_SERVER_NAME',
      description: 'name of this server among those on one PostgreSQL, in the ids of uploads in parts',
    },
    {
      flags: '--allow-url-import',
      variable: 'GRIDLINE_ALLOW_URL_IMPORT',
      description: 'allow grids to be created from files at public URLs (source_url)',
    },
    {
      flags: '--theme <theme>',
      variable: 'GRIDLINE_THEME',
      description: 'look of new charts for which none is chosen: a built-in theme or a JSON file',
    },
    {
      flags: '--limit <name=value>',
      repeatable: true,
      description: 'a limit, such as requests_per_minute=600; see docs/api.md [GRIDLINE_LIMIT_NAME]',
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
      port: wanted = 8080,
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
      limit: changed = [],
    } = options
    const environment = withLimits(context.environment, changed)
    if (serverName !== undefined && !/^[A-Za-z0-9-]{1,80}$/.test(serverName))
      throw new Problem('usage', '--server-name: use up to 80 letters, digits and hyphens')
    if (smtp !== undefined && !(URL.canParse(smtp) && /^smtps?:\/\/[^/]/.test(smtp)))
      throw new Problem('usage', '--smtp: must be smtp://user:password@host:587, or begin with smtps://')
    if (mailFrom !== undefined && !/^[^\s@]+@[^\s@]+$|^[^<>]*<[^\s@<>]+@[^\s@<>]+>$/.test(mailFrom))
      throw new Problem('usage', `--mail-from ${mailFrom}: must be an e-mail address`)
    if (database === 'sqlite::memory:')
      throw new Problem('usage', '--database sqlite::memory:: a server needs a database that lasts', {
        hint: 'Name a file: --database sqlite:FILE',
      })
    const { createService, listen, reserveSpace, startHealthThread, useOpenTelemetry } = await import(
      '../../service/index.ts'
    )
    const isTraced = await useOpenTelemetry()
    const { messages } = context
    const quiet = context.flags.quiet === true
    if (!database) makeFoldersPrivate(context.environment)
    const base = url === undefined ? undefined : checkUrl(url)
    // Listen first: links contain the port, which is known only then. The service starts afterwards.
    let service: RunningService | undefined
    const log = new RequestLog(process.stderr)
    const address = database ?? databaseUrl(context.environment)
    const limits = limitsFrom(environment)
    const signals = new Signals()
    const listening = await listen(() => service, { host, port: wanted, limits, proxies })
    const here = `http://${host.includes(':') ? `[${host}]` : host === '0.0.0.0' ? '127.0.0.1' : host}:${listening.port}`
    let health: Awaited<ReturnType<typeof startHealthThread>> | undefined
    try {
      if (healthPort !== undefined) health = await startHealthThread(host, healthPort)
      const started = createService({
        database: address,
        blobs,
        url: base ?? here,
        smtp,
        mailFrom: mailFrom ?? `gridline@${new URL(base ?? here).hostname}`,
        urlImport: allowUrlImport === true,
        provider: providerOf(options, context.environment),
        serverName,
        theme: theme === undefined ? undefined : themeNamed(theme),
        log: quiet ? undefined : (line) => log.add(line),
        audit: quiet ? undefined : (line) => log.add(line),
        environment,
      })
      const running = await signals.unless(started)
      if (typeof running === 'string') {
        // The transaction of an update is rolled back by the end of the process; the next start goes on from there.
        messages.note('stopped before the server was ready')
        process.exit(running === 'SIGINT' ? 130 : 0)
      }
      // With --blobs, the place was checked when the database was opened.
      if (blobs === undefined) await running.store.places.check()
      service = running
      if (address.startsWith('sqlite:') && address !== 'sqlite::memory:')
        reserveSpace(address.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''))
      running.startJobs()
      const upkeep = setInterval(() => running.store.engine.maintain().catch(() => {}), 3600_000)
      // From now on, links created without a server point here.
      if (!database) recordServing(context.environment, base ?? here)
      const unusual = changedLimits(limits)
      if (isTraced) messages.note('spans are recorded by the OpenTelemetry of this process')
      if (unusual.length > 0) messages.note(`limits: ${unusual.join(', ')}`)
      messages.line(`listening on ${here}${base ? ` for ${base}` : ''}`)
      if (health) messages.note(`/healthz is also at http://${host}:${health.port}/healthz`)
      const isOpen = !/^(127\.|localhost$|::1$)/.test(host)
      if (isOpen) messages.note(`reachable from other machines on port ${listening.port} (--host ${host})`)
      if (isOpen && !base?.startsWith('https:'))
        messages.warning(
          'API keys and data are sent unencrypted over HTTP; put a proxy with HTTPS in front, and start with --url https://… (see docs/operating.md)',
        )
      if (!database && !(await running.store.read(({ accounts }) => accounts.hasKeys(loginName()))))
        messages.note(`To log in to this server, create a key: gridline admin create-key ${loginName()}`)
      for (const line of clientLines(base ?? here)) messages.aside(line)
      const signal = await signals.next()
      // SIGTERM is of an operator, SIGINT of somebody at a terminal.
      if (signal === 'SIGTERM') {
        messages.note(`stopping in ${limits.drain_seconds} seconds (limit drain_seconds)`)
        running.drain()
        await signals.next(limits.drain_seconds * 1000)
      }
      clearInterval(upkeep)
      messages.note('stopping')
      const stopped = listening.stop(signal === 'SIGTERM' ? limits.stop_seconds * 1000 : undefined)
      await Promise.race([stopped, signals.next()])
      await listening.stop(0)
      // A database that does not answer would keep this process: all requests were answered.
      const closed = running.close().then(() => 'closed')
      const late = new Promise<undefined>((resolve) => {
        setTimeout(() => resolve(undefined), CLOSING_MS).unref()
      })
      const isClosed = (await Promise.race([closed, signals.next(), late])) === 'closed'
      log.flush()
      await health?.close()
      // A random port will be different next time.
      if (!database && wanted === 0) forgetServing(context.environment)
      if (!isClosed) {
        messages.warning('the database does not answer: its connections were cut off')
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
