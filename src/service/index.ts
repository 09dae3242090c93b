// Creates the service: opens the store, and connects the HTTP app, background jobs and metrics to it.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Theme } from '../charts/figure/themes.ts'
import { Problem } from '../contract/errors.ts'
import { type Fid, formatFid } from '../contract/fid.ts'
import type { HttpRequest, HttpResponse } from '../contract/http.ts'
import { type Limits, readLimits } from '../contract/limits.ts'
import type { Caller } from './access/access.ts'
import { ensureUser } from './accounts/accounts.ts'
import type { ProviderOptions } from './accounts/oidc-users.ts'
import type { Webhooks } from './alerts/webhook.ts'
import { createJobHandlers } from './background/job-kinds.ts'
import { Jobs } from './background/jobs.ts'
import { jobMetrics } from './background/metrics.ts'
import { Admission } from './core/admission.ts'
import { CursorSigner } from './core/cursors.ts'
import { FormerNames } from './core/former-names.ts'
import { Lazy } from './core/lazy.ts'
import { Metrics } from './core/metrics.ts'
import { blobMetrics, databaseMetrics, processMetrics } from './core/server-metrics.ts'
import { ViewCounter } from './core/view-counter.ts'
import { RowSorter } from './grids/read/sort.ts'
import { createApp } from './http/app.ts'
import { Authenticator } from './http/auth.ts'
import type { LogLine } from './http/http-context.ts'
import type { ListenOptions, RequestService, RunningServer } from './http/listen.ts'
import { toResponse } from './http/message.ts'
import { ImageRenderer } from './images/images.ts'
import { Thumbnails } from './images/thumbnails.ts'
import type { drawFigure as drawWithoutService } from './images/without-service.ts'
import { UrlImport } from './import/fetch.ts'
import type { OperationService as Service } from './operations/handler.ts'
import { loadAllHandlers } from './operations/handlers.ts'
import { openStore, resolveBesideDatabase, type Store, type StoreOptions } from './store/store.ts'
import { ResumableUploads } from './uploads/resumable.ts'
import { UploadSpool } from './uploads/upload-spool.ts'

export { ensureUser } from './accounts/accounts.ts'
export type { ProviderOptions } from './accounts/oidc-users.ts'
export { startHealthThread } from './http/health-thread.ts'
export type { LogLine } from './http/http-context.ts'
export type { RunningServer as Listening } from './http/listen.ts'
export { UrlImport } from './import/fetch.ts'
export { reserveSpace } from './store/engines/sqlite-reserve.ts'
export { databaseFileOf } from './store/store.ts'
export { useOpenTelemetry } from './tracing/tracing.ts'

export interface ServiceOptions extends StoreOptions {
  /** Base URL of the service. Links start with it. */
  url: string
  /** User of requests without credentials. Created if missing. */
  actingAs?: string
  log?: (line: LogLine) => void
  /** Called with each audit event after it is stored. */
  audit?: (line: AuditLine) => void
  /** OpenID Connect identity provider for sign-in. */
  provider?: ProviderOptions
  /** SMTP server: `smtp://…`. Without it, no e-mail is sent. */
  smtp?: string
  /** Sender address of e-mails. */
  mailFrom?: string
  /** Whether grids may be imported from URLs. */
  urlImport?: boolean | UrlImport
  /** Sends messages of alerts to URLs. Default: only to public addresses. */
  webhooks?: Webhooks
  /** Whether imports and messages may reach private addresses. */
  privateUrls?: boolean
  /** Whether grids may be queried in SQL. Default: true. */
  sql?: boolean
  /** Theme of new charts whose request names none. */
  theme?: Theme
  /** Unique name of this server on a shared database. Default: host name and random characters. */
  serverName?: string
  /** Path of the Chromium that renders images. Default: GRIDLINE_CHROMIUM, or a detected one. */
  chromium?: string
  /** Environment variables that override limits (`GRIDLINE_LIMIT_…`). Default: `process.env`. */
  environment?: Record<string, string | undefined>
}

/** Audit event as written to the log. */
export interface AuditLine {
  audit: string
  /** Owner of the affected files or keys. */
  owner: string
  /** User who caused the event; null for an operator or the server itself. */
  actor: string | null
  fid: string | null
  details: object
  request_id: string | null
  address: string | null
}

