// Compares grids, or versions of a grid.
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, parseFid } from '../../contract/fid.ts'
import type { DiffColumn, GridDiff } from '../../contract/resources/index.ts'
import { type AuthorizedFile, authorize, authorizeCall } from '../access/access.ts'
import type { Call, OperationCall, OperationResult } from '../core/call.ts'
import { resolveVersionRef } from '../files/versions.ts'
import { CellReader } from '../grids/column/kernel/cells.ts'
import { type SnapshotColumn, takeVersionSnapshot, trimSnapshot } from '../grids/column/snapshot.ts'
import { diffTables, type TableDiff } from '../grids/diff/diff.ts'
import type { DiffInput } from '../grids/diff/diff-inputs.ts'
import { listChangedRows } from '../grids/diff/diff-rows.ts'
import { currentKeyNames } from '../grids/diff/pair-columns.ts'
import type { GridRow } from '../store/aggregates/grids.ts'
import { familyOf } from '../store/schema/column-types.ts'
import { primaryKeyNamesOf, primaryKeyUidsOf } from '../store/schema/primary-key.ts'
import type { Readers } from '../store/store.ts'
import { analyze, type Handlers, type OperationService as Service } from './handler.ts'

export const diffHandlers = {
  'grids.diff': (service, call) => diffGrid(service, call),
} satisfies Partial<Handlers>

/** Default and maximum number of listed rows. */
const DEFAULT_LISTED_ROWS = 100
const MAX_LISTED_ROWS = 10_000

interface ResolvedSide extends DiffInput {
  about: GridDiff['before']
}

/** Compares the grid in the path with another grid, or with an earlier version of itself. */
async function diffGrid(
  service: Service,
  call: OperationCall<'grids.diff'>,
): Promise<OperationResult<GridDiff>> {
  const { base, base_version, columns, ignore, context, removed_first } = call.query
  const { tolerance = 0, limit = DEFAULT_LISTED_ROWS } = call.query
  const otherFid = base === undefined ? call.fid : parseFid(base)
  if (!otherFid)
    throw new Problem('invalid_request', `base: ${JSON.stringify(base)} is not a file id`, {
      field: 'base',
    })
  const isSameGrid = otherFid.owner === call.fid.owner && otherFid.idlocal === call.fid.idlocal
  const loaded = await service.store.read(async (readers) => {
    const access = await authorizeCall(readers, call)
    const after = await loadSide(service, readers, access, call.version)
    const before = isSameGrid
      ? await loadSide(
          service,
          readers,
          access,
          base_version ?? (await findPreviousVersion(readers, access, after.about.version)),
        )
      : await loadSide(service, readers, await authorizeGrid(readers, otherFid, call), base_version)
    const grid = await readers.grids.get(call.fid.owner, call.fid.idlocal)
    return { after, before, key: sharedKeyOf(grid, before, after, isSameGrid) }
  })
  const requestedKey = (call.query.key ?? loaded.key).filter(Boolean)
  const key = isSameGrid ? currentKeyNames(requestedKey, loaded.before, loaded.after) : requestedKey
  const common = { before: loaded.before.about, after: loaded.after.about, key }
  return {
    body: { ...common, ...NO_CHANGES },
    createBody: analyze(service, async (work) => {
      const before = { ...loaded.before, snap: await trimSnapshot(loaded.before.snap) }
      const after = { ...loaded.after, snap: await trimSnapshot(loaded.after.snap) }
      const options = { key, columns, ignore, tolerance, isSameGrid, context, work }
      const diff = await diffTables(before, after, options)
      const rows = await listChangedRows(CellReader.open(0), before, after, diff, {
        limit: Math.min(limit, MAX_LISTED_ROWS),
        tolerance,
        removedFirst: removed_first === true,
      })
      const is_complete = rows.length === diff.changes.length
      return { body: { ...common, ...summarizeDiff(diff), rows, is_complete } }
    }),
  }
}

async function authorizeGrid(readers: Readers, fid: Fid, call: Call): Promise<AuthorizedFile> {
  const file = await readers.files.get(fid.owner, fid.idlocal)
  return authorize(readers, file, call, { access: 'read', filetype: 'grid' })
}

