// Resolves version references (numbers, dates, names, drafts) to versions that the caller may see.

import { Problem } from '../../contract/errors.ts'
import { formatList } from '../../contract/message-texts.ts'
import { parseVersionRef, type VersionRef } from '../../contract/version-ref.ts'
import type { AuthorizedFile } from '../access/access.ts'
import { isAllowed } from '../access/policy.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import { decodeTypes } from '../store/schema/column-types.ts'
import type { Readers } from '../store/store.ts'

/** Version that a reference resolves to. */
export interface ResolvedVersion {
  version: number
  /** Undefined for the current version of a file that is older than the version history. */
  row: VersionRow | undefined
  isCurrent: boolean
  /** Requested draft. For a plot: its data comes from the drafts of its grids with this name. */
  draft?: string
  /** Requested time: a plot shows the data that its grids had then. Undefined without write access. */
  time?: number
}

/**
 * Resolves a version reference (`contract/version-ref.ts`); undefined without one. Without write access, only
 * the current version and kept versions are visible. Throws `not_found` with a list of the existing versions.
 */
export async function resolveVersionRef(
  readers: Readers,
  { file, roles, state }: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  text: string | undefined,
): Promise<ResolvedVersion | undefined> {
  if (text === undefined) return undefined
  if (file.filetype !== 'grid' && file.filetype !== 'plot' && file.filetype !== 'dashboard')
    throw new Problem('invalid_request', 'only grids and plots have versions', { field: 'version' })
  const ref = parseVersionRef(text)
  if (!ref)
    throw new Problem('invalid_request', `version: ${JSON.stringify(text.slice(0, 80))} is not a version`, {
      field: 'version',
      hint: 'Give a number, -1, a date such as 2026-11-01, or the name of a kept version.',
    })
  if (file.filetype === 'dashboard') return resolveBoardVersion(readers, { file, roles, state }, ref)
  const { owner, idlocal, content_version: current } = file
  const { versions } = readers
  const requestedTime = ref.kind === 'time' ? ref.time : undefined
  const requestedName = ref.kind === 'name' ? ref.name : undefined
  const isNumbered =
    requestedName === undefined ||
    (await versions.findByKeptName(owner, idlocal, requestedName)) !== undefined
  if (requestedName !== undefined && !isNumbered) {
    const draft = await findDraft(readers, { file, roles, state }, requestedName)
    if (draft) return draft
  }
  const row = await (async () => {
    switch (ref.kind) {
      case 'number':
        return versions.get(owner, idlocal, ref.number)
      case 'back':
        if (ref.count === 0) return versions.get(owner, idlocal, current)
        return (await versions.list(owner, idlocal, current, ref.count)).at(ref.count - 1)
      case 'time':
        return versions.findByTime(owner, idlocal, ref.time)
      case 'name':
        return versions.findByKeptName(owner, idlocal, ref.name)
    }
  })()
  const canWrite = canSeeVersions({ roles, state })
  const isCurrent = row ? row.version === current : isCurrentRef(file, ref)
  if (isCurrent || (row && (canWrite || row.kept_at !== null)))
    // Only callers with write access see the data that a plot showed at a time.
    return {
      version: row?.version ?? current,
      row,
      isCurrent,
      time: canWrite ? requestedTime : undefined,
    }
  if (!canWrite)
    throw new Problem(
      'forbidden',
      'earlier versions are visible only with write access, unless they are kept',
      {
        hint: 'Ask its owner to keep the version: gridline keep FILE@3',
      },
    )
  throw new Problem('not_found', `${quoteName(file)} has no version ${text}${missingReason(file, ref)}`, {
    field: 'version',
    hint: `It has ${await formatVersions(readers, file)}.`,
  })
}

/**
 * Returns the board as it is, with the drafts of its grids or with their content of a time. Throws `invalid_request` for
 * other versions.
 */
async function resolveBoardVersion(
  readers: Readers,
  access: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  ref: VersionRef,
): Promise<ResolvedVersion> {
  const { content_version: version } = access.file
  const draft = ref.kind === 'name' ? await findDraft(readers, access, ref.name) : undefined
  if (draft) return draft
  if (ref.kind === 'time' && canSeeVersions(access))
    return { version, row: undefined, isCurrent: true, time: ref.time }
  throw new Problem('invalid_request', 'boards have no versions', {
    field: 'version',
    hint: 'With write access, a board can be shown with the data of a time or of a draft.',
  })
}

