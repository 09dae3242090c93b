// Fields of new files and of copies.
import { randomBytes } from 'node:crypto'
import { invalidField, Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import type { Limits } from '../../contract/limits.ts'
import type { FileKind } from '../../contract/operations/index.ts'
import type { CreatableFields } from '../../contract/resources/index.ts'
import { parseRaw } from '../../json/index.ts'
import { loadVisibleFile, type Principal } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { MAX_IDLOCAL } from '../store/aggregates/file-writer.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { Readers, Writers } from '../store/store.ts'

/** Returns the validated `source_fid` of a new file: a file of the same type that `principal` may read. */
export async function resolveSourceFid(
  { formerNames }: Service,
  readers: Readers,
  text: string | null | undefined,
  principal: Principal,
  filetype: FileKind,
): Promise<string | null> {
  if (text === undefined || text === null || text === '') return null
  const current = formerNames.currentFid(text)
  const fid = parseFid(current)
  const source = fid && (await loadVisibleFile(readers, fid, principal))
  if (source?.file.filetype === filetype) return current
  throw new Problem('invalid_request', `source_fid: no such ${filetype}, or you may not see it`, {
    field: 'source_fid',
  })
}

/** Returns `metadata`, an object or a JSON-encoded string, as JSON text. Throws if it is too large. */
export function encodeMetadata(metadata: unknown, limits: Limits): string {
  let value = metadata
  if (typeof value === 'string')
    value = value === '' ? {} : parseRaw(Buffer.from(value), 'metadata', limits).toValue()
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

/** Returns the requested number of a new file; undefined if none was requested. Throws `conflict` if it was used. */
export async function takeIdlocal(
  { files }: Writers,
  owner: string,
  idlocal: number | null | undefined,
): Promise<number | undefined> {
  if (idlocal === undefined || idlocal === null) return undefined
  if (idlocal < 0 || idlocal > MAX_IDLOCAL)
    throw invalidField('idlocal', `must be a number from 0 to ${MAX_IDLOCAL}`)
  if (await files.reserveIdlocal(owner, idlocal)) return idlocal
  throw new Problem('conflict', `the number ${idlocal} was already used`, {
    field: 'idlocal',
    isPermanent: true,
  })
}

/** Returns a random share key. Each time sharing is enabled, a new key keeps old links invalid. */
export function generateShareKey(): string {
  return randomBytes(18).toString('base64url')
}

/** Row fields of each field of a new file. A missing field is a compile error. */
const ROW_FIELDS_BY_FIELD: {
  [F in keyof Required<CreatableFields>]: (
    value: CreatableFields[F],
    limits: Limits,
  ) => Partial<Pick<FileRow, 'world_readable' | 'share_key' | 'metadata'>>
} = {
  // Name and folder need the database: see `resolveDestination` and `findFreeName`.
  filename: () => ({}),
  parent: () => ({}),
  parent_path: () => ({}),
  world_readable: (value) => ({ world_readable: value ? 1 : 0 }),
  share_key_enabled: (value) => ({ share_key: value ? generateShareKey() : null }),
  metadata: (value, limits) => ({ metadata: encodeMetadata(value, limits) }),
}

/** Returns the row fields of a new file, except name and folder. */
export function createRowFields(
  /** `metadata` of a data file can be any value; `encodeMetadata` checks it. */
  fields: Omit<CreatableFields, 'metadata'> & { metadata?: unknown },
  limits: Limits,
): Pick<FileRow, 'world_readable' | 'share_key' | 'metadata'> {
  const names = Object.keys(ROW_FIELDS_BY_FIELD) as (keyof CreatableFields)[]
  return Object.assign({}, ...names.map((name) => ROW_FIELDS_BY_FIELD[name](fields[name] as never, limits)))
}

/** Handling of each field when a file is copied. A missing field is a compile error. */
const COPY_RULES = {
  owner: 'new',
  idlocal: 'new',
  filetype: 'copied',
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
  derived: 'new',
  feeds: 'new',
  stale_since: 'new',
  quality: 'new',
  world_readable: 'new',
  share_key: 'new',
  metadata: 'copied',
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
  is_theme: 'copied',
  is_template: 'copied',
  share_items: 'new',
} as const satisfies Record<keyof FileRow, 'copied' | 'new'>

type CopiedField = {
  [F in keyof FileRow]: (typeof COPY_RULES)[F] extends 'copied' ? F : never
}[keyof FileRow]

/** Returns the fields that a copy takes from its original. */
export function selectCopiedFields(file: FileRow): Pick<FileRow, CopiedField> {
  const fields = Object.entries(file).filter(([field]) => COPY_RULES[field as keyof FileRow] === 'copied')
  return Object.fromEntries(fields) as Pick<FileRow, CopiedField>
}
