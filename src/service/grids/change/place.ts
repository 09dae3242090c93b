import type { Problem } from '../../../contract/errors.ts'
import { type Fid, ROOT } from '../../../contract/fid.ts'
import type { ConflictRule } from '../../../contract/headers.ts'
import type { CheckReport, UploadAction } from '../../../contract/resources/index.ts'
import { filetypeLabel } from '../../../contract/resources/index.ts'
import {
  checkFilename,
  findByPath,
  findFreeName,
  nameTaken,
  resolveDestination,
  splitPath,
} from '../../files/names.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { encodePrimaryKey, primaryKeyNamesOf } from '../../store/schema/primary-key.ts'
import type { Readers, Writers } from '../../store/store.ts'
import { enforce, enforceOn, givenChecks } from '../checks/enforce.ts'
import { refuseLoss, refuseShrink, typesChanged } from '../given/match-columns.ts'
import { type DataCall, refuseWarnings } from '../given/reading-options.ts'
import type { Table } from '../given/tables.ts'
import { snapshotOfTable } from '../given/tables.ts'
import { checkKey, givenKey } from '../keys/key.ts'
import type { GridService } from '../service.ts'
import { changeGrid } from './change.ts'
import { addGrid } from './create.ts'
import { isSame } from './same.ts'
import { refuseDeleteMissing, type Upserted, upsert } from './upsert.ts'
import { userOf } from './versions.ts'

/** The destination of an upload, and the rule for a taken name. */
export interface Target {
  filename: string
  parent?: number
  parent_path?: string
  world_readable: boolean
  onConflict: ConflictRule
  /** For URL imports. */
  source_url?: string | null
  source_tag?: string
  /** Where the data is from, for the history. */
  provenance?: string
  source_referer?: string | null
  /** The draft that a new grid is. */
  draft?: string
}

/** The error of an upload to a name that is taken, whose hint has the key of the grid. The caller owns the file. */
export async function takenBy(
  { grids }: Pick<Readers, 'grids'>,
  { owner, idlocal, filetype, filename }: FileRow,
): Promise<Problem> {
  const key =
    filetype === 'grid'
      ? primaryKeyNamesOf(await grids.get(owner, idlocal), await grids.listColumns(owner, idlocal)).join(',')
      : ''
  const byKey = key === '' ? '' : `update its rows by its key (--key ${JSON.stringify(key)}), `
  return nameTaken(filename, `Choose another name, ${byKey}or replace or append to it (--on-conflict).`)
}

/** The error if the name is taken by a file that is not a grid. */
export function notAGrid({ filename, filetype }: FileRow): Problem {
  const what = filetypeLabel(filetype)
  return nameTaken(
    filename,
    `It is a ${what}; only grids can be replaced or appended to. Choose another name.`,
  )
}

/** What became of an upload. */
export interface Written {
  idlocal: number
  action: UploadAction
  warnings: string[]
  /** The version that has the upload. */
  version?: number
  /** What became of rows, with a key. */
  rows_added?: number
  rows_updated?: number
  rows_unchanged?: number
  rows_removed?: number
  /** What checks found, if there were any. */
  checks?: CheckReport
}

/** Creates a grid from a stored table. Replaces or appends to an existing one if the request asks for it. */
export async function createOrUpdateGrid(
  service: GridService,
  call: DataCall,
  table: Table,
  target: Target,
): Promise<Written> {
  const owner = call.caller!.username
  const { onConflict } = target
  checkFilename(target.filename, service.limits)
  if ((givenKey(call) ?? []).length === 0 && onConflict !== 'append') refuseDeleteMissing(call)
  const update = (idlocal: number): Promise<Written> =>
    onConflict === 'replace'
      ? replaceGrid(service, call, { owner, idlocal }, table, target)
      : upsert(service, call, { owner, idlocal }, table).then(writtenOf)
  if (onConflict === 'replace' || onConflict === 'append') {
    const existing = await service.store.read((readers) => findTarget(service, readers, owner, target))
    if (existing) return update(gridOf(existing).idlocal)
  }
  const outcome = await createGrid(service, call, table, target)
  // Another request took the name meanwhile.
  return 'existing' in outcome ? update(outcome.existing) : outcome
}

/** Returns the active file with the name of the target. */
export async function findTarget(
  { limits }: GridService,
  { files }: Readers,
  owner: string,
  { parent, parent_path, filename }: Target,
): Promise<FileRow | undefined> {
  const folders = parent_path === undefined ? [] : splitPath(parent_path, limits)
  return findByPath(files, owner, parent_path === undefined ? (parent ?? ROOT) : ROOT, [...folders, filename])
}

function gridOf(file: FileRow): FileRow {
  if (file.filetype !== 'grid') throw notAGrid(file)
  return file
}

