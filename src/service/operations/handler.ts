import type { Fid } from '../../contract/fid.ts'
import type { OperationName, ResultOf } from '../../contract/operations/index.ts'
import type { Bytes } from '../../json/index.ts'
import type { OidcLogin } from '../accounts/oidc.ts'
import type { PeopleLogin } from '../accounts/people.ts'
import type { Admission } from '../core/admission.ts'
import type { OperationCall, OperationResult } from '../core/call.ts'
import type { Service } from '../core/context.ts'
import type { AppendQueue } from '../grids/change/append/queue.ts'
import type { RowOrders } from '../grids/read/order.ts'
import type { Images } from '../images/images.ts'
import type { UrlImport } from '../import/fetch.ts'
import type { LiveFigures } from '../plots/live.ts'
import type { Mail } from '../sharing/mail.ts'
import type { ResumableUploads } from '../uploads/resumable.ts'

/** What operations work with: the service and what only operations need. */
export interface OperationService extends Service {
  appends: AppendQueue
  /** The uids of the columns of a grid that plots of its owner use. */
  plotColumns(fid: Fid): Promise<string[]>
  images: Images
  live: LiveFigures
  orders: RowOrders
  /** Statistics of grids, a few at once. */
  describing: Admission
  uploads: ResumableUploads<OperationResult<ResultOf<'grids.upload'>>>
  oidc: OidcLogin
  /** Signs people in by an identity provider, if the operator has named one. */
  people: PeopleLogin | undefined
  /** Undefined: no e-mails are sent. */
  mail: Mail | undefined
  /** Fetches `source_url`; undefined: URL import is disabled. */
  urlImport: UrlImport | undefined
  /** Drops cached credentials, after a key or user has changed. */
  forgetCredentials(): void
}

export type Handler<N extends OperationName> = (
  service: OperationService,
  call: OperationCall<N>,
) => Promise<OperationResult<ResultOf<N> extends undefined ? Bytes | undefined : ResultOf<N>>>

export type Handlers = { [N in OperationName]: Handler<N> }
