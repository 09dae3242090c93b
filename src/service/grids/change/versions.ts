// Versions of grids: each change of content begins one (docs/adr/0025).
import { Problem } from '../../../contract/errors.ts'
import { formatFid } from '../../../contract/fid.ts'
import { FROM_URL } from '../../store/aggregates/derivations.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow, GridRow } from '../../store/aggregates/grids.ts'
import type { NewVersion } from '../../store/aggregates/versions.ts'
import type { Writers } from '../../store/store.ts'

/** Period in which appends of one user belong to one version, in ms. */
const APPEND_VERSION_MS = 10 * 60_000

/** Kind of a change, as in the history. */
export type ChangeOperation =
  | 'create'
  | 'copy'
  | 'replace'
  | 'append'
  | 'update'
  | 'columns'
  | 'refresh'
  | 'revert'

/** Entry of the history of a grid. */
export interface Change {
  operation: ChangeOperation
  /** Username; null if it is unknown. */
  by: string | null
  /** Origin of the content: a URL, or the tag of a client. */
  source?: string | null
  of_version?: number
  rows_added?: number
  rows_removed?: number
  rows_changed?: number
}

/** Returns the name of the user who writes; null if anonymous. */
export function usernameOf({ caller }: { caller?: { username: string } }): string | null {
  return caller?.username ?? null
}

/** Creates the first version of a new grid. */
export function createFirstVersion(
  { owner, idlocal }: Pick<FileRow, 'owner' | 'idlocal'>,
  change: Change,
  rows: number,
  columns: number,
): NewVersion {
  const { operation, by: made_by, source = null } = change
  return {
    owner,
    idlocal,
    version: 1,
    epoch: 1,
    made_by,
    operation,
    source,
    rows_added: rows,
    rows_removed: 0,
    rows_changed: 0,
    columns_added: columns,
    columns_removed: 0,
    columns_changed: 0,
  }
}

/** A grid before a change, read in the same transaction. */
export interface GridBefore {
  file: FileRow
  grid: GridRow
}

/**
 * Adds the next version of a grid, in a new epoch, so that earlier versions keep their content. Also updates
 * the file. Returns the version number.
 */
export async function addVersion(
  writers: Writers,
  { file, grid }: GridBefore,
  change: Change,
  columns?: { before: readonly ColumnRow[]; after: readonly ColumnRow[] },
  fields: Partial<FileRow> = {},
): Promise<number> {
  if (change.operation !== 'refresh') assertNotDerived(file)
  const version = file.content_version + 1
  await recordVersionEnd(writers, { file, grid })
  const { operation, by: made_by, source = null, of_version = null } = change
  const { owner, idlocal } = file
  await writers.versions.add({
    owner,
    idlocal,
    version,
    epoch: grid.epoch + 1,
    made_by,
    operation,
    source,
    of_version,
    rows_added: change.rows_added ?? null,
    rows_removed: change.rows_removed ?? null,
    rows_changed: change.rows_changed ?? null,
    ...(columns && countColumnChanges(columns.before, columns.after)),
  })
  await writers.grids.change(owner, idlocal, {
    epoch: grid.epoch + 1,
    appended_by: null,
    appended_since: null,
  })
  await writers.files.change(owner, idlocal, { ...fields, content_version: version })
  return version
}

/** Returns whether rows appended by a user belong to the current version. */
export function continuesVersion(grid: GridRow, by: string | null, now: number): boolean {
  const { appended_by, appended_since } = grid
  return (
    by !== null &&
    appended_by === by &&
    appended_since !== null &&
    now >= appended_since &&
    now < appended_since + APPEND_VERSION_MS
  )
}

/**
 * Adds a version for appended rows, unless they belong to the current one. Updates the file. Returns its
 * number.
 */
export async function recordAppend(
  writers: Writers,
  { file, grid }: GridBefore,
  by: string | null,
  now = Date.now(),
): Promise<number> {
  const { owner, idlocal } = file
  const { message } = writers.versions
  assertNotDerived(file)
  // Rows with a message begin a new version.
  if (message === undefined && continuesVersion(grid, by, now)) {
    await writers.files.change(owner, idlocal)
    return file.content_version
  }
  const version = await addAppendVersion(writers, { file, grid }, by, now, message)
  const appended_by = message === undefined ? by : null
  await writers.grids.change(owner, idlocal, { appended_by, appended_since: now })
  await writers.files.change(owner, idlocal, { content_version: version })
  return version
}

/**
 * Adds a new version for appended rows and returns its number. The caller decides whether rows continue the
 * current version (`continuesVersion`), and updates the file and the grid.
 */
export async function addAppendVersion(
  writers: Writers,
  { file, grid }: GridBefore,
  by: string | null,
  now: number,
  message: string | undefined,
): Promise<number> {
  assertNotDerived(file)
  const { owner, idlocal } = file
  const version = file.content_version + 1
  await recordVersionEnd(writers, { file, grid })
  await writers.versions.add({
    owner,
    idlocal,
    version,
    epoch: grid.epoch,
    made_at: now,
    made_by: by,
    operation: 'append',
    message: message ?? null,
    rows_removed: 0,
    rows_changed: 0,
    columns_added: 0,
    columns_removed: 0,
    columns_changed: 0,
  })
  return version
}

/** Throws `derived_grid` for a grid whose content is the result of a query, or the file at a URL. */
export function assertNotDerived(file: Pick<FileRow, 'derived' | 'filename' | 'owner' | 'idlocal'>): void {
  const { derived, filename } = file
  if (!derived) return
  const grid = formatFid(file)
  if (derived === FROM_URL)
    throw new Problem('derived_grid', `${filename} is refreshed from a URL, which would replace the change`, {
      hint: `Change the file at the URL, or end the refreshes: gridline refresh ${grid} --stop`,
    })
  throw new Problem('derived_grid', `${filename} is derived from other grids, and changes with them`, {
    hint: `Change its inputs or its query, or end the derivation: gridline derive ${grid} --remove`,
  })
}

/** Records row count and types of the current version, before the next one begins. */
async function recordVersionEnd({ versions }: Writers, { file, grid }: GridBefore): Promise<void> {
  const { owner, idlocal, content_version: version } = file
  const { row_count, ragged, types, epoch } = grid
  const end = { row_count, ragged, types }
  if (await versions.change({ owner, idlocal, version }, end)) return
  // Grids older than the version history have no row yet.
  await versions.add({ ...createOlderVersion(file, epoch), ...end })
}

/** Creates the current version of a file that is older than the version history. */
export function createOlderVersion(file: FileRow, epoch: number): NewVersion {
  const { owner, idlocal, content_version: version, date_modified: made_at } = file
  return { owner, idlocal, version, epoch, made_at, made_by: null, operation: 'create', message: null }
}

/** Counts added, removed and changed (renamed or retyped) columns. */
function countColumnChanges(
  before: readonly ColumnRow[],
  after: readonly ColumnRow[],
): { columns_added: number; columns_removed: number; columns_changed: number } {
  const afterByUid = new Map(after.map((column) => [column.uid, column]))
  const beforeByUid = new Map(before.map((column) => [column.uid, column]))
  return {
    columns_added: after.filter(({ uid }) => !beforeByUid.has(uid)).length,
    columns_removed: before.filter(({ uid }) => !afterByUid.has(uid)).length,
    columns_changed: before.filter(({ uid, name, type }) => {
      const column = afterByUid.get(uid)
      return column !== undefined && (column.name !== name || column.type !== type)
    }).length,
  }
}
