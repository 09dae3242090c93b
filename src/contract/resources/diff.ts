/** Differences between two grids, or between two versions of a grid. See docs/diff.md. */
import { COLUMN_TYPE_NAMES } from '../column-types.ts'
import * as s from '../schema.ts'

export type DiffValue = string | number | boolean | null

const DiffSide = s.object({
  fid: s.string(),
  filename: s.string(),
  version: s.integer(),
  row_count: s.integer(),
})

const columnChanges = ['added', 'removed', 'renamed', 'retyped', 'moved', 'values'] as const

export const DiffColumn = s.object({
  change: s.enumOf(columnChanges, {
    description:
      'The first of these that applies: added, removed, renamed, retyped (the type changed), moved (the position changed), values (only values changed).',
  }),
  name_before: s.nullable(s.string({ description: 'null: added.' })),
  name_after: s.nullable(s.string({ description: 'null: removed.' })),
  type_before: s.nullable(s.enumOf(COLUMN_TYPE_NAMES)),
  type_after: s.nullable(s.enumOf(COLUMN_TYPE_NAMES)),
  cells_changed: s.integer({ description: 'Number of different cells in changed rows.' }),
})
export type DiffColumn = s.Static<typeof DiffColumn>

const values = s.nullable(s.record(s.anything() as s.Schema<DiffValue>))

/** Row that differs. For a changed row: its key or `context`, and the changed values; else all values. */
export const DiffRow = s.object({
  change: s.enumOf(['added', 'removed', 'changed']),
  row_before: s.nullable(s.integer({ description: 'Row number, from 1; null: added.' })),
  row_after: s.nullable(s.integer({ description: 'Row number, from 1; null: removed.' })),
  before: values,
  after: values,
})
export type DiffRow = s.Static<typeof DiffRow>

export const GridDiff = s.object({
  before: DiffSide,
  after: DiffSide,
  key: s.array(s.string(), { description: 'Empty: rows were compared in order.' }),
  context: s.optional(
    s.array(s.string(), {
      description:
        'With `context`: the columns that identify changed rows; their values are listed even if they are the same.',
    }),
  ),
  unique: s.optional(
    s.string({
      description: 'With `context`, of up to 200,000 rows: a column whose values are unique on both sides.',
    }),
  ),
  is_reordered: s.optional(
    s.boolean({ description: 'With a key: the order of rows changed. This does not count as a difference.' }),
  ),
  is_same: s.boolean(),
  rows_added: s.integer(),
  rows_removed: s.integer(),
  rows_changed: s.integer(),
  cells_changed: s.integer(),
  columns: s.array(DiffColumn, { description: 'The columns that differ.' }),
  rows: s.array(DiffRow, { description: 'The rows that differ, up to `limit`.' }),
  is_complete: s.boolean({ description: 'Whether all rows that differ are listed.' }),
})
export type GridDiff = s.Static<typeof GridDiff>
