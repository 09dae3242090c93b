// Matches the columns of a table with those of a grid, and refuses unwanted losses.

import { columnLossError, Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import { badData, suggestCommaOptions } from '../../../ingest/index.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow, SliceRef } from '../../store/aggregates/grids.ts'
import { isAssignable } from '../../store/schema/column-types.ts'
import type { Readers } from '../../store/store.ts'
import type { ColumnType } from '../column/column-json.ts'
import type { NewColumn } from '../column/layout.ts'
import { storeNumbersAsText } from '../column/slices.ts'
import { formatColumns } from '../column/snapshot.ts'
import { nounOf, typeChangeError } from '../column/type-names.ts'
import type { GridService } from '../service.ts'
import { wrongLengthError } from './json-rows.ts'
import { checkColumnsUnchanged, checkReadLike, type KnownColumn } from './like-columns.ts'
import { allowsTypeChange, type DataCall } from './reading-options.ts'
import type { Table } from './tables.ts'

/**
 * Returns the column of the table for each column of the grid; undefined if it is missing, with a warning.
 * Matches by name, or by position if the table is nameless. Throws `unknown_column`, `bad_data` and `conflict`.
 */
export function matchColumns(
  table: Table,
  columns: readonly KnownColumn[],
  source: string,
  warnings: string[],
): (NewColumn | undefined)[] {
  if (table.readLike) checkReadLike(table.readLike, columns)
  if (table.isNameless) {
    const matched = table.matched ?? table.readLike
    if (matched) checkColumnsUnchanged(matched, columns)
    if (table.columns.length === columns.length) return table.columns
    if (table.json) throw wrongLengthError(table.columns.length, columns.length)
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
          ? `If the first line is data, give --no-header. ${formatColumns(columns)}`
          : formatColumns(columns),
      },
    )
  }
  const byName = new Map(table.columns.map((column) => [column.name, column]))
  const missing = columns.filter(({ name }) => !byName.has(name)).map(({ name }) => name)
  if (missing.length > 0)
    warnings.push(`columns missing from the file were filled with nulls: ${missing.slice(0, 10).join(', ')}`)
  return columns.map(({ name }) => byName.get(name))
}

/**
 * Returns the slices of a column, converted to the type of the target: numbers become texts. See `checkType`.
 */
export async function convertSlices(
  service: GridService,
  call: DataCall,
  source: NewColumn,
  target: { name: string; type: ColumnType },
  warnings: string[],
): Promise<SliceRef[]> {
  const type = typeAfterConversion(source, target.type)
  checkType(call, call.fileName ?? 'the upload', source, target, warnings)
  if (type === 'text' && source.type === 'number') {
    return Promise.all(source.slices.map((slice) => storeNumbersAsText(service.store.blobs, slice)))
  }
  return source.slices
}

/**
 * Throws `type_change` if values do not fit the type of the column; if type changes are allowed, adds a
 * warning.
 */
export function checkType(
  call: DataCall,
  name: string,
  source: NewColumn,
  target: { name: string; type: ColumnType },
  warnings: string[],
): void {
  const type = typeAfterConversion(source, target.type)
  if (isAssignable(type, target.type)) return
  if (allowsTypeChange(call)) {
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
  const options = first && target.type === 'number' ? suggestCommaOptions(first.text) : undefined
  throw typeChangeError(
    first ? `${name}, ${first.where}` : name,
    target.name,
    first ? first.text : nounOf(type),
    target.type,
    options && `Add ${options} if it has a decimal comma. Otherwise, correct it, or use --allow-type-change.`,
  )
}

/** Returns the type of a column after conversion for a target type: numbers become text in a text column. */
export function typeAfterConversion(source: NewColumn, target: string): NewColumn['type'] {
  return target === 'text' && source.type === 'number' ? 'text' : source.type
}

/** Returns warnings for columns whose type differs from that of the grid's column of the same name. */
export function warnOfTypeChanges(table: readonly NewColumn[], columns: readonly ColumnRow[]): string[] {
  const typeByName = new Map(columns.map(({ name, type }) => [name, type]))
  return table.flatMap(({ name, type }) => {
    const before = typeByName.get(name) ?? 'empty'
    if (nounOf(before) === nounOf(type) || before === 'empty' || type === 'empty') return []
    return [`column ${name} held ${nounOf(before)} and now holds ${nounOf(type)}`]
  })
}

/** Throws `column_loss` if columns would be lost and `Allow-Column-Loss` is false. */
export function checkColumnLoss(
  { headers }: { headers: Pick<DataCall['headers'], 'Allow-Column-Loss'> },
  file: FileRow,
  table: readonly NewColumn[],
  columns: readonly ColumnRow[],
  source = 'the file',
): void {
  if (headers['Allow-Column-Loss'] !== false) return
  const names = new Set(table.map(({ name }) => name))
  const lost = columns.filter(({ name }) => !names.has(name))
  if (lost.length > 0) throw columnLossError(source, file.filename, lost)
}

/**
 * Throws `row_loss` if a grid would shrink by more percent of its rows than `Max-Shrink` allows.
 */
export function checkRowLoss(
  { headers }: Pick<DataCall, 'headers'>,
  file: FileRow,
  rows: number,
  before: number,
): void {
  const maxPercent = headers['Max-Shrink']
  if (maxPercent === undefined || before === 0 || rows >= before) return
  if ((before - rows) * 100 <= before * maxPercent) return
  throw new Problem(
    'row_loss',
    `the file has ${formatCount(rows, 'row')}, and '${file.filename}' has ${before}: ${formatCount(before - rows, 'row')} would be lost`,
    { hint: 'If that is right, add --yes, or allow it with --max-shrink 100%.' },
  )
}

/** Loads a grid with its columns. Their types include the rows of the tail. */
export async function loadGrid({ grids }: Pick<Readers, 'grids'>, { owner, idlocal }: Fid) {
  const grid = await grids.get(owner, idlocal)
  return { grid, columns: await grids.listCurrentColumns(grid) }
}
