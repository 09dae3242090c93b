// Appends a table to a grid.
import type { Fid } from '../../../../contract/fid.ts'
import { quoteNumbers } from '../../../../ingest/slices.ts'
import type { ColumnRow } from '../../../store/aggregates/grids.ts'
import { encodeTypes } from '../../../store/schema/column-types.ts'
import { transposeColumns } from '../../column/column-json.ts'
import { RowPacker } from '../../column/tail.ts'
import { checkType, matchColumns, typeAfterConversion } from '../../input/match-columns.ts'
import { allowsTypeChange, checkWarnings, type DataCall } from '../../input/reading-options.ts'
import type { Table } from '../../input/tables.ts'
import type { Appended, GridService } from '../../service.ts'
import { type UpsertResult, upsert } from '../upsert.ts'
import { appendRows } from './rows.ts'

/**
 * Appends a table to a grid without a key. Columns are matched by name, or by position if the table has no
 * header row. A small table goes to the tail; a large one is already stored as slices.
 */
export async function appendTable(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  /** Columns of the grid, read before. If they change meanwhile, the append fails with `conflict`. */
  columns: readonly ColumnRow[],
): Promise<(Appended & { warnings: string[] }) | UpsertResult> {
  if (!table.small) return upsert(service, call, fid, table)
  const warnings = [...table.warnings]
  const source = call.fileName ?? 'the upload'
  const matched = matchColumns(table, columns, source, warnings)
  if (table.rows === 0) return { ...(await loadAppendOfNothing(service, fid)), warnings }
  const valuesOf = new Map(table.columns.map((column, k) => [column, table.small![k]]))
  const texts = matched.map((column, k) => {
    if (!column) return undefined
    checkType(call, source, column, columns[k], warnings)
    const values = valuesOf.get(column)!
    return typeAfterConversion(column, columns[k].type) === 'text' && values.type === 'number'
      ? quoteNumbers(values.text)
      : values.text
  })
  checkWarnings(call, warnings)
  const rows = new RowPacker()
  for (const row of transposeColumns(texts, table.rows)) rows.add(row)
  const types = matched.map((column, k) => (column ? typeAfterConversion(column, columns[k].type) : 'empty'))
  const append = {
    types: encodeTypes(types),
    mayChangeTypes: allowsTypeChange(call),
    fid,
    principal: call,
    write: call.writeKey(fid.owner),
    ifMatch: call.ifMatch,
    message: call.message,
    bodies: rows.finish(),
    width: columns.length,
    columns,
    readLike: columns,
  }
  return { warnings, ...(await appendRows(service, append, () => upsert(service, call, fid, table))) }
}

/** Returns the result of an append without rows. */
export function loadAppendOfNothing({ store }: GridService, { owner, idlocal }: Fid): Promise<Appended> {
  return store.read(async ({ files, grids }) => {
    const { row_count } = await grids.get(owner, idlocal)
    const version = (await files.get(owner, idlocal))?.content_version ?? 1
    return { rows_added: 0, row_count, version }
  })
}