/** Returns the grid's key if both sides have its columns: by uid in versions of a grid, else by name. */
export function sharedKeyOf(
  grid: GridRow,
  before: Pick<DiffInput, 'snap'>,
  after: Pick<DiffInput, 'snap'>,
  isSameGrid: boolean,
): string[] {
  const key = after.snap.columns.filter(({ uid }) => primaryKeyUidsOf(grid).includes(uid))
  const isOnBothSides = (column: SnapshotColumn): boolean =>
    before.snap.columns.some(({ uid, name }) => (isSameGrid ? uid === column.uid : name === column.name))
  return key.length === primaryKeyUidsOf(grid).length && key.every(isOnBothSides)
    ? primaryKeyNamesOf(grid, key)
    : []
}

const NO_CHANGES = {
  is_same: true,
  rows_added: 0,
  rows_removed: 0,
  rows_changed: 0,
  cells_changed: 0,
  columns: [],
  rows: [],
  is_complete: true,
}

/** Loads the requested version of a grid as a side of the diff. */
async function loadSide(
  { store }: Service,
  readers: Readers,
  access: AuthorizedFile,
  text: string | undefined,
): Promise<ResolvedSide> {
  const { owner, idlocal, filename, content_version } = access.file
  const resolved = await resolveVersionRef(readers, access, text)
  const row = resolved?.isCurrent ? undefined : resolved?.row
  const snap = await takeVersionSnapshot(store, readers, { owner, idlocal }, row)
  const version = Math.max(0, resolved?.version ?? content_version)
  const about = { fid: formatFid({ owner, idlocal }), filename, version, row_count: snap.rows }
  return {
    name: `${resolved?.draft === undefined ? `version ${version}` : `draft ${resolved.draft}`} of '${filename}'`,
    snap,
    about,
  }
}

/** Returns the number of the version before `version`. Throws `not_found` without one. */
async function findPreviousVersion(
  { versions }: Readers,
  { file }: AuthorizedFile,
  version: number,
): Promise<string> {
  const [before] = await versions.list(file.owner, file.idlocal, version, 1)
  if (before) return String(before.version)
  throw new Problem('not_found', `'${file.filename}' has no version before version ${version}`, {
    hint: 'Compare it with another grid (base), or after its next change.',
  })
}

/** Returns whether a column may have values that are not null. Slices without a null count may. */
function hasValues({ slices, tail }: SnapshotColumn): boolean {
  return (
    slices.some(({ bounds, rows }) => bounds?.nulls !== rows) ||
    !/^[\snul,]*$/.test(tail.toString('latin1', 0, MAX_SCANNED_BYTES)) ||
    tail.length > MAX_SCANNED_BYTES
  )
}

/** Maximum bytes of a tail that are searched for values. */
const MAX_SCANNED_BYTES = 64 * 1024

/** Returns the summary of a diff, without its rows. */
export function summarizeDiff({
  pairs,
  added,
  removed,
  moved,
  rows,
  cells,
  context,
  unique,
  isReordered,
}: TableDiff): Omit<GridDiff, 'before' | 'after' | 'key' | 'rows' | 'is_complete'> {
  const columns: DiffColumn[] = []
  for (const { name, type } of removed)
    columns.push({ ...NO_COLUMN, change: 'removed', name_before: name, type_before: familyOf(type) })
  for (const [k, pair] of pairs.entries()) {
    const [before, after] = [familyOf(pair.before.type), familyOf(pair.after.type)]
    // The type of a column without values is arbitrary.
    const isRetyped = before !== after && hasValues(pair.before) && hasValues(pair.after)
    const change =
      pair.before.name !== pair.after.name
        ? 'renamed'
        : isRetyped
          ? 'retyped'
          : moved.has(pair)
            ? 'moved'
            : cells[k] > 0
              ? 'values'
              : undefined
    if (change !== undefined)
      columns.push({
        change,
        name_before: pair.before.name,
        name_after: pair.after.name,
        type_before: before,
        type_after: after,
        cells_changed: cells[k],
      })
  }
  for (const { name, type } of added)
    columns.push({ ...NO_COLUMN, change: 'added', name_after: name, type_after: familyOf(type) })
  return {
    context: context && [context.after.name],
    unique: unique?.after.name,
    is_reordered: isReordered || undefined,
    is_same: columns.length === 0 && rows.added + rows.removed + rows.changed === 0,
    rows_added: rows.added,
    rows_removed: rows.removed,
    rows_changed: rows.changed,
    cells_changed: cells.reduce((sum, count) => sum + count, 0),
    columns,
  }
}

const NO_COLUMN = {
  name_before: null,
  name_after: null,
  type_before: null,
  type_after: null,
  cells_changed: 0,
}
