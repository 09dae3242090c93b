/** Refreshes derived grids: their content follows the grids that their query names. */
import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { formatList } from '../../contract/message-texts.ts'
import { ownerPrincipal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { Lazy } from '../core/lazy.ts'
import { changeLayout } from '../grids/change/layout.ts'
import { commitPlan } from '../grids/change/plan.ts'
import type { GridService } from '../grids/service.ts'
import { getQueries } from '../queries/allowed.ts'
import type { Queries } from '../queries/query-grids.ts'
import type { DerivationInput, DerivationRow } from '../store/aggregates/derivations.ts'
import type { Readers, Writers } from '../store/store.ts'
import { assertNoCircle, formatAlias, toSource } from './inputs.ts'
import { type DerivedContent, planContent, runDerivation } from './result.ts'
import { isCurrent } from './state.ts'

/** The parts of the service that a refresh needs. */
export interface RefreshService extends Service, GridService {
  queries: Lazy<Queries> | undefined
}

/**
 * `refreshed`: the content matches the inputs now. `current`: it already did. `failed`: the query failed, and the
 * content stays. `ended`: the grid is gone, or is not derived any more.
 */
export type RefreshOutcome = 'refreshed' | 'current' | 'failed' | 'ended'

export interface RefreshOptions {
  /** Runs the query even if no input has changed. */
  isForced?: boolean
  isAborted?: () => boolean
  /** Renews the lease of a job in the transaction that stores the content. */
  renew?: (writers: Writers) => Promise<void>
}

/** Whose slot refreshes take. */
const BACKGROUND = { isBackground: true } as const

/** Errors of this moment or this server, after which the refresh is tried again. */
const TEMPORARY: ReadonlySet<Problem['code']> = new Set(['overloaded', 'aborted', 'disk_full', 'unreachable'])

/**
 * Refreshes a derived grid if its inputs have changed, with the rights of its owner now. If the query fails, the
 * content stays, and the error is recorded. Throws errors that may not occur again.
 */
export async function refreshDerived(
  service: RefreshService,
  fid: Fid,
  { isForced, isAborted, renew }: RefreshOptions,
): Promise<RefreshOutcome> {
  const { store } = service
  const { owner, idlocal } = fid
  const principal = { ...ownerPrincipal(owner), isAborted }
  const found = await store.read(async (readers) => {
    const derivation = await readers.derivations.get(owner, idlocal)
    const file = await readers.files.get(owner, idlocal)
    if (!derivation || !file) return undefined
    const isTrashed = file.trashed_at !== null || file.hidden !== 0
    const inputs = await readers.derivations.listInputs(owner, idlocal)
    return {
      derivation,
      inputs,
      stale: isTrashed ? [] : await listStale(readers, inputs),
      // In the trash, nobody sees that it is not.
      isCurrent: isTrashed || (await isCurrent(readers, principal, derivation, inputs)),
    }
  })
  if (!found) return 'ended'
  const { derivation, inputs, stale } = found
  if (found.isCurrent && stale.length === 0 && !isForced) return 'current'
  try {
    if (stale.length > 0)
      throw new Problem('invalid_query', `${formatList(stale)} ${stale.length > 1 ? 'are' : 'is'} stale`, {
        hint: 'Mend the grids that it is derived from: gridline derive',
      })
    await store.read((readers) => assertNoCircle(readers, fid, inputs))
    const queries = await getQueries(service).get()
    const content = await runDerivation(service, queries, BACKGROUND, principal, {
      sql: derivation.sql,
      parameters: JSON.parse(derivation.parameters),
      tables: Object.fromEntries(inputs.map((input) => [input.name, formatAlias(toSource(input))])),
    })
    return await storeContent(service, fid, derivation, content, renew)
  } catch (error) {
    if (!(error instanceof Problem) || TEMPORARY.has(error.code)) throw error
    await recordError(service, derivation, explain(error, inputs), renew)
    return 'failed'
  }
}

/** Lists the inputs that are derived grids, and stale: what is derived from them is stale too. */
async function listStale({ derivations }: Readers, inputs: readonly DerivationInput[]): Promise<string[]> {
  const stale: string[] = []
  for (const { name, to_owner, to_idlocal, version } of inputs) {
    if (version !== null) continue
    const input = await derivations.get(to_owner, to_idlocal)
    if (input && input.error !== null) stale.push(name)
  }
  return stale
}

/** Stores the result of the query as the next version, if it differs. */
function storeContent(
  service: RefreshService,
  fid: Fid,
  { revision }: DerivationRow,
  content: DerivedContent,
  renew: RefreshOptions['renew'],
): Promise<RefreshOutcome> {
  return changeLayout(
    service,
    fid,
    (layout) => planContent(service, fid, layout, content.columns),
    async (writers, plan, layout) => {
      await renew?.(writers)
      const file = await writers.files.get(fid.owner, fid.idlocal)
      const current = await writers.derivations.get(fid.owner, fid.idlocal)
      if (!file || !current) return 'ended'
      if (current.revision !== revision) {
        // Another query, or a later result: compare it with the inputs.
        await writers.jobs.scheduleRefresh(fid)
        return 'current'
      }
      await commitPlan(writers, file, layout, plan, null)
      await writers.derivations.setRefreshed(fid, content.inputs)
      // Its alerts may not have trusted the grid before.
      if (layout.grid.has_alerts === 1) await writers.jobs.scheduleJudgement(fid)
      // Grids that are derived from it were stale, too.
      if (current.error !== null) await writers.jobs.schedule(fid.owner, 'feed', String(fid.idlocal))
      return 'refreshed'
    },
  )
}

/** Says of missing tables which grids they were: their names in the query may be former ones. */
function explain(error: Problem, inputs: readonly DerivationInput[]): Problem {
  const missing = inputs.filter(({ name }) => error.tables?.some((table) => table.toLowerCase() === name))
  if (missing.length === 0) return error
  const grids = missing.map((input) => `${input.name} (${formatAlias(toSource(input))})`)
  return new Problem(
    error.code,
    `${formatList(grids)} ${grids.length > 1 ? 'are' : 'is'} in the trash, deleted, or no longer readable`,
    { hint: 'Restore the grid, or change the query: gridline derive NAME --sql QUERY --on-conflict replace' },
  )
}

async function recordError(
  { store }: RefreshService,
  { owner, idlocal, revision }: DerivationRow,
  { code, message, hint }: Problem,
  renew: RefreshOptions['renew'],
): Promise<void> {
  const error = { code, detail: message, hint }
  await store.write([owner], async (writers) => {
    await renew?.(writers)
    const current = await writers.derivations.get(owner, idlocal)
    if (current?.revision !== revision) return
    await writers.derivations.setError(current, JSON.stringify(error))
    // Alerts on it, and grids that are derived from it.
    await writers.jobs.schedule(owner, 'feed', String(idlocal))
  })
}
