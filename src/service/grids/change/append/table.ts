import type { Fid } from '../../../../contract/fid.ts'
import { isSparse, numbersAsText } from '../../../../ingest/index.ts'
import type { ColumnRow } from '../../../store/aggregates/grids.ts'
import { encodeTypes, mergeTypes } from '../../../store/schema/column-types.ts'
import { RowTexts } from '../../column/tail.ts'
import { transposeColumns } from '../../column/values.ts'
import { checkType, convertSlices, matchColumns, typeWithin } from '../../given/match.ts'
import { type DataCall, mayChangeTypes, refuseWarnings } from '../../given/reading-options.ts'
import type { Table } from '../../given/tables.ts'
import type { GridService } from '../../service.ts'
import { repeatedSlices, rewriteLayout, tooRagged } from '../compact.ts'
import { HasRules, hasRules } from './request.ts'
import { appendRows } from './rows.ts'
import { commitSlices } from './slices.ts'

export interface AppendedTable {
  idlocal: number
  rows_added: number
  row_count: number
  /** The version of the grid that has the rows. */
  version: number
  warnings: string[]
}

/**
 * Appends a table to a grid. Columns are matched by name, or by position if the table has no header. A small
 * table goes into the tail; a large one is already stored as slices.
 */
export async function appendTable(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  /** The columns of the grid, read before. If they change meanwhile, the append fails with `conflict`. */
  columns: readonly ColumnRow[],
): Promise<Omit<AppendedTable, 'idlocal'>> {
  if (!table.small) return appendSlices(service, call, fid, table)
  const warnings = [...table.warnings]
  const name = call.fileName ?? 'the upload'
  const matched = matchColumns(table, columns, name, warnings)
  if (table.rows === 0) {
    return { ...(await asItIs(service, fid)), warnings }
  }
  const texts = matched.map((source, k) => {
    if (!source) return undefined
    checkType(call, name, source, columns[k], warnings)
    const values = table.small![table.columns.indexOf(source)]
    return typeWithin(source, columns[k].type) === 'text' && values.type === 'number'
      ? numbersAsText(values.text)
      : values.text
  })
  refuseWarnings(call, warnings)
  const rows = transposeColumns(texts, table.rows)
  const gathered = new RowTexts()
  for (const row of rows) gathered.add(row)
  const append = {
    types: encodeTypes(matched.map((source, k) => (source ? typeWithin(source, columns[k].type) : 'empty'))),
    mayChangeTypes: mayChangeTypes(call),
    fid,
    principal: call,
    write: call.writeKey(fid.owner),
    ifMatch: call.ifMatch,
    message: call.message,
    bodies: gathered.all(),
    width: columns.length,
    columns,
  }
  return { ...(await appendRows(service, append)), warnings }
}

/** What an append of no rows returns. */
export function asItIs(
  { store }: GridService,
  { owner, idlocal }: Fid,
): Promise<Pick<AppendedTable, 'rows_added' | 'row_count' | 'version'>> {
  return store.read(async ({ files, grids }) => {
    const { row_count } = await grids.get(owner, idlocal)
    const version = (await files.get(owner, idlocal))?.content_version ?? 1
    return { rows_added: 0, row_count, version }
  })
}

/** Appends a stored table: its slices are added after those of the grid. */
export async function appendSlices(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
): Promise<AppendedTable> {
  const { store } = service
  return rewriteLayout(
    service,
    fid,
    async ({ columns, grid }) => {
      if (hasRules(grid)) throw new HasRules()
      const warnings = [...table.warnings]
      const matched = matchColumns(table, columns, call.fileName ?? 'the upload', warnings)
      const given = matched.filter((source) => source !== undefined).length
      if (isSparse(table.rows, columns.length, table.rows * given))
        throw tooRagged(table.rows, columns.length)
      const parts = []
      for (const [k, column] of columns.entries()) {
        const fill = grid.row_count - column.rows
        const filled = fill > 0 ? await repeatedSlices(store, fid.owner, '""', fill) : []
        const source = matched[k]
        const more = source
          ? await convertSlices(service, call, source, column, warnings)
          : await repeatedSlices(store, fid.owner, 'null', table.rows)
        const type = mergeTypes(
          fill > 0 ? mergeTypes(column.type, 'text') : column.type,
          source ? typeWithin(source, column.type) : 'empty',
        )
        parts.push({ column, slices: [...filled, ...more], rows: grid.row_count + table.rows, type })
      }
      refuseWarnings(call, warnings)
      return { parts, warnings }
    },
    (writers, { parts, warnings }, layout) =>
      commitSlices(
        writers,
        { fid, principal: call, write: call.writeKey(fid.owner), ifMatch: call.ifMatch },
        layout,
        parts,
        (version) => ({
          idlocal: fid.idlocal,
          rows_added: table.rows,
          row_count: layout.grid.row_count + table.rows,
          version,
          warnings,
        }),
      ),
  )
}