/** Returns the draft of a grid; for a plot or a board, the current version with the drafts of its grids. */
async function findDraft(
  { drafts, versions }: Readers,
  { file, roles, state }: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  draft: string,
): Promise<ResolvedVersion | undefined> {
  if (!canSeeVersions({ roles, state })) return undefined
  const { owner, idlocal, content_version: current } = file
  if (file.filetype !== 'grid') {
    const [anyDraft] = await drafts.list(owner, draft)
    return anyDraft && { version: current, row: undefined, isCurrent: true, draft }
  }
  const draftRow = await drafts.get(owner, idlocal, draft)
  if (!draftRow) return undefined
  // The grid itself is the draft: it has no published version.
  if (draftRow.version === null) return { version: current, row: undefined, isCurrent: true, draft }
  const row = await versions.get(owner, idlocal, draftRow.version)
  return row && { version: row.version, row, isCurrent: false, draft }
}

/** Returns whether a caller sees all versions of a file. Others see only the current and kept versions. */
export function canSeeVersions({ roles, state }: Pick<AuthorizedFile, 'roles' | 'state'>): boolean {
  return isAllowed('write', state, roles) || isAllowed('own', state, roles)
}

/** Loads the row of an earlier version of a grid; undefined for the current version. */
export async function loadVersionRow(
  readers: Readers,
  access: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  text: string | undefined,
): Promise<VersionRow | undefined> {
  const version = await resolveVersionRef(readers, access, text)
  return version?.isCurrent ? undefined : version?.row
}

function quoteName({ filename }: FileRow): string {
  return `'${filename}'`
}

/** Returns whether a reference means the current version, which has no row in old files. */
function isCurrentRef(
  { content_version, date_modified }: FileRow,
  ref: NonNullable<ReturnType<typeof parseVersionRef>>,
): boolean {
  if (ref.kind === 'number') return ref.number === content_version
  if (ref.kind === 'back') return ref.count === 0
  return ref.kind === 'time' && content_version === 1 && ref.time >= date_modified
}

/** Returns why a version does not exist, as the end of a message; may be empty. */
function missingReason(
  { content_version, creation_time }: FileRow,
  ref: NonNullable<ReturnType<typeof parseVersionRef>>,
): string {
  if (ref.kind === 'number')
    return ref.number > content_version
      ? `: the current version is ${content_version}`
      : ref.number === 0
        ? ': versions are numbered from 1'
        : ': it has expired or was removed'
  if (ref.kind === 'time')
    return ref.time < creation_time ? ': the file was created later' : ': it has expired'
  if (ref.kind === 'back') return ': there are not that many earlier versions'
  return ''
}

/** Maximum number of versions that a message lists. */
const MAX_LISTED_VERSIONS = 1000

/** Formats the existing versions of a file: `versions 1, 3 to 6`. */
async function formatVersions(
  { versions }: Readers,
  { owner, idlocal, content_version }: FileRow,
): Promise<string> {
  const rows = await versions.list(owner, idlocal, undefined, MAX_LISTED_VERSIONS)
  const numbers = [...new Set([content_version, ...rows.map(({ version }) => version)])].sort((a, b) => a - b)
  const ranges: [number, number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else ranges.push([number, number])
  }
  const names = rows.flatMap(({ kept_name }) => kept_name ?? [])
  const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`))
  return `${numbers.length === 1 ? 'version' : 'versions'} ${formatList([...texts, ...names])}`
}

/** Loads the columns of an earlier version. Their `rows` are 0: they are not stored per version. */
export async function loadVersionColumns(readers: Readers, row: VersionRow): Promise<ColumnRow[]> {
  const types = decodeTypes(row.types ?? '')
  return (await readers.versions.listColumnsIn(row)).map((column, k) => ({
    ...column,
    owner: row.owner,
    idlocal: row.idlocal,
    type: types[k] ?? 'json',
    rows: 0,
    since: row.epoch,
  }))
}
