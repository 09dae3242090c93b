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

/**
 * How long a state is shared by those who ask for it, and how often a stream asks, in ms. After a write of this process to
 * files of the plot's owner, it is asked at once; not more often than each `MIN_MS`, however many writes there are.
 */
const FRESH_MS = 1000
const MIN_MS = 200
/** How often a stream without changes sends a comment, so that proxies keep it open, in ms. */
const HEARTBEAT_MS = 15_000
/** The fraction of the streams that one user or address may have. */
const USER_SHARE = 0.5
/** Size of the figures with data that are kept, and of the largest one of them, in bytes. */
const KEPT_BYTES = 32 * 1024 * 1024
const MAX_BYTES = 8 * 1024 * 1024
/** States that are kept. */
const MAX_STATES = 10_000

export interface LiveService extends Service {
  live: LiveFigures
}

/** How a figure is written: with the data that is there, or as it is drawn. */
const forms = {
  data: { open: openFigure, write: withInlineData },
  drawn: { open: openDrawn, write: drawn },
} as const
export type Form = keyof typeof forms

/** An owner of plots that have streams. */
interface Followed {
  streams: number
  /** When files of the owner were written last. */
  written: number
  /** Called for a write: streams that wait for the next look. */
  waiting: Set<() => void>
}

/**
 * What open pages of plots ask for again and again: whether the plot has changed, and what it shows now. However
 * many ask, the database is read once a second for the state, and once for each change.
 */
export class LiveFigures {
  private readonly states = new Lru<{ state: Promise<string>; since: number }>(MAX_STATES, () => 1)
  /** Owners of plots that have streams. */
  private readonly followed = new Map<string, Followed>()
  private readonly figures = new Lru<Buffer>(KEPT_BYTES, ({ length }) => length)
  private readonly reading = new SharedWork<{ text: Buffer | undefined; state: string }>()
  /** Open streams by user or address. */
  private readonly streams = new Map<string, number>()
  private closed = false

  constructor(private readonly mostStreams: number) {}

  /** Identifies what a plot shows to the caller. Throws `not_found` if they may not read it. */
  state(service: Service, asked: FileRequest): Promise<string> {
    const { caller } = asked
    const who = `${caller?.username ?? ''} ${caller?.credential ?? ''} ${asked.shareKey ?? ''} ${asked.version ?? ''}`
    const key = `${formatFid(asked.fid)} ${who}`
    const known = this.states.get(key)
    const now = performance.now()
    const age = known ? now - known.since : Number.POSITIVE_INFINITY
    const isOld = known !== undefined && known.since < (this.followed.get(asked.fid.owner)?.written ?? 0)
    if (known && age < (isOld ? MIN_MS : FRESH_MS)) return known.state
    const state = service.store.read(async (readers) => {
      await assertSignedIn(readers, asked)
      const found = await authorizeCall(readers, asked)
      const content = await contentOf(readers, found, asked)
      return stateOfFigure(readers, found.file, content, asked, content.at)
    })
    this.states.set(key, { state, since: now })
    state.catch(() => this.states.delete(key))
    return state
  }

  /**
   * The figure with its present data, as JSON text: `form` says whether for a program or to be drawn, which differs only
   * if data is gone. A small one is kept until it changes; access is checked each time. Throws `not_found` if the caller
   * may not read the plot.
   */
  async inlined(service: Service, asked: FileRequest, form: Form, ranges?: Ranges): Promise<Bytes> {
    await service.store.read((readers) => assertSignedIn(readers, asked))
    const stored = await storedFigure(service, asked)
    if (ranges && ranges.size > 0) return drawn(await openDrawn(service, asked, stored, ranges))
    const { state } = await service.store.read(async (readers) => ({
      state: await stateOfFigure(readers, stored.file, stored.content, asked, stored.content.at),
    }))
    const kept = this.kept(state, form)
    if (kept) return once(kept)
    const key = `${state} ${form}`
    const found = await this.reading.run(key, asked.gone, async (gone) =>
      this.read(await forms[form].open(service, { ...asked, gone }, stored), form),
    )
    // Who began to read may see more by now, or the data has changed: then it is read again for this caller.
    if (found.text && found.state === state) return once(found.text)
    return forms[form].write(await forms[form].open(service, asked, stored))
  }

