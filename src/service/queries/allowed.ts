/** Whether this server runs queries. */
import { Problem } from '../../contract/errors.ts'
import type { Lazy } from '../core/lazy.ts'
import type { Queries } from './query-grids.ts'

/** Returns what runs queries. Throws `forbidden` if the operator does not allow them. */
export function getQueries({ queries }: { queries: Lazy<Queries> | undefined }): Lazy<Queries> {
  if (queries) return queries
  throw new Problem('forbidden', 'this server runs no queries', {
    hint: 'Its operator can allow them: gridline serve without --no-sql',
  })
}
