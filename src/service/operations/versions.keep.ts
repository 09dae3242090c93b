// Keeps, names and releases versions.
import { Problem } from '../../contract/errors.ts'
import { isVersionName } from '../../contract/version-ref.ts'
import { authorizeCall } from '../access/access.ts'
import type { OperationCall } from '../core/call.ts'
import { updateFile } from '../files/read.ts'
import type { ResolvedVersion } from '../files/versions.ts'
import { createOlderVersion, usernameOf } from '../grids/change/versions.ts'
import { openFigure } from '../plots/content.ts'
import { addNextVersion, collectKeptData, loadGridVersions } from '../plots/versions.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import type { Writers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'
import { resolveNonDraft } from './versions.load.ts'

type KeepCall = OperationCall<'versions.keep'>

/** Keeps, names or releases a version. Returns its number: a kept chart that is kept again gets a new one. */
export async function keepVersion(service: Service, call: KeepCall): Promise<number> {
  const { version: text, name, undo = false, kept = !undo } = call.fields
  if (name !== undefined && name !== null && !isVersionName(name))
    throw new Problem(
      'invalid_request',
      `name: ${JSON.stringify(name.slice(0, 80))} cannot be the name of a version`,
      { field: 'name', hint: 'A name begins with a letter; then letters, digits, . _ and - may follow.' },
    )
  const access = await service.store.read(async (readers) => {
    const authorized = await authorizeCall(readers, call)
    return { ...authorized, wanted: await resolveNonDraft(readers, authorized, text) }
  })
  const isPlot = access.file.filetype === 'plot'
  const data = isPlot && kept ? await collectPlotData(service, call, access.wanted) : undefined
  return updateFile(
    service,
    call,
    async (writers, { file }) => {
      const resolved = await resolveNonDraft(writers, { ...access, file }, text)
      const row = await ensureVersionRow(writers, file, resolved)
      if (name) await checkNameIsFree(writers, file, row, name)
      if (!kept) {
        await releaseVersion(writers, file, row)
        return row.version
      }
      const isKeptPlot = isPlot && row.kept_at !== null
      if (isKeptPlot && !resolved.isCurrent) {
        if (name !== undefined) await writers.versions.change(row, { kept_name: name })
        return row.version
      }
      // A kept version stays as it is. The current chart becomes a new version.
      const version = isKeptPlot ? await repeatVersion(writers, file, call) : row.version
      const fields = { kept_at: Date.now(), ...(name !== undefined && { kept_name: name }) }
      const target = { owner: file.owner, idlocal: file.idlocal, version }
      if (data) {
        await writers.versions.change(target, { ...fields, types: JSON.stringify(data.columns) })
        await writers.versions.addKeptSlices(target, data.slices)
      } else await writers.versions.change(target, fields)
      // Later appends must not extend a kept version.
      if (file.filetype === 'grid' && resolved.isCurrent)
        await writers.grids.change(file.owner, file.idlocal, { appended_by: null, appended_since: null })
      // From now on, everyone with read access can see this version.
      writers.files.recordFileEvent('version.keep', file, { version, name: name ?? null })
      return version
    },
    data?.slices.map(({ blob }) => blob.owner),
  )
}

/** Collects the data that a version of a plot shows: it belongs to grids that continue to change. */
async function collectPlotData(service: Service, call: KeepCall, { isCurrent }: ResolvedVersion) {
  // Without a version, a plot shows current data.
  const version = isCurrent ? undefined : call.fields.version
  const { grids } = await openFigure(service, { ...call, operation: 'plots.content', version })
  return collectKeptData(service.store, call.fid.owner, grids)
}

/** Throws `conflict` if another version or a draft of the file has this name. */
async function checkNameIsFree(
  { versions, drafts }: Writers,
  { owner, idlocal, filename }: FileRow,
  { version }: VersionRow,
  name: string,
): Promise<void> {
  const existing = await versions.findByKeptName(owner, idlocal, name)
  if (existing && existing.version !== version)
    throw new Problem('conflict', `version ${existing.version} is already named ${name}`, {
      field: 'name',
      hint: `Choose another name, or free this one: gridline keep FILE@${existing.version} --undo`,
    })
  if (await drafts.get(owner, idlocal, name))
    throw new Problem('conflict', `a draft of '${filename}' is named ${name}`, {
      field: 'name',
      hint: `Choose another name, or delete the draft: gridline draft delete ${name}`,
    })
}

/** Releases a version: it expires like those that were never kept. */
async function releaseVersion({ versions, files }: Writers, file: FileRow, row: VersionRow): Promise<void> {
  await versions.change(row, { kept_at: null, kept_name: null })
  if (file.filetype === 'plot') await versions.removeKeptSlices(row)
  if (row.kept_at !== null) files.recordFileEvent('version.release', file, { version: row.version })
}

/** Adds a version of a plot with the same figure. Returns its number. */
async function repeatVersion(writers: Writers, file: FileRow, call: KeepCall): Promise<number> {
  const content = (await writers.plots.getContent(file.owner, file.idlocal))!
  const previous = { ...content, grids: await loadGridVersions(writers, file) }
  return addNextVersion(writers, file, previous, content, { operation: 'keep', by: usernameOf(call) })
}

/** Returns the row of a version. Adds it if the file is older than the version history. */
async function ensureVersionRow(
  { versions, plots, grids }: Writers,
  file: FileRow,
  { version, row }: ResolvedVersion,
): Promise<VersionRow> {
  if (row) return row
  const { owner, idlocal } = file
  const content = file.filetype === 'plot' ? await plots.getContent(owner, idlocal) : undefined
  const epoch = file.filetype === 'grid' ? (await grids.get(owner, idlocal)).epoch : version
  const { hash = null, bytes = null } = content ?? {}
  await versions.add({ ...createOlderVersion(file, epoch), version, hash, bytes })
  return (await versions.get(owner, idlocal, version))!
}
