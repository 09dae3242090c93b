import { randomBytes } from 'node:crypto'
import { invalidField, Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import type { Limits } from '../../contract/limits.ts'
import type { FileKind } from '../../contract/operations/index.ts'
import type { Placed } from '../../contract/resources/index.ts'
import { parseRaw } from '../../json/index.ts'
import { type Principal, visibleFileById } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers } from '../store/store.ts'

/** Validates the `source_fid` of a new file: a file of the same filetype that `principal` may read. */
export async function readSourceFid(
  { names }: Service,
  readers: Readers,
  text: string | null | undefined,
  principal: Principal,
  filetype: FileKind,
): Promise<string | null> {
  if (text === undefined || text === null || text === '') return null
  const given = names.inFid(text)
  const fid = parseFid(given)
  const found = fid && (await visibleFileById(readers, fid, principal))
  if (found?.file.filetype === filetype) return given
  throw new Problem('invalid_request', `source_fid: no such ${filetype}, or you may not see it`, {
    field: 'source_fid',
  })
}

/** The JSON text of `metadata`, given as an object or as a JSON-encoded string. */
export function metadataText(given: unknown, limits: Limits): string {
  let value = given
  if (typeof value === 'string')
    value = value === '' ? {} : parseRaw(Buffer.from(value), 'metadata', limits).value()
  if (value === undefined || value === null) value = {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalidField('metadata', 'must be an object, or an object encoded as a JSON string')
  const text = JSON.stringify(value)
  const limit = limits.metadata_bytes
  if (Buffer.byteLength(text) > limit) {
    throw new Problem(
      'too_large',
      `metadata: ${Buffer.byteLength(text)} bytes; the limit is ${limit} (metadata_bytes)`,
      { field: 'metadata' },
    )
  }
  return text
}

/** Creates a new key each time sharing is enabled, so that old links stay invalid. */
export function newShareKey(): string {
  return randomBytes(18).toString('base64url')
}

/** What the fields of a new file become in its row. A field that is missing here does not compile. */
const rowOf: {
  [F in keyof Required<Placed>]: (
    value: Placed[F],
    limits: Limits,
  ) => Partial<Pick<FileRow, 'world_readable' | 'share_key' | 'metadata'>>
} = {
  // The name and the place need the folder: see `placeOf` and `freeName`.
  filename: () => ({}),
  parent: () => ({}),
  parent_path: () => ({}),
  world_readable: (value) => ({ world_readable: value ? 1 : 0 }),
  share_key_enabled: (value) => ({ share_key: value ? newShareKey() : null }),
  metadata: (value, limits) => ({ metadata: metadataText(value, limits) }),
}

/** The fields of the row of a new file, besides its name and place. */
export function newRow(
  /** Metadata of a data file can be anything; `metadataText` checks it. */
  fields: Omit<Placed, 'metadata'> & { metadata?: unknown },
  limits: Limits,
): Pick<FileRow, 'world_readable' | 'share_key' | 'metadata'> {
  const names = Object.keys(rowOf) as (keyof Placed)[]
  return Object.assign({}, ...names.map((name) => rowOf[name](fields[name] as never, limits)))
}

/** What becomes of each field of a file in its copies. A field that is missing here does not compile. */
const inCopies = {
  owner: 'new',
  idlocal: 'new',
  filetype: 'kept',
  filename: 'new',
  live_name: 'new',
  parent: 'new',
  trashed_at: 'new',
  hidden: 'new',
  removed_at: 'new',
  appended_at: 'new',
  appending: 'new',
  starred: 'new',
  shared: 'new',
  quality: 'new',
  world_readable: 'new',
  share_key: 'new',
  metadata: 'kept',
  creation_time: 'new',
  date_modified: 'new',
  version: 'new',
  content_version: 'new',
  views: 'new',
  source_fid: 'new',
  source_url: 'new',
  source_tag: 'new',
  source_version: 'new',
  source_referer: 'new',
  is_theme: 'kept',
  is_template: 'kept',
} as const satisfies Record<keyof FileRow, 'kept' | 'new'>

type Kept = { [F in keyof FileRow]: (typeof inCopies)[F] extends 'kept' ? F : never }[keyof FileRow]

/** The fields that a copy takes from its original. */
export function keptInCopies(file: FileRow): Pick<FileRow, Kept> {
  const fields = Object.entries(file).filter(([field]) => inCopies[field as keyof FileRow] === 'kept')
  return Object.fromEntries(fields) as Pick<FileRow, Kept>
}
