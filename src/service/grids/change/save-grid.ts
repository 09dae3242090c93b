// Saves an uploaded table: creates a grid, or replaces or appends to an existing one.
import type { Problem } from '../../../contract/errors.ts'
import { type Fid, ROOT } from '../../../contract/fid.ts'
import type { ConflictRule } from '../../../contract/headers.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import type { UploadAction } from '../../../contract/resources/index.ts'
import { filetypeLabel } from '../../../contract/resources/index.ts'
import { checkScope } from '../../access/access.ts'
import { putDraftFile } from '../../files/drafts.ts'
import {
  checkFilename,
  findByPath,
  findFreeName,
  nameTaken,
  resolveDestination,
  splitPath,
} from '../../files/names.ts'
import { takeIdlocal } from '../../files/new-file.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { ColumnRow } from '../../store/aggregates/grids.ts'
import type { VersionRow } from '../../store/aggregates/versions.ts'
import { encodePrimaryKey, primaryKeyNamesOf } from '../../store/schema/primary-key.ts'
import type { Readers, Store, Writers } from '../../store/store.ts'
import { enforceChecks, enforceChecksOnGrid, parseChecksHeader } from '../checks/enforce.ts'
import type { NewColumn } from '../column/layout.ts'
import { checkColumnLoss, checkRowLoss, warnOfTypeChanges } from '../input/match-columns.ts'
import { checkWarnings, type DataCall } from '../input/reading-options.ts'
import type { Table } from '../input/tables.ts'
import { createTableSnapshot } from '../input/tables.ts'
import { checkKey, parseKeyHeader } from '../keys/primary-key.ts'
import type { GridService } from '../service.ts'
import { changeGrid } from './change.ts'
import { addGrid } from './create.ts'
import { hasSameContent } from './same-content.ts'
import { checkNoDeleteMissing, type UpsertResult, upsert } from './upsert.ts'
import { usernameOf } from './versions.ts'

/** Destination of an upload, and the rule for a taken name. */
export interface UploadTarget {
  filename: string
  /** Number of a new grid. */
  idlocal?: number
  parent?: number
  parent_path?: string
  world_readable: boolean
  onConflict: ConflictRule
  /** URL of an import. */
  source_url?: string | null
  source_tag?: string
  /** Origin of the data, for the history. */
  provenance?: string
  /** For a grid that is refreshed from a URL: checks that it still is, or records that, in the transaction of the change. */
  refresh?: (writers: Writers, file: FileRow) => Promise<void>
  source_referer?: string | null
  /** Name of the draft that a new grid belongs to. */
  draft?: string
}

/**
 * Creates the error for a taken name. The hint contains the key of the grid: the caller must own the file.
 */
export async function nameTakenError(
  { grids }: Pick<Readers, 'grids'>,
  { owner, idlocal, filetype, filename }: FileRow,
): Promise<Problem> {
  const key =
    filetype === 'grid'
      ? primaryKeyNamesOf(await grids.get(owner, idlocal), await grids.listColumns(owner, idlocal)).join(',')
      : ''
  const keyHint = key === '' ? '' : `update its rows by its key (--key ${JSON.stringify(key)}), `
  return nameTaken(filename, `Choose another name, ${keyHint}or replace or append to it (--on-conflict).`)
}

/** Creates the error for a name that is taken by a file other than a grid. */
export function notAGridError({ filename, filetype }: FileRow): Problem {
  const inFolder = filetype === 'fold' ? ', or one of the grids in it (--name and --folder)' : ''
  return nameTaken(
    filename,
    `It is a ${filetypeLabel(filetype)}; only grids can be replaced or appended to. Choose another name${inFolder}.`,
  )
}

/** Result of an upload. Row counts are set if rows are matched by key. */
export interface UploadResult extends Partial<Omit<UpsertResult, 'idlocal' | 'warnings' | 'row_count'>> {
  idlocal: number
  action: UploadAction
  warnings: string[]
}

/** Creates a grid from a stored table. With `replace` or `append`, updates an existing grid of the name. */
export async function saveGrid(
  service: GridService,
  call: DataCall,
  table: Table,
  target: UploadTarget,
): Promise<UploadResult> {
  const owner = call.caller!.username
  const { onConflict } = target
  checkFilename(target.filename, service.limits)
  if ((parseKeyHeader(call) ?? []).length === 0 && onConflict !== 'append') checkNoDeleteMissing(call)
  const update = (idlocal: number): Promise<UploadResult> =>
    onConflict === 'replace'
      ? replaceGrid(service, call, { owner, idlocal }, table, target)
      : upsert(service, call, { owner, idlocal }, table).then(toUploadResult)
  if (onConflict === 'replace' || onConflict === 'append') {
    const existing = await service.store.read((readers) => findExisting(service, readers, owner, target))
    if (existing) {
      checkIsGrid(existing)
      return update(existing.idlocal)
    }
  }
  const outcome = await createGrid(service, call, table, target)
  // Another request has taken the name meanwhile.
  return 'existing' in outcome ? update(outcome.existing) : outcome
}

