// Bodies, queries and formats that several operations share.
import { compressions, fileFormats, imageTypes } from '../formats.ts'
import { uploadHeaders } from '../headers.ts'
import { FILETYPES } from '../resources/files.ts'
import { AGGREGATE_FUNCTIONS, PERIODS } from '../row-options.ts'
import * as s from '../schema.ts'

export const noBody = { kind: 'none' } as const
/** Returns a JSON body; `form` also accepts form encoding. */
export const jsonBody = <S extends s.ObjectSchema>(schema: S, options: { form?: boolean } = {}) =>
  ({ kind: 'json', schema, ...options, limit: 'small_body_bytes' }) as const
/** Returns a JSON body that carries data or a figure. Fields in `raw` stay unparsed. */
export const dataBody = <S extends s.ObjectSchema, const R extends readonly string[] = []>(
  schema: S,
  options: { form?: boolean; raw?: R } = {},
) => ({ kind: 'json', schema, ...options, limit: 'json_body_bytes' }) as const

export const allResources = ['grids', 'plots', 'folders', 'extras', 'dashboards'] as const

export const lookupQuery = s.object({
  path: s.string({ description: "Path relative to parent; names are separated by '/'." }),
  parent: s.optional(
    s.integer({ description: "Id of the folder to start in. Default: the user's home folder." }),
  ),
  user: s.optional(s.string({ description: 'Username of the owner. Default: the caller.' })),
  exists: s.optional(s.boolean({ description: 'If true, return only whether the file exists.' })),
})

export const listQuery = {
  user: s.optional(s.string()),
  filetype: s.optional(s.array(s.enumOf(FILETYPES))),
  order_by: s.optional(s.enumOf(['filename', '-filename', 'date_modified', '-date_modified'])),
  page: s.optional(s.integer({ minimum: 1 })),
  page_size: s.optional(s.integer({ minimum: 1 })),
  cursor: s.optional(s.string()),
}

export const uids = s.string({ description: 'Column uids, comma-separated.' })

export const pageQuery = {
  page: s.optional(s.integer({ minimum: 1 })),
  page_size: s.optional(s.integer({ minimum: 1 })),
  cursor: s.optional(s.string()),
}

/** Image sizes of `files.image`. Other names are answered with 400. */
export const imageNames = ['default', 'block-thumb', 'list-thumb'] as const

export { type ImageFormat, imageFormats, imageTypes } from '../formats.ts'

export const plotContentQuery = {
  inline_data: s.optional(s.boolean({ description: 'If true, include the data next to the references.' })),
  map_data: s.optional(
    s.enumOf(['unreadable'], {
      description: 'unreadable: include the data of grids that the caller cannot read, keyed by reference.',
    }),
  ),
}

export const contentFormats = ['json', 'csv', 'tsv', 'ndjson', 'xlsx', 'parquet', 'md', 'html'] as const

/** Media types of content, except JSON. */
export const dataTypes = {
  csv: fileFormats.csv.mediaTypes[0],
  tsv: fileFormats.tsv.mediaTypes[0],
  ndjson: fileFormats.ndjson.mediaTypes[0],
  xlsx: fileFormats.xlsx.mediaTypes[0],
  parquet: fileFormats.parquet.mediaTypes[0],
  md: 'text/markdown',
  html: imageTypes.html,
} as const satisfies Record<Exclude<(typeof contentFormats)[number], 'json'>, string>

/** Media types accepted for upload. The actual format is detected from the bytes. */
export const uploadTypes: readonly string[] = [
  ...Object.values(fileFormats).flatMap(({ mediaTypes }) => mediaTypes),
  ...Object.values(compressions).flatMap(({ mediaTypes }) => mediaTypes),
]

/** Query parameters that make another table of the rows. See docs/filtering.md. */
export const reshapeQuery = {
  join: s.optional(
    s.string({
      description: 'Path or id of a grid whose columns are added to the rows with the same values in `on`.',
    }),
  ),
  on: s.optional(
    s.array(s.string(), { description: 'Columns to join on: a name, or name=name if they differ.' }),
  ),
  unpivot: s.optional(
    s.array(s.string(), { description: 'Columns to turn into rows: each value becomes a row.' }),
  ),
  into: s.optional(
    s.array(s.string(), {
      description: 'With unpivot: the column for their names and the one for their values.',
    }),
  ),
  group: s.optional(
    s.array(s.string(), { description: 'Columns to group rows by: one row per combination of values.' }),
  ),
  aggregate: s.optional(
    s.array(s.string(), {
      description: `Values of a group: function:column, with the functions ${AGGREGATE_FUNCTIONS.join(', ')}. Default: count.`,
    }),
  ),
  per: s.optional(
    s.enumOf(PERIODS, { description: 'Period into which the dates of a group are collected.' }),
  ),
  pivot: s.optional(s.string({ description: 'Column whose values become columns, with one aggregate.' })),
}

export const readingHeaders = {
  Delimiter: uploadHeaders.Delimiter,
  Encoding: uploadHeaders.Encoding,
  Header: uploadHeaders.Header,
  'Null-Text': uploadHeaders['Null-Text'],
  Quote: uploadHeaders.Quote,
  Escape: uploadHeaders.Escape,
  Skip: uploadHeaders.Skip,
  'Skip-Last': uploadHeaders['Skip-Last'],
  'As-Written': uploadHeaders['As-Written'],
  Locale: uploadHeaders.Locale,
  Columns: uploadHeaders.Columns,
  Key: uploadHeaders.Key,
  'Delete-Missing': uploadHeaders['Delete-Missing'],
  'Max-Shrink': uploadHeaders['Max-Shrink'],
  Checks: uploadHeaders.Checks,
  Strict: uploadHeaders.Strict,
  Comment: uploadHeaders.Comment,
  Decimal: uploadHeaders.Decimal,
  Thousands: uploadHeaders.Thousands,
  'Allow-Type-Change': uploadHeaders['Allow-Type-Change'],
}
