// Copies files into the caller's own files.
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatFid, ROOT } from '../../contract/fid.ts'
import type { FileCopied } from '../../contract/resources/index.ts'
import type { RawJson } from '../../json/index.ts'
import { authorizeCall, loadVisibleFile, ownerPrincipal } from '../access/access.ts'
import { isAllowed } from '../access/policy.ts'
import { BOARD_MEDIA_TYPE, loadBoardContent, storeBoardText } from '../boards/load.ts'
import type { OperationCall, OperationResult } from '../core/call.ts'
import { checkIfMatch } from '../core/etag.ts'
import { findFreeName, truncateName } from '../files/names.ts'
import { selectCopiedFields } from '../files/new-file.ts'
import { respondWithFile } from '../files/read.ts'
import { copyColumns } from '../grids/change/copy.ts'
import { flushTail } from '../grids/change/flush.ts'
import { type FigureContent, openFigure } from '../plots/content.ts'
import { detachResult, listSources, replaceGrids } from '../plots/edit-figure.ts'
import { loadReferencedGrids } from '../plots/referenced-grids.ts'
import { FIGURE_MEDIA_TYPE, loadFigure, prepareFigure, writeFigure } from '../plots/store-figure.ts'
import { hidesRows, readEvaluatedFigure } from '../plots/stream-figure.ts'
import { addFirstVersion } from '../plots/versions.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { SliceRef } from '../store/aggregates/grids.ts'
import { type StoredContent, storedContentOf } from '../store/aggregates/plots.ts'
import { storeCompressed } from '../store/aggregates/slice-json.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

interface CopyResult {
  idlocal: number
  /** Ids of all files that were created. */
  made: number[]
  warnings: string[]
}

/** Copies a file into the caller's own files. See docs/api.md#copies. */
export async function copyFile(
  service: Service,
  call: OperationCall<'files.copy'>,
): Promise<OperationResult<FileCopied>> {
  const { deep_copy, make_public } = call.fields
  const owner = call.caller!.username
  const write = call.writeKey(owner)
  const { store } = service
  const result = (await store.findResultOf<CopyResult>(write)) ?? (await copy())
  async function copy(): Promise<CopyResult> {
    const access = await store.read((readers) => authorizeCall(readers, call))
    const { file } = access
    const fields = { owner, world_readable: make_public ? 1 : 0 }
    if (file.filetype === 'fold')
      throw new Problem('invalid_request', 'a folder cannot be copied', { hint: 'Copy the files in it.' })
    if (file.filetype === 'plot') return copyPlot(service, call, fields, deep_copy === true)
    if (file.filetype === 'grid') await flushTail(store, file)
    // Readers do not get the file that a board was made from.
    const board =
      file.filetype === 'dashboard' && access.permission === 'read'
        ? await storeBoardText(service, owner, await loadBoardContent(service, access))
        : undefined
    const copyOnce = async (writers: Writers): Promise<CopyResult> => {
      const { file: original } = await authorizeAgain(writers, call)
      const created = await addCopy(writers, original, fields, original.filename)
      if (file.filetype === 'grid') await copyColumns(writers, original, created, owner)
      else if (board) await writers.plots.setContent(created, board, BOARD_MEDIA_TYPE)
      else await copyContent(writers, original, created)
      if (file.filetype === 'dashboard') await writers.jobs.scheduleItems(created)
      return { idlocal: created.idlocal, made: [created.idlocal], warnings: [] }
    }
    return store.writeOnce(write, copyOnce, { owners: [file.owner] })
  }
  const files = []
  for (const idlocal of result.made)
    files.push((await respondWithFile(service, call, { owner, idlocal })).body)
  return {
    body: { files, new_fid: formatFid({ owner, idlocal: result.idlocal }), warnings: result.warnings },
  }
}

/** Checks access and version again, inside the copying transaction. */
async function authorizeAgain(writers: Writers, call: OperationCall<'files.copy'>) {
  const access = await authorizeCall(writers, call)
  checkIfMatch(access.file, call.ifMatch)
  return access
}

/**
 * Adds the row of a copy: beside the original if the caller owns it and its folder is active, otherwise in
 * the home folder.
 */
async function addCopy(
  writers: Writers,
  file: FileRow,
  fields: { owner: string; world_readable: number },
  name: string,
): Promise<FileRow> {
  const { owner } = fields
  const isBeside = owner === file.owner && (await writers.folders.filterActive([file])).length > 0
  const parent = isBeside ? file.parent : ROOT
  const filename = file.filetype === 'extra' ? name : await findFreeName(writers.files, owner, parent, name)
  const copy = await writers.files.add({
    ...selectCopiedFields(file),
    ...fields,
    filename,
    parent,
    live_name: file.filetype === 'extra' ? null : filename,
    source_fid: formatFid(file),
  })
  if (owner !== file.owner) writers.files.recordFileEvent('file.copy', file, { to: formatFid(copy) })
  return copy
}

