// Handlers of version history: list, revert, keep and forget.
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, formatWebUrl } from '../../contract/fid.ts'
import type { Version } from '../../contract/resources/index.ts'
import { isVersionName } from '../../contract/version-ref.ts'
import { NO_JSON_LIMITS, parseRaw } from '../../json/index.ts'
import { type AuthorizedFile, authorizeCall } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { applyOnce, checkCanChange, updateFile } from '../files/read.ts'
import { canSeeVersions, type ResolvedVersion, resolveVersionRef } from '../files/versions.ts'
import { changeGrid } from '../grids/change/change.ts'
import { changeLayout } from '../grids/change/layout.ts'
import { commitPlan } from '../grids/change/plan.ts'
import {
  checkRevertedKey,
  loadRevertSource,
  prepareRevertColumns,
  type RevertSource,
} from '../grids/change/revert.ts'
import { usernameOf } from '../grids/change/versions.ts'
import { enforceChecksOnGrid } from '../grids/checks/enforce.ts'
import { trimSnapshot } from '../grids/column/snapshot.ts'
import { type FigureContent, loadPlotContent, openFigure } from '../plots/content.ts'
import { listSources } from '../plots/edit-figure.ts'
import { rateQuality } from '../plots/quality.ts'
import { findReusableGrid, replaceFormerOwners, writeFigure } from '../plots/store-figure.ts'
import { addNextVersion, collectKeptData, loadGridVersions } from '../plots/versions.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { loadDecompressed, storeCompressed } from '../store/aggregates/slice-json.ts'
import type { VersionRow } from '../store/aggregates/versions.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { countChanges, isUncounted } from './versions.counts.ts'

const DEFAULT_PAGE_VERSIONS = 100
const MAX_PAGE_VERSIONS = 1000
/** Rows that are searched for versions that a reader may see. */
const MAX_SCANNED_VERSIONS = 5000

