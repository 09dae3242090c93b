// Saves a file with one or several tables: as a grid, or as a folder of grids.
import { Problem } from '../../../contract/errors.ts'
import { INVISIBLE_CHARACTERS } from '../../../contract/invisible-characters.ts'
import type { Limits } from '../../../contract/limits.ts'
import { badData } from '../../../ingest/index.ts'
import { authorize, checkScope } from '../../access/access.ts'
import { checkIfMatch } from '../../core/etag.ts'
import { parseDraftName } from '../../files/drafts.ts'
import {
  checkDepth,
  createFolders,
  findByPath,
  findFreeName,
  nameTaken,
  resolveDestination,
} from '../../files/names.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import { OWNER_SCOPE } from '../../store/aggregates/lists.ts'
import { withoutCommit } from '../../store/dry-store.ts'
import { checkColumnLoss, checkRowLoss, checkType, loadGrid, matchColumns } from '../input/match-columns.ts'
import { type DataCall, parseUids } from '../input/reading-options.ts'
import type { FileTables, Table } from '../input/tables.ts'
import { parseKeyHeader } from '../keys/primary-key.ts'
import type { GridService } from '../service.ts'
import { hasRules } from './append/request.ts'
import { addGrid } from './create.ts'
import { saveDraft } from './drafts.ts'
import {
  findExisting,
  notAGridError,
  renameWarning,
  saveGrid,
  type UploadResult,
  type UploadTarget,
} from './save-grid.ts'
import { assertNotDerived, usernameOf } from './versions.ts'

/** Saves a file as a grid, a draft, or a folder of grids if it contains several tables. */
export async function saveTables(
  service: GridService,
  call: DataCall,
  stored: FileTables,
  target: UploadTarget,
): Promise<UploadResult> {
  const draft = parseDraftName(call)
  if (stored.tables.length === 1) {
    const [{ table }] = stored.tables
    const warnings = [...stored.warnings, ...table.warnings]
    if (draft !== undefined) {
      const existing = await service.store.read((readers) =>
        findExisting(service, readers, call.caller!.username, target),
      )
      return saveDraft(service, call, { ...table, warnings }, { ...target, draft }, existing)
    }
    const uids = parseUids(call, table.columns.length)
    const columns = table.columns.map((column, k) => ({ ...column, uid: uids?.[k] }))
    return saveGrid(service, call, { ...table, columns, warnings }, target)
  }
  if (target.idlocal !== undefined || call.headers.Uids !== undefined)
    throw new Problem(
      'invalid_request',
      `Idlocal and Uids need a file with one table; the file contains ${stored.tables.length}`,
      { field: target.idlocal === undefined ? 'Uids' : 'Idlocal' },
    )
  if (draft !== undefined)
    throw new Problem('invalid_request', `a draft has one table; the file contains ${stored.tables.length}`, {
      field: 'Draft',
      hint: 'Choose a sheet of a workbook with --sheet.',
    })
  if (parseKeyHeader(call)?.length || call.headers.Checks !== undefined)
    throw new Problem(
      'invalid_request',
      `keys and checks need a file with one table; the file contains ${stored.tables.length}`,
      {
        field: call.headers.Checks === undefined ? 'Key' : 'Checks',
        hint: 'Choose a sheet of a workbook with --sheet.',
      },
    )
  const owner = call.caller!.username
  const isByName = target.onConflict === 'replace' || target.onConflict === 'append'
  // The next upload of the same file would be refused.
  if (isByName) placeTables(call, stored.tables, service.limits)
  const taken = isByName
    ? await service.store.read((readers) => findExisting(service, readers, owner, target))
    : undefined
  if (!taken) return createGridFolder(service, call, stored, target)
  if (taken.filetype === 'fold') return updateGridFolder(service, call, stored, target, taken)
  throw nameTaken(
    target.filename,
    `It is a ${taken.filetype}. The ${stored.tables.length} tables of the file need a folder: choose another name.`,
  )
}

