// Other tables of the rows of a grid: joined, grouped, pivoted, or with columns as rows.
import { Problem } from '../../contract/errors.ts'
import { type Bytes, toByteStream } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationResult } from '../core/call.ts'
import { STANDALONE_POLICY } from '../core/chart-policy.ts'
import { createPageFacts } from '../files/page-facts.ts'
import { createStaleHeaders } from '../files/stale.ts'
import { createFirstRows } from '../grids/column/cursor.ts'
import { type Snapshot, type SnapshotColumn, selectByName, trimSnapshot } from '../grids/column/snapshot.ts'
import { CONTENT_WRITERS } from '../grids/read/content-formats.ts'
import { Selection } from '../grids/read/selection.ts'
import { checkReshape, reshape } from '../grids/reshape/index.ts'
import { takeTableSnapshots } from '../queries/query-tables.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import { type ContentOptions, takeRequestedSnapshot } from './grids.requested.ts'
import type { OperationService as Service } from './handler.ts'

/**
 * Returns another table of the rows: `where` chooses rows before, if the grid has its columns; else it chooses rows of
 * the result, which everything else concerns.
 */
export async function loadReshapedContent(
  service: Service,
  call: Call,
  { format = 'json', columns, where, ...query }: ContentOptions,
): Promise<OperationResult<Bytes>> {
  checkReshape(query)
  let filter = new Selection({ where })
  let result = new Selection(query)
  /** Why `where` is about the result. */
  let unknown: Problem | undefined
  const { loaded, file } = await service.store.read(async (readers) => {
    const access = await authorizeCall(readers, call)
    const choose = (all: ColumnRow[]) => {
      try {
        return filter.bind(all, all)
      } catch (error) {
        if (!isUnknownColumn(error)) throw error
        unknown = error
        filter = new Selection({})
        result = new Selection({ ...query, where })
        return filter.bind(all, all)
      }
    }
    return { loaded: await takeRequestedSnapshot(service, readers, access, call, choose), file: access.file }
  })
  const [other] =
    query.join === undefined
      ? []
      : await takeTableSnapshots(service, call, [{ schema: '', name: query.join }], new Map())
  const { type, body } = CONTENT_WRITERS[format === 'api' ? 'json' : format]
  return {
    body: toByteStream(new Uint8Array()),
    type,
    headers: {
      ...(format === 'html' && { 'content-security-policy': STANDALONE_POLICY }),
      ...(call.version === undefined && createStaleHeaders(other ? [file, other.file] : [file])),
    },
    createBody: (user, work) =>
      service.analysis.run(
        user,
        async () => {
          const snapshot = await trimSnapshot(loaded)
          const chosen = await filter.select(service.orders, snapshot, work)
          const rows = 'rows' in chosen ? chosen.rows : createFirstRows(snapshot.rows)
          const table = await reshape(filter.printedSnapshot(snapshot), query, {
            ...{ rows, other: other?.snapshot, work },
            limits: service.limits,
          })
          const named = columns ? selectByName(columns)(table.columns) : table.columns
          const shown = { ...table, columns: bindResult(result, table, named, snapshot, unknown) }
          const selected = await result.select(service.orders, shown, work)
          const facts = () => createPageFacts(service, file)
          const printed = body(result.printedSnapshot(shown), selected, facts)
          return { body: 'order' in selected ? await service.orders.buffer(printed) : printed, type }
        },
        work.isAborted,
      ),
  }
}

/**
 * Binds what is selected of the result. Throws `unknown`, the error of the same condition for the grid, if the column that
 * the result lacks is the same, or if only the grid has it.
 */
function bindResult(
  result: Selection,
  table: Snapshot,
  named: SnapshotColumn[],
  grid: Snapshot,
  unknown: Problem | undefined,
): SnapshotColumn[] {
  try {
    return result.bind(table.columns, named)
  } catch (error) {
    if (!unknown || !isUnknownColumn(error)) throw error
    const isOfGrid = grid.columns.some(({ name }) => error.message.endsWith(JSON.stringify(name)))
    throw isOfGrid || error.message === unknown.message ? unknown : error
  }
}

function isUnknownColumn(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'unknown_column'
}
