import { listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { parseVersionRef } from '../../contract/version-ref.ts'
import type { AuthorizedFile } from '../access/access.ts'
import { isAllowed } from '../access/policy.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import { decodeTypes } from '../store/schema/column-types.ts'
import type { Readers } from '../store/store.ts'

/** A version of a file as it was asked for. */
export interface FoundVersion {
  version: number
  /** undefined for the present version of a file from before there were versions. */
  row: VersionRow | undefined
  isPresent: boolean
  /** The draft that was asked for. Of a plot: its data is that of the drafts of its grids. */
  draft?: string
  /** The time that was asked for: a plot is shown with the data that its grids had then. Only with write access. */
  time?: number
}

/**
 * The version of a file that a text names (`contract/version-ref.ts`); undefined without one. Who may not write the file
 * sees the present version and those that were kept. Throws `not_found` with the versions that there are.
 */
export async function findVersion(
  readers: Readers,
  { file, roles, state }: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  text: string | undefined,
): Promise<FoundVersion | undefined> {
  if (text === undefined) return undefined
  if (file.filetype !== 'grid' && file.filetype !== 'plot')
    throw new Problem('invalid_request', 'only grids and plots have versions', { field: 'version' })
  const ref = parseVersionRef(text)
  if (!ref)
    throw new Problem('invalid_request', `version: ${JSON.stringify(text.slice(0, 80))} names no version`, {
      field: 'version',
      hint: 'Give a number, -1, a date such as 2026-11-01, or the name of a kept version.',
    })
  const { owner, idlocal, content_version: present } = file
  const { versions } = readers
  const time = ref.kind === 'time' ? ref.time : undefined
  const named = ref.kind === 'name' ? ref.name : undefined
  const isNumbered = named === undefined || (await versions.named(owner, idlocal, named)) !== undefined
  if (named !== undefined && !isNumbered) {
    const draft = await draftOf(readers, { file, roles, state }, named)
    if (draft) return draft
  }
  const row = await (async () => {
    switch (ref.kind) {
      case 'number':
        return versions.get(owner, idlocal, ref.number)
      case 'back':
        if (ref.count === 0) return versions.get(owner, idlocal, present)
        return (await versions.list(owner, idlocal, present, ref.count)).at(ref.count - 1)
      case 'time':
        return versions.at(owner, idlocal, ref.time)
      case 'name':
        return versions.named(owner, idlocal, ref.name)
    }
  })()
  const mayWrite = seesVersions({ roles, state })
  const isPresent = row ? row.version === present : isPresentOf(file, ref)
  if (isPresent || (row && (mayWrite || row.kept_at !== null)))
    // The data that a plot showed at a time is for callers with write access. For others a version is what was kept.
    return { version: row?.version ?? present, row, isPresent, time: mayWrite ? time : undefined }
  if (!mayWrite)
    throw new Problem(
      'forbidden',
      'only those who may change a file see its earlier versions, unless they were kept',
      {
        hint: 'Ask its owner to keep the version: gridline keep FILE@3',
      },
    )
  throw new Problem('not_found', `${nounOf(file)} has no version ${text}${why(file, ref)}`, {
    field: 'version',
    hint: `It has ${await known(readers, file)}.`,
  })
}

/** The draft of a grid with a name; of a plot, the present version with the data of drafts with this name. */
async function draftOf(
  { drafts, versions }: Readers,
  { file, roles, state }: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  draft: string,
): Promise<FoundVersion | undefined> {
  if (!seesVersions({ roles, state })) return undefined
  const { owner, idlocal, content_version: present } = file
  if (file.filetype === 'plot') {
    const [some] = await drafts.list(owner, draft)
    return some && { version: present, row: undefined, isPresent: true, draft }
  }
  const found = await drafts.get(owner, idlocal, draft)
  if (!found) return undefined
  // A grid that is a draft itself.
  if (found.version === null) return { version: present, row: undefined, isPresent: true, draft }
  const row = await versions.get(owner, idlocal, found.version)
  return row && { version: row.version, row, isPresent: false, draft }
}

/** Whether a caller sees all versions of a file. Others see the present one and those that were kept. */
export function seesVersions({ roles, state }: Pick<AuthorizedFile, 'roles' | 'state'>): boolean {
  return isAllowed('write', state, roles) || isAllowed('own', state, roles)
}

/** The row of an earlier version of a grid; undefined for the present one. */
export async function rowOfVersion(
  readers: Readers,
  found: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  text: string | undefined,
): Promise<VersionRow | undefined> {
  const version = await findVersion(readers, found, text)
  return version?.isPresent ? undefined : version?.row
}

function nounOf({ filename }: FileRow): string {
  return `'${filename}'`
}

/** Whether a reference without a row is to the present version of a file from before there were versions. */
function isPresentOf(
  { content_version, date_modified }: FileRow,
  ref: NonNullable<ReturnType<typeof parseVersionRef>>,
): boolean {
  if (ref.kind === 'number') return ref.number === content_version
  if (ref.kind === 'back') return ref.count === 0
  return ref.kind === 'time' && content_version === 1 && ref.time >= date_modified
}

function why(
  { content_version, creation_time }: FileRow,
  ref: NonNullable<ReturnType<typeof parseVersionRef>>,
): string {
  if (ref.kind === 'number')
    return ref.number > content_version
      ? ': there are not so many yet'
      : ref.number === 0
        ? ': they are numbered from 1'
        : ': it has expired or was removed'
  if (ref.kind === 'time') return ref.time < creation_time ? ': the file was made later' : ': it has expired'
  if (ref.kind === 'back') return ': there is none so far back'
  return ''
}

/** Versions that a message lists. */
const LISTED = 1000

/** The versions that a file has, as people read them: `versions 1, 3 to 6`. */
async function known({ versions }: Readers, { owner, idlocal, content_version }: FileRow): Promise<string> {
  const rows = await versions.list(owner, idlocal, undefined, LISTED)
  const numbers = [...new Set([content_version, ...rows.map(({ version }) => version)])].sort((a, b) => a - b)
  const runs: [number, number][] = []
  for (const number of numbers) {
    const last = runs.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else runs.push([number, number])
  }
  const names = rows.flatMap(({ kept_name }) => kept_name ?? [])
  const texts = runs.map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`))
  return `${numbers.length === 1 ? 'version' : 'versions'} ${listed([...texts, ...names])}`
}

/** The columns of an earlier version, without the number of their values. */
export async function columnsOf(readers: Readers, row: VersionRow): Promise<ColumnRow[]> {
  const types = decodeTypes(row.types ?? '')
  return (await readers.versions.columnsIn(row)).map((column, k) => ({
    ...column,
    owner: row.owner,
    idlocal: row.idlocal,
    type: types[k] ?? 'json',
    rows: 0,
    since: row.epoch,
  }))
}
