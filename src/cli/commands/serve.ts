// `gridline serve`: runs the server.
import { type Limits, listChangedLimits, readLimits } from '../../contract/limits.ts'
import type { Listening, RunningService } from '../../service/index.ts'
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
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { RequestLog } from '../output/request-log.ts'
import { readSettings, type Settings, serveOptions } from './serve.options.ts'
import { SignalQueue } from './serve.signals.ts'
import { type Certificate, formatTrustHints, prepareCertificate } from './serve.tls.ts'

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
  const { createService, databaseFileOf, ensureUser, reserveSpace } = await import('../../service/index.ts')
  const database = settings.database ?? databaseUrl(context.environment)
  const addToLog = context.flags.quiet === true ? undefined : log.add.bind(log)
  const starting = createService({
    ...service,
    database,
    url: publicUrl ?? localUrl,
    mailFrom: service.mailFrom ?? `gridline@${new URL(publicUrl ?? localUrl).hostname}`,
    provider,
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
  // Nobody who signs in gets the name of the user whose files commands write here without a server.
  if (provider && databaseFileOf(database) === databaseFileOf(databaseUrl(context.environment)))
    await ensureUser(running.store, loginName())
  for (const { owner } of provider?.teams ?? [])
    if (!(await running.store.read(({ accounts }) => accounts.findUserByName(owner))))
      context.messages.warning(
        `--oidc-team: there is no user ${owner}, and nobody who signs in gets that name; create them: gridline admin create-user ${owner}`,
      )
  if (database.startsWith('sqlite:')) reserveSpace(databaseFileOf(database))
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
  if (!database && !(await running.store.read(({ credentials }) => credentials.hasKeys(loginName()))))
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
