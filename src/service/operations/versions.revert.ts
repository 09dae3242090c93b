// Reverts grids and plots to earlier versions.
import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { NO_JSON_LIMITS, parseRaw } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call, OperationCall } from '../core/call.ts'
import { applyOnce, checkCanChange, updateFile } from '../files/read.ts'
import { changeGrid } from '../grids/change/change.ts'
import { changeLayout } from '../grids/change/layout.ts'
import { commitPlan } from '../grids/change/plan.ts'
import {
  checkRevertedKey,
  prepareRevertColumns,
  type RevertSource,
  takeRevertSnapshot,
} from '../grids/change/revert.ts'
import { usernameOf } from '../grids/change/versions.ts'
import { enforceChecksOnGrid } from '../grids/checks/enforce.ts'
import { trimSnapshot } from '../grids/column/snapshot.ts'
import { type FigureContent, loadPlotContent } from '../plots/content.ts'
import { listColumnsOf, listSources } from '../plots/edit-figure.ts'
import { describeFigure } from '../plots/quality.ts'
import { findReusableGrid, loadFigure, replaceFormerOwners, writeFigure } from '../plots/store-figure.ts'
import { loadGridVersions, parseGridVersions } from '../plots/versions.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import { storedContentOf } from '../store/aggregates/plots.ts'
import { storeCompressed } from '../store/aggregates/slice-json.ts'
import type { Writers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'
import { checkNotDraft, noVersions, resolveNonDraft } from './versions.load.ts'

type RevertCall = OperationCall<'versions.revert'>

interface RevertResult {
  version: number
  of_version: number
  action: 'reverted' | 'unchanged'
}

/** Reverts a grid or plot to an earlier version. */
export async function revertVersion(service: Service, call: RevertCall) {
  const result = await revertFile(service, call, call.fields.version ?? '-1')
  return { fid: formatFid(call.fid), ...result, warnings: [] }
}

async function revertFile(service: Service, call: RevertCall, text: string): Promise<RevertResult> {
  const access = await checkCanChange(service, call)
  const replay = access
    ? undefined
    : await service.store.findResultOf<RevertResult>(call.writeKey(call.fid.owner))
  if (replay?.action) return replay
  if (access?.file.filetype === 'plot' || (!access && call.filetype === 'plot'))
    return revertPlot(service, call, text)
  if (access && access.file.filetype !== 'grid') throw noVersions()
  return revertGrid(service, call, text)
}

async function revertGrid(service: Service, call: RevertCall, text: string): Promise<RevertResult> {
  const { store } = service
  const { fid } = call
  return changeGrid(service, call, fid, async (layout) => {
    const { version: of_version, reverting } = await store.read(async (readers) => {
      const resolved = await resolveNonDraft(readers, await authorizeCall(readers, call), text)
      const row = resolved.isCurrent ? undefined : resolved.row
      return { version: resolved.version, reverting: row && (await takeRevertSnapshot(store, readers, row)) }
    })
    let failedChecks: readonly string[] | undefined
    if (reverting) {
      await checkRevertedKey(store, layout.grid, reverting)
      const snap = await trimSnapshot(reverting.snap)
      ;({ failedChecks } = await enforceChecksOnGrid(service, fid, layout, {
        snap,
        source: `version ${of_version}`,
      }))
    }
    const columns = reverting && (await prepareRevertColumns(store, reverting, layout))
    return {
      columns,
      change: { operation: 'revert', of_version },
      failedChecks,
      createResult: ({ version }): RevertResult => ({
        version,
        of_version,
        action: columns ? 'reverted' : 'unchanged',
      }),
    }
  })
}

/** Reverts a figure together with the plot's own data grid, which changes only with the figure. */
async function revertPlot(service: Service, call: RevertCall, text: string): Promise<RevertResult> {
  const { store } = service
  const { fid } = call
  const { file, content } = await loadPlotContent(service, { ...call, version: text })
  if (content.version) checkNotDraft(content.version)
  const of_version = content.version?.version ?? file.content_version
  let figure = await loadFigure(store, content)
  let slice: SliceRef = { seq: 0, rows: 1, packOffset: undefined, ...storedContentOf(content) }
  // Replace former usernames in the references.
  const usedGrids = listSources(figure).map((source) => source.grid)
  const renamed = replaceFormerOwners(service.formerNames, figure, usedGrids)
  if (renamed) {
    slice = await storeCompressed(store.blobs, fid.owner, 1, renamed)
    figure = parseRaw(renamed, 'the figure', NO_JSON_LIMITS)
  }
  const sources = listSources(figure)
  const stored = {
    content: slice,
    sources: sources.map((source) => ({ source, path: 'figure' })),
    facts: describeFigure(figure, sources.length > 0),
    replaced: [],
  }
  const put = async (writers: Writers, current: FileRow, grids?: string): Promise<RevertResult> => {
    const content = await writers.plots.getContent(current.owner, current.idlocal)
    if (content?.hash === slice.blob.hash)
      return { version: current.content_version, of_version, action: 'unchanged' }
    const version = await writeFigure(writers, current, stored, call, {
      before: listColumnsOf(figure),
      change: { operation: 'revert', of_version },
      gridVersions: grids,
    })
    await writers.files.change(current.owner, current.idlocal)
    return { version, of_version, action: 'reverted' }
  }
  const ownGrid = await loadOwnGridToRevert(service, call, content)
  if (!ownGrid) return updateFile(service, call, (writers, { file: current }) => put(writers, current))
  const grid = { owner: fid.owner, idlocal: ownGrid.row.idlocal }
  return changeLayout(
    service,
    grid,
    async (layout) => ({ columns: await prepareRevertColumns(store, ownGrid, layout) }),
    (writers, { columns }, layout) =>
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
}

/** Loads the version of the plot's data grid that an earlier figure showed; undefined if it is current. */
async function loadOwnGridToRevert(
  { store }: Service,
  call: Call,
  { version: at }: FigureContent,
): Promise<RevertSource | undefined> {
  if (!at?.row?.grids) return undefined
  const recorded = parseGridVersions(at.row.grids)
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
    return takeRevertSnapshot(store, readers, row)
  })
}