export interface RunningService {
  handle(request: HttpRequest): Promise<HttpResponse>
  /** Returns whether the request would be refused now because too many requests wait. */
  refuses(request: Pick<HttpRequest, 'headers' | 'address'>): boolean
  /** Handles a request given as web objects. */
  fetch(request: Request): Promise<Response>
  store: Store
  /** Keeps small responses until the next commit, if the database can tell. For servers. */
  cacheResponses(): void
  /** Starts polling for background jobs, including jobs of other servers. */
  startJobs(): void
  /** Runs the background jobs that are due. */
  runJobs(): Promise<void>
  /** Makes /readyz report that the server is about to stop, so that proxies send requests elsewhere. */
  drain(): void
  /** Waits until all background work is done. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** Starts Node's HTTP server in front of the service. Imports it on first use. */
export async function listen(
  current: () => RequestService | undefined,
  options: ListenOptions,
): Promise<RunningServer> {
  const { startHttpServer: start } = await import('./http/listen.ts')
  await loadAllHandlers()
  await loadServerModules()
  return start(current, options)
}

/** Draws a figure without a service. Imports the drawing on first use. */
export const drawFigure: typeof drawWithoutService = async (...drawing) => {
  const { drawFigure: draw } = await import('./images/without-service.ts')
  return draw(...drawing)
}

/** Interval at which a server measures the stored size per location, in ms. */
const SIZES_INTERVAL_MS = 60_000

/** Interval at which a server deletes old copies of grids, in ms. */
const PRUNE_INTERVAL_MS = 3600_000

/** Time that a command spends on due jobs before it exits, in ms. The next command continues. */
const CLOSE_TIMEOUT_MS = 300

/** Time that a command waits for a receiver of messages, in ms. */
const LOCAL_RESPONSE_MS = 3000

/** Loads what servers use later, so that they depend on no file of the build while they run. */
async function loadServerModules(): Promise<void> {
  await Promise.all([
    import('./http/web/routes.ts'),
    import('./http/web/pages.ts'),
    import('./pages/reference/json.ts'),
    import('./plots/live-plots.ts'),
    import('./queries/query-grids.ts'),
    import('./plots/broken-plots.ts'),
    import('./grids/change/append/queue.ts'),
    import('./grids/change/flush.ts'),
    import('./grids/checks/run.ts'),
    import('./grids/keys/index-table-keys.ts'),
    import('./derivations/refresh.ts'),
    import('./refreshes/refresh-from-url.ts'),
    import('./alerts/deliver.ts'),
    import('./mailings/run.ts'),
    import('./alerts/look.ts'),
    import('./accounts/token-exchange.ts'),
  ])
}

/** Opens the store and creates the service on it. */
export async function createService(options: ServiceOptions): Promise<RunningService> {
  const limits = readLimits(options.environment ?? process.env)
  const store = await openStore({ limits, ...options })
  const background = new Background(options.log)
  const service = await createServiceContext(store, limits, options, background, () =>
    authenticator.clearCache(),
  )
  // A command has no time to wait.
  const minRefreshMs = options.actingAs === undefined ? undefined : 0
  const jobs = new Jobs(store, createJobHandlers(service, minRefreshMs), (error) =>
    background.run(() => Promise.reject(error)),
  )
  service.metrics.add(...databaseMetrics(store, limits), ...blobMetrics(store), ...jobMetrics(jobs))
  store.onAudit(({ event, owner, actor, fid, details, request_id, address }) =>
    options.audit?.({ audit: event, owner, actor, fid, details: JSON.parse(details), request_id, address }),
  )
  store.onJob(() => background.run(() => jobs.poll()))
  const actingAs =
    options.actingAs === undefined ? undefined : await createLocalCaller(store, options.actingAs)
  const authenticator = new Authenticator(store, actingAs, service.url, service.formerNames)
  const app = createApp(service, authenticator, options.log ?? (() => {}))
  let wrote = false
  return {
    handle: (request) => {
      if (request.method !== 'GET') wrote = true
      return app.handle(request)
    },
    refuses: app.refuses,
    fetch: async (request) => toResponse(await app.handle(request as HttpRequest)),
    store,
    idle: () => background.idle(),
    cacheResponses: app.cacheResponses,
    startJobs() {
      jobs.start()
      service.thumbnails.start()
      // Copies of grids for queries are kept for a day, also those of a server that was killed.
      const prune = (): void => background.run(async () => (await service.queries?.get())?.prune())
      setInterval(prune, PRUNE_INTERVAL_MS).unref()
      prune()
      service.metrics.add(...processMetrics())
      const read = (): void => background.run(() => store.locations.loadSizes())
      setInterval(read, SIZES_INTERVAL_MS).unref()
      read()
    },
    runJobs: () => jobs.poll(),
    drain() {
      service.lifecycle.isDraining = true
    },
    async close() {
      service.live.loaded?.close()
      service.uploads.close()
      service.thumbnails.close()
      // A local command has no server that would run due jobs later.
      if (actingAs && wrote) {
        const hasDerived = await store.read(
          async ({ derivations, alerts }) => (await derivations.hasAny()) || (await alerts.hasAny()),
        )
        // Nobody else would look after derived grids and alerts: as long as a query may take.
        const closeMs = hasDerived ? limits.query_seconds * 1000 : CLOSE_TIMEOUT_MS
        const timer = setTimeout(() => jobs.stop(), closeMs)
        await jobs.drain()
        clearTimeout(timer)
      }
      await jobs.stop()
      await background.idle()
      await service.mailer?.close()
      await service.images.close()
      await service.queries?.loaded?.close()
      await store.close()
    },
  }
}

/** Returns the host name, up to 60 characters, with a random suffix. */
function generateServerName(): string {
  const machine = hostname()
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 60)
  return `${machine}-${randomBytes(3).toString('hex')}`
}

