// Handler of appends.
import { formatFid } from '../../contract/fid.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import type { DelimitedOptions } from '../../ingest/index.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { checkCanChange, findReplay } from '../files/read.ts'
import { hasRules } from '../grids/change/append/request.ts'
import { appendRows } from '../grids/change/append/rows.ts'
import { appendTable, loadAppendOfNothing } from '../grids/change/append/table.ts'
import { checkNoDeleteMissing, type UpsertResult, upsert } from '../grids/change/upsert.ts'
import { type JsonRows, parseJsonRows, readNdjsonRows, toTable } from '../grids/input/json-rows.ts'
import { readLikeColumns } from '../grids/input/like-columns.ts'
import { loadGrid } from '../grids/input/match-columns.ts'
import { checkWarnings, type DataCall, parseReadingOptions } from '../grids/input/reading-options.ts'
import { storeTable } from '../grids/input/tables.ts'
import { parseKeyHeader } from '../grids/keys/primary-key.ts'
import type { Append } from '../grids/service.ts'
import type { Readers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { findStreamedReplay } from './upload-replay.ts'

export const rowHandlers = {
  'rows.append': (service, call) => append(service, call),
} satisfies Partial<Handlers>

/** Appends the rows of a request. */
async function append(service: Service, call: OperationCall<'rows.append'>) {
  const { contentType } = call
  if (contentType === dataTypes.csv || contentType === dataTypes.tsv) {
    const read = (readers: Readers) => loadGrid(readers, call.fid)
    const current = await checkCanChange(service, call, read)
    // A retry of an applied append: its body is read to compare it.
    const replay = current ? undefined : await findAppendReplay(service, call)
    if (replay) return formatAppendResponse(call, replay)
    const { columns, grid } = current ?? (await service.store.read(read))
    const reading = parseReadingOptions(service, call)
    const options = {
      ...reading,
      ...readLikeColumns(call, grid, columns, reading.keys),
      ...(contentType === dataTypes.tsv ? { delimiter: '\t' } : {}),
    }
    const table = { ...(await readTable(service, call, options)), readLike: columns }
    if (!hasKeyOrChecks(call) && grid.primary_key === null) checkNoDeleteMissing(call)
    if (hasKeyOrChecks(call) || hasRules(grid))
      return formatAppendResponse(call, await upsert(service, call, call.fid, table))
    return formatAppendResponse(call, await appendTable(service, call, call.fid, table, columns))
  }
  const replay = contentType === dataTypes.ndjson ? await findAppendReplay(service, call) : undefined
  if (replay) return formatAppendResponse(call, replay)
  const parsed =
    contentType === dataTypes.ndjson
      ? await readNdjsonRows(service, call)
      : await parseJsonRows(call.fields.rows, service.limits.columns)
  const rows: Append = {
    fid: call.fid,
    principal: call,
    write: call.writeKey(call.fid.owner),
    ifMatch: call.ifMatch,
    message: call.message,
    // Clients of the old service may send values of any type. Types of rows from files are checked.
    mayChangeTypes: call.headers['Allow-Type-Change'] ?? contentType !== dataTypes.ndjson,
    ...parsed,
  }
  const plan = () => upsertRows(service, call, parsed)
  if (call.headers['Delete-Missing'] || hasKeyOrChecks(call)) return formatAppendResponse(call, await plan())
  if (parsed.bodies.length === 0) {
    await checkCanChange(service, call)
    return formatAppendResponse(call, await loadAppendOfNothing(service, call.fid))
  }
  return formatAppendResponse(call, await appendRows(service, rows, plan))
}

/** Parses and stores the table of a body. With `Strict`, its warnings are errors. */
async function readTable(service: Service, call: DataCall, options: DelimitedOptions) {
  const table = await storeTable(service, call.fid.owner, call.bytes, options, true)
  checkWarnings(call, table.warnings)
  return table
}

/** Result of an append. `version` is undefined in results that were stored before versions existed. */
type AppendedRows = Partial<UpsertResult> & Pick<UpsertResult, 'rows_added' | 'row_count'>

function formatAppendResponse({ fid }: Call, appended: AppendedRows) {
  const {
    rows_added,
    rows_updated,
    rows_unchanged,
    rows_removed,
    row_count,
    version,
    warnings = [],
    checks,
  } = appended
  const byKey = rows_updated === undefined ? {} : { rows_updated, rows_unchanged, rows_removed }
  return { body: { fid: formatFid(fid), rows_added, ...byKey, row_count, version, warnings, checks } }
}

/** Returns whether the rows of a request are matched by key, or checked. */
function hasKeyOrChecks(call: DataCall): boolean {
  return parseKeyHeader(call) !== undefined || call.headers.Checks !== undefined
}

/** Upserts JSON rows by the grid's key. */
async function upsertRows(
  service: Service,
  call: OperationCall<'rows.append'>,
  rows: JsonRows,
): Promise<AppendedRows> {
  if (!(await checkCanChange(service, call))) {
    const replay = await findAppendReplay(service, call)
    if (replay) return replay
  }
  const { contentType, headers } = call
  const mayChange = headers['Allow-Type-Change'] ?? contentType !== dataTypes.ndjson
  const typed = { ...call, headers: { ...headers, 'Allow-Type-Change': mayChange } }
  return upsert(service, typed, call.fid, await toTable(rows), rows.isMissing)
}

function findAppendReplay(service: Service, call: Call) {
  return findStreamedReplay<AppendedRows>(call, () =>
    service.store.read((readers) => findReplay(readers, call)),
  )
}