/** Creates a folder with a grid for each stored table. */
async function createGridFolder(
  service: GridService,
  call: DataCall,
  { tables, warnings }: FileTables,
  target: UploadTarget,
): Promise<UploadResult> {
  const owner = call.caller!.username
  const { limits, store } = service
  return store.writeOnce(call.writeKey(owner), async (writers) => {
    const { files } = writers
    const parent = await resolveDestination(writers, owner, target, limits)
    const taken = await files.findByName(owner, parent, target.filename)
    if (taken && target.onConflict === 'fail') throw nameTaken(target.filename, 'Choose another name.')
    const filename = await findFreeName(files, owner, parent, target.filename)
    const world_readable = target.world_readable ? 1 : 0
    const folder = await files.add({ owner, filetype: 'fold', filename, parent, world_readable })
    const allWarnings = [...warnings]
    if (taken) allWarnings.push(renameWarning(target.filename, filename))
    for (const { path, table } of tables) {
      const names = path.map((name) => toFilename(name, limits.filename_length))
      const name = names.pop()!
      const parentId = await createFolders(writers, owner, folder.idlocal, names, limits)
      const file = await files.add({
        owner,
        filetype: 'grid',
        filename: await findFreeName(files, owner, parentId, name),
        parent: parentId,
        world_readable,
        source_url: target.source_url ?? null,
        source_referer: target.source_referer ?? null,
      })
      await addGrid(writers, file, table.columns, {
        operation: 'create',
        by: usernameOf(call),
        source: target.source_url,
      })
      allWarnings.push(...table.warnings)
    }
    return { idlocal: folder.idlocal, action: 'created' as const, warnings: allWarnings }
  })
}

/** A table of a file, with its path inside the folder of the file. */
interface PlacedTable {
  folders: string[]
  name: string
  table: Table
}

function pathOf({ folders, name }: PlacedTable): string {
  return [...folders, name].join('/')
}

/** Places tables in the folder of their file, for writes by name. Throws `bad_data` if two have the same name. */
function placeTables(call: DataCall, tables: FileTables['tables'], limits: Limits): PlacedTable[] {
  const placed = tables.map(({ path, table }): PlacedTable => {
    const names = path.map((name) => toFilename(name, limits.filename_length))
    return { folders: names.slice(0, -1), name: names.at(-1)!, table }
  })
  const paths = placed.map(pathOf)
  const refuse = (why: string): Problem =>
    badData(call.fileName ?? 'the upload', {}, why, 'Rename one of them.')
  const different = new Set<string>()
  const duplicate = paths.find((path) => different.size === different.add(path).size)
  if (duplicate !== undefined)
    throw refuse(`two tables are named ${duplicate}: cannot tell which grid is which`)
  const folders = new Set(
    placed.flatMap((one) => one.folders.map((_, k) => one.folders.slice(0, k + 1).join('/'))),
  )
  const taken = paths.find((path) => folders.has(path))
  if (taken !== undefined) throw refuse(`a table and a folder are named ${taken}`)
  return placed
}

/**
 * Replaces or appends to the grids of a folder, by name. Creates missing grids; grids that are not in the
 * file are kept. All tables are checked before the first write. Each is written in a separate transaction; a
 * retry with the same idempotency key continues after the last one.
 */
async function updateGridFolder(
  service: GridService,
  call: DataCall,
  { tables, warnings }: FileTables,
  target: UploadTarget,
  folder: FileRow,
): Promise<UploadResult> {
  const { limits, store } = service
  const { owner } = folder
  checkIfMatch(folder, call.ifMatch)
  const allWarnings = [...warnings]
  const placedTables = placeTables(call, tables, limits)
  const paths = placedTables.map(pathOf)
  for (const [k, one] of placedTables.entries())
    await checkTable(service, callForTable(call, paths[k], k), one, target, folder)
  allWarnings.push(...(await warnOfMissingGrids(service, call, folder, paths)))
  const actions = new Set<string>()
  for (const [k, { folders, name, table }] of placedTables.entries()) {
    const parent = await store.write([owner], (writers) =>
      createFolders(writers, owner, folder.idlocal, folders, limits),
    )
    const place = placeOf({ filename: name, parent })
    const written = await saveGrid(service, callForTable(call, paths[k], k), table, { ...target, ...place })
    actions.add(written.action)
    allWarnings.push(
      ...written.warnings.map((warning) =>
        warning.startsWith(`${paths[k]}: `) ? warning : `${paths[k]}: ${warning}`,
      ),
    )
  }
  const changed = target.onConflict === 'replace' ? ('replaced' as const) : ('appended' as const)
  const action = actions.size === 1 && actions.has('unchanged') ? ('unchanged' as const) : changed
  const publish = target.onConflict === 'replace' && target.world_readable && folder.world_readable === 0
  if (publish) checkScope(call.caller, 'read')
  return store.writeOnce(call.writeKey(owner), async ({ files }) => {
    if (publish) await files.change(owner, folder.idlocal, { world_readable: 1 })
    return { idlocal: folder.idlocal, action, warnings: allWarnings }
  })
}

