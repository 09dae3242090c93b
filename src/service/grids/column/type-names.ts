// Column types in messages.
import { COLUMN_TYPES } from '../../../contract/column-types.ts'
import { Problem } from '../../../contract/errors.ts'
import { excerpt } from '../../../json/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'

/** Returns the noun for the values of a column type. */
export function nounOf(type: ColumnType): string {
  return type === 'datetime-zone' ? 'times with a zone' : COLUMN_TYPES[familyOf(type)].noun
}

/**
 * Creates the error for a value that would change the type of a column. `where`: such as `rows.csv, line 3`. `hint`: how
 * the value would fit.
 */
export function typeChangeError(
  where: string,
  column: string,
  value: Uint8Array | string,
  type: ColumnType,
  hint = 'Correct the value, or allow the change with --allow-type-change.',
): Problem {
  return new Problem(
    'type_change',
    `${where}, column ${column}: ${excerpt(value)} would change the type of the column, which holds ${nounOf(type)}`,
    { field: column, hint },
  )
}