/** Creates a grid, unless a grid that the request may change has taken its name meanwhile. */
async function createGrid(
  { limits, store }: GridService,
  call: DataCall,
  table: Table,
  target: Target,
): Promise<Written | { existing: number }> {
  const owner = call.caller!.username
  const key = givenKey(call) ?? []
  const source = call.fileName ?? 'the upload'
  const snap = snapshotOfTable(store, table)
  await checkKey(snap, key, { source, lineOf: table.lineOf })
  const mayFail = target.draft !== undefined
  const checked = await enforce(givenChecks(call), { snap, source, lineOf: table.lineOf, mayFail })
  refuseWarnings(call, checked.warnings)
  const create = async (writers: Writers): Promise<Written | { existing: number }> => {
    const parent = await resolveDestination(writers, owner, target, limits)
    const taken = await writers.files.findByName(owner, parent, target.filename)
    if (taken && target.onConflict === 'fail') throw await takenBy(writers, taken)
    if (taken && target.onConflict !== 'rename') return { existing: gridOf(taken).idlocal }
    const filename = taken
      ? await findFreeName(writers.files, owner, parent, target.filename)
      : target.filename
    const file = await writers.files.add({
      owner,
      filetype: 'grid',
      filename,
      parent,
      world_readable: target.world_readable ? 1 : 0,
      source_url: target.source_url ?? null,
      source_referer: target.source_referer ?? null,
    })
    const uids = await addGrid(writers, file, table.columns, {
      operation: 'create',
      by: userOf(call),
      source: sourceOf(target),
    })
    if (key.length > 0) {
      const primary_key = encodePrimaryKey(
        key.map((name) => uids[table.columns.findIndex((column) => column.name === name)]),
      )
      await writers.grids.change(owner, file.idlocal, { primary_key })
    }
    await putTags(writers, call, file, target)
    return {
      idlocal: file.idlocal,
      version: 1,
      action: 'created',
      warnings: [
        ...table.warnings,
        ...checked.warnings,
        ...(taken ? [renamed(target.filename, filename)] : []),
      ],
      checks: checked.report,
    }
  }
  return store.writeOnce(call.writeKey(owner), create, { hasApplied: (made) => 'idlocal' in made })
}

/** The origin of an upload, for the history. */
function sourceOf({ provenance, source_url, source_tag }: Target): string | undefined {
  return provenance ?? source_url ?? source_tag
}

/** Records the draft and the tag of an upload. */
async function putTags(
  writers: Writers,
  call: DataCall,
  { owner, idlocal }: Fid,
  { draft: name, source_tag }: Target,
): Promise<void> {
  if (name !== undefined)
    await writers.drafts.put({
      owner,
      idlocal,
      name,
      version: null,
      made_at: Date.now(),
      made_by: userOf(call),
    })
  if (source_tag !== undefined) await writers.files.setSourceTag(owner, idlocal, source_tag)
}

/** Replaces the columns of a grid. Keeps fid and link, and uids of columns whose names stay. */
function replaceGrid(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  target: Target,
): Promise<Written> {
  return changeGrid(service, call, fid, async (layout) => {
    const { store } = service
    const { grid, columns, slices } = layout
    // The key that the grid has afterwards, if the table has these columns.
    const key = givenKey(call) ?? primaryKeyNamesOf(grid, columns)
    const told = { source: call.fileName ?? 'the upload', lineOf: table.lineOf }
    const snap = snapshotOfTable(store, table)
    await checkKey(snap, key, told)
    const mayFail = target.draft !== undefined
    const checked = await enforceOn(service, fid, layout, { snap, ...told, mayFail }, givenChecks(call))
    refuseWarnings(call, checked.warnings)
    const same = await isSame(store.blobs, table.columns, columns, slices)
    const file = await store.read(({ files }) => files.get(fid.owner, fid.idlocal))
    const warnings = [...table.warnings, ...checked.warnings]
    if (!same && file) {
      refuseLoss(call, file, table.columns, columns)
      refuseShrink(call, file, table.rows, grid.row_count)
      const changes = typesChanged(table.columns, columns)
      refuseWarnings(call, changes)
      warnings.push(...changes)
    }
    const uids = new Map(columns.map(({ name, uid }) => [name, uid]))
    return {
      columns: same ? undefined : table.columns.map((column) => ({ ...column, uid: uids.get(column.name) })),
      change: { operation: 'replace', source: sourceOf(target) },
      key,
      fields: target.world_readable && file?.world_readable === 0 ? { world_readable: 1 } : {},
      also: (writers) => putTags(writers, call, fid, target),
      result: ({ version }) => ({
        idlocal: fid.idlocal,
        version,
        action: same ? 'unchanged' : 'replaced',
        warnings,
        checks: checked.report,
      }),
    }
  })
}

/** The result of rows that were added to a grid, as that of an upload. */
function writtenOf({ row_count: _, ...done }: Upserted): Written {
  const { idlocal, version, warnings, checks } = done
  if (done.rows_updated === undefined) return { idlocal, version, warnings, action: 'appended', checks }
  const { rows_added, rows_updated, rows_removed = 0 } = done
  const isChanged = rows_added + rows_updated + rows_removed > 0
  return { ...done, action: isChanged ? 'updated' : 'unchanged' }
}

/** The warning that a name was taken. */
export function renamed(wanted: string, filename: string): string {
  return `a file named '${wanted}' already exists; this one is named '${filename}'`
}
