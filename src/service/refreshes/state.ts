/** The state of grids that are refreshed from URLs. */
import { formatFid } from '../../contract/fid.ts'
import type { Refresh } from '../../contract/resources/index.ts'
import type { UrlRefreshRow } from '../store/aggregates/url-refreshes.ts'

/** Returns the state of the refreshes of a grid with this name. */
export function formatRefresh(
  row: UrlRefreshRow,
  filename: string,
): Refresh & { url: string; every: number; next_at: string } {
  const { owner, idlocal, url, every, refreshed_at, error, failed_at } = row
  const format = (time: number): string => new Date(time).toISOString()
  return {
    ...{ fid: formatFid({ owner, idlocal }), filename, url, every },
    state: error === null ? 'current' : 'stale',
    refreshed_at: format(refreshed_at),
    next_at: format(Math.max(refreshed_at, failed_at ?? 0) + every * 1000),
    stale_since: failed_at === null ? null : format(failed_at),
    error: error === null ? null : JSON.parse(error),
  }
}