  /** A plot that the caller has opened, as it is drawn. A small one is kept until it changes. */
  async drawnOf(live: LiveFigure): Promise<Bytes> {
    const kept = this.kept(live.state, 'drawn')
    if (kept) return once(kept)
    const key = `${live.state} drawn`
    const reduced = { ...live, reduction: await reductionOf(live) }
    const { text } = await this.reading.run(key, live.gone, (gone) =>
      this.read({ ...reduced, gone }, 'drawn'),
    )
    return text ? once(text) : drawn(reduced)
  }

  private kept(state: string, form: Form): Buffer | undefined {
    return this.figures.get(`${state} whole`) ?? this.figures.get(`${state} ${form}`)
  }

  /** The text is undefined if the figure is too large to be kept. */
  private async read(live: LiveFigure, form: Form): Promise<{ text: Buffer | undefined; state: string }> {
    // With transforms, it is one text anyway.
    const most = hasTransforms(live.figure) ? Number.POSITIVE_INFINITY : MAX_BYTES
    const text = await wholeFigure(live, most, forms[form].write)
    const isWhole =
      missingNote(live) === undefined &&
      !hasTransforms(live.figure) &&
      !(live.reduction ?? (await reductionOf(live)))
    if (text && text.length <= MAX_BYTES) this.figures.set(`${live.state} ${isWhole ? 'whole' : form}`, text)
    return { text, state: live.state }
  }

  /** Server-sent events: the state now, and again whenever it changes. Ends when the caller may no longer read it. */
  async events(service: Service, asked: FileRequest, who: string): Promise<Bytes> {
    const first = await this.state(service, asked)
    const own = this.streams.get(who) ?? 0
    const all = [...this.streams.values()].reduce((sum, count) => sum + count, 0)
    if (all >= this.mostStreams || own >= this.mostStreams * USER_SHARE)
      throw new Problem('overloaded', 'too many pages are open (limit live_pages)')
    this.streams.set(who, own + 1)
    let isOpen = true
    const end = (): void => {
      if (!isOpen) return
      isOpen = false
      const left = this.streams.get(who)! - 1
      if (left > 0) this.streams.set(who, left)
      else this.streams.delete(who)
    }
    // It counts from now on, also if nobody begins to read it.
    const changes = this.changes(service, asked, first)
    const iterator = {
      async next() {
        try {
          const result = await changes.next()
          if (result.done) end()
          return result
        } catch (error) {
          end()
          throw error
        }
      },
      return() {
        end()
        return changes.return(undefined)
      },
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  private async *changes(service: Service, asked: FileRequest, first: string): AsyncGenerator<Uint8Array> {
    let state = first
    let silent = 0
    const { owner } = asked.fid
    const followed = this.followed.get(owner) ?? { streams: 0, written: 0, waiting: new Set() }
    this.followed.set(owner, followed)
    followed.streams++
    try {
      yield event(state)
      while (!this.closed) {
        silent += await nextLook(followed)
        const now = await this.state(service, asked).catch((error) => {
          // The plot has gone, or its access. Anything else passes, as a database that restarts does.
          if (error instanceof Problem && error.status < 500) return undefined
          return state
        })
        if (now === undefined) return
        if (now !== state) yield event(now)
        else if (silent >= HEARTBEAT_MS) yield Buffer.from(': still here\n\n')
        else continue
        state = now
        silent = 0
      }
    } finally {
      if (--followed.streams === 0) this.followed.delete(owner)
    }
  }

  /** Tells the streams of an owner's plots that files were written. */
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

/** Waits until a stream should look again. Returns how long that was, in ms. */
async function nextLook({ written, waiting }: Followed): Promise<number> {
  const began = performance.now()
  await new Promise<void>((resolve) => {
    const end = (): void => {
      waiting.delete(look)
      resolve()
    }
    const look = (): void => {
      waiting.delete(look)
      clearTimeout(timer)
      timer = setTimeout(end, Math.max(0, began + MIN_MS - performance.now())).unref()
    }
    // What was written while the stream looked may not be in what it found.
    let timer = setTimeout(end, written > began - MIN_MS ? MIN_MS : FRESH_MS).unref()
    waiting.add(look)
  })
  return performance.now() - began
}

/** Throws `unauthenticated` if the session or key with which the chart was opened has ended since. */
async function assertSignedIn(readers: Readers, { caller }: FileRequest): Promise<void> {
  if (caller?.credential === undefined) return
  if (await isStillSignedIn(readers, caller.username, caller.credential)) return
  throw new Problem('unauthenticated', 'the session or key with which this chart was opened has ended')
}

function event(state: string): Uint8Array {
  return Buffer.from(`event: state\ndata: ${state}\n\n`)
}
