import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { type Bytes, once } from '../../json/index.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import { isStillSignedIn } from '../accounts/sessions.ts'
import type { Service } from '../core/context.ts'
import { Lru } from '../core/lru.ts'
import type { Readers } from '../store/store.ts'
import {
  contentOf,
  drawn,
  hasTransforms,
  missingNote,
  openDrawn,
  openFigure,
  type StoredFigure,
  storedFigure,
  wholeFigure,
  withInlineData,
} from './content.ts'
import type { Ranges } from './points/axes.ts'
import { reductionOf } from './points/reduction.ts'
import { stateOfFigure } from './shown.ts'

/** How long a state is shared by those who ask for it, and how often a stream asks, in ms. */
const FRESH_MS = 1000
/** How often a stream without changes sends a comment, so that proxies keep it open, in ms. */
const HEARTBEAT_MS = 15_000
/** The fraction of the streams that one user or address may have. */
const USER_SHARE = 0.5
/** Size of the figures with data that are kept, and of the largest one of them, in bytes. */
const KEPT_BYTES = 32 * 1024 * 1024
const LARGEST_BYTES = 8 * 1024 * 1024
/** States that are kept. */
const MOST_STATES = 10_000

export interface LiveService extends Service {
  live: LiveFigures
}

/** How a figure is written: with the data that is there, or as it is drawn. */
const forms = {
  data: { open: openFigure, write: withInlineData },
  drawn: { open: openDrawn, write: drawn },
} as const
export type Form = keyof typeof forms

/**
 * What open pages of plots ask for again and again: whether the plot has changed, and what it shows now. However
 * many ask, the database is read once a second for the state, and once for each change.
 */
export class LiveFigures {
  private readonly states = new Lru<{ state: Promise<string>; until: number }>(MOST_STATES, () => 1)
  private readonly figures = new Lru<Buffer>(KEPT_BYTES, ({ length }) => length)
  private readonly reading = new Map<string, Promise<{ text: Buffer | undefined; state: string }>>()
  /** Open streams by user or address. */
  private readonly streams = new Map<string, number>()
  private closed = false

  constructor(private readonly mostStreams: number) {}

  /** Identifies what a plot shows to the caller. Throws `not_found` if they may not read it. */
  state(service: Service, asked: FileRequest): Promise<string> {
    const { caller } = asked
    const who = `${caller?.username ?? ''} ${caller?.credential ?? ''} ${asked.shareKey ?? ''}`
    const key = `${formatFid(asked.fid)} ${who}`
    const known = this.states.get(key)
    if (known && known.until > performance.now()) return known.state
    const state = service.store.read(async (readers) => {
      await assertSignedIn(readers, asked)
      const { file } = await authorizeCall(readers, asked)
      return stateOfFigure(readers, file, await contentOf(readers, file), asked)
    })
    this.states.set(key, { state, until: performance.now() + FRESH_MS })
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
      state: await stateOfFigure(readers, stored.file, stored.content, asked),
    }))
    const kept = this.figures.get(`${state} whole`) ?? this.figures.get(`${state} ${form}`)
    if (kept) return once(kept)
    const key = `${state} ${form}`
    let reading = this.reading.get(key)
    if (!reading) {
      reading = this.read(service, asked, stored, form).finally(() => this.reading.delete(key))
      this.reading.set(key, reading)
    }
    const found = await reading
    // Who began to read may see more by now, or the data has changed: then it is read again for this caller.
    if (found.text && found.state === state) return once(found.text)
    return forms[form].write(await forms[form].open(service, asked, stored))
  }

  /** The text is undefined if the figure is too large to be kept. */
  private async read(
    service: Service,
    asked: FileRequest,
    stored: StoredFigure,
    form: Form,
  ): Promise<{ text: Buffer | undefined; state: string }> {
    const live = await forms[form].open(service, asked, stored)
    const text = await wholeFigure(live, LARGEST_BYTES, forms[form].write)
    const isWhole =
      missingNote(live) === undefined &&
      !hasTransforms(live.figure) &&
      !(live.reduction ?? (await reductionOf(live)))
    if (text) this.figures.set(`${live.state} ${isWhole ? 'whole' : form}`, text)
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
    yield event(state)
    while (!this.closed) {
      await new Promise((resolve) => setTimeout(resolve, FRESH_MS).unref())
      const now = await this.state(service, asked).catch((error) => {
        // The plot has gone, or its access. Anything else passes, as a database that restarts does.
        if (error instanceof Problem && error.status < 500) return undefined
        return state
      })
      if (now === undefined) return
      silent += FRESH_MS
      if (now !== state) yield event(now)
      else if (silent >= HEARTBEAT_MS) yield Buffer.from(': still here\n\n')
      else continue
      state = now
      silent = 0
    }
  }

  /** Ends all streams. */
  close(): void {
    this.closed = true
  }
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
