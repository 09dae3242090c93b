/** Pushes changes to open plot pages. */
import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { type Bytes, toByteStream } from '../../json/index.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import { isStillSignedIn } from '../accounts/sessions.ts'
import type { Service } from '../core/context.ts'
import type { Lazy } from '../core/lazy.ts'
import { SharedWork } from '../core/shared-work.ts'
import { Lru } from '../store/schema/lru.ts'
import type { Readers } from '../store/store.ts'
import {
  type FigureView,
  findFigureContent,
  loadPlotContent,
  openDownsampledFigure,
  openFigure,
} from './content.ts'
import type { VisibleRanges } from './downsampling/axes.ts'
import { planDownsampling } from './downsampling/plan.ts'
import { PlotWatch } from './plot-watch.ts'
import { findFigureState } from './referenced-grids.ts'
import {
  describeMissingData,
  hasTransforms,
  readWholeFigure,
  streamForDrawing,
  streamWithData,
} from './stream-figure.ts'

/** Lifetime of a cached fingerprint, and interval of checks of a stream, in ms. */
const CHECK_MS = 1000
/** Minimum interval of checks, in ms. A write to files of the owner triggers the next one. */
const MIN_CHECK_MS = 200
/** Maximum fraction of all streams for one user or address. */
const MAX_USER_SHARE = 0.5
/** Size of the cache of figures with data. */
const FIGURE_CACHE_BYTES = 32 * 1024 * 1024
/** Maximum size of a cached figure. */
const MAX_CACHED_FIGURE_BYTES = 8 * 1024 * 1024
/** Maximum number of cached fingerprints. */
const MAX_CACHED_FINGERPRINTS = 10_000
export interface LiveService extends Service {
  live: Lazy<LivePlots>
}

/** Forms of a figure with data: for programs, or for drawing (downsampled, with notes on missing data). */
const FORMS = {
  data: { open: openFigure, write: streamWithData },
  drawn: { open: openDownsampledFigure, write: streamForDrawing },
} as const
export type FigureForm = keyof typeof FORMS

/** State of an owner whose plots have streams. */
interface FollowedOwner {
  watches: number
  /** Time of the last write to files of the owner, in ms of `performance.now()`. */
  written: number
  /** Callbacks of watches that wait for the next check. */
  waiting: Set<() => void>
}

/**
 * Fingerprints and figures for open pages of plots. All pages of a plot share one read of the fingerprint per
 * second, and one read of the data per change.
 */
export class LivePlots {
  private readonly fingerprints = new Lru<{ state: Promise<string>; since: number }>(
    MAX_CACHED_FINGERPRINTS,
    () => 1,
  )
  /** Owners whose plots have streams. */
  private readonly followed = new Map<string, FollowedOwner>()
  private readonly figures = new Lru<Buffer>(FIGURE_CACHE_BYTES, ({ length }) => length)
  private readonly sharedReads = new SharedWork<{ text: Buffer | undefined; state: string }>()
  /** Open streams by user or address. */
  private readonly streams = new Map<string, number>()
  private isClosed = false
  /** By plot and reader. */
  private readonly watches = new Map<string, PlotWatch>()

  constructor(private readonly maxStreams: number) {}

  /** Loads the fingerprint of what a plot or a board shows to the caller; cached. Throws `not_found`. */
  loadFingerprint(service: Service, request: FileRequest, find = findFingerprint): Promise<string> {
    const key = readKeyOf(request)
    const cached = this.fingerprints.get(key)
    const now = performance.now()
    const age = cached ? now - cached.since : Number.POSITIVE_INFINITY
    const isStale =
      cached !== undefined && cached.since < (this.followed.get(request.fid.owner)?.written ?? 0)
    if (cached && age < (isStale ? MIN_CHECK_MS : CHECK_MS)) return cached.state
    const fingerprint = service.store.read(async (readers) => {
      await assertSignedIn(readers, request)
      return find(readers, request)
    })
    this.fingerprints.set(key, { state: fingerprint, since: now })
    fingerprint.catch(() => this.fingerprints.delete(key))
    return fingerprint
  }