export const versionHandlers = {
  'versions.list': async (service, call) => {
    const { before, page_size = DEFAULT_PAGE_VERSIONS } = call.query
    const limit = Math.min(page_size, MAX_PAGE_VERSIONS)
    const { file, page, body } = await service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      const rows = await listVisibleVersions(readers, access, before, limit + 1)
      const page = rows.slice(0, limit)
      const versions: Version[] = []
      for (const row of page) versions.push(await loadVersionMeta(service, readers, access.file, row))
      const next = rows.length > limit ? page.at(-1)!.version : null
      return { file: access.file, page, body: { versions, next } }
    })
    if (file.filetype !== 'grid' || !page.some(isUncounted)) return { body }
    return {
      body,
      createBody: (user, work) =>
        service.analysis.run(
          user,
          async () => {
            const counts = await countChanges(service, call.fid, file.content_version, page, work)
            const versions = body.versions.map((version) => ({ ...version, ...counts.get(version.version) }))
            return { body: { ...body, versions } }
          },
          work.isAborted,
        ),
    }
  },

  'versions.revert': async (service, call) => {
    const text = call.fields.version ?? '-1'
    const access = await checkCanChange(service, call)
    const replay = access
      ? undefined
      : await service.store.findResultOf<RevertResult>(call.writeKey(call.fid.owner))
    if (replay?.action) return { body: formatRevertResponse(call.fid, replay) }
    if (access?.file.filetype === 'plot' || (!access && call.filetype === 'plot'))
      return revertPlot(service, call, text)
    if (access && access.file.filetype !== 'grid') throw noVersions()
    return { body: await revertGrid(service, call, text) }
  },

  'versions.keep': async (service, call) => {
    const { version: text, name, undo = false, kept = !undo } = call.fields
    if (name !== undefined && name !== null && !isVersionName(name))
      throw new Problem(
        'invalid_request',
        `name: ${JSON.stringify(name.slice(0, 80))} cannot be the name of a version`,
        {
          field: 'name',
          hint: 'A name begins with a letter; then letters, digits, . _ and - may follow.',
        },
      )
    const { fid } = call
    const { store } = service
    const access = await store.read(async (readers) => {
      const authorized = await authorizeCall(readers, call)
      return { ...authorized, wanted: await resolveNonDraft(readers, authorized, text) }
    })
    const isPlot = access.file.filetype === 'plot'
    // Keep the data of a plot with it: it belongs to grids that continue to change.
    const data =
      isPlot && kept
        ? await collectKeptData(
            store,
            call.fid.owner,
            (
              await openFigure(service, {
                ...call,
                operation: 'plots.content',
                version: dataVersionOf(text, access.wanted),
              })
            ).grids,
          )
        : undefined
    const version = await updateFile(
      service,
      call,
      async (writers, { file }) => {
        const resolved = await resolveNonDraft(writers, { ...access, file }, text)
        const row = await ensureVersionRow(writers, file, resolved)
        if (name && (await writers.versions.findByKeptName(file.owner, file.idlocal, name)) !== undefined) {
          const existing = await writers.versions.findByKeptName(file.owner, file.idlocal, name)
          if (existing!.version !== row.version)
            throw new Problem('conflict', `version ${existing!.version} is already named ${name}`, {
              field: 'name',
              hint: `Choose another name, or free this one: gridline keep FILE@${existing!.version} --undo`,
            })
        }
        if (name && (await writers.drafts.get(file.owner, file.idlocal, name)))
          throw new Problem('conflict', `a draft of '${file.filename}' is named ${name}`, {
            field: 'name',
            hint: `Choose another name, or delete the draft: gridline draft delete ${name}`,
          })
        let { version: number } = row
        if (!kept) {
          await writers.versions.change(row, { kept_at: null, kept_name: null })
          if (isPlot) await writers.versions.removeKeptSlices(row)
          if (row.kept_at !== null)
            writers.files.recordFileEvent('version.release', file, { version: number })
          return number
        }
        if (isPlot && row.kept_at !== null && resolved.isCurrent) {
          // The kept version stays as it is. The current chart becomes a new version.
          const content = (await writers.plots.getContent(file.owner, file.idlocal))!
          const grids = await loadGridVersions(writers, file)
          number = await addNextVersion(writers, file, content, grids, content, {
            operation: 'keep',
            by: usernameOf(call),
          })
        } else if (isPlot && row.kept_at !== null) {
          if (name !== undefined) await writers.versions.change(row, { kept_name: name })
          return number
        }
        const fields = { kept_at: Date.now(), ...(name !== undefined && { kept_name: name }) }
        const target = { owner: file.owner, idlocal: file.idlocal, version: number }
        if (data) {
          await writers.versions.change(target, { ...fields, types: JSON.stringify(data.columns) })
          await writers.versions.addKeptSlices(target, data.slices)
        } else await writers.versions.change(target, fields)
        // Later appends must not extend a kept version.
        if (file.filetype === 'grid' && resolved.isCurrent)
          await writers.grids.change(file.owner, file.idlocal, { appended_by: null, appended_since: null })
        // From now on, everyone with read access can see this version.
        writers.files.recordFileEvent('version.keep', file, { version: number, name: name ?? null })
        return number
      },
      data?.slices.map(({ blob }) => blob.owner),
    )
    const body = await store.read(async (readers) => {
      const file = (await readers.files.get(fid.owner, fid.idlocal))!
      return loadVersionMeta(
        service,
        readers,
        file,
        (await readers.versions.get(fid.owner, fid.idlocal, version))!,
      )
    })
    return { body }
  },

  'versions.forget': async (service, call) => {
    const version = await updateFile(service, call, async (writers, access) => {
      const { file } = access
      const resolved = await resolveVersionRef(writers, access, call.query.version)
      if (!resolved) throw noVersions()
      checkNotDraft(resolved)
      if (resolved.isCurrent)
        throw new Problem(
          'conflict',
          `version ${resolved.version} is the current version of '${file.filename}'`,
          {
            hint: 'Revert to another version first, or delete the file.',
          },
        )
      await writers.versions.remove(file.owner, file.idlocal, [resolved.version])
      writers.files.recordFileEvent('version.forget', file, { version: resolved.version })
      return resolved.version
    })
    return { body: { fid: formatFid(call.fid), version } }
  },
} satisfies Partial<Handlers>

function noVersions(): Problem {
  return new Problem('invalid_request', 'only grids and plots have versions')
}

/** Resolves a version reference, or the current version without one. Throws for drafts. */
async function resolveNonDraft(
  readers: Readers,
  access: Pick<AuthorizedFile, 'file' | 'roles' | 'state'>,
  text: string | undefined,
): Promise<ResolvedVersion> {
  const { file } = access
  const resolved = (await resolveVersionRef(readers, access, text ?? String(file.content_version)))!
  checkNotDraft(resolved)
  return resolved
}

function checkNotDraft({ draft }: ResolvedVersion): void {
  if (draft !== undefined)
    throw new Problem('invalid_request', `${draft} is a draft, not a version`, {
      field: 'version',
      hint: `To publish it, upload the file. To delete it: gridline draft delete ${draft}`,
    })
}

