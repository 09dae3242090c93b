/** Pushes changes to open plot pages. */
import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { type Bytes, once } from '../../json/index.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import { isStillSignedIn } from '../accounts/sessions.ts'
import type { Service } from '../core/context.ts'
import { Lru } from '../core/lru.ts'
import { SharedWork } from '../core/shared-work.ts'
import type { Readers } from '../store/store.ts'
import {
  contentOf,
  drawn,
  hasTransforms,
  type LiveFigure,
  missingNote,
  openDrawn,
  openFigure,
  storedFigure,
  wholeFigure,
  withInlineData,
} from './content.ts'
import type { Ranges } from './points/axes.ts'
import { reductionOf } from './points/reduction.ts'
import { stateOfFigure } from './shown.ts'

/** Lifetime of a cached fingerprint, and interval of checks of a stream, in ms. */
const FRESH_MS = 1000
/** Minimum interval of checks, in ms. A write to files of the owner triggers the next one. */
const MIN_MS = 200
/** Interval of comments on a stream without changes, in ms: they make proxies keep it open. */
const HEARTBEAT_MS = 15_000
/** Maximum fraction of all streams for one user or address. */
const USER_SHARE = 0.5
/** Size of the cache of figures with data. */
const KEPT_BYTES = 32 * 1024 * 1024
/** Maximum size of a cached figure. */
const MAX_BYTES = 8 * 1024 * 1024
/** Maximum number of cached fingerprints. */
const MAX_STATES = 10_000
export interface LiveService extends Service {
  live: LiveFigures
}

/** Forms of a figure with data: for programs, or for drawing (downsampled, with notes on missing data). */
const forms = {
  data: { open: openFigure, write: withInlineData },
  drawn: { open: openDrawn, write: drawn },
} as const
export type Form = keyof typeof forms

/** State of an owner whose plots have streams. */
interface Followed {
  streams: number
  /** Time of the last write to files of the owner, in ms of `performance.now()`. */
  written: number
  /** Callbacks of streams that wait for the next check. */
  waiting: Set<() => void>
}

/**
 * Fingerprints and figures for open pages of plots. All pages of a plot share one read of the fingerprint per
 * second, and one read of the data per change.
 */
export class LiveFigures {
  private readonly states = new Lru<{ state: Promise<string>; since: number }>(MAX_STATES, () => 1)
  /** Owners whose plots have streams. */
  private readonly followed = new Map<string, Followed>()
  private readonly figures = new Lru<Buffer>(KEPT_BYTES, ({ length }) => length)
  private readonly reading = new SharedWork<{ text: Buffer | undefined; state: string }>()
  /** Open streams by user or address. */
  private readonly streams = new Map<string, number>()
  private closed = false

  constructor(private readonly mostStreams: number) {}

  /** Loads the fingerprint of what a plot shows to the caller; cached. Throws `not_found`. */
  state(service: Service, request: FileRequest): Promise<string> {
    const { caller } = request
    const reader = `${caller?.username ?? ''} ${caller?.credential ?? ''} ${request.shareKey ?? ''} ${request.version ?? ''}`
    const key = `${formatFid(request.fid)} ${reader}`
    const cached = this.states.get(key)
    const now = performance.now()
    const age = cached ? now - cached.since : Number.POSITIVE_INFINITY
    const isStale =
      cached !== undefined && cached.since < (this.followed.get(request.fid.owner)?.written ?? 0)
    if (cached && age < (isStale ? MIN_MS : FRESH_MS)) return cached.state
    const fingerprint = service.store.read(async (readers) => {
      await assertSignedIn(readers, request)
      const authorized = await authorizeCall(readers, request)
      const content = await contentOf(readers, authorized, request)
      return stateOfFigure(readers, authorized.file, content, request, content.at)
    })
    this.states.set(key, { state: fingerprint, since: now })
    fingerprint.catch(() => this.states.delete(key))
    return fingerprint
  }

  /** Loads the figure with its current data, as JSON; cached if small. Checks access. Throws `not_found`. */
  async inlined(service: Service, request: FileRequest, form: Form, ranges?: Ranges): Promise<Bytes> {
    await service.store.read((readers) => assertSignedIn(readers, request))
    const stored = await storedFigure(service, request)
    if (ranges && ranges.size > 0) return drawn(await openDrawn(service, request, stored, ranges))
    const fingerprint = await service.store.read((readers) =>
      stateOfFigure(readers, stored.file, stored.content, request, stored.content.at),
    )
    const cached = this.kept(fingerprint, form)
    if (cached) return once(cached)
    const key = `${fingerprint} ${form}`
    const read = await this.reading.run(key, request.gone, async (isAborted) =>
      this.read(await forms[form].open(service, { ...request, gone: isAborted }, stored), form),
    )
    // If the shared read shows data of another fingerprint, read again for this caller.
    if (read.text && read.state === fingerprint) return once(read.text)
    return forms[form].write(await forms[form].open(service, request, stored))
  }

