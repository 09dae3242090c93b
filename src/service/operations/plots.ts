import { Problem } from '../../contract/errors.ts'
import type { PlotMeta } from '../../contract/resources.ts'
import { acceptedBefore, parseRaw } from '../../json/index.ts'
import { notFound, visibleFileById } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { checkFilename, freeName, nameTaken, placeOf } from '../files/names.ts'
import { metadataText, newShareKey, readSourceFid } from '../files/new-file.ts'
import { assertCanChange, getFile, lookup, respondWithFile, updateFile } from '../files/read.ts'
import { update } from '../files/update.ts'
import { compact } from '../grids/compact.ts'
import { figureContent } from '../plots/content.ts'
import { sourcesIn } from '../plots/figure.ts'
import { DataGridChanged, type OwnGrid, ownGridOf, putFigure, storeFigure } from '../plots/store-figure.ts'
import { loadText } from '../store/texts.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { feed, publicPlots } from './plots.list.ts'

async function plotOf(
  service: Service,
  call: Call,
  fid = call.fid,
): Promise<{ body: PlotMeta; etag?: string }> {
  return getFile(service, call, fid, 'plot')
}

/** Columns that the figure refers to now. A change may keep them, even if the caller may not read them. */
async function referredTo(service: Service, call: Call): Promise<Set<string>> {
  const content = await service.store.read(({ plots }) => plots.content(call.fid.owner, call.fid.idlocal))
  if (!content) return new Set()
  const figure = parseRaw(await loadText(service.store.blobs, content), 'the figure', acceptedBefore)
  return new Set(
    sourcesIn(figure).flatMap(({ grid, uids }) => uids.map((uid) => `${grid.owner}:${grid.idlocal}:${uid}`)),
  )
}

interface CreatedPlot {
  idlocal: number
  /** The grid created for the raw data. */
  grid: number | null
}

export const plotHandlers = {
  'plots.create': async (service, call) => {
    const { limits, store } = service
    const owner = call.caller!.username
    const fields = call.fields
    if (fields.filename !== undefined) checkFilename(fields.filename, limits)
    const metadata = metadataText(fields.metadata, limits.metadata_bytes)
    const write = call.writeKey(owner)
    const made = (await store.applied<CreatedPlot>(write)) ?? (await make())
    async function make(): Promise<CreatedPlot> {
      const figure = await storeFigure(service, owner, fields.figure, fields.raw_data === 'grid')
      return store.writeOnce(write, async (writers) => {
        const parent = await placeOf(writers, owner, fields, limits)
        if (fields.filename !== undefined && (await writers.files.named(owner, parent, fields.filename)))
          throw nameTaken(fields.filename)
        const file = await writers.files.add({
          owner,
          filetype: 'plot',
          filename: fields.filename ?? (await freeName(writers.files, owner, parent, 'plot')),
          parent,
          world_readable: fields.world_readable ? 1 : 0,
          share_key: fields.share_key_enabled ? newShareKey() : null,
          metadata,
          source_fid: await readSourceFid(writers, fields.source_fid, call, 'plot'),
        })
        await putFigure(writers, file, figure, call)
        return { idlocal: file.idlocal, grid: figure.grid?.idlocal ?? null }
      })
    }
    const { body, etag } = await plotOf(service, call, { owner, idlocal: made.idlocal })
    const grid_fid = made.grid === null ? null : `${owner}:${made.grid}`
    return { body: { file: body, warnings: [], grid_fid }, etag }
  },

  'plots.update': async (service, call) => {
    const fields = call.fields
    if (fields.figure === undefined) {
      await updateFile(service, call, (writers, found) => update(service, call, writers, found))
      return plotOf(service, call)
    }
    const may = await assertCanChange(service, call)
    for (let tries = 1; may; tries++) {
      const before = await referredTo(service, call)
      // If the data grid keeps changing concurrently, use a new grid.
      const own = tries <= OWN_GRID_TRIES ? await ownGrid(service, call, before) : undefined
      const figure = await storeFigure(
        service,
        call.fid.owner,
        fields.figure,
        fields.raw_data === 'grid',
        own,
      )
      try {
        await updateFile(service, call, async (writers, found) => {
          await update(service, call, writers, found, {})
          const file = await writers.files.get(call.fid.owner, call.fid.idlocal)
          await putFigure(writers, file!, figure, call, before)
          // The version has already been incremented if other fields changed.
          if (file!.version === found.file.version)
            await writers.files.change(call.fid.owner, call.fid.idlocal)
          return null
        })
        break
      } catch (error) {
        if (!(error instanceof DataGridChanged)) throw error
      }
    }
    return plotOf(service, call)
  },

  'plots.get': (service, call) => plotOf(service, call),

  'plots.lookup': (service, call) => lookup(service, call, call.query, 'plot'),

  'plots.content': (service, call) => figureContent(service, call, call.query),

  'plots.list': async (service, call) => ({ body: await publicPlots(service, call) }),

  'plots.feed': async (service, call) => ({ body: await feed(service, call) }),

  'feed.add': async (service, call) => {
    await pick(service, call, Date.now())
    return respondWithFile(service, call)
  },

  'feed.remove': async (service, call) => {
    await pick(service, call, null)
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/** The plot's data grid, if it can be reused. Folds its tail first. */
async function ownGrid(
  { store }: Service,
  call: Call,
  before: ReadonlySet<string>,
): Promise<OwnGrid | undefined> {
  const { fid } = call
  const own = await store.read((readers) => ownGridOf(readers, fid, call, before))
  if (!own) return undefined
  await compact(store, { owner: fid.owner, idlocal: own.idlocal })
  return store.read((readers) => ownGridOf(readers, fid, call, before))
}

/** How often an update tries to reuse a data grid that changes concurrently. */
const OWN_GRID_TRIES = 2

/** Adds a plot to the feed, or removes it. Only public plots: operators have no access to private ones. */
async function pick(service: Service, call: Call, at: number | null): Promise<void> {
  const { owner, idlocal } = call.fid
  await service.store.writeOnce(call.writeKey(owner), async (writers) => {
    const found = await visibleFileById(writers, call.fid, call)
    if (found?.file.filetype !== 'plot') throw notFound('plot')
    if (at !== null && (found.file.world_readable === 0 || found.file.trashed_at !== null))
      throw new Problem('conflict', 'only public plots can be added to the feed')
    await writers.plots.pick(owner, idlocal, at)
    return null
  })
}
