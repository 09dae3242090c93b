import { Problem } from '../../../../contract/errors.ts'
import { acceptedBefore, breathe, RawJson, turnIsLong } from '../../../../json/index.ts'
import type { ColumnRow, GridRow } from '../../../store/aggregates/grids.ts'
import { fits, typeOf } from '../../../store/schema/column-types.ts'
import type { ColumnType } from '../../../store/schema/schema.ts'
import { typeChange } from '../../column/types.ts'
import type { Append } from '../../service.ts'

/** Thrown if columns differ in length. The caller pads them and retries the append. */
export class UnequalColumns extends Error {}

/** The grid has a key, by which rows are found, or checks: rows are not only appended. */
export class HasRules extends Error {}

export function hasRules({ primary_key, checks }: Pick<GridRow, 'primary_key' | 'checks'>): boolean {
  return primary_key !== null || checks !== null
}

/** Another server changes the columns of the grid: the append waits. */
export class GridHeld extends Error {}

/** A value does not fit the type of its column. The value is located after the transaction. */
export class Misfit extends Error {
  constructor(
    readonly column: number,
    readonly columnName: string,
    readonly type: ColumnType,
  ) {
    super()
  }
}

/** The error for the first row whose value does not fit the type of its column. */
export async function misfitIn({ bodies }: Append, { column, columnName, type }: Misfit): Promise<Problem> {
  let row = 0
  for (const { body } of bodies) {
    for (const cells of rowsIn(body)) {
      row++
      const value = valueAt(cells, column)
      if (!fits(typeOf(value.buf, value.start, value.end), type))
        return typeChange(`row ${row}`, columnName, value.bytes, type)
      if (turnIsLong()) await breathe()
    }
  }
  throw new Error('no value misfits')
}

function valueAt(cells: RawJson, column: number): RawJson {
  let at = 0
  for (const cell of cells.items()) if (at++ === column) return cell
  throw new Error('the row is too short')
}

function* rowsIn(body: Buffer): Generator<RawJson> {
  yield* new RawJson(Buffer.concat([OPEN, body, CLOSE]), 0, body.length + 2, acceptedBefore).items()
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

/** Throws `Misfit` for the first column that the values do not fit. */
export function checkTypes(
  given: readonly ColumnType[],
  columns: readonly Pick<ColumnRow, 'name' | 'type'>[],
): void {
  const misfit = given.findIndex((type, k) => !fits(type, columns[k].type))
  if (misfit >= 0) throw new Misfit(misfit, columns[misfit].name, columns[misfit].type)
}

type Named = Pick<ColumnRow, 'uid' | 'name'>

/** Whether columns are not those that the values were matched to. */
export function moved(columns: readonly Named[], expected: readonly Named[]): boolean {
  return columns.some(({ uid, name }, k) => uid !== expected[k].uid || name !== expected[k].name)
}

export function columnsChanged(): Problem {
  return new Problem('conflict', 'the columns of the grid were changed by another request', {
    hint: 'Append again.',
  })
}

export function wrongLength({ width }: Append, columns: number): Problem {
  if (columns === 0)
    return new Problem('bad_data', 'the grid has no columns', {
      field: 'rows',
      hint: 'Add columns before rows.',
    })
  const values = `${width} ${width === 1 ? 'value' : 'values'}`
  return new Problem(
    'bad_data',
    `a row has ${values}; the grid has ${columns} ${columns === 1 ? 'column' : 'columns'}`,
    {
      field: 'rows',
      hint: 'Give a value for every column; use null for missing values.',
    },
  )
}
