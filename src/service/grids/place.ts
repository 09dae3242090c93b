import type { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import type { ConflictRule } from '../../contract/headers.ts'
import type { UploadAction } from '../../contract/resources/index.ts'
import { filetypeName } from '../../contract/resources/index.ts'
import { authorize } from '../access/access.ts'
import { checkIfMatch } from '../core/etag.ts'
import { checkFilename, freeName, nameTaken, placeOf } from '../files/names.ts'
import type { FileRow } from '../store/files.ts'
import type { Writers } from '../store/store.ts'
import type { GridService } from './append/queue.ts'
import { appendSlices } from './append/table.ts'
import { rewriteLayout } from './compact.ts'
import { addGrid } from './create.ts'
import { isSame, refuseLoss, refuseShrink, typesChanged } from './match.ts'
import { type DataCall, refuseWarnings } from './reading-options.ts'
import { replaceAll } from './replace.ts'
import type { Table } from './tables.ts'
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
  source_referer?: string | null
}

/** Hint for an upload to a name that is taken. */
export const ON_CONFLICT = 'Choose another name, or replace or append to it (--on-conflict).'

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
  const create = async (writers: Writers): Promise<Written | { existing: number }> => {
    const parent = await placeOf(writers, owner, target, limits)
    const existing = await writers.files.named(owner, parent, target.filename)
    if (existing && target.onConflict === 'fail') throw nameTaken(target.filename, ON_CONFLICT)
    if (existing && target.onConflict !== 'rename') {
      if (existing.filetype !== 'grid') throw notAGrid(existing)
      return { existing: existing.idlocal }
    }
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
    await addGrid(writers, file, table.columns, {
      operation: 'create',
      by: userOf(call),
      source: target.source_url ?? target.source_tag,
    })
    if (target.source_tag !== undefined)
      await writers.files.setSourceTag(owner, file.idlocal, target.source_tag)
    const said = existing ? [renamed(target.filename, filename)] : []
    return { idlocal: file.idlocal, action: 'created', warnings: [...table.warnings, ...said] }
  }
  const outcome = await store.writeOnce(call.writeKey(owner), create, {
    applied: (made) => 'idlocal' in made,
  })
  if ('idlocal' in outcome) return outcome
  const fid = { owner, idlocal: outcome.existing }
  if (target.onConflict === 'replace') return replaceColumns(service, call, fid, table, target)
  return { ...(await appendSlices(service, call, fid, table)), action: 'appended' }
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
  { world_readable: makePublic, source_tag, source_url }: Target,
): Promise<Written> {
  return rewriteLayout(
    service,
    fid,
    async () => undefined,
    (writers, _, { columns, slices, grid }) =>
      writers.idempotency.once(call.writeKey(fid.owner), async () => {
        const file = await writers.files.get(fid.owner, fid.idlocal)
        const found = await authorize(writers, file, call, { access: 'write', filetype: 'grid' })
        checkIfMatch(found.file, call.ifMatch)
        const publish = makePublic && found.file.world_readable === 0
        const same = isSame(table.columns, columns, slices)
        const said = [...table.warnings]
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
          await beginVersion(
            writers,
            { file: found.file, grid },
            { operation: 'replace', by: userOf(call), source: source_url ?? source_tag },
            { before: columns, after },
            publish ? { world_readable: 1 } : {},
          )
        } else if (publish) await writers.files.change(fid.owner, fid.idlocal, { world_readable: 1 })
        if (source_tag !== undefined) await writers.files.setSourceTag(fid.owner, fid.idlocal, source_tag)
        return { idlocal: fid.idlocal, action: same ? 'unchanged' : 'replaced', warnings: said }
      }),
  )
}
