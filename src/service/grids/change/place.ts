import type { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import type { ConflictRule } from '../../../contract/headers.ts'
import type { CheckReport, UploadAction } from '../../../contract/resources/index.ts'
import { filetypeName } from '../../../contract/resources/index.ts'
import { authorize } from '../../access/access.ts'
import { checkIfMatch } from '../../core/etag.ts'
import { checkFilename, freeName, nameTaken, placeOf } from '../../files/names.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { GridRow } from '../../store/aggregates/grids.ts'
import { keyNames, storedKey } from '../../store/schema/primary-key.ts'
import type { Readers, Writers } from '../../store/store.ts'
import { enforce, enforceOn, givenChecks, type Passed } from '../checks/enforce.ts'
import { refuseLoss, refuseShrink, typesChanged } from '../given/match.ts'
import { type DataCall, refuseWarnings } from '../given/reading-options.ts'
import type { Table } from '../given/tables.ts'
import { snapshotOfTable } from '../given/tables.ts'
import { checkKey, givenKey, namedColumns } from '../keys/key.ts'
import type { GridService } from '../service.ts'
import { HasRules } from './append/request.ts'
import { appendSlices } from './append/table.ts'
import { rewriteLayout } from './compact.ts'
import { addGrid } from './create.ts'
import { replaceAll } from './replace.ts'
import { isSame } from './same.ts'
import { refuseDeleteMissing, type Upserted, upsert } from './upsert.ts'
import { beginVersion, userOf } from './versions.ts'

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
      ? keyNames(await grids.get(owner, idlocal), await grids.columns(owner, idlocal)).join(',')
      : ''
  const byKey = key === '' ? '' : `update its rows by its key (--key ${JSON.stringify(key)}), `
  return nameTaken(filename, `Choose another name, ${byKey}or replace or append to it (--on-conflict).`)
}

/** The error if the name is taken by a file that is not a grid. */
export function notAGrid({ filename, filetype }: FileRow): Problem {
  const what = filetypeName(filetype)
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
  const { limits, store } = service
  checkFilename(target.filename, limits)
  const key = givenKey(call) ?? []
  if (key.length === 0 && target.onConflict !== 'append') refuseDeleteMissing(call)
  const checks = givenChecks(call)
  let checked: Passed | undefined = checks.length === 0 ? { warnings: [] } : undefined
  const create = async (writers: Writers): Promise<Written | { existing: number }> => {
    const parent = await placeOf(writers, owner, target, limits)
    const existing = await writers.files.named(owner, parent, target.filename)
    if (existing && target.onConflict === 'fail') throw await takenBy(writers, existing)
    if (existing && target.onConflict !== 'rename') {
      if (existing.filetype !== 'grid') throw notAGrid(existing)
      return { existing: existing.idlocal }
    }
    if (!checked) throw new NotChecked()
    const filename = existing
      ? await freeName(writers.files, owner, parent, target.filename)
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
      source: target.provenance ?? target.source_url ?? target.source_tag,
    })
    if (key.length > 0) {
      const primary_key = storedKey(
        key.map((name) => uids[table.columns.findIndex((one) => one.name === name)]),
      )
      await writers.grids.change(owner, file.idlocal, { primary_key })
    }
    if (target.draft !== undefined)
      await writers.drafts.put({
        owner,
        idlocal: file.idlocal,
        name: target.draft,
        version: null,
        made_at: Date.now(),
        made_by: userOf(call),
      })
    if (target.source_tag !== undefined)
      await writers.files.setSourceTag(owner, file.idlocal, target.source_tag)
    const said = existing ? [renamed(target.filename, filename)] : []
    return {
      idlocal: file.idlocal,
      version: 1,
      action: 'created',
      warnings: [...table.warnings, ...checked.warnings, ...said],
      checks: checked.report,
    }
  }
  const told = { source: call.fileName ?? 'the upload', lineOf: table.lineOf }
  await checkKey(snapshotOfTable(store, table), key, told)
  const placed = (): Promise<Written | { existing: number }> =>
    store.writeOnce(call.writeKey(owner), create, { applied: (made) => 'idlocal' in made })
  // A new grid is checked by itself, one that exists as it is afterwards.
  const outcome = await placed().catch(async (error) => {
    if (!(error instanceof NotChecked)) throw error
    const mayFail = target.draft !== undefined
    checked = await enforce(checks, { snap: snapshotOfTable(store, table), ...told, mayFail })
    refuseWarnings(call, checked.warnings)
    return placed()
  })
  if ('idlocal' in outcome) return outcome
  const fid = { owner, idlocal: outcome.existing }
  if (target.onConflict === 'replace') return replaceColumns(service, call, fid, table, target)
  const isRuled = givenKey(call) !== undefined || checks.length > 0 || call.headers['Delete-Missing'] === true
  if (isRuled) return upserted(await upsert(service, call, fid, table))
  try {
    return { ...(await appendSlices(service, call, fid, table)), action: 'appended' }
  } catch (error) {
    if (!(error instanceof HasRules)) throw error
    return upserted(await upsert(service, call, fid, table))
  }
}

