import { Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { authorizeCall, type FileRequest } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import { Lru } from '../core/lru.ts'
import { contentOf, openFigure, withInlineData } from './content.ts'
import { stateOfFigure } from './shown.ts'

/** How long a state is shared by those who ask for it, and how often a stream asks, in ms. */
const FRESH = 1000
/** How often a stream without changes sends a comment, so that proxies keep it open, in ms. */
const HEARTBEAT = 15_000
/** Size of the figures with data that are kept, and of the largest one of them, in bytes. */
const KEPT_BYTES = 32 * 1024 * 1024
const LARGEST = 8 * 1024 * 1024
/** States that are kept. */
const STATES = 10_000

/**
 * What open pages of plots ask for again and again: whether the plot has changed, and what it shows now. However
 * many ask, the database is read once a second for the state, and once for each change.
 */
export class LiveFigures {
  private readonly states = new Map<string, { state: Promise<string>; until: number }>()
  private readonly figures = new Lru<Buffer>(KEPT_BYTES, ({ length }) => length)
  private readonly reading = new Map<string, Promise<Buffer | undefined>>()
  private streams = 0
  private closed = false

  constructor(private readonly mostStreams: number) {}

  /** Identifies what a plot shows to the caller. Throws `not_found` if they may not read it. */
  state(service: Service, asked: FileRequest): Promise<string> {
    const key = `${formatFid(asked.fid)} ${asked.caller?.username ?? ''} ${asked.shareKey ?? ''}`
    const known = this.states.get(key)
    if (known && known.until > performance.now()) return known.state
    const state = service.store.read(async (readers) => {
      const { file } = await authorizeCall(readers, asked)
      return stateOfFigure(readers, file, await contentOf(readers, file), asked)
    })
    if (this.states.size >= STATES) this.states.clear()
    this.states.set(key, { state, until: performance.now() + FRESH })
    state.catch(() => this.states.delete(key))
    return state
  }

  /** The figure with its present data, as JSON text; undefined if it is too large to be kept. */
  async figure(service: Service, asked: FileRequest): Promise<Buffer | undefined> {
    // The state is shared for a moment, access is not.
    await service.store.read((readers) => authorizeCall(readers, asked))
    const state = await this.state(service, asked)
    const kept = this.figures.get(state)
    if (kept) return kept
    const running = this.reading.get(state)
    if (running) return running
    const work = this.read(service, asked).finally(() => this.reading.delete(state))
    this.reading.set(state, work)
    return work
  }

  private async read(service: Service, asked: FileRequest): Promise<Buffer | undefined> {
    const live = await openFigure(service, asked)
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of withInlineData(live)) {
      size += part.length
      if (size > LARGEST) return undefined
      parts.push(part)
    }
    const text = Buffer.concat(parts)
    this.figures.set(live.state, text)
    return text
  }

  /** Server-sent events: the state now, and again whenever it changes. Ends when the caller may no longer read it. */
  async events(service: Service, asked: FileRequest): Promise<AsyncGenerator<Uint8Array>> {
    const first = await this.state(service, asked)
    if (this.streams >= this.mostStreams)
      throw new Problem('overloaded', 'too many pages are open (limit live_pages)')
    return this.changes(service, asked, first)
  }

  private async *changes(service: Service, asked: FileRequest, first: string): AsyncGenerator<Uint8Array> {
    this.streams++
    try {
      let state = first
      let silent = 0
      yield event(state)
      while (!this.closed) {
        await new Promise((resolve) => setTimeout(resolve, FRESH).unref())
        const now = await this.state(service, asked).catch((error) => {
          // The plot has gone, or its access. Anything else passes, as a database that restarts does.
          if (error instanceof Problem && error.status < 500) return undefined
          return state
        })
        if (now === undefined) return
        silent += FRESH
        if (now !== state) yield event(now)
        else if (silent >= HEARTBEAT) yield Buffer.from(': still here\n\n')
        else continue
        state = now
        silent = 0
      }
    } finally {
      this.streams--
    }
  }

  /** Ends all streams. */
  close(): void {
    this.closed = true
  }
}

function event(state: string): Uint8Array {
  return Buffer.from(`event: state\ndata: ${state}\n\n`)
}