async function copyContent(writers: Writers, from: Fid, to: Fid): Promise<void> {
  const content = await writers.plots.getContent(from.owner, from.idlocal)
  if (!content) throw new Problem('damaged', 'the content of this file is missing')
  await writers.plots.setContent(to, storedContentOf(content), content.media_type)
}

const UNREADABLE_WARNING =
  'the data of this plot is in grids that you cannot read, so the columns it shows were copied with the plot'

const RESULT_WARNING =
  'the plot shows a result of grids that you cannot read, so the copy has that result as it is now'

/** Loads a figure with the result of its transforms, if it shows only that of grids that the caller may not read. */
async function loadShownResult(
  service: Service,
  call: OperationCall<'files.copy'>,
  content: FigureContent,
): Promise<RawJson | undefined> {
  const file = await service.store.read(async (readers) => (await authorizeCall(readers, call)).file)
  const view = await openFigure(service, call, { file, content })
  return hidesRows(view) ? detachResult(await readEvaluatedFigure(view)) : undefined
}

/** Copies a plot as the result of its transforms, with a grid that has only that. */
async function copyResult(
  service: Service,
  call: OperationCall<'files.copy'>,
  fields: { owner: string; world_readable: number },
  content: FigureContent,
  result: RawJson,
): Promise<CopyResult> {
  const prepared = await prepareFigure(service, fields.owner, result, true)
  return service.store.writeOnce(
    call.writeKey(fields.owner),
    async (writers) => {
      const { file } = await authorizeAgain(writers, call)
      await assertSameFigure(writers, file, content)
      const created = await addCopy(writers, file, fields, file.filename)
      await writeFigure(writers, created, prepared, call)
      const grids = prepared.grid ? [prepared.grid.idlocal] : []
      return { idlocal: created.idlocal, made: [created.idlocal, ...grids], warnings: [RESULT_WARNING] }
    },
    { owners: [call.fid.owner] },
  )
}

/** Throws `conflict` if a figure has changed since it was read. */
async function assertSameFigure(
  { plots }: Writers,
  { owner, idlocal }: FileRow,
  { hash }: FigureContent,
): Promise<void> {
  if ((await plots.getContent(owner, idlocal))?.hash === hash) return
  throw new Problem('conflict', 'the plot was changed by another request', { hint: 'Copy it again.' })
}

/**
 * Copies a plot. A linked copy refers to the same grids. A deep copy has its own copies of the grids: on
 * request, and if the caller may not read one of them. Of an unreadable grid, only the columns that the plot
 * shows are copied, under a name derived from the plot's.
 */
async function copyPlot(
  service: Service,
  call: OperationCall<'files.copy'>,
  fields: { owner: string; world_readable: number },
  isDeepRequested: boolean,
): Promise<CopyResult> {
  const { store } = service
  const content = await store.read(({ plots }) => plots.getContent(call.fid.owner, call.fid.idlocal))
  if (!content) throw new Problem('damaged', 'the figure of this plot is missing')
  const figure = await loadFigure(store, content)
  const plan = await store.read((readers) => planCopy(service, readers, call, figure))
  if (plan.some(({ isReadable }) => !isReadable)) {
    const result = await loadShownResult(service, call, content)
    if (result) return copyResult(service, call, fields, content, result)
  }
  const isDeep = isDeepRequested || plan.some(({ isReadable }) => !isReadable)
  const copies = isDeep ? plan.filter(({ isShown }) => isShown) : []
  // References contain ids, and are stored before the files are created: allocate the ids first.
  const targets = new Map<string, Fid>()
  for (const { grid } of copies) {
    await flushTail(service.store, grid)
    const idlocal = await store.write([fields.owner], ({ files }) => files.allocateIdlocal(fields.owner))
    targets.set(formatFid(grid), { owner: fields.owner, idlocal })
  }
  const stored: SliceRef | undefined =
    copies.length > 0
      ? await storeCompressed(
          store.blobs,
          fields.owner,
          1,
          replaceGrids(figure, (grid) => targets.get(formatFid(grid))),
        )
      : undefined
  return store.writeOnce(
    call.writeKey(fields.owner),
    async (writers) => {
      const { file } = await authorizeAgain(writers, call)
      await assertSameFigure(writers, file, content)
      const created = await addCopy(writers, file, fields, file.filename)
      const grids: number[] = []
      for (const copy of copies) {
        const target = targets.get(formatFid(copy.grid))!
        await copyGridOfPlot(writers, call, copy, target, { from: file, to: created })
        grids.push(target.idlocal)
      }
      const referenced = plan.map(({ grid }) => targets.get(formatFid(grid)) ?? grid)
      await addFigure(writers, file, created, stored ?? storedContentOf(content), referenced)
      const warnings = plan.some(({ isReadable }) => !isReadable) ? [UNREADABLE_WARNING] : []
      if (plan.some(({ isShown, hasMissingColumns }) => !isShown || hasMissingColumns))
        warnings.push('some data of this plot is missing or not readable, so the copy does not show it')
      return { idlocal: created.idlocal, made: [created.idlocal, ...grids], warnings }
    },
    { owners: [call.fid.owner, ...plan.map(({ grid }) => grid.owner)] },
  )
}

