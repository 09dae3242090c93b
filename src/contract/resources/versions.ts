/** Versions of the content of grids and plots. See docs/versions.md. */
import * as s from '../schema.ts'
import { Timestamp } from './shared.ts'

const nullableCount = (label: string) =>
  s.nullable(s.integer({ description: `${label}; null if not counted.` }))

export const Version = s.object({
  version: s.integer({ description: 'From 1.' }),
  is_current: s.boolean(),
  made_at: Timestamp,
  made_by: s.nullable(s.string({ description: 'The user; null if unknown.' })),
  operation: s.string({
    description:
      'create, copy, replace, append, update (rows by key), columns, figure, refresh (from a query or a URL) or revert.',
  }),
  source: s.nullable(s.string({ description: 'URL or Source-Tag of the data.' })),
  message: s.nullable(s.string({ description: 'Reason of the change: the header Message.' })),
  of_version: s.nullable(s.integer({ description: 'For a revert: the restored version.' })),
  row_count: s.nullable(s.integer({ description: 'For grids: rows of the longest column.' })),
  rows_added: nullableCount('Rows added'),
  rows_removed: nullableCount('Rows removed'),
  rows_changed: nullableCount('Rows changed'),
  columns_added: nullableCount('Columns added'),
  columns_removed: nullableCount('Columns removed'),
  columns_changed: nullableCount('Columns renamed, or with a new type'),
  kept: s.boolean({
    description: 'True if the version does not expire, and everyone with read access can see it.',
  }),
  name: s.nullable(s.string({ description: 'Name of the kept version.' })),
  web_url: s.string({
    description: 'Link to the version. Unless the version is kept, it requires write access.',
  }),
})
export type Version = s.Static<typeof Version>

export const Versions = s.object({
  versions: s.array(Version, { description: 'Newest first.' }),
  next: s.nullable(s.integer({ description: 'If there are more: `before` of the next page.' })),
})
export type Versions = s.Static<typeof Versions>

export const RowChange = s.object({
  version: s.integer(),
  made_at: Timestamp,
  made_by: s.nullable(s.string({ description: 'The user; null if unknown.' })),
  operation: s.string(),
  message: s.nullable(s.string()),
  change: s.enumOf(['added', 'changed', 'removed']),
  cells: s.array(
    s.object({
      column: s.string(),
      before: s.nullable(s.string({ description: 'The value as JSON text; null if there was none.' })),
      after: s.nullable(s.string()),
    }),
  ),
})
export type RowChange = s.Static<typeof RowChange>

export const RowHistory = s.object({
  changes: s.array(RowChange, { description: 'Newest first.' }),
  next: s.nullable(s.integer({ description: 'If there are more versions: `before` of the next page.' })),
})

const ref = {
  version: s.string({
    description: 'A number, -1 (the previous one), a date or time, or the name of a kept version.',
  }),
}

export const VersionRevert = s.object({ version: s.optional(ref.version) })

export const Reverted = s.object({
  fid: s.string(),
  version: s.integer({ description: 'The new version.' }),
  of_version: s.integer({ description: 'The restored version.' }),
  action: s.enumOf(['reverted', 'unchanged'], {
    description: 'unchanged: the file already has this content.',
  }),
  warnings: s.array(s.string()),
})
export type Reverted = s.Static<typeof Reverted>

export const VersionKeep = s.object({
  version: s.optional(ref.version),
  name: s.optional(s.nullable(s.string({ description: 'Name: a letter, then letters, digits, . _ or -.' }))),
  kept: s.optional(s.boolean({ description: 'false: stop keeping the version. Default: true.' })),
  undo: s.optional(s.boolean({ description: 'true: the same as kept false.' })),
})

export const VersionForgotten = s.object({ fid: s.string(), version: s.integer() })
export type VersionForgotten = s.Static<typeof VersionForgotten>