  /** Downsamples an opened plot, and loads it for drawing; small ones are cached. */
  async drawnOf(view: LiveFigure): Promise<Bytes> {
    const cached = this.kept(view.state, 'drawn')
    if (cached) return once(cached)
    const key = `${view.state} drawn`
    const downsampled = { ...view, reduction: await reductionOf(view) }
    const { text } = await this.reading.run(key, view.gone, (isAborted) =>
      this.read({ ...downsampled, gone: isAborted }, 'drawn'),
    )
    return text ? once(text) : drawn(downsampled)
  }

  private kept(fingerprint: string, form: Form): Buffer | undefined {
    return this.figures.get(`${fingerprint} whole`) ?? this.figures.get(`${fingerprint} ${form}`)
  }

  /** Reads a figure and caches it if it is small. The text is undefined if it is larger. */
  private async read(view: LiveFigure, form: Form): Promise<{ text: Buffer | undefined; state: string }> {
    // With transforms, the figure is in memory anyway.
    const maxBytes = hasTransforms(view.figure) ? Number.POSITIVE_INFINITY : MAX_BYTES
    const text = await wholeFigure(view, maxBytes, forms[form].write)
    const isWhole =
      missingNote(view) === undefined &&
      !hasTransforms(view.figure) &&
      !(view.reduction ?? (await reductionOf(view)))
    if (text && text.length <= MAX_BYTES) this.figures.set(`${view.state} ${isWhole ? 'whole' : form}`, text)
    return { text, state: view.state }
  }

  /**
   * Streams server-sent events: the fingerprint now and at each change. Ends when the caller loses access.
   */
  async events(service: Service, request: FileRequest, user: string): Promise<Bytes> {
    const first = await this.state(service, request)
    const userStreams = this.streams.get(user) ?? 0
    const allStreams = [...this.streams.values()].reduce((sum, count) => sum + count, 0)
    if (allStreams >= this.mostStreams || userStreams >= this.mostStreams * USER_SHARE)
      throw new Problem('overloaded', 'too many pages are open (limit live_pages)')
    this.streams.set(user, userStreams + 1)
    let isOpen = true
    const release = (): void => {
      if (!isOpen) return
      isOpen = false
      const remaining = this.streams.get(user)! - 1
      if (remaining > 0) this.streams.set(user, remaining)
      else this.streams.delete(user)
    }
    // The stream counts from now on, even if it is never read.
    const changes = this.changes(service, request, first)
    const iterator = {
      async next() {
        try {
          const result = await changes.next()
          if (result.done) release()
          return result
        } catch (error) {
          release()
          throw error
        }
      },
      return() {
        release()
        return changes.return(undefined)
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  private async *changes(service: Service, request: FileRequest, first: string): AsyncGenerator<Uint8Array> {
    let fingerprint = first
    let silentMs = 0
    const { owner } = request.fid
    const followed = this.followed.get(owner) ?? { streams: 0, written: 0, waiting: new Set() }
    this.followed.set(owner, followed)
    followed.streams++
    try {
      yield event(fingerprint)
      while (!this.closed) {
        silentMs += await nextLook(followed)
        const current = await this.state(service, request).catch((error) => {
          // The plot was deleted, or access was lost. Other errors are temporary, such as a database restart.
          if (error instanceof Problem && error.status < 500) return undefined
          return fingerprint
        })
        if (current === undefined) return
        if (current !== fingerprint) yield event(current)
        else if (silentMs >= HEARTBEAT_MS) yield Buffer.from(': still here\n\n')
        else continue
        fingerprint = current
        silentMs = 0
      }
    } finally {
      if (--followed.streams === 0) this.followed.delete(owner)
    }
  }

  /** Wakes the streams of an owner's plots after a write. */
  written(owner: string): void {
    const followed = this.followed.get(owner)
    if (!followed) return
    followed.written = performance.now()
    for (const look of followed.waiting) look()
  }

  /** Ends all streams. */
  close(): void {
    this.closed = true
  }
}

/** Waits until a stream should check for changes. Returns the waiting time, in ms. */
async function nextLook({ written, waiting }: Followed): Promise<number> {
  const start = performance.now()
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      waiting.delete(wake)
      resolve()
    }
    const wake = (): void => {
      waiting.delete(wake)
      clearTimeout(timer)
      timer = setTimeout(finish, Math.max(0, start + MIN_MS - performance.now())).unref()
    }
    // The last check may have missed a write that happened during it.
    let timer = setTimeout(finish, written > start - MIN_MS ? MIN_MS : FRESH_MS).unref()
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
function event(fingerprint: string): Uint8Array {
  return Buffer.from(`event: state\ndata: ${fingerprint}\n\n`)
}