/** Adds the figure of a copied plot, which refers to `grids`. */
async function addFigure(
  writers: Writers,
  from: FileRow,
  { owner, idlocal }: FileRow,
  figure: StoredContent,
  grids: readonly Fid[],
): Promise<void> {
  const { blob, bytes } = figure
  await writers.plots.setContent({ owner, idlocal }, figure, FIGURE_MEDIA_TYPE)
  await addFirstVersion(
    writers,
    { owner, idlocal },
    { hash: blob.hash, bytes },
    { operation: 'copy', by: owner },
  )
  const plot = await writers.plots.getPlot(from.owner, from.idlocal)
  await writers.plots.setPlot(owner, idlocal, { quality: plot?.quality ?? 0, title: plot?.title ?? null })
  await writers.plots.setReferences({ owner, idlocal }, 'grid', grids)
}

/**
 * Copies the grid of a plot next to the copy of the plot. If the caller cannot read the grid, only the
 * columns that the plot shows, without name and metadata. Throws `conflict` if access was lost meanwhile.
 */
async function copyGridOfPlot(
  writers: Writers,
  call: OperationCall<'files.copy'>,
  { grid, isReadable, uids }: GridCopyPlan,
  target: Fid,
  plot: { from: FileRow; to: FileRow },
): Promise<void> {
  const row = await writers.files.get(grid.owner, grid.idlocal)
  // Access may have been revoked since the plan was made.
  const reader = isReadable ? call : ownerPrincipal(plot.from.owner)
  if (!row || !(await loadVisibleFile(writers, grid, reader)))
    throw new Problem('conflict', 'a grid of the plot was changed by another request', {
      hint: 'Copy it again.',
    })
  const { owner, parent, world_readable } = plot.to
  const name = isReadable ? row.filename : `${truncateName(plot.from.filename)}_grid`
  await writers.files.add({
    owner,
    idlocal: target.idlocal,
    filetype: 'grid',
    filename: await findFreeName(writers.files, owner, parent, name),
    parent,
    world_readable,
    metadata: isReadable ? row.metadata : '{}',
    source_fid: formatFid(grid),
  })
  await copyColumns(writers, grid, target, owner, isReadable ? undefined : uids)
}

interface GridCopyPlan {
  grid: Fid
  uids: string[]
  /** True if the caller may read the grid itself. */
  isReadable: boolean
  /** True if the plot shows data of the grid. */
  isShown: boolean
  /** True if the plot refers to columns that no longer exist. */
  hasMissingColumns: boolean
}

/** Plans the copy of each grid that the figure refers to. */
async function planCopy(
  service: Service,
  readers: Readers,
  call: OperationCall<'files.copy'>,
  figure: RawJson,
): Promise<GridCopyPlan[]> {
  const { file, state, roles } = await authorizeCall(readers, call)
  const sources = listSources(figure)
  const viewer = { owner: file.owner, principal: call }
  const referenced = await loadReferencedGrids(service.store, readers, viewer, sources)
  const plan = new Map<string, GridCopyPlan>()
  for (const { grid, uids } of sources) {
    const key = formatFid(grid)
    const gridPlan = plan.get(key) ?? {
      grid,
      uids: [],
      isReadable: referenced.get(key)?.isReadable ?? false,
      isShown: referenced.has(key),
      hasMissingColumns: false,
    }
    gridPlan.hasMissingColumns ||= uids.some(
      (uid) => referenced.has(key) && !referenced.get(key)!.columns.has(uid),
    )
    gridPlan.uids = [...new Set([...gridPlan.uids, ...uids])]
    plan.set(key, gridPlan)
  }
  // A deleted grid does not force a deep copy of one's own plot.
  const isOwner = isAllowed('own', state, roles)
  return [...plan.values()].map((gridPlan) =>
    isOwner && !gridPlan.isShown ? { ...gridPlan, isReadable: true } : gridPlan,
  )
}
