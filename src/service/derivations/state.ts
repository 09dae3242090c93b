/** The state of derived grids. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import type { Derivation } from '../../contract/resources/index.ts'
import { ownerPrincipal, type Principal } from '../access/access.ts'
import { findGridState } from '../queries/query-tables.ts'
import type { DerivationInput, DerivationRow } from '../store/aggregates/derivations.ts'
import type { Readers } from '../store/store.ts'
import { toSource } from './inputs.ts'

/** Returns whether the content of a derived grid matches its inputs, as far as its owner may read them. */
export async function isCurrent(
  readers: Readers,
  principal: Principal,
  { error }: Pick<DerivationRow, 'error'>,
  inputs: readonly DerivationInput[],
): Promise<boolean> {
  if (error !== null) return false
  for (const input of inputs)
    if ((await findGridState(readers, principal, toSource(input))) !== input.seen) return false
  return true
}

/** Maximum number of grids of each list. */
const MAX_LISTED_GRIDS = 1000

/** Loads the state of each grid that `lists` have for an owner, by id, except those in the trash: they are listed there. */
export async function loadListed<T>(
  { files }: Readers,
  owner: string,
  lists: readonly { listIds(owner: string, limit: number): Promise<number[]> }[],
  load: (fid: Fid) => Promise<T>,
): Promise<T[]> {
  const ids: number[] = []
  for (const list of lists) ids.push(...(await list.listIds(owner, MAX_LISTED_GRIDS)))
  const states: T[] = []
  for (const idlocal of ids.sort((a, b) => a - b)) {
    const file = await files.get(owner, idlocal)
    if (file && file.trashed_at === null && file.hidden === 0) states.push(await load({ owner, idlocal }))
  }
  return states
}

/**
 * Loads the state of a derived grid. `isOwner`: also its query, and why it is stale, which can tell of inputs. Throws
 * `invalid_request` for another grid.
 */
export async function loadDerivation(readers: Readers, fid: Fid, isOwner: boolean): Promise<Derivation> {
  const { owner, idlocal } = fid
  const row = await readers.derivations.get(owner, idlocal)
  if (!row)
    throw new Problem('invalid_request', 'this grid is not derived from others', {
      hint: 'Derive one with: gridline derive NAME --sql QUERY',
    })
  const file = await readers.files.get(owner, idlocal)
  const inputs = await readers.derivations.listInputs(owner, idlocal)
  const isFresh = await isCurrent(readers, ownerPrincipal(owner), row, inputs)
  const state = row.error !== null ? 'stale' : isFresh ? 'current' : 'pending'
  return {
    fid: formatFid(fid),
    filename: file?.filename ?? '',
    state,
    refreshed_at: new Date(row.refreshed_at).toISOString(),
    stale_since: row.failed_at === null ? null : new Date(row.failed_at).toISOString(),
    ...(isOwner && {
      error: row.error === null ? null : JSON.parse(row.error),
      sql: row.sql,
      params: JSON.parse(row.parameters),
      inputs: inputs.map(({ name, to_owner, to_idlocal, version }) => ({
        table: name,
        fid: formatFid({ owner: to_owner, idlocal: to_idlocal }),
        version,
      })),
    }),
  }
}