/** Returns the call for one of several tables, with a separate idempotency key and name. */
function callForTable(call: DataCall, path: string, k: number): DataCall {
  return {
    ...call,
    fileName: `${call.fileName ?? 'the upload'}, ${path}`,
    ifMatch: undefined,
    writeKey: (owner) => {
      const { key, ...rest } = call.writeKey(owner)
      return { ...rest, key: key === undefined ? undefined : `${key}\u001f${k}` }
    },
  }
}

/** Throws if a table cannot replace or be appended to the grid of its name. */
async function checkTable(
  service: GridService,
  call: DataCall,
  { folders, name, table }: PlacedTable,
  target: UploadTarget,
  { owner, idlocal }: FileRow,
): Promise<void> {
  const existing = await service.store.read(async (readers) => {
    for (const [k, folder] of folders.entries()) {
      const ancestor = await findByPath(readers.files, owner, idlocal, folders.slice(0, k + 1))
      if (ancestor && ancestor.filetype !== 'fold')
        throw nameTaken(folder, 'A folder of that name is needed.')
      if (!ancestor) {
        await checkDepth(readers, owner, idlocal, folders.length, service.limits)
        break
      }
    }
    const match = await findByPath(readers.files, owner, idlocal, [...folders, name])
    if (match?.filetype === 'grid')
      await authorize(readers, match, call, { access: 'write', filetype: 'grid' })
    return match
  })
  if (!existing) return
  if (existing.filetype !== 'grid') throw notAGridError(existing)
  assertNotDerived(existing)
  const { grid, columns } = await service.store.read((readers) => loadGrid(readers, existing))
  if (target.onConflict === 'replace') {
    checkColumnLoss(call, existing, table.columns, columns)
    checkRowLoss(call, existing, table.rows, grid.row_count)
  } else {
    const source = call.fileName!
    for (const [k, column] of matchColumns(table, columns, source, []).entries())
      if (column) checkType(call, source, column, columns[k], [])
  }
  if (hasRules(grid)) await trySaving(service, call, table, { ...target, ...placeOf(existing) })
}

/** Saves a table without commit. Throws if it does not satisfy the key or the checks of its grid. */
async function trySaving(
  service: GridService,
  call: DataCall,
  table: Table,
  target: UploadTarget,
): Promise<void> {
  const store = withoutCommit(service.store)
  try {
    await saveGrid({ ...service, store }, call, table, target)
  } finally {
    await store.giveUp()
  }
}

/** Returns the target that is an existing file. The tag identifies the whole file, not one table. */
function placeOf({ filename, parent }: Pick<FileRow, 'filename' | 'parent'>) {
  return { filename, parent, parent_path: undefined, source_tag: undefined }
}

/** Maximum number of grids that a warning names. */
const MAX_NAMED_GRIDS = 10

/** Returns a warning that names the grids of the folder that are not in the file; none if there are none. */
async function warnOfMissingGrids(
  { store }: GridService,
  call: DataCall,
  { owner, idlocal }: FileRow,
  paths: readonly string[],
): Promise<string[]> {
  const grids = await store.read(({ lists }) =>
    lists.loadPage({
      owner,
      viewer: OWNER_SCOPE,
      parent: idlocal,
      filetypes: ['grid'],
      order: 'filename',
      descending: false,
      limit: MAX_NAMED_GRIDS + paths.length,
    }),
  )
  const missing = grids.filter(({ filename }) => !paths.includes(filename))
  if (missing.length === 0) return []
  const names = missing.slice(0, MAX_NAMED_GRIDS).map(({ filename }) => filename)
  return [
    `grids that are not in ${call.fileName ?? 'the upload'} were not changed: ${names.join(', ')}${missing.length > MAX_NAMED_GRIDS ? ' …' : ''}`,
  ]
}

/** Converts the name of a sheet or archive entry to a valid filename. */
function toFilename(name: string, maxCharacters: number): string {
  const clean = name
    .replaceAll(new RegExp(INVISIBLE_CHARACTERS, 'g'), '')
    .replace(/[/\u0000-\u001f\u007f-\u009f]/g, '_')
    .slice(0, maxCharacters - 10)
    .toWellFormed()
    .trim()
  return clean === '' || clean === '.' || clean === '..' ? 'Untitled grid' : clean
}
