// Resolves and lists versions of files, with their metadata.
import { Problem } from '../../contract/errors.ts'
import { formatWebUrl } from '../../contract/fid.ts'
import type { Version } from '../../contract/resources/index.ts'
import type { AuthorizedFile } from '../access/access.ts'
import { canSeeVersions, type ResolvedVersion, resolveVersionRef } from '../files/versions.ts'
import { createOlderVersion } from '../grids/change/versions.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import { EMPTY_VERSION, type VersionRow } from '../store/aggregates/versions.ts'
import type { Readers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

/** Rows that are searched for versions that a reader may see. */
const MAX_SCANNED_VERSIONS = 5000

/** Creates the error for files without versions. */
export function noVersions(): Problem {
  return new Problem('invalid_request', 'only grids and plots have versions')
}

/** Resolves a version reference, or the current version without one. Throws for drafts. */
export async function resolveNonDraft(
  readers: Readers,
  access: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  text: string | undefined,
): Promise<ResolvedVersion> {
  const { file } = access
  const resolved = (await resolveVersionRef(readers, access, text ?? String(file.content_version)))!
  checkNotDraft(resolved)
  return resolved
}

/** Throws `invalid_request` for drafts. */
export function checkNotDraft({ draft }: ResolvedVersion): void {
  if (draft !== undefined)
    throw new Problem('invalid_request', `${draft} is a draft, not a version`, {
      field: 'version',
      hint: `To publish it, upload the file. To delete it: gridline draft delete ${draft}`,
    })
}

/** Lists the versions that a caller may see, newest first: all, or the current and the kept ones. */
export async function listVisibleVersions(
  readers: Readers,
  { file, roles, state }: AuthorizedFile,
  before: number | undefined,
  limit: number,
): Promise<VersionRow[]> {
  const { owner, idlocal, filetype, content_version } = file
  if (filetype !== 'grid' && filetype !== 'plot') throw noVersions()
  const canSeeAll = canSeeVersions({ roles, state })
  const rows = await readers.versions.list(owner, idlocal, before, canSeeAll ? limit : MAX_SCANNED_VERSIONS)
  const hasCurrent = rows.some(({ version }) => version === content_version)
  const current =
    before === undefined && !hasCurrent
      ? [{ ...EMPTY_VERSION, made_at: file.date_modified, ...createOlderVersion(file, 1) }]
      : []
  const visible = canSeeAll
    ? rows
    : rows.filter(({ version, kept_at }) => kept_at !== null || version === content_version)
  return [...current, ...visible].slice(0, limit)
}

/** Loads the metadata of a version. */
export async function loadVersionMeta(
  { url }: Service,
  { grids, versions }: Readers,
  file: FileRow,
  row: VersionRow,
): Promise<Version> {
  const { version, made_at, made_by, operation, source, message, of_version, kept_at } = row
  const { kept_name: name } = row
  const isCurrent = version === file.content_version
  const row_count =
    file.filetype !== 'grid'
      ? null
      : isCurrent
        ? (await grids.get(file.owner, file.idlocal)).row_count
        : row.row_count
  // Appends store no counts: the added rows are the growth since the previous version.
  let { rows_added } = row
  if (operation === 'append' && rows_added === null && row_count !== null) {
    const [before] = await versions.list(file.owner, file.idlocal, version, 1)
    if (before?.version === version - 1 && before.row_count !== null)
      rows_added = row_count - before.row_count
  }
  return {
    version,
    is_current: isCurrent,
    made_at: new Date(made_at).toISOString(),
    made_by,
    operation,
    source,
    message,
    of_version,
    row_count,
    rows_added,
    rows_removed: row.rows_removed,
    rows_changed: row.rows_changed,
    columns_added: row.columns_added,
    columns_removed: row.columns_removed,
    columns_changed: row.columns_changed,
    kept: kept_at !== null,
    name,
    web_url: `${formatWebUrl(url, file)}?version=${encodeURIComponent(name ?? String(version))}`,
  }
}