/** Finds the file with the path of the target that is not in the trash. */
export async function findExisting(
  { limits }: GridService,
  { files }: Readers,
  owner: string,
  { parent, parent_path, filename }: UploadTarget,
): Promise<FileRow | undefined> {
  const folders = parent_path === undefined ? [] : splitPath(parent_path, limits)
  return findByPath(files, owner, parent_path === undefined ? (parent ?? ROOT) : ROOT, [...folders, filename])
}

function checkIsGrid(file: FileRow): FileRow {
  if (file.filetype !== 'grid') throw notAGridError(file)
  return file
}

/**
 * Creates a grid, under a free name with `rename`; with `replace` or `append`, returns the id of an existing
 * grid of the name, unchanged. Throws `already_exists`.
 */
async function createGrid(
  { limits, store }: GridService,
  call: DataCall,
  table: Table,
  target: UploadTarget,
): Promise<UploadResult | { existing: number }> {
  const owner = call.caller!.username
  const key = parseKeyHeader(call) ?? []
  const source = call.fileName ?? 'the upload'
  const snap = createTableSnapshot(store, table)
  await checkKey(snap, key, { source, lineOf: table.lineOf })
  const mayFail = target.draft !== undefined
  const checked = await enforceChecks(parseChecksHeader(call), {
    snap,
    source,
    lineOf: table.lineOf,
    mayFail,
  })
  checkWarnings(call, checked.warnings)
  const create = async (writers: Writers): Promise<UploadResult | { existing: number }> => {
    const parent = await resolveDestination(writers, owner, target, limits)
    const taken = await writers.files.findByName(owner, parent, target.filename)
    if (taken && target.onConflict === 'fail') throw await nameTakenError(writers, taken)
    if (taken && target.onConflict !== 'rename') return { existing: checkIsGrid(taken).idlocal }
    const filename = taken
      ? await findFreeName(writers.files, owner, parent, target.filename)
      : target.filename
    const file = await writers.files.add({
      owner,
      idlocal: await takeIdlocal(writers, owner, target.idlocal),
      filetype: 'grid',
      filename,
      parent,
      world_readable: target.world_readable ? 1 : 0,
      source_url: target.source_url ?? null,
      source_referer: target.source_referer ?? null,
    })
    const uids = await addGrid(writers, file, table.columns, {
      operation: 'create',
      by: usernameOf(call),
      source: originOf(target),
    })
    if (key.length > 0) {
      const primary_key = encodePrimaryKey(
        key.map((name) => uids[table.columns.findIndex((column) => column.name === name)]),
      )
      await writers.grids.change(owner, file.idlocal, { primary_key })
    }
    await recordDraftAndTag(writers, call, file, target)
    return {
      idlocal: file.idlocal,
      version: 1,
      action: 'created',
      warnings: [
        ...table.warnings,
        ...checked.warnings,
        ...(taken ? [renameWarning(target.filename, filename)] : []),
      ],
      checks: checked.report,
    }
  }
  return store.writeOnce(call.writeKey(owner), create, { hasApplied: (outcome) => 'idlocal' in outcome })
}

/** Returns the origin of an upload, for the history. */
function originOf({ provenance, source_url, source_tag }: UploadTarget): string | undefined {
  return provenance ?? source_url ?? source_tag
}

/** Records the draft and the tag of an upload. */
async function recordDraftAndTag(
  writers: Writers,
  call: DataCall,
  { owner, idlocal }: Fid,
  { draft: name, source_tag }: UploadTarget,
): Promise<void> {
  await putDraftFile(writers, { owner, idlocal }, name, call)
  if (source_tag !== undefined) await writers.files.setSourceTag(owner, idlocal, source_tag)
}