  /** Loads the figure with its current data, as JSON; cached if small. Checks access. Throws `not_found`. */
  async loadFigure(
    service: Service,
    request: FileRequest,
    form: FigureForm,
    ranges?: VisibleRanges,
  ): Promise<Bytes> {
    await service.store.read((readers) => assertSignedIn(readers, request))
    const stored = await loadPlotContent(service, request)
    if (ranges && ranges.size > 0)
      return streamForDrawing(await openDownsampledFigure(service, request, stored, ranges))
    const { fingerprint } = await service.store.read((readers) =>
      findFigureState(readers, stored.file, stored.content, request, stored.content.version),
    )
    const cached = this.getCached(fingerprint, form)
    if (cached) return toByteStream(cached)
    const key = `${fingerprint} ${form}`
    const read = await this.sharedReads.run(key, request.isAborted, async (isAborted) =>
      this.readAndCache(await FORMS[form].open(service, { ...request, isAborted }, stored), form),
    )
    // If the shared read shows data of another fingerprint, read again for this caller.
    if (read.text && read.state === fingerprint) return toByteStream(read.text)
    return FORMS[form].write(await FORMS[form].open(service, request, stored))
  }

  /** Downsamples an opened plot, and loads it for drawing; small ones are cached. */
  async loadForDrawing(view: FigureView): Promise<Bytes> {
    const cached = this.getCached(view.fingerprint, 'drawn')
    if (cached) return toByteStream(cached)
    const key = `${view.fingerprint} drawn`
    const downsampled = { ...view, downsampling: await planDownsampling(view) }
    const { text } = await this.sharedReads.run(key, view.isAborted, (isAborted) =>
      this.readAndCache({ ...downsampled, isAborted }, 'drawn'),
    )
    return text ? toByteStream(text) : streamForDrawing(downsampled)
  }

  private getCached(fingerprint: string, form: FigureForm): Buffer | undefined {
    return this.figures.get(`${fingerprint} whole`) ?? this.figures.get(`${fingerprint} ${form}`)
  }

  /** Reads a figure and caches it if it is small. The text is undefined if it is larger. */
  private async readAndCache(
    view: FigureView,
    form: FigureForm,
  ): Promise<{ text: Buffer | undefined; state: string }> {
    // With transforms, the figure is in memory anyway.
    const maxBytes = hasTransforms(view.figure) ? Number.POSITIVE_INFINITY : MAX_CACHED_FIGURE_BYTES
    const text = await readWholeFigure(view, maxBytes, FORMS[form].write)
    const isWhole =
      describeMissingData(view) === undefined &&
      !hasTransforms(view.figure) &&
      !(view.downsampling ?? (await planDownsampling(view)))
    if (text && text.length <= MAX_CACHED_FIGURE_BYTES)
      this.figures.set(`${view.fingerprint} ${isWhole ? 'whole' : form}`, text)
    return { text, state: view.fingerprint }
  }

