// Type of operation handlers, and the state that they share.
import type { Fid } from '../../contract/fid.ts'
import type { OperationName, ResultOf } from '../../contract/operations/index.ts'
import type { Bytes, WorkBudget } from '../../json/index.ts'
import type { OidcSignIn } from '../accounts/oidc-users.ts'
import type { TokenExchanger } from '../accounts/token-exchange.ts'
import type { Webhooks } from '../alerts/webhook.ts'
import type { Admission } from '../core/admission.ts'
import type { OperationCall, OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import type { Lazy } from '../core/lazy.ts'
import type { RowSorter } from '../grids/read/sort.ts'
import type { AppendStore } from '../grids/service.ts'
import type { ImageRenderer } from '../images/images.ts'
import type { Thumbnails } from '../images/thumbnails.ts'
import type { UrlImport } from '../import/fetch.ts'
import type { LivePlots } from '../plots/live-plots.ts'
import type { Queries } from '../queries/query-grids.ts'
import type { Mailer } from '../sharing/mail.ts'
import type { ResumableUploads } from '../uploads/resumable.ts'

/** State shared by all operations. */
export interface OperationService extends Service {
  appends: AppendStore['appends']
  /** Returns the uids of columns of a grid that plots of its owner use. */
  plotColumns(fid: Fid): Promise<string[]>
  images: ImageRenderer
  thumbnails: Thumbnails
  /** Undefined if queries are not allowed. */
  queries: Lazy<Queries> | undefined
  live: Lazy<LivePlots>
  orders: RowSorter
  /** Limits concurrent computations of statistics, checks and diffs. */
  analysis: Admission
  uploads: ResumableUploads<OperationResult<ResultOf<'grids.upload'>>>
  tokenExchange: Lazy<TokenExchanger>
  /** Sign-in with an identity provider; undefined if none is configured. */
  oidcSignIn: OidcSignIn | undefined
  /** Undefined if SMTP is not configured: no e-mails are sent. */
  mailer: Mailer | undefined
  /** Fetches `source_url`; undefined if URL import is disabled. */
  urlImport: UrlImport | undefined
  /** Sends messages to URLs. */
  webhooks: Lazy<Webhooks>
  /** Drops cached credentials after a change of a key or user. */
  forgetCredentials(): void
}

/** Returns a `createBody` that reads many values: limited concurrency, and only while the client waits. */
export function analyze<T>({ analysis }: OperationService, compute: (work: WorkBudget) => Promise<T>) {
  return (user: string, work: WorkBudget) => analysis.run(user, () => compute(work), work.isAborted)
}

export type Handler<N extends OperationName> = (
  service: OperationService,
  call: OperationCall<N>,
) => Promise<OperationResult<ResultOf<N> extends undefined ? Bytes | undefined : ResultOf<N>>>

export type Handlers = { [N in OperationName]: Handler<N> }
