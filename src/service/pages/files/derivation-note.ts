// Notes about grids that follow others or a URL: what a grid is derived from, and whether data are stale.
import { formatWebUrl, parseFid } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { Derivation } from '../../../contract/resources/index.ts'
import type { Service } from '../../core/context.ts'
import { loadDerivation } from '../../derivations/state.ts'
import { formatMinute, staleSinceOf } from '../../files/stale.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers } from '../../store/store.ts'

/** Renders the note; empty for a grid that is not derived. */
export async function renderDerivationNote(
  service: Service,
  readers: Readers,
  file: FileRow,
  isOwner: boolean,
): Promise<string> {
  if (!file.derived) return ''
  const derivation = await loadDerivation(readers, file, isOwner)
  const { sql, state } = derivation
  const query =
    sql === undefined ? '' : `<details><summary>Query</summary><pre>${escapeHtml(sql)}</pre></details>`
  const stale = state === 'stale' ? ` <strong>${escapeHtml(formatFailure(derivation))}</strong>` : ''
  const pending = state === 'pending' ? ' A change of them will follow.' : ''
  return `<div class="note">Derived from ${formatInputs(service, derivation)}, as of ${formatTime(derivation.refreshed_at)}.${pending}${stale}${query}</div>`
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

function formatFailure({ stale_since, error }: Derivation): string {
  const since = stale_since === null ? '' : ` since ${formatTime(stale_since)}`
  const reason = error ? `: ${error.detail}${error.hint === undefined ? '' : `. ${error.hint}`}` : '.'
  return `Stale${since}${reason}`
}

function formatTime(time: string): string {
  return `${formatMinute(Date.parse(time))} UTC`
}
