/** Grids, their columns and rows. See docs/api.md#grids. */
import { COLUMN_TYPE_NAMES } from '../column-types.ts'
import * as s from '../schema.ts'
import { CheckReport } from './checks.ts'
import { FolderMeta, META_FIELDS } from './files.ts'
import { CREATABLE_FIELDS, NEW_IDLOCAL } from './shared.ts'

export const ColumnMeta = s.object({
  name: s.string(),
  uid: s.string(),
  order: s.integer(),
  type: s.enumOf(COLUMN_TYPE_NAMES, {
    description: 'Type of the values that are not null; `json` if their types differ.',
  }),
  date_order: s.optional(
    s.enumOf(['dmy', 'mdy', 'undecided'], {
      description:
        'The order of day and month in which the dates were written, if they were not in ISO 8601. `undecided`: the column is text, since its dates can be read in both orders.',
    }),
  ),
  zoned: s.optional(s.boolean({ description: 'true: the times have an offset from UTC.' })),
})
export type ColumnMeta = s.Static<typeof ColumnMeta>

export const GridMeta = s.object({
  ...META_FIELDS,
  version: s.integer({ description: 'The version of the content, from 1.' }),
  cols: s.array(ColumnMeta, { description: 'In column order.' }),
  row_count: s.integer({ description: 'Rows of the longest column.' }),
  draft: s.optional(s.string({ description: 'Name of the draft with this content; its version is 0.' })),
  primary_key: s.nullable(s.array(s.string(), { description: 'The key columns; null without a key.' })),
  source_fid: s.optional(s.nullable(s.string())),
  source_url: s.optional(s.nullable(s.string())),
})
export type GridMeta = s.Static<typeof GridMeta>

/** Number, text of up to 200 characters, or null. */
const scalar = s.anything()

export const ColumnDescription = s.object({
  name: s.string(),
  type: s.enumOf(COLUMN_TYPE_NAMES),
  rows: s.integer(),
  nulls: s.integer(),
  distinct: s.integer({
    description: 'Different values; at most 100,000 are counted, see distinct_is_exact.',
  }),
  distinct_is_exact: s.boolean(),
  min: scalar,
  max: scalar,
  mean: s.nullable(s.number()),
  quantiles_are_exact: s.boolean({
    description:
      'Whether the quantiles are computed from all values. Above 10,000, they are estimated from a sample.',
  }),
  quantiles: s.nullable(
    s.array(s.number(), {
      description: 'The 25 %, 50 % and 75 % quantiles; from a sample of 10,000 values if there are more.',
    }),
  ),
  ascending: s.nullable(
    s.boolean({
      description:
        'Whether no number or date is less than the one before it. null for texts and without values.',
    }),
  ),
  trend: s.array(s.nullable(s.number()), {
    description: 'Means of up to 24 consecutive row ranges, in row order. Empty for texts.',
  }),
})
export type ColumnDescription = s.Static<typeof ColumnDescription>

export const GridDescription = s.object({
  fid: s.string(),
  filename: s.string(),
  row_count: s.integer(),
  columns: s.array(ColumnDescription),
})
export type GridDescription = s.Static<typeof GridDescription>

/** Possible results of an upload. */
const uploadActions = ['created', 'replaced', 'appended', 'updated', 'unchanged', 'drafted'] as const

export type UploadAction = (typeof uploadActions)[number]

/** Counts of upserted rows. */
const byKey = {
  rows_updated: s.optional(s.integer({ description: 'With a key: rows whose values changed.' })),
  rows_unchanged: s.optional(s.integer({ description: 'With a key: rows whose values did not change.' })),
  rows_removed: s.optional(s.integer({ description: 'With Delete-Missing: rows that the file lacks.' })),
}

export const Uploaded = <T extends s.Schema>(file: T) =>
  s.object({
    file,
    warnings: s.array(s.string()),
    action: s.optional(
      s.enumOf(uploadActions, {
        description:
          'unchanged: the grid already contains exactly this data; updated: rows by key; drafted: see Draft.',
      }),
    ),
    version: s.optional(
      s.integer({ description: 'The version with the upload. The file may already have a later one.' }),
    ),
    rows_added: s.optional(s.integer({ description: 'With a key: rows that were appended.' })),
    ...byKey,
    checks: s.optional(CheckReport),
  })

/** State of an upload in parts. At the end, it includes the result of `grids.upload`. */
export const UploadState = s.object({
  id: s.string(),
  received: s.integer({ description: 'Bytes received so far: the offset of the next part.' }),
  file: s.optional(s.union(GridMeta, FolderMeta)),
  warnings: s.optional(s.array(s.string())),
  action: s.optional(s.enumOf(uploadActions)),
  rows_added: s.optional(s.integer()),
  ...byKey,
})

export const Column = s.object({
  name: s.string(),
  uid: s.string(),
  order: s.integer(),
  data: s.array(s.anything()),
})

/** Columns of a new grid, by name. A JSON-encoded string is accepted too. See docs/api.md#grids. */
const GridData = s.object({
  cols: s.record(
    s.object({
      data: s.array(s.anything()),
      order: s.optional(s.integer()),
      uid: s.optional(
        s.string({ description: 'Six hexadecimal digits, to keep the uid of another server.' }),
      ),
    }),
  ),
})

/** Body of `grids.create`. Without `data`, the grid is imported from `source_url`. */
export const GridCreate = s.object({
  data: s.optional(s.union(GridData, s.string())),
  ...CREATABLE_FIELDS,
  idlocal: NEW_IDLOCAL,
  source_fid: s.optional(s.nullable(s.string())),
  source_url: s.optional(s.nullable(s.string())),
  source_referer: s.optional(s.nullable(s.string())),
})

export const RowsAppend = s.object({
  rows: s.array(s.array(s.anything()), {
    description: 'One array per row, with one value per column in column order.',
  }),
})

export const RowsAppended = s.object({
  fid: s.string(),
  rows_added: s.integer(),
  ...byKey,
  row_count: s.integer(),
  version: s.optional(s.integer({ description: 'The version of the grid with the rows.' })),
  warnings: s.array(s.string()),
  checks: s.optional(CheckReport),
})
export type RowsAppended = s.Static<typeof RowsAppended>

export const ColumnsCreate = s.object({
  cols: s.string({ description: 'JSON-encoded array of {name, data}.' }),
})

export const ColumnsUpdate = s.object({
  cols: s.union(
    s.string({ description: 'JSON-encoded array of {data, name, order}, matched to the uids of the query.' }),
    s.array(s.anything()),
  ),
})

export const ColumnsWritten = s.object({
  cols: s.array(ColumnMeta),
  version: s.integer({ description: 'The version of the grid with the columns.' }),
})
export type ColumnsWritten = s.Static<typeof ColumnsWritten>