/** Returns the version whose data a plot shows; undefined for current data. */
function dataVersionOf(
  text: string | undefined,
  { isCurrent: isPresent }: ResolvedVersion,
): string | undefined {
  return isPresent ? undefined : text
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
  await versions.add({
    owner,
    idlocal,
    version,
    epoch: file.filetype === 'grid' ? (await grids.get(owner, idlocal)).epoch : version,
    made_at: file.date_modified,
    made_by: null,
    operation: 'create',
    message: null,
    hash: content?.hash ?? null,
    bytes: content?.bytes ?? null,
  })
  return (await versions.get(owner, idlocal, version))!
}

/** Lists the versions that a caller may see, newest first: all, or the current and the kept ones. */
async function listVisibleVersions(
  readers: Readers,
  { file, roles, state }: AuthorizedFile,
  before: number | undefined,
  limit: number,
): Promise<VersionRow[]> {
  const { owner, idlocal, filetype, content_version } = file
  if (filetype !== 'grid' && filetype !== 'plot') throw noVersions()
  const canSeeAll = canSeeVersions({ roles, state })
  const rows = await readers.versions.list(owner, idlocal, before, canSeeAll ? limit : MAX_SCANNED_VERSIONS)
  const hasCurrent = rows.some(({ version }) => version === content_version)
  const current = before === undefined && !hasCurrent ? [createCurrentRow(file)] : []
  const visible = canSeeAll
    ? rows
    : rows.filter(({ version, kept_at }) => kept_at !== null || version === content_version)
  return [...current, ...visible].slice(0, limit)
}

/** Returns a row for the current version of a file that is older than the version history. */
function createCurrentRow({ owner, idlocal, content_version, date_modified }: FileRow): VersionRow {
  return {
    owner,
    idlocal,
    version: content_version,
    epoch: 1,
    made_at: date_modified,
    made_by: null,
    operation: 'create',
    source: null,
    message: null,
    of_version: null,
    row_count: null,
    ragged: null,
    types: null,
    rows_added: null,
    rows_removed: null,
    rows_changed: null,
    columns_added: null,
    columns_removed: null,
    columns_changed: null,
    hash: null,
    bytes: null,
    grids: null,
    kept_at: null,
    kept_name: null,
  }
}

async function loadVersionMeta(
  { url }: Service,
  { grids, versions }: Readers,
  file: FileRow,
  row: VersionRow,
): Promise<Version> {
  const { version, made_at, made_by, operation, source, message, of_version, kept_at } = row
  const { kept_name: name } = row
  const isCurrent = version === file.content_version
  const row_count =
    file.filetype !== 'grid'
      ? null
      : isCurrent
        ? (await grids.get(file.owner, file.idlocal)).row_count
        : row.row_count
  // Appends store no counts: the added rows are the growth since the previous version.
  let { rows_added } = row
  if (operation === 'append' && rows_added === null && row_count !== null) {
    const [before] = await versions.list(file.owner, file.idlocal, version, 1)
    if (before?.version === version - 1 && before.row_count !== null)
      rows_added = row_count - before.row_count
  }
  return {
    version,
    is_current: isCurrent,
    made_at: new Date(made_at).toISOString(),
    made_by,
    operation,
    source,
    message,
    of_version,
    row_count,
    rows_added,
    rows_removed: row.rows_removed,
    rows_changed: row.rows_changed,
    columns_added: row.columns_added,
    columns_removed: row.columns_removed,
    columns_changed: row.columns_changed,
    kept: kept_at !== null,
    name,
    web_url: `${formatWebUrl(url, file)}?version=${encodeURIComponent(name ?? String(version))}`,
  }
}

interface RevertResult {
  version: number
  of_version: number
  action: 'reverted' | 'unchanged'
}

function formatRevertResponse(fid: Fid, outcome: RevertResult) {
  return { fid: formatFid(fid), ...outcome, warnings: [] }
}

async function revertGrid(service: Service, call: OperationCall<'versions.revert'>, text: string) {
  const { store } = service
  const { fid } = call
  const outcome = await changeGrid(service, call, fid, async (layout) => {
    const { version: of_version, reverting } = await store.read(async (readers) => {
      const found = await authorizeCall(readers, call)
      return loadRevertTarget(service, readers, found, text)
    })
    if (reverting) {
      await checkRevertedKey(store, layout.grid, reverting)
      const snap = await trimSnapshot(reverting.snap)
      await enforceChecksOnGrid(service, fid, layout, { snap, source: `version ${of_version}` })
    }
    const columns = reverting && (await prepareRevertColumns(store, reverting, layout))
    return {
      columns,
      change: { operation: 'revert', of_version },
      createResult: ({ version }): RevertResult => ({
        version,
        of_version,
        action: columns ? 'reverted' : 'unchanged',
      }),
    }
  })
  return formatRevertResponse(fid, outcome)
}

