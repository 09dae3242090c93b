import type { Theme } from '../../charts/figure/themes.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Store } from '../store/store.ts'
import type { CursorSigner } from './cursors.ts'
import type { FormerNames } from './former-names.ts'
import type { Metrics } from './metrics.ts'
import type { ViewCounter } from './view-counter.ts'

/** What every room of the service works with, the same for every request. */
export interface Service {
  store: Store
  /** URL under which the service is reached, without a trailing slash: links begin with it. */
  url: string
  limits: Limits
  views: ViewCounter
  metrics: Metrics
  cursors: CursorSigner
  names: FormerNames
  /** The theme of new charts for which none is chosen. */
  theme: Theme | undefined
  /** What the server is about to do: /readyz says so. */
  lifecycle: { isDraining: boolean }
  /** Runs work that no response waits for; closing the service does. */
  background(work: () => Promise<void>): void
}
