// Handlers of refreshes: of derived grids, and of grids from URLs.
import { invalidField, Problem } from '../../contract/errors.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import type { Refresh } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import { refreshDerived } from '../derivations/refresh.ts'
import { loadDerivation, loadListed } from '../derivations/state.ts'
import { checkCanChange } from '../files/read.ts'
import { assertNotDerived } from '../grids/change/versions.ts'
import { fetchContent, refreshFromUrl } from '../refreshes/refresh-from-url.ts'
import { formatRefresh } from '../refreshes/state.ts'
import { FROM_QUERY } from '../store/aggregates/derivations.ts'
import type { Readers, Writers } from '../store/store.ts'
import type { Handlers } from './handler.ts'

/** Minimum and maximum of seconds between two requests. */
const MIN_SECONDS = 60
const MAX_SECONDS = 366 * 24 * 3600

export const refreshHandlers = {
  'refreshes.list': (service, call) =>
    service.store.read(async (readers) => {
      const lists = [readers.urlRefreshes, readers.derivations]
      const load = (fid: Fid): Promise<Refresh> => loadRefresh(readers, fid, true)
      return { body: { refreshes: await loadListed(readers, call.caller!.username, lists, load) } }
    }),

  'refreshes.get': (service, call) =>
    service.store.read(async (readers) => {
      const { roles } = await authorizeCall(readers, call)
      return { body: await loadRefresh(readers, call.fid, roles.has('owner')) }
    }),

  'refreshes.set': async (service, call) => {
    const { fid } = call
    // What is accepted now is not accepted of later files, whose losses nobody sees.
    const { 'Allow-Column-Loss': mayLose, ...headers } = call.headers
    const { owner, idlocal } = fid
    const { url } = call.fields
    const { file, current } = await service.store.read(async (readers) => ({
      ...(await authorizeCall(readers, call)),
      current: await readers.urlRefreshes.get(owner, idlocal),
    }))
    const every = call.fields.every ?? current?.every
    if (every === undefined)
      throw new Problem('invalid_request', 'every: missing: the time between two requests', {
        field: 'every',
        path: 'every',
        hint: 'Give it in seconds; on the command line, such as --every 1h.',
      })
    if (every < MIN_SECONDS || every > MAX_SECONDS)
      throw invalidField('every', `must be from ${MIN_SECONDS} to ${MAX_SECONDS} seconds`)
    if (file.derived === FROM_QUERY) assertNotDerived(file)
    const setNext = ({ jobs }: Writers): Promise<void> =>
      jobs.setDue(owner, 'download', String(idlocal), Date.now() + every * 1000)
    if (url === undefined) {
      await service.store.write([owner], async (writers) => {
        await authorizeCall(writers, call)
        const row = await writers.urlRefreshes.get(owner, idlocal)
        if (!row) throw invalidField('url', 'missing: this grid is not refreshed from a URL')
        await writers.urlRefreshes.change(row, { every })
        await setNext(writers)
      })
      return { body: await service.store.read((readers) => loadRefresh(readers, fid, true)) }
    }
    const source = { owner, idlocal, url, etag: null, last_modified: null }
    const first = mayLose ? { ...headers, 'Allow-Column-Loss': true, 'Max-Shrink': 100 } : headers
    await fetchContent(service, { ...source, headers: first }, async (writers, changed, validators) => {
      await authorizeCall(writers, call)
      if (changed.derived === FROM_QUERY) assertNotDerived(changed)
      await writers.urlRefreshes.put({ ...source, ...validators, every, headers: JSON.stringify(headers) })
      await setNext(writers)
    })
    return { body: await service.store.read((readers) => loadRefresh(readers, fid, true)) }
  },

  'refreshes.run': async (service, call) => {
    const { fid } = call
    await checkCanChange(service, call)
    const isOwner = call.caller?.username === fid.owner
    const before = await service.store.read((readers) => loadRefresh(readers, fid, isOwner))
    if (before.url === null) await refreshDerived(service, fid, { isForced: true, isAborted: call.isAborted })
    else await refreshFromUrl(service, fid, {})
    return { body: await service.store.read((readers) => loadRefresh(readers, fid, isOwner)) }
  },

  'refreshes.delete': async (service, call) => {
    const { fid } = call
    await service.store.write([fid.owner], async (writers) => {
      const { file } = await authorizeCall(writers, call)
      await writers.urlRefreshes.remove(fid)
      // Alerts trusted no grid whose refresh failed.
      if (file.stale_since !== null) await writers.jobs.scheduleJudgement(fid)
    })
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/**
 * Loads the state of the refreshes of a grid. `isOwner`: also why it is stale. Throws `invalid_request` without any.
 */
async function loadRefresh(readers: Readers, fid: Fid, isOwner: boolean): Promise<Refresh> {
  const row = await readers.urlRefreshes.get(fid.owner, fid.idlocal)
  if (row) {
    const file = await readers.files.get(fid.owner, fid.idlocal)
    return { ...formatRefresh(row, file?.filename ?? ''), ...(!isOwner && { error: null }) }
  }
  if (!(await readers.derivations.get(fid.owner, fid.idlocal)))
    throw new Problem('invalid_request', 'this grid is not refreshed', {
      hint: 'Refresh it from a URL with: gridline refresh GRID URL --every 1h',
    })
  const {
    filename,
    state,
    refreshed_at,
    stale_since,
    error = null,
  } = await loadDerivation(readers, fid, isOwner)
  return {
    ...{ fid: formatFid(fid), filename, url: null, every: null },
    ...{ state, refreshed_at, stale_since, error, next_at: null },
  }
}
