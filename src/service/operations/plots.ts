// Handlers of plots.
import { Problem } from '../../contract/errors.ts'
import { loadVisibleFile, notFound } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { checkCanChange, getFile, lookUpFile, respondWithFile, updateFile } from '../files/read.ts'
import { applyUpdate } from '../files/update.ts'
import { openFigure } from '../plots/content.ts'
import { describeMissingData, loadFigureContent } from '../plots/stream-figure.ts'
import type { Handlers, OperationService as Service } from './handler.ts'
import { createPlot, replaceFigure } from './plots.create.ts'
import { listPublicPlots, loadFeed } from './plots.list.ts'

export const plotHandlers = {
  'plots.create': (service, call) => createPlot(service, call),

  'plots.update': async (service, call) => {
    const fields = call.fields
    if (fields.figure === undefined) {
      await updateFile(service, call, (writers, access) => applyUpdate(service, call, writers, access))
      return getFile(service, call, call.fid, 'plot')
    }
    if (await checkCanChange(service, call))
      await replaceFigure(service, call, { ...fields, figure: fields.figure }, async (writers, access) => {
        await applyUpdate(service, call, writers, access, {})
        return null
      })
    service.thumbnails.add(service, call.caller, call.fid)
    return getFile(service, call, call.fid, 'plot')
  },

  'plots.get': async (service, call) => {
    const plot = await getFile(service, call, call.fid, 'plot')
    if (!call.query.missing) return plot
    // No entity tag: columns can be removed without a change of the plot.
    return { body: { ...plot.body, missing: describeMissingData(await openFigure(service, call)) ?? null } }
  },

  'plots.lookup': (service, call) => lookUpFile(service, call, call.query, 'plot'),

  'plots.content': async (service, call) => {
    const { inline_data, map_data } = call.query
    // No entity tag: the data can change without a change of the plot.
    if (inline_data && !map_data)
      return {
        body: await (await service.live.get()).loadFigure(service, call, 'data'),
        type: 'application/json',
      }
    return loadFigureContent(service, call, call.query)
  },

  'plots.list': async (service, call) => ({ body: await listPublicPlots(service, call) }),

  'plots.feed': async (service, call) => ({ body: await loadFeed(service, call) }),

  'feed.add': async (service, call) => {
    await setFeedTime(service, call, Date.now())
    return respondWithFile(service, call)
  },

  'feed.remove': async (service, call) => {
    await setFeedTime(service, call, null)
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/** Adds a plot to the feed, or removes it. Only public plots: operators have no access to private ones. */
async function setFeedTime(service: Service, call: Call, pickedAt: number | null): Promise<void> {
  const { owner, idlocal } = call.fid
  await service.store.writeOnce(call.writeKey(owner), async (writers) => {
    const visible = await loadVisibleFile(writers, call.fid, call)
    if (visible?.file.filetype !== 'plot') throw notFound('plot')
    if (pickedAt !== null && (visible.file.world_readable === 0 || visible.state !== 'active'))
      throw new Problem('conflict', 'only public plots can be added to the feed')
    await writers.plots.setPickedAt(owner, idlocal, pickedAt)
    return null
  })
}
