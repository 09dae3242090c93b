import { Problem } from '../../../contract/errors.ts'
import { INVISIBLE_CHARACTERS } from '../../../contract/invisible-characters.ts'
import { badData } from '../../../ingest/index.ts'
import { authorize } from '../../access/access.ts'
import { checkIfMatch } from '../../core/etag.ts'
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
import { checkType, columnsNow, matchColumns, refuseLoss, refuseShrink } from '../given/match-columns.ts'
import type { DataCall } from '../given/reading-options.ts'
import type { Table, Tables } from '../given/tables.ts'
import { givenKey } from '../keys/key.ts'
import type { GridService } from '../service.ts'
import { addGrid } from './create.ts'
import { givenDraft, placeDraft } from './drafts.ts'
import { createOrUpdateGrid, findTarget, notAGrid, renamed, type Target, type Written } from './place.ts'
import { userOf } from './versions.ts'

/** Creates a grid from a file, or a folder of grids if the file contains several tables. */
export async function createOrUpdateGrids(
  service: GridService,
  call: DataCall,
  stored: Tables,
  target: Target,
): Promise<Written> {
  const draft = givenDraft(call)
  if (stored.tables.length === 1) {
    const [{ table }] = stored.tables
    const warnings = [...stored.warnings, ...table.warnings]
    if (draft !== undefined) {
      const existing = await service.store.read((readers) =>
        findTarget(service, readers, call.caller!.username, target),
      )
      return placeDraft(service, call, { ...table, warnings }, { ...target, draft }, existing)
    }
    return createOrUpdateGrid(service, call, { ...table, warnings }, target)
  }
  if (draft !== undefined)
    throw new Problem(
      'invalid_request',
      `a draft is of one table, and the file contains ${stored.tables.length}`,
      {
        field: 'Draft',
        hint: 'Choose a sheet of a workbook with --sheet.',
      },
    )
  if (givenKey(call)?.length || call.headers.Checks !== undefined)
    throw new Problem(
      'invalid_request',
      `a key and checks are of one table, and the file contains ${stored.tables.length}`,
      {
        field: call.headers.Checks === undefined ? 'Key' : 'Checks',
        hint: 'Choose a sheet of a workbook with --sheet.',
      },
    )
  const owner = call.caller!.username
  const taken =
    target.onConflict === 'replace' || target.onConflict === 'append'
      ? await service.store.read((readers) => findTarget(service, readers, owner, target))
      : undefined
  if (!taken) return createFolderOfGrids(service, call, stored, target)
  if (taken.filetype === 'fold') return updateFolderOfGrids(service, call, stored, target, taken)
  throw nameTaken(
    target.filename,
    `It is a ${taken.filetype}, and the file contains ${stored.tables.length} tables, which need a folder. Choose another name.`,
  )
}

/** Creates a folder with a grid for each stored table. */
async function createFolderOfGrids(
  service: GridService,
  call: DataCall,
  { tables, warnings }: Tables,
  target: Target,
): Promise<Written> {
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
    const said = [...warnings]
    if (taken) said.push(renamed(target.filename, filename))
    for (const { path, table } of tables) {
      const names = path.map((name) => safeFilename(name, limits.filename_length))
      const name = names.pop()!
      const inside = await createFolders(writers, owner, folder.idlocal, names, limits)
      const file = await files.add({
        owner,
        filetype: 'grid',
        filename: await findFreeName(files, owner, inside, name),
        parent: inside,
        world_readable,
        source_url: target.source_url ?? null,
        source_referer: target.source_referer ?? null,
      })
      await addGrid(writers, file, table.columns, {
        operation: 'create',
        by: userOf(call),
        source: target.source_url,
      })
      said.push(...table.warnings)
    }
    return { idlocal: folder.idlocal, action: 'created' as const, warnings: said }
  })
}

/** A table of a file, with its folders and name inside the folder of the file. */
interface Placed {
  folders: string[]
  name: string
  table: Table
}

/**
 * Replaces or appends to the grids of a folder, each by the table of its name. Grids that the folder lacks are made;
 * those that the file lacks stay. All tables are checked before the first one is written; each is written in a
 * transaction of its own, and a retry with the same key goes on where the first try ended.
 */