/** The checks of an upload have not run. */
class NotChecked extends Error {}

function upserted({ row_count: _, ...done }: Upserted): Written {
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

/** The rows of the longest column. */
function longest(columns: readonly { rows: number }[]): number {
  return columns.reduce((most, { rows }) => Math.max(most, rows), 0)
}

/** Replaces the columns of a grid. Keeps fid and link, and uids of columns whose names stay. */
async function replaceColumns(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  { world_readable: makePublic, source_tag, source_url, provenance, draft }: Target,
): Promise<Written> {
  return rewriteLayout(
    service,
    fid,
    // The key that the grid has afterwards, if the table has these columns.
    async (layout) => {
      const { grid, columns, slices } = layout
      const names = givenKey(call) ?? keyNames(grid, columns)
      const told = { source: call.fileName ?? 'the upload', lineOf: table.lineOf }
      const snap = snapshotOfTable(service.store, table)
      await checkKey(snap, names, told)
      const checked = await enforceOn(
        service,
        fid,
        layout,
        { snap, ...told, mayFail: draft !== undefined },
        givenChecks(call),
      )
      refuseWarnings(call, checked.warnings)
      const same = await isSame(service.store.blobs, table.columns, columns, slices)
      return { names, checked, same }
    },
    (writers, { names, checked, same }, { columns, slices, grid }) =>
      writers.idempotency.once(call.writeKey(fid.owner), async () => {
        const file = await writers.files.get(fid.owner, fid.idlocal)
        const found = await authorize(writers, file, call, { access: 'write', filetype: 'grid' })
        checkIfMatch(found.file, call.ifMatch)
        const publish = makePublic && found.file.world_readable === 0
        const said = [...table.warnings, ...checked.warnings]
        let version = found.file.content_version
        if (!same) {
          refuseLoss(call, found.file, table.columns, columns)
          refuseShrink(call, found.file, table.rows, longest(columns))
          const changes = typesChanged(table.columns, columns)
          refuseWarnings(call, changes)
          said.push(...changes)
          const uids = new Map(columns.map(({ name, uid }) => [name, uid]))
          const kept = table.columns.map((column) => ({ ...column, uid: uids.get(column.name) }))
          await replaceAll(writers, { ...fid, epoch: grid.epoch + 1 }, { columns, slices }, kept)
          const after = await writers.grids.columns(fid.owner, fid.idlocal)
          version = await beginVersion(
            writers,
            { file: found.file, grid },
            { operation: 'replace', by: userOf(call), source: provenance ?? source_url ?? source_tag },
            { before: columns, after },
            publish ? { world_readable: 1 } : {},
          )
        } else if (publish) await writers.files.change(fid.owner, fid.idlocal, { world_readable: 1 })
        if (draft !== undefined)
          await writers.drafts.put({
            ...fid,
            name: draft,
            version: null,
            made_at: Date.now(),
            made_by: userOf(call),
          })
        await putKey(writers, fid, grid, names)
        if (source_tag !== undefined) await writers.files.setSourceTag(fid.owner, fid.idlocal, source_tag)
        return {
          idlocal: fid.idlocal,
          version,
          action: same ? 'unchanged' : 'replaced',
          warnings: said,
          checks: checked.report,
        }
      }),
  )
}

/** Makes the columns of these names the key of a grid. */
async function putKey(
  writers: Writers,
  { owner, idlocal }: Fid,
  { primary_key: before }: Pick<GridRow, 'primary_key'>,
  names: readonly string[],
): Promise<void> {
  const columns = await writers.grids.columns(owner, idlocal)
  const primary_key = storedKey(namedColumns(columns, names, 'the grid').map(({ uid }) => uid))
  if (primary_key === before) return
  // Rows that follow do not belong to a version whose rows had another key.
  await writers.grids.change(owner, idlocal, { primary_key, appended_by: null, appended_since: null })
  await writers.files.change(owner, idlocal)
}