  /**
   * Streams server-sent events: the fingerprint now and at each change. Ends when the caller loses access.
   */
  async streamEvents(
    service: Service,
    request: FileRequest,
    user: string,
    find = findFingerprint,
  ): Promise<Bytes> {
    const first = await this.loadFingerprint(service, request, find)
    const userStreams = this.streams.get(user) ?? 0
    const allStreams = [...this.streams.values()].reduce((sum, count) => sum + count, 0)
    if (allStreams >= this.maxStreams || userStreams >= this.maxStreams * MAX_USER_SHARE)
      throw new Problem('overloaded', 'too many pages are open (limit live_pages)')
    this.streams.set(user, userStreams + 1)
    const watch = this.watches.get(readKeyOf(request)) ?? this.openWatch(service, request, first, find)
    // The stream counts from now on, even if it is never read.
    const leave = watch.join(first)
    let isOpen = true
    let cancel = (): void => {}
    const release = (): void => {
      if (!isOpen) return
      isOpen = false
      cancel()
      leave()
      const remaining = this.streams.get(user)! - 1
      if (remaining > 0) this.streams.set(user, remaining)
      else this.streams.delete(user)
    }
    const end = (): IteratorResult<Uint8Array> => {
      release()
      return { value: undefined, done: true }
    }
    let known: string | undefined
    const iterator = {
      async next(): Promise<IteratorResult<Uint8Array>> {
        if (known === undefined) {
          known = first
          return { value: formatEvent(first), done: false }
        }
        if (!isOpen) return end()
        const next = watch.next(known)
        cancel = next.cancel
        const event = await next.event
        if (event === 'ended') return end()
        if (event === 'silent') return { value: Buffer.from(': still here\n\n'), done: false }
        known = event.fingerprint
        return { value: formatEvent(known), done: false }
      },
      async return(): Promise<IteratorResult<Uint8Array>> {
        return end()
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  private openWatch(service: Service, request: FileRequest, first: string, find: FindFingerprint): PlotWatch {
    const key = readKeyOf(request)
    const { owner } = request.fid
    const followed = this.followed.get(owner) ?? { watches: 0, written: 0, waiting: new Set() }
    this.followed.set(owner, followed)
    followed.watches++
    let last = first
    const watch = new PlotWatch(first, {
      waitForCheck: () => waitForNextCheck(followed),
      check: async () => {
        try {
          last = await this.loadFingerprint(service, request, find)
          return last
        } catch (error) {
          // The plot was deleted, or access was lost. Other errors are temporary, such as a database restart.
          return error instanceof Problem && error.status < 500 ? undefined : last
        }
      },
      onEnd: () => {
        if (--followed.watches === 0) this.followed.delete(owner)
        if (this.watches.get(key) === watch) this.watches.delete(key)
      },
    })
    this.watches.set(key, watch)
    if (this.isClosed) watch.end()
    return watch
  }

  /** Wakes the streams of an owner's plots after a write. */
  notifyWrite(owner: string): void {
    const followed = this.followed.get(owner)
    if (!followed) return
    followed.written = performance.now()
    for (const look of followed.waiting) look()
  }

  /** Ends all streams. */
  close(): void {
    this.isClosed = true
    for (const watch of this.watches.values()) watch.end()
  }
}

/** Finds the fingerprint of what a file shows to a reader. Throws `not_found`. */
export type FindFingerprint = (readers: Readers, request: FileRequest) => Promise<string>

/** Finds the fingerprint of a plot. */
const findFingerprint: FindFingerprint = async (readers, request) => {
  const authorized = await authorizeCall(readers, request)
  const content = await findFigureContent(readers, authorized, request)
  return (await findFigureState(readers, authorized.file, content, request, content.version)).fingerprint
}

/** Returns the plot and the reader of a request. */
function readKeyOf({ fid, caller, shareKey, shownFile, version, rowFilter }: FileRequest): string {
  const filter = rowFilter ? JSON.stringify(rowFilter) : ''
  return `${formatFid(fid)} ${caller?.username ?? ''} ${caller?.credential ?? ''} ${shareKey ?? ''} ${shownFile ? 'shown' : ''} ${version ?? ''} ${filter}`
}

/** Waits until a watch should check for changes. Returns the waiting time, in ms. */
async function waitForNextCheck({ written, waiting }: FollowedOwner): Promise<number> {
  const start = performance.now()
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      waiting.delete(wake)
      resolve()
    }
    const wake = (): void => {
      waiting.delete(wake)
      clearTimeout(timer)
      timer = setTimeout(finish, Math.max(0, start + MIN_CHECK_MS - performance.now())).unref()
    }
    // The last check may have missed a write that happened during it.
    let timer = setTimeout(finish, written > start - MIN_CHECK_MS ? MIN_CHECK_MS : CHECK_MS).unref()
    waiting.add(wake)
  })
  return performance.now() - start
}

/** Throws `unauthenticated` if the session or key with which the chart was opened has ended. */
async function assertSignedIn(readers: Readers, { caller }: FileRequest): Promise<void> {
  if (caller?.credential === undefined) return
  if (await isStillSignedIn(readers, caller.username, caller.credential)) return
  throw new Problem('unauthenticated', 'the session or key with which this chart was opened has ended')
}

/** Formats a server-sent event. */
function formatEvent(fingerprint: string): Uint8Array {
  return Buffer.from(`event: state\ndata: ${fingerprint}\n\n`)
}