async function updateFolderOfGrids(
  service: GridService,
  call: DataCall,
  { tables, warnings }: Tables,
  target: Target,
  folder: FileRow,
): Promise<Written> {
  const { limits, store } = service
  const { owner } = folder
  checkIfMatch(folder, call.ifMatch)
  const said = [...warnings]
  const placed = tables.map(({ path, table }): Placed => {
    const names = path.map((name) => safeFilename(name, limits.filename_length))
    return { folders: names.slice(0, -1), name: names.at(-1)!, table }
  })
  const paths = placed.map(({ folders, name }) => [...folders, name].join('/'))
  const twice = paths.find((path, k) => paths.indexOf(path) !== k)
  if (twice !== undefined)
    throw badData(
      call.fileName ?? 'the upload',
      {},
      `two tables are named ${twice}: cannot tell which grid is which`,
      'Rename one of them.',
    )
  for (const [k, one] of placed.entries())
    await checkPlaced(service, callFor(call, paths[k], k), one, target, folder)
  said.push(...(await missingFrom(service, call, folder, paths)))
  const actions = new Set<string>()
  for (const [k, { folders, name, table }] of placed.entries()) {
    const parent = await store.write([owner], (writers) =>
      createFolders(writers, owner, folder.idlocal, folders, limits),
    )
    const made = await createOrUpdateGrid(service, callFor(call, paths[k], k), table, {
      ...target,
      // It identifies the whole file, not one of its tables.
      source_tag: undefined,
      filename: name,
      parent,
      parent_path: undefined,
    })
    actions.add(made.action)
    said.push(
      ...made.warnings.map((warning) =>
        warning.startsWith(`${paths[k]}: `) ? warning : `${paths[k]}: ${warning}`,
      ),
    )
  }
  const changed = target.onConflict === 'replace' ? ('replaced' as const) : ('appended' as const)
  const action = actions.size === 1 && actions.has('unchanged') ? ('unchanged' as const) : changed
  const publish = target.onConflict === 'replace' && target.world_readable
  return store.writeOnce(call.writeKey(owner), async ({ files }) => {
    if (publish) await files.change(owner, folder.idlocal, { world_readable: 1 })
    return { idlocal: folder.idlocal, action, warnings: said }
  })
}

/** The call as it is for one of several tables: with a write key and a name of its own. */
function callFor(call: DataCall, path: string, k: number): DataCall {
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

/** Throws if a table cannot replace, or be appended to, the grid of its name. */
async function checkPlaced(
  service: GridService,
  call: DataCall,
  { folders, name, table }: Placed,
  target: Target,
  { owner, idlocal }: FileRow,
): Promise<void> {
  const existing = await service.store.read(async (readers) => {
    for (const [k, folder] of folders.entries()) {
      const above = await findByPath(readers.files, owner, idlocal, folders.slice(0, k + 1))
      if (above && above.filetype !== 'fold') throw nameTaken(folder, 'A folder of that name is needed.')
      if (!above) {
        await checkDepth(readers, owner, idlocal, folders.length, service.limits)
        break
      }
    }
    const found = await findByPath(readers.files, owner, idlocal, [...folders, name])
    if (found?.filetype === 'grid')
      await authorize(readers, found, call, { access: 'write', filetype: 'grid' })
    return found
  })
  if (!existing) return
  if (existing.filetype !== 'grid') throw notAGrid(existing)
  const columns = await service.store.read((readers) =>
    columnsNow(readers, { owner, idlocal: existing.idlocal }),
  )
  if (target.onConflict === 'replace') {
    refuseLoss(call, existing, table.columns, columns)
    const { row_count } = await service.store.read(({ grids }) => grids.get(owner, existing.idlocal))
    refuseShrink(call, existing, table.rows, row_count)
    return
  }
  const source = call.fileName!
  for (const [k, column] of matchColumns(table, columns, source, []).entries())
    if (column) checkType(call, source, column, columns[k], [])
}

/** Grids that a warning names. */
const MAX_NAMED = 10

/** A warning that names the grids of the folder that are not in the file. */
async function missingFrom(
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
      limit: MAX_NAMED + paths.length,
    }),
  )
  const missing = grids.filter(({ filename }) => !paths.includes(filename))
  if (missing.length === 0) return []
  const names = missing.slice(0, MAX_NAMED).map(({ filename }) => filename)
  return [
    `grids that are not in ${call.fileName ?? 'the upload'} were not changed: ${names.join(', ')}${missing.length > MAX_NAMED ? ' …' : ''}`,
  ]
}

/** Converts the name of a sheet or archive entry to a valid filename. */
function safeFilename(name: string, most: number): string {
  const clean = name
    .replaceAll(new RegExp(INVISIBLE_CHARACTERS, 'g'), '')
    .replace(/[/\u0000-\u001f\u007f-\u009f]/g, '_')
    .slice(0, most - 10)
    .toWellFormed()
    .trim()
  return clean === '' || clean === '.' || clean === '..' ? 'Untitled grid' : clean
}