/** Creates the local user if missing. Returns it as the caller of requests without credentials. */
async function createLocalCaller(store: Store, username: string): Promise<Caller> {
  await ensureUser(store, username)
  return { username, scopes: new Set(['read', 'write', 'admin']), isAdmin: true, expiresAt: null }
}

async function createServiceContext(
  store: Store,
  limits: Limits,
  options: ServiceOptions,
  background: Background,
  forgetCredentials: () => void,
): Promise<Service> {
  const url = options.url.replace(/\/+$/, '')
  const run = (work: () => Promise<void>): void => background.run(work)
  // Next to the database. Server processes on PostgreSQL share no folder.
  const folder = options.actingAs ? undefined : resolveBesideDatabase(options.database, 'uploads')
  const oidcSignIn =
    options.provider && new (await import('./accounts/oidc-users.ts')).OidcSignIn(options.provider, url)
  const canConnect = options.privateUrls ? () => true : undefined
  const mailer =
    options.smtp === undefined || options.smtp === ''
      ? undefined
      : new (await import('./sharing/mail.ts')).Mailer(options.smtp, options.mailFrom ?? 'gridline@localhost')
  return {
    store,
    url,
    limits,
    appends: createAppends(store),
    plotColumns: async (fid) => {
      const { listColumnsUsedByPlots } = await import('./plots/broken-plots.ts')
      return store.read((readers) => listColumnsUsedByPlots(store, readers, fid))
    },
    runInBackground: run,
    views: new ViewCounter(store, run),
    mailer,
    metrics: new Metrics(),
    lifecycle: { isDraining: false },
    cursors: new CursorSigner(store),
    formerNames: new FormerNames(store),
    live: new Lazy(async () => new (await import('./plots/live-plots.ts')).LivePlots(limits.live_pages)),
    orders: new RowSorter(limits),
    analysis: new Admission(
      { running: limits.describes_at_once, waiting: limits.sorts_waiting, wait: 60_000 },
      'describes_at_once',
    ),
    // Without a folder, only the process that began an upload knows it.
    uploads: folder
      ? new ResumableUploads(limits, new UploadSpool(folder))
      : new ResumableUploads(limits, undefined, options.serverName ?? generateServerName()),
    tokenExchange: new Lazy(
      async () => new (await import('./accounts/token-exchange.ts')).TokenExchanger(store, url),
    ),
    oidcSignIn,
    images: new ImageRenderer(
      limits,
      options.chromium ?? (options.environment ?? process.env).GRIDLINE_CHROMIUM,
    ),
    thumbnails: new Thumbnails(),
    hasQueries: options.sql !== false,
    queries:
      options.sql === false
        ? undefined
        : new Lazy(async () => {
            const place = resolveBesideDatabase(options.database, 'queries')
            return new (await import('./queries/query-grids.ts')).Queries(limits, place)
          }),
    urlImport: options.urlImport === true ? new UrlImport(canConnect) : options.urlImport || undefined,
    webhooks: new Lazy(
      async () =>
        options.webhooks ??
        new (await import('./alerts/webhook.ts')).Webhooks(
          canConnect,
          options.actingAs === undefined ? undefined : LOCAL_RESPONSE_MS,
        ),
    ),
    theme: options.theme,
    forgetCredentials,
  }
}

/** Creates the queue of appends, which is loaded by the first one. */
function createAppends(store: Store): Service['appends'] {
  const queue = new Lazy(async () => {
    const [{ AppendQueue }, { flushTail }] = await Promise.all([
      import('./grids/change/append/queue.ts'),
      import('./grids/change/flush.ts'),
    ])
    return new AppendQueue(store, createFlusher(store, flushTail))
  })
  return {
    add: (append) =>
      queue.loaded ? queue.loaded.add(append) : Promise.resolve(queue.get()).then((it) => it.add(append)),
    pauseWhile: async (fid, work) => (await queue.get()).pauseWhile(fid, work),
  }
}

/** Returns a function that flushes a grid, at most once at a time: a concurrent flush would find no rows. */
function createFlusher(
  store: Store,
  flush: (store: Store, fid: Fid) => Promise<void>,
): (fid: Fid) => Promise<void> {
  const running = new Map<string, Promise<void>>()
  return (fid) => {
    const key = formatFid(fid)
    const job = running.get(key) ?? flush(store, fid).finally(() => running.delete(key))
    running.set(key, job)
    return job
  }
}

/** Work that no response waits for. Unexpected errors are logged. */
class Background {
  private readonly pending = new Set<Promise<void>>()

  constructor(private readonly log: ServiceOptions['log']) {}

  run(work: () => Promise<void>): void {
    const job = work()
      .catch((error) => {
        const line = { request_id: '-', method: '-', path: 'background', ms: 0 }
        if (!(error instanceof Problem))
          this.log?.({ ...line, status: 500, error: String(error?.stack ?? error) })
        else if (error.status >= 500) this.log?.({ ...line, status: error.status, reason: error.message })
      })
      .finally(() => this.pending.delete(job))
    this.pending.add(job)
  }

  async idle(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending)
  }
}
