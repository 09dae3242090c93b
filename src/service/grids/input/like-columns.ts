// Reads cells like the existing columns of a grid, to which they are added.
import { Problem } from '../../../contract/errors.ts'
import type { DelimitedOptions } from '../../../ingest/index.ts'
import type { ColumnRow, GridRow } from '../../store/aggregates/grids.ts'
import { dayOrderOf, familyOf } from '../../store/schema/column-types.ts'
import { primaryKeyUidsOf } from '../../store/schema/primary-key.ts'
import type { ColumnType } from '../../store/schema/schema.ts'
import { allowsTypeChange, type DataCall } from './reading-options.ts'

/** A column of a grid to which values are matched, or like which they are read. */
export type KnownColumn = Pick<ColumnRow, 'uid' | 'name' | 'type'>

/** Options that depend on the columns to which a file is added. */
export type LikeColumns = Pick<DelimitedOptions, 'isNumber' | 'expected' | 'targetName' | 'order' | 'keys'>

/** Returns the options that read a file like the columns of a grid: see docs/formats.md. */
export function readLikeColumns(
  call: DataCall,
  grid: GridRow,
  columns: readonly KnownColumn[],
  keys: readonly string[] | undefined,
): LikeColumns {
  const key = primaryKeyUidsOf(grid)
  const byName = new Map(columns.map((column) => [column.name, column]))
  const hasNoHeader = call.headers.Header === false
  const typeAt = (name: string, position: number): ColumnType =>
    (hasNoHeader ? columns[position] : byName.get(name))?.type ?? 'empty'
  return {
    keys: keys ?? columns.flatMap(({ uid, name }) => (key.includes(uid) ? [name] : [])),
    isNumber: (name, position) => familyOf(typeAt(name, position)) === 'number',
    // CSV and TSV hold booleans as text: parse them as booleans for a boolean column.
    expected: (name, position) => {
      const family = familyOf(typeAt(name, position))
      // Texts stay as written, even if they look like dates.
      if (family === 'text') return family
      return family === 'boolean' && !allowsTypeChange(call) ? family : undefined
    },
    targetName: (position) => (hasNoHeader ? columns[position]?.name : undefined),
    // Dates are read in the day and month order of the existing values.
    order: (name, position) => dayOrderOf(typeAt(name, position)),
  }
}

/** Throws `conflict` if cells were read like columns that have another type now, in which they mean something else. */
export function checkReadLike(before: readonly KnownColumn[], columns: readonly KnownColumn[]): void {
  const typeByName = new Map(before.map(({ name, type }) => [name, type]))
  if (columns.some(({ name, type }) => isReadOtherwise(typeByName.get(name) ?? 'empty', type)))
    throw columnsChangedError()
}

/** Throws `conflict` unless `columns` are those that values were matched to. */
export function checkColumnsUnchanged(
  matched: readonly Pick<KnownColumn, 'uid' | 'name'>[],
  columns: readonly Pick<KnownColumn, 'uid' | 'name'>[],
): void {
  const isSame = ({ uid, name }: Pick<KnownColumn, 'uid' | 'name'>, k: number): boolean =>
    uid === columns[k].uid && name === columns[k].name
  if (matched.length !== columns.length || !matched.every(isSame)) throw columnsChangedError()
}

/** Families of columns like which cells are read. */
const READ_LIKE: ReadonlySet<string> = new Set(['number', 'boolean', 'text'])

/** Returns whether cells are read otherwise for a type than for the one before. A column without values has none. */
function isReadOtherwise(before: ColumnType, now: ColumnType): boolean {
  const readingOf = (type: ColumnType): string => {
    const family = familyOf(type)
    return READ_LIKE.has(family) ? family : ''
  }
  const orders = [before, now].map(dayOrderOf)
  const haveOrders = orders[0] !== undefined && orders[1] !== undefined
  return (
    before !== 'empty' && (readingOf(before) !== readingOf(now) || (haveOrders && orders[0] !== orders[1]))
  )
}

/** Creates the error for columns that changed after values were matched to them. */
function columnsChangedError(): Problem {
  return new Problem('conflict', 'another request has changed the columns of the grid', {
    hint: 'Append again.',
  })
}
