/** The content of a derived grid: the result of its query. */
import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { RawJson } from '../../json/index.ts'
import type { Caller, Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { storeColumnArrays } from '../grids/change/create.ts'
import type { GridPlan } from '../grids/change/plan.ts'
import { hasSameContent } from '../grids/change/same-content.ts'
import { keepUids } from '../grids/change/save-grid.ts'
import { enforceChecksOnGrid } from '../grids/checks/enforce.ts'
import type { Layout, NewColumn } from '../grids/column/layout.ts'
import { createTableSnapshot } from '../grids/input/tables.ts'
import { checkKey } from '../grids/keys/primary-key.ts'
import type { GridService } from '../grids/service.ts'
import type { GridQuery, Queries, QuerySlot } from '../queries/query-grids.ts'
import type { DerivationInput } from '../store/aggregates/derivations.ts'
import { primaryKeyNamesOf } from '../store/schema/primary-key.ts'
import { inputsOf } from './inputs.ts'

/** Name of the content in messages. */
const SOURCE = 'the result of the query'

/** Result of the query, in stored slices to which no rows refer yet. */
export interface DerivedContent {
  columns: NewColumn[]
  inputs: DerivationInput[]
}

/** Runs the query of a derived grid, and stores its result. */
export async function runDerivation(
  service: Service,
  queries: Queries,
  slot: QuerySlot,
  principal: Principal & { caller: Caller },
  query: GridQuery,
): Promise<DerivedContent> {
  const owner = principal.caller.username
  // A result that differs only in the last digits of sums would be a version.
  const repeatable = { ...query, isRepeatable: true }
  const { snapshot, tables } = await queries.run(service, slot, principal, repeatable)
  const draft = tables.find(({ isDraft }) => isDraft)
  if (draft && query.scope?.draft === undefined)
    throw new Problem('invalid_query', `${draft.name} is a draft, which a derived grid cannot follow`)
  const arrays = snapshot.columns.map(({ name, tail }) => {
    const text = Buffer.concat([Buffer.from('['), tail, Buffer.from(']')])
    return { name, data: new RawJson(text, 0, text.length) }
  })
  const stored = await storeColumnArrays(service.store.blobs, owner, arrays)
  const columns = stored.map((column, k) => ({ ...column, type: snapshot.columns[k].type }))
  return { columns, inputs: inputsOf(tables) }
}

/** Plans a derived grid with new content. Checks and key of the grid apply. Columns keep their uids by name. */
export async function planContent(
  service: GridService,
  fid: Fid,
  layout: Layout,
  content: readonly NewColumn[],
): Promise<GridPlan> {
  const { store } = service
  const { grid, columns, slices } = layout
  const table = { rows: content[0]?.rows ?? 0, columns: [...content], warnings: [], isNameless: false }
  const snap = createTableSnapshot(store, table)
  const key = primaryKeyNamesOf(grid, columns)
  await checkKey(snap, key, { source: SOURCE })
  const { failedChecks } = await enforceChecksOnGrid(service, fid, layout, { snap, source: SOURCE })
  const isSame = await hasSameContent(store.blobs, content, columns, slices)
  return {
    columns: isSame ? undefined : keepUids(content, columns),
    change: { operation: 'refresh' },
    key,
    failedChecks,
  }
}