/** Loads the version to revert to. `reverting` is undefined for the current version. */
async function loadRevertTarget(
  { store }: Service,
  readers: Readers,
  access: AuthorizedFile,
  text: string,
): Promise<{ version: number; reverting: RevertSource | undefined }> {
  const resolved = (await resolveVersionRef(readers, access, text))!
  checkNotDraft(resolved)
  const row = resolved.isCurrent ? undefined : resolved.row
  return { version: resolved.version, reverting: row && (await loadRevertSource(store, readers, row)) }
}

/** Reverts a figure together with the plot's own data grid, which changes only with the figure. */
async function revertPlot(service: Service, call: OperationCall<'versions.revert'>, text: string) {
  const { store } = service
  const { fid } = call
  const { file, content } = await loadPlotContent(service, { ...call, version: text })
  if (content.version) checkNotDraft(content.version)
  const of_version = content.version?.version ?? file.content_version
  let figure = parseRaw(
    await loadDecompressed(store.blobs, storedContentOf(content)),
    'the figure',
    NO_JSON_LIMITS,
  )
  let slice: SliceRef = { seq: 0, rows: 1, ...storedContentOf(content) }
  // Replace former usernames in the references.
  const usedGrids = listSources(figure).map((source) => source.grid)
  const renamed = replaceFormerOwners(service.formerNames, figure, usedGrids)
  if (renamed) {
    slice = await storeCompressed(store.blobs, fid.owner, 1, renamed)
    figure = parseRaw(renamed, 'the figure', NO_JSON_LIMITS)
  }
  const sources = listSources(figure)
  const references = new Set(
    sources.flatMap(({ grid, uids }) => uids.map((uid) => `${formatFid(grid)}:${uid}`)),
  )
  const stored = {
    content: slice,
    sources: sources.map((source) => ({ source, path: 'figure' })),
    quality: rateQuality(figure, sources.length > 0),
    replaced: [],
  }
  const put = async (writers: Writers, current: FileRow, grids?: string): Promise<RevertResult> => {
    const content = await writers.plots.getContent(current.owner, current.idlocal)
    if (content?.hash === slice.blob.hash)
      return { version: current.content_version, of_version, action: 'unchanged' }
    const change = { operation: 'revert' as const, of_version, grids }
    const version = await writeFigure(writers, current, stored, call, references, change)
    await writers.files.change(current.owner, current.idlocal)
    return { version, of_version, action: 'reverted' }
  }
  const ownGrid = await loadOwnGridToRevert(service, call, content)
  if (!ownGrid)
    return {
      body: formatRevertResponse(
        fid,
        await updateFile(service, call, (writers, { file: current }) => put(writers, current)),
      ),
    }
  const grid = { owner: fid.owner, idlocal: ownGrid.row.idlocal }
  const outcome = await changeLayout(
    service,
    grid,
    (layout) => prepareRevertColumns(store, ownGrid, layout),
    (writers, columns, layout) =>
      applyOnce(writers, call, async ({ file: current }) => {
        // Record the versions before the revert: the replaced figure showed them.
        const grids = await loadGridVersions(writers, current)
        const data = await writers.files.get(grid.owner, grid.idlocal)
        const change = { operation: 'revert' as const, of_version: ownGrid.row.version }
        if (data) await commitPlan(writers, data, layout, { columns, change }, usernameOf(call))
        const result = await put(writers, current, grids)
        return data && columns ? { ...result, action: 'reverted' as const } : result
      }),
  )
  return { body: formatRevertResponse(fid, outcome) }
}

/** Loads the version of the plot's data grid that an earlier figure showed; undefined if it is current. */
async function loadOwnGridToRevert(
  { store }: Service,
  call: Call,
  { version: at }: FigureContent,
): Promise<RevertSource | undefined> {
  if (!at?.row?.grids) return undefined
  const recorded = JSON.parse(at.row.grids) as Record<string, number>
  const { owner, idlocal } = call.fid
  return store.read(async (readers) => {
    const ownGrid = await findReusableGrid(readers, call.fid, call, new Set(), true)
    if (!ownGrid) return undefined
    const grid = { owner, idlocal: ownGrid.idlocal }
    const version = recorded[formatFid(grid)]
    const file = await readers.files.get(owner, ownGrid.idlocal)
    if (version === undefined || file?.content_version === version) return undefined
    const row = await readers.versions.get(owner, ownGrid.idlocal, version)
    if (!row)
      throw new Problem(
        'not_found',
        `the data that version ${at.version} of plot ${owner}:${idlocal} showed has expired`,
      )
    return loadRevertSource(store, readers, row)
  })
}
