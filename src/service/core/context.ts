// State shared by all modules of the service.
import type { Theme } from '../../charts/figure/themes.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Store } from '../store/store.ts'
import type { CursorSigner } from './cursors.ts'
import type { FormerNames } from './former-names.ts'
import type { Metrics } from './metrics.ts'
import type { ViewCounter } from './view-counter.ts'

/** State shared by all requests and modules. */
export interface Service {
  store: Store
  /** Base URL of all links, without a trailing slash. */
  url: string
  limits: Limits
  views: ViewCounter
  metrics: Metrics
  cursors: CursorSigner
  formerNames: FormerNames
  /** Whether grids may be queried in SQL. */
  hasQueries: boolean
  /** Theme of new charts whose request names none. */
  theme: Theme | undefined
  /** Draining is reported by /readyz: the server is about to stop. */
  lifecycle: { isDraining: boolean }
  /** Runs work that no response waits for. Closing the service waits for it. */
  runInBackground(work: () => Promise<void>): void
}
