/** Versions of grids: each change of content begins one. See docs/adr/0025. */
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow, GridRow } from '../../store/aggregates/grids.ts'
import type { NewVersion } from '../../store/aggregates/versions.ts'
import type { Writers } from '../../store/store.ts'

/** Appends of one user count as one version for this long, in ms. */
const APPENDS_MS = 10 * 60_000

/** What changes a grid, as it is named in its history. */
export type ChangeOperation = 'create' | 'copy' | 'replace' | 'append' | 'update' | 'columns' | 'revert'

/** Who changes a grid, and how. */
export interface Change {
  operation: ChangeOperation
  /** The user. */
  by: string | null
  /** What the content was made from: a URL, or the tag of a client. */
  source?: string | null
  of_version?: number
  rows_added?: number
  rows_removed?: number
  rows_changed?: number
}

/** Whose write it is. */
export function userOf({ caller }: { caller?: { username: string } }): string | null {
  return caller?.username ?? null
}

/** The first version of a new grid. */
export function firstVersion(
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

/** A grid before a change, as it was read in the same transaction. */
export interface Before {
  file: FileRow
  grid: GridRow
}

/**
 * Begins the next version of a grid, in the next epoch: what was there stays for the versions before. Changes the file
 * with it. Returns the number of the version.
 */
export async function beginVersion(
  writers: Writers,
  { file, grid }: Before,
  change: Change,
  columns?: { before: readonly ColumnRow[]; after: readonly ColumnRow[] },
  fields: Partial<FileRow> = {},
): Promise<number> {
  const version = file.content_version + 1
  await endVersion(writers, { file, grid })
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
    ...(columns && columnChanges(columns.before, columns.after)),
  })
  await writers.grids.change(owner, idlocal, {
    epoch: grid.epoch + 1,
    appended_by: null,
    appended_since: null,
  })
  await writers.files.change(owner, idlocal, { ...fields, content_version: version })
  return version
}

/** Whether rows that a user appends belong to the present version. */
export function continuesVersion(grid: GridRow, by: string | null, now: number): boolean {
  const { appended_by, appended_since } = grid
  return (
    by !== null &&
    appended_by === by &&
    appended_since !== null &&
    now >= appended_since &&
    now < appended_since + APPENDS_MS
  )
}

/** Begins a version with appended rows, unless they belong to the present one. Changes the file. Returns its number. */
export async function appendVersion(
  writers: Writers,
  { file, grid }: Before,
  by: string | null,
  now = Date.now(),
): Promise<number> {
  const { owner, idlocal } = file
  const { message } = writers.versions
  // Rows that come with a message are a version of their own.
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

/** Adds the row of a version with appended rows. Returns its number. The caller changes the file and the grid. */
export async function addAppendVersion(
  writers: Writers,
  { file, grid }: Before,
  by: string | null,
  now: number,
  message: string | undefined,
): Promise<number> {
  const { owner, idlocal } = file
  const version = file.content_version + 1
  await endVersion(writers, { file, grid })
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

/** Records what the present version of a grid holds, before another one begins. */
async function endVersion({ versions }: Writers, { file, grid }: Before): Promise<void> {
  const { owner, idlocal, content_version: version } = file
  const { row_count, ragged, types, epoch } = grid
  const end = { row_count, ragged, types }
  if (await versions.change({ owner, idlocal, version }, end)) return
  // A grid from before there were versions.
  await versions.add({
    owner,
    idlocal,
    version,
    epoch,
    made_at: file.date_modified,
    made_by: null,
    operation: 'create',
    message: null,
    ...end,
  })
}

function columnChanges(
  before: readonly ColumnRow[],
  after: readonly ColumnRow[],
): { columns_added: number; columns_removed: number; columns_changed: number } {
  const now = new Map(after.map((column) => [column.uid, column]))
  const was = new Map(before.map((column) => [column.uid, column]))
  return {
    columns_added: after.filter(({ uid }) => !was.has(uid)).length,
    columns_removed: before.filter(({ uid }) => !now.has(uid)).length,
    columns_changed: before.filter(({ uid, name, type }) => {
      const column = now.get(uid)
      return column !== undefined && (column.name !== name || column.type !== type)
    }).length,
  }
}