/** Replaces the columns of a grid. Keeps its fid and link, and the uids of columns by name. */
export function replaceGrid(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  target: UploadTarget,
): Promise<UploadResult> {
  return changeGrid(service, call, fid, async (layout) => {
    const { store } = service
    const { grid, columns, slices } = layout
    // The grid keeps its key, if the table has the columns.
    const key = parseKeyHeader(call) ?? primaryKeyNamesOf(grid, columns)
    const naming = { source: call.fileName ?? 'the upload', lineOf: table.lineOf }
    const snap = createTableSnapshot(store, table)
    await checkKey(snap, key, naming)
    const mayFail = target.draft !== undefined
    const checked = await enforceChecksOnGrid(
      service,
      fid,
      layout,
      { snap, ...naming, mayFail },
      parseChecksHeader(call),
    )
    checkWarnings(call, checked.warnings)
    const isUnchanged = await hasSameContent(store.blobs, table.columns, columns, slices)
    const file = await store.read(({ files }) => files.get(fid.owner, fid.idlocal))
    const warnings = [...table.warnings, ...checked.warnings]
    if (!isUnchanged && file) {
      checkColumnLoss(call, file, table.columns, columns)
      checkRowLoss(call, file, table.rows, grid.row_count)
      const changes = warnOfTypeChanges(table.columns, columns)
      checkWarnings(call, changes)
      warnings.push(...changes, ...(await warnOfEdits(store, fid, usernameOf(call))))
    }
    const isPublished = target.world_readable && file?.world_readable === 0
    // Also its kept versions.
    if (isPublished) checkScope(call.caller, 'read')
    return {
      columns: isUnchanged ? undefined : keepUids(table.columns, columns),
      change: { operation: target.refresh ? 'refresh' : 'replace', source: originOf(target) },
      key,
      failedChecks: checked.failedChecks,
      fields: isPublished ? { world_readable: 1 } : {},
      writeMore: async (writers, file) => {
        await target.refresh?.(writers, file)
        await recordDraftAndTag(writers, call, fid, target)
      },
      createResult: ({ version }) => ({
        idlocal: fid.idlocal,
        version,
        action: isUnchanged ? 'unchanged' : 'replaced',
        warnings,
        checks: checked.report,
      }),
    }
  })
}

/** Maximum number of versions that are searched for edits. */
const MAX_EDITS = 100

/**
 * Warns of corrections that a new upload replaces: cells that were changed after the last one, and anything that other
 * users changed. The file may have them, but an older file has not.
 */
async function warnOfEdits(store: Store, { owner, idlocal }: Fid, user: string | null): Promise<string[]> {
  const versions = await store.read((readers) => readers.versions.list(owner, idlocal, undefined, MAX_EDITS))
  const last = versions.findIndex(({ operation }) => !EDITS.has(operation))
  // All of it was undone.
  if (versions[0]?.operation === 'revert' && versions[0].of_version === versions[last]?.version) return []
  const edits = versions.slice(0, last < 0 ? undefined : last).filter((edit) => isCorrection(edit, user))
  if (edits.length === 0) return []
  const [{ made_by, message }] = edits
  const by = `${made_by === null ? '' : ` by ${made_by}`}${message === null ? '' : `: '${message}'`}`
  const count = `${edits.length === MAX_EDITS ? 'at least ' : ''}${formatCount(edits.length, 'change')}`
  return [
    `replaces ${count} made after the last upload, the latest${by}; version ${versions[0].version} has ${edits.length === 1 ? 'it' : 'them'}`,
  ]
}

/** Returns whether a change is one that its maker may not expect an upload to replace. */
function isCorrection({ operation, source, made_by, rows_added }: VersionRow, user: string | null): boolean {
  if (made_by !== user) return true
  // Who adds rows, or updates them from a file, knows what an upload does.
  return operation !== 'append' && !source && !rows_added
}

/** Operations that change a part of a grid. */
const EDITS: ReadonlySet<string> = new Set(['update', 'append', 'columns', 'revert'])

/** Sets missing uids: a column gets the uid of the existing column of its name, unless another column has it. */
export function keepUids(table: readonly NewColumn[], existing: readonly ColumnRow[]): NewColumn[] {
  const uids = new Map(existing.map(({ name, uid }) => [name, uid]))
  const given = new Set(table.map(({ uid }) => uid))
  return table.map((column) => {
    const uid = uids.get(column.name)
    return { ...column, uid: column.uid ?? (given.has(uid) ? undefined : uid) }
  })
}

/** Converts the result of an upsert to that of an upload. */
export function toUploadResult({ row_count: _, ...written }: UpsertResult): UploadResult {
  const { idlocal, version, warnings, checks } = written
  if (written.rows_updated === undefined) return { idlocal, version, warnings, action: 'appended', checks }
  const { rows_added, rows_updated, rows_removed = 0 } = written
  const isChanged = rows_added + rows_updated + rows_removed > 0
  return { ...written, action: isChanged ? 'updated' : 'unchanged' }
}

/** Formats the warning that a file was renamed because its name was taken. */
export function renameWarning(requested: string, filename: string): string {
  return `a file named '${requested}' already exists; this one is named '${filename}'`
}
