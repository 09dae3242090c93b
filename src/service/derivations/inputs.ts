/** The grids that a derived grid is made of. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import type { GridSource, QueriedTable } from '../queries/query-tables.ts'
import type { DerivationInput } from '../store/aggregates/derivations.ts'
import type { Readers } from '../store/store.ts'

/** Maximum number of grids that a derived grid depends on, directly or through others. */
const MAX_ANCESTORS = 1000

/** Returns the inputs of a derived grid: the tables that its query has named. */
export function inputsOf(tables: readonly QueriedTable[]): DerivationInput[] {
  const inputs = tables.map(({ name, source: { fid, version }, state }) => ({
    name,
    to_owner: fid.owner,
    to_idlocal: fid.idlocal,
    version: version ?? null,
    seen: state,
  }))
  return [...new Map(inputs.map((input) => [input.name, input])).values()]
}

export function toSource({ to_owner, to_idlocal, version }: DerivationInput): GridSource {
  return { fid: { owner: to_owner, idlocal: to_idlocal }, version: version ?? undefined }
}

/** Formats a grid as a table of a query: `alice:1`, `alice:1@3`. */
export function formatAlias({ fid, version }: GridSource): string {
  return version === undefined ? formatFid(fid) : `${formatFid(fid)}@${version}`
}

/** Throws `conflict` if a grid is among its own inputs, directly or through other derived grids. */
export async function assertNoCircle(
  { derivations }: Readers,
  grid: Fid,
  inputs: readonly DerivationInput[],
): Promise<void> {
  const own = formatFid(grid)
  const seen = new Set<string>()
  for (let level = inputs; level.length > 0; ) {
    const next: DerivationInput[] = []
    for (const { to_owner, to_idlocal } of level) {
      const fid = formatFid({ owner: to_owner, idlocal: to_idlocal })
      if (fid === own)
        throw new Problem('conflict', `${own} would be derived from itself`, {
          hint: 'Show what it is derived from: gridline sources GRID',
          isPermanent: true,
        })
      if (seen.has(fid)) continue
      seen.add(fid)
      if (seen.size > MAX_ANCESTORS)
        throw new Problem('invalid_query', `a derived grid can depend on ${MAX_ANCESTORS} grids`)
      next.push(...(await derivations.listInputs(to_owner, to_idlocal)))
    }
    level = next
  }
}
