/** Versions of the content of grids and plots. See docs/versions.md. */
import * as s from '../schema.ts'
import { Timestamp } from './shared.ts'

const counted = (what: string) =>
  s.nullable(s.integer({ description: `${what}; null where it has not been counted.` }))

export const Version = s.object({
  version: s.integer({ description: 'From 1.' }),
  is_current: s.boolean(),
  made_at: Timestamp,
  made_by: s.nullable(s.string({ description: 'The user; null where it is not known.' })),
  operation: s.string({
    description: 'create, copy, replace, append, update (rows by key), columns, figure or revert.',
  }),
  source: s.nullable(s.string({ description: 'The URL or Source-Tag that it was made from.' })),
  message: s.nullable(s.string({ description: 'Why it was made: the header Message.' })),
  of_version: s.nullable(s.integer({ description: 'Of a revert: the version that it went back to.' })),
  row_count: s.nullable(s.integer({ description: 'Of grids: rows of the longest column.' })),
  rows_added: counted('Rows that it added'),
  rows_removed: counted('Rows that it removed'),
  rows_changed: counted('Rows that it changed'),
  columns_added: counted('Columns that it added'),
  columns_removed: counted('Columns that it removed'),
  columns_changed: counted('Columns that it renamed, or that have another type since'),
  kept: s.boolean({ description: 'It does not expire, and everyone who may read the file may read it.' }),
  name: s.nullable(s.string({ description: 'The name that it was kept with.' })),
  web_url: s.string({
    description: 'Its link. Of a version that is not kept, for those who may write the file.',
  }),
})
export type Version = s.Static<typeof Version>

export const Versions = s.object({
  versions: s.array(Version, { description: 'The newest first.' }),
  next: s.nullable(s.integer({ description: 'If there are more: `before` of the next page.' })),
})
export type Versions = s.Static<typeof Versions>

const ref = {
  version: s.string({
    description:
      'A number, -1 (the one before the present one), a date or time, or the name of a kept version.',
  }),
}

export const VersionRevert = s.object({ version: s.optional(ref.version) })

export const Reverted = s.object({
  fid: s.string(),
  version: s.integer({ description: 'The new version.' }),
  of_version: s.integer({ description: 'The version that it went back to.' }),
  action: s.enumOf(['reverted', 'unchanged'], {
    description: 'unchanged: the file already contains exactly this.',
  }),
  warnings: s.array(s.string()),
})
export type Reverted = s.Static<typeof Reverted>

export const VersionKeep = s.object({
  version: s.optional(ref.version),
  name: s.optional(
    s.nullable(s.string({ description: 'A name for it: a letter, then letters, digits, . _ or -.' })),
  ),
  kept: s.optional(s.boolean({ description: 'false: it is not kept any more. Default: true.' })),
  undo: s.optional(s.boolean({ description: 'true: the same as kept false.' })),
})

export const VersionForgotten = s.object({ fid: s.string(), version: s.integer() })
export type VersionForgotten = s.Static<typeof VersionForgotten>
