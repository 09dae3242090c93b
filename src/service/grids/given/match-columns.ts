import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import { badData } from '../../../ingest/index.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow, SliceRef } from '../../store/aggregates/grids.ts'
import { decodeTypes, isAssignable } from '../../store/schema/column-types.ts'
import type { Readers } from '../../store/store.ts'
import { columnsAre } from '../column/content.ts'
import type { NewColumn } from '../column/layout.ts'
import { quoteNumbers, type StoredSlice } from '../column/slices.ts'
import { nounOf, typeChange } from '../column/types.ts'
import type { ColumnType } from '../column/values.ts'
import type { GridService } from '../service.ts'
import { wrongLength } from './json-rows.ts'
import { type DataCall, mayChangeTypes } from './reading-options.ts'
import type { Table } from './tables.ts'

/** Matches columns: for each column of the grid, the column of the table, if any. */
export function matchColumns(
  table: Table,
  columns: readonly { name: string }[],
  source: string,
  warnings: string[],
): (NewColumn | undefined)[] {
  if (table.nameless) {
    if (table.columns.length === columns.length) return table.columns
    if (table.json) throw wrongLength(table.columns.length, columns.length)
    throw badData(
      source,
      { line: 1 },
      `${formatCount(table.columns.length, 'cell')}; the grid has ${formatCount(columns.length, 'column')}`,
      'Give a cell for every column, or a header line with the names of the columns.',
    )
  }
  const names = new Set(columns.map(({ name }) => name))
  const unknown = table.columns.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  if (unknown.length > 0) {
    throw new Problem(
      'unknown_column',
      `${source}: the grid has no column ${unknown
        .slice(0, 5)
        .map((name) => JSON.stringify(name))
        .join(', ')}`,
      {
        hint: unknown.every((name) => /^column_\d+$/.test(name))
          ? `If the first line is data, give --no-header. ${columnsAre(columns)}`
          : columnsAre(columns),
      },
    )
  }
  const missing = columns
    .filter(({ name }) => !table.columns.some((column) => column.name === name))
    .map(({ name }) => name)
  if (missing.length > 0)
    warnings.push(`columns missing from the file were filled with nulls: ${missing.slice(0, 10).join(', ')}`)
  return columns.map(({ name }) => table.columns.find((column) => column.name === name))
}

/**
 * Converts the slices of a column for a target column: numbers become text in a text column. Text in a number
 * column stays text; that is an error unless type changes are allowed.
 */
export async function convertSlices(
  service: GridService,
  call: DataCall,
  source: NewColumn,
  target: { name: string; type: ColumnType },
  warnings: string[],
): Promise<SliceRef[]> {
  const type = typeWithin(source, target.type)
  checkType(call, call.fileName ?? 'the upload', source, target, warnings)
  if (type === 'text' && source.type === 'number') {
    return Promise.all(
      (source.slices as StoredSlice[]).map((slice) => quoteNumbers(service.store.blobs, slice)),
    )
  }
  return source.slices
}

/** Throws `type_change` if values do not fit the column's type; only warns if type changes are allowed. */
export function checkType(
  call: DataCall,
  name: string,
  source: NewColumn,
  target: { name: string; type: ColumnType },
  warnings: string[],
): void {
  const type = typeWithin(source, target.type)
  if (isAssignable(type, target.type)) return
  if (mayChangeTypes(call)) {
    warnings.push(`column ${target.name} held ${nounOf(target.type)} and now holds ${nounOf(type)} as well`)
    return
  }
  const first = source.seen?.find((value) => !isAssignable(value.type, target.type))
  if (source.type === 'text-undecided' && first)
    throw new Problem(
      'type_change',
      `${name}, ${first.where}, column ${target.name}: ${JSON.stringify(first.text)} can have the day or the month first`,
      {
        field: target.name,
        hint: `Give the order: --column ${JSON.stringify(`${target.name}:date-dmy`)} or ${JSON.stringify(`${target.name}:date-mdy`)}.`,
      },
    )
  throw typeChange(
    first ? `${name}, ${first.where}` : name,
    target.name,
    first ? first.text : nounOf(type),
    target.type,
  )
}

export function typeWithin(source: NewColumn, target: string): NewColumn['type'] {
  return target === 'text' && source.type === 'number' ? 'text' : source.type
}

/** Warnings for columns whose type changes while their name stays. */
export function typesChanged(table: readonly NewColumn[], columns: readonly ColumnRow[]): string[] {
  return table.flatMap(({ name, type }) => {
    const before = columns.find((column) => column.name === name)?.type ?? 'empty'
    if (nounOf(before) === nounOf(type) || before === 'empty' || type === 'empty') return []
    return [`column ${name} held ${nounOf(before)} and now holds ${nounOf(type)}`]
  })
}

/** Throws `column_loss` if columns would be lost and `Allow-Column-Loss` is false. */
export function refuseLoss(
  { headers }: Pick<DataCall, 'headers'>,
  file: FileRow,
  table: readonly NewColumn[],
  columns: readonly ColumnRow[],
): void {
  if (headers['Allow-Column-Loss'] !== false) return
  const names = new Set(table.map(({ name }) => name))
  const lost = columns.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  if (lost.length === 0) return
  const shown = lost.slice(0, 10).join(', ') + (lost.length > 10 ? ' …' : '')
  throw new Problem(
    'column_loss',
    `the file lacks ${lost.length === 1 ? 'a column' : `${lost.length} columns`} of '${file.filename}', which would be lost: ${shown}`,
    { field: 'columns', hint: 'Add --yes to replace the grid anyway.' },
  )
}

/**
 * Throws `row_loss` if a grid would lose more of its rows than `Max-Shrink` allows, or all. A grid of one row has none to
 * lose by percent: only an empty file is refused.
 */
export function refuseShrink(
  { headers }: Pick<DataCall, 'headers'>,
  file: FileRow,
  rows: number,
  before: number,
): void {
  const most = headers['Max-Shrink']
  if (most === undefined || before === 0 || rows >= before) return
  if (rows > 0 && (before - rows) * 100 <= before * most) return
  throw new Problem(
    'row_loss',
    `the file has ${formatCount(rows, 'row')}, and '${file.filename}' has ${before}: ${formatCount(before - rows, 'row')} would be lost`,
    { hint: 'If that is right, add --yes, or allow it with --max-shrink 100%.' },
  )
}

/** The columns of a grid. Their types include rows in the tail. */
export async function columnsNow({ grids }: Readers, { owner, idlocal }: Fid): Promise<ColumnRow[]> {
  const types = decodeTypes((await grids.get(owner, idlocal)).types)
  return (await grids.listColumns(owner, idlocal)).map((column, k) => ({ ...column, type: types[k] }))
}
