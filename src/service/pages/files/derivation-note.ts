// Notes about grids that follow others or a URL: what a grid is derived from, and whether data are stale.
import { formatDuration } from '../../../contract/duration.ts'
import { formatWebUrl, parseFid } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { Derivation } from '../../../contract/resources/index.ts'
import type { Service } from '../../core/context.ts'
import { loadDerivation } from '../../derivations/state.ts'
import { formatMinute, staleSinceOf } from '../../files/stale.ts'
import { formatRefresh } from '../../refreshes/state.ts'
import { FROM_URL } from '../../store/aggregates/derivations.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'

/** Renders where the content of a grid comes from, if not from its writers; empty for other grids. */
export async function renderDerivationNote(
  service: Service,
  readers: Readers,
  file: FileRow,
  { isOwner, canWrite }: { isOwner: boolean; canWrite: boolean },
): Promise<string> {
  if (!file.derived) return ''
  if (file.derived === FROM_URL) return renderUrlNote(readers, file, { isOwner, canWrite })
  const derivation = await loadDerivation(readers, file, isOwner)
  const { sql, state } = derivation
  const query =
    sql === undefined ? '' : `<details><summary>Query</summary><pre>${escapeHtml(sql)}</pre></details>`
  const stale = state === 'stale' ? ` <strong>${escapeHtml(formatFailure(derivation))}</strong>` : ''
  const pending = state === 'pending' ? ' A change of them will follow.' : ''
  return `<div class="note">Derived from ${formatInputs(service, derivation)}, as of ${formatTime(derivation.refreshed_at)}.${pending}${stale}${query}</div>`
}

/** Renders the note of a grid that is refreshed from a URL, which only its writers see: it may hold a secret. */
async function renderUrlNote(
  readers: Readers,
  file: FileRow,
  { isOwner, canWrite }: { isOwner: boolean; canWrite: boolean },
): Promise<string> {
  const row = await readers.urlRefreshes.get(file.owner, file.idlocal)
  if (!row) return ''
  const { url, every, refreshed_at, next_at, ...state } = formatRefresh(row, file.filename)
  const source = canWrite ? `<a href="${escapeHtml(url)}" rel="noreferrer">${escapeHtml(url)}</a>` : 'a URL'
  const stale =
    state.state === 'stale'
      ? ` <strong>${escapeHtml(formatFailure({ ...state, error: isOwner ? state.error : null }))}</strong>`
      : ''
  const next = canWrite ? `, next at ${formatTime(next_at)}` : ''
  return `<div class="note">Refreshed from ${source} every ${formatDuration(every)}, last at ${formatTime(refreshed_at)}${next}.${stale}</div>`
}

function formatInputs({ url }: Service, { inputs }: Derivation): string {
  if (!inputs) return 'other grids'
  if (inputs.length === 0) return 'a query without tables'
  return inputs
    .map(({ table, fid }) => {
      const address = formatWebUrl(url, parseFid(fid)!)
      return `<a href="${escapeHtml(address)}" title="${escapeHtml(fid)}">${escapeHtml(table)}</a>`
    })
    .join(', ')
}

/** Returns since when a grid of a plot is stale, in ms since 1970; null if none is. */
export async function findPlotStaleSince(
  { plots, files }: Readers,
  { owner, idlocal }: FileRow,
): Promise<number | null> {
  const references = await plots.listReferences(owner, [idlocal])
  const keys = references.map(({ to_owner, to_idlocal }) => ({ owner: to_owner, idlocal: to_idlocal }))
  return staleSinceOf(await files.listByKeys(keys))
}

/** Renders since when data are stale, in ms since 1970; empty for null. */
export function renderStale(since: number | null): string {
  return since === null ? '' : `<strong>stale since ${formatMinute(since)} UTC</strong>`
}

function formatFailure({ stale_since, error = null }: Pick<Derivation, 'stale_since' | 'error'>): string {
  const since = stale_since === null ? '' : ` since ${formatTime(stale_since)}`
  const reason = error ? `: ${error.detail}${error.hint === undefined ? '' : `. ${error.hint}`}` : '.'
  return `Stale${since}${reason}`
}

function formatTime(time: string): string {
  return `${formatMinute(Date.parse(time))} UTC`
}
