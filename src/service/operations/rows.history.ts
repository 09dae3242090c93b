// History of one row: in which versions its values changed.
import { invalidField, Problem } from '../../contract/errors.ts'
import type { RowChange } from '../../contract/resources/index.ts'
import type { WorkBudget } from '../../json/index.ts'
import { parseWhere, queriedColumns } from '../../query/index.ts'
import { authorizeCall } from '../access/access.ts'
import { RowSet } from '../grids/column/row-set.ts'
import { type Snapshot, takeVersionSnapshot, trimSnapshot } from '../grids/column/snapshot.ts'
import { bindCondition, findMatchingRows } from '../grids/read/matching-rows.ts'
import { forEachRow } from '../grids/read/rows.ts'
import { analyze, type Handlers } from './handler.ts'
import { listVisibleVersions, loadVersionMeta } from './versions.load.ts'

/** Maximum number of versions that one request compares. */
const MAX_VERSIONS = 200

/** JSON of the values of a row by column; undefined if there is no such row. */
type Row = ReadonlyMap<string, string> | undefined

export const rowHistoryHandlers = {
  'rows.history': async (service, call) => {
    const where = parseWhere(call.query.where)
    const { store } = service
    const { file, versions, metas } = await store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      const versions = await listVisibleVersions(readers, access, call.query.before, MAX_VERSIONS + 1)
      const metas = []
      for (const row of versions) metas.push(await loadVersionMeta(service, readers, access.file, row))
      return { file: access.file, versions, metas }
    })
    /** Why the condition does not fit the columns of a version. */
    const unbound: Problem[] = []
    const readRow = async (k: number, work: WorkBudget): Promise<Row> => {
      const isCurrent = versions[k].version === file.content_version
      const snap = await store.read((readers) =>
        takeVersionSnapshot(store, readers, call.fid, isCurrent ? undefined : versions[k]),
      )
      return findRow(await trimSnapshot(snap), where, work, unbound)
    }
    return {
      body: { changes: [], next: null },
      createBody: analyze(service, async (work) => {
        const changes: RowChange[] = []
        const count = Math.min(versions.length, MAX_VERSIONS)
        let after = count > 0 ? await readRow(0, work) : undefined
        for (let k = 0; k < count; k++) {
          // The first of all versions has none before it.
          const before = k + 1 < versions.length ? await readRow(k + 1, work) : undefined
          const { version, made_at, made_by, operation, message } = metas[k]
          const cells = listChangedCells(before, after)
          if (cells.length > 0)
            changes.push({
              ...{ version, made_at, made_by, operation, message, cells },
              change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
            })
          after = before
        }
        if (changes.length === 0 && unbound.length > 0) throw unbound[0]
        return { body: { changes, next: versions.length > count ? versions[count - 1].version : null } }
      }),
    }
  },
} satisfies Partial<Handlers>

/** Returns the row for which a condition is true. Throws `invalid_request` if there are several. */
async function findRow(
  snap: Snapshot,
  where: ReturnType<typeof parseWhere>,
  work: WorkBudget,
  unbound: Problem[],
): Promise<Row> {
  const known = new Set(snap.columns.map(({ name }) => name))
  // An earlier version can lack the column.
  if (!queriedColumns(where.expression).every((name) => known.has(name))) return undefined
  const condition = bindIfPossible(where, snap, unbound)
  if (!condition) return undefined
  const rows = await findMatchingRows(snap, condition, work, 2)
  if (rows.count === 0) return undefined
  if (rows.count > 1) throw invalidField('where', 'several rows match: name one row, such as id = 5')
  const row = new Map<string, string>()
  await forEachRow(snap, RowSet.of(snap.rows, rows), (cells) => {
    for (const [k, { name }] of snap.columns.entries())
      row.set(name, cells[k].buf.toString('utf8', cells[k].start, cells[k].end))
    return undefined
  })
  return row
}

/** Binds a condition to the columns of a version; undefined if they have other types there. */
function bindIfPossible(where: ReturnType<typeof parseWhere>, { columns }: Snapshot, unbound: Problem[]) {
  try {
    return bindCondition(where, columns)
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'invalid_query')) throw error
    unbound.push(error)
    return undefined
  }
}

function listChangedCells(before: Row, after: Row): RowChange['cells'] {
  const names = new Set([...(after?.keys() ?? []), ...(before?.keys() ?? [])])
  return [...names].flatMap((column) => {
    const [old, now] = [before?.get(column) ?? null, after?.get(column) ?? null]
    return old === now ? [] : [{ column, before: old, after: now }]
  })
}
