import { randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'

/** An upload whose bytes arrive in several requests. It is read while they arrive. */
export interface Resumable<T> {
  readonly id: string
  /** Bytes that have been read. */
  readonly received: number
  /** Passes on the bytes of one request, which begin at `offset`. With `isLast`, resolves to the result. */
  put(offset: number, bytes: Bytes, isLast: boolean): Promise<T | undefined>
  /** Ends the upload. What was read leaves no trace. Throws `conflict` if all has been read. */
  cancel(): void
}

/** Ended uploads that are kept for each user, for clients that missed the answer. */
const KEPT = 16

/** The resumable uploads of this process. Each is ended if nothing arrives for a while. */
export class ResumableUploads<T> {
  private readonly owners = new Map<string, Map<string, Upload<T>>>()
  private open = 0

  constructor(
    private readonly limits: Pick<Limits, 'resumable_uploads' | 'resume_seconds' | 'upload_bytes'>,
  ) {}

  /** Begins an upload of `owner`, which `read` reads. */
  begin(owner: string, read: (bytes: Bytes) => Promise<T>): Resumable<T> {
    const { resumable_uploads: most, resume_seconds, upload_bytes } = this.limits
    const own = this.owners.get(owner) ?? new Map<string, Upload<T>>()
    const ended = [...own.values()].filter(({ isSettled }) => isSettled)
    if (this.open >= most || own.size - ended.length >= Math.max(1, most / 2))
      throw new Problem('overloaded', 'too many uploads in parts are open (limit resumable_uploads)')
    for (const { id } of ended.slice(0, Math.max(0, ended.length - KEPT + 1))) own.delete(id)
    const id = randomBytes(16).toString('hex')
    const upload = new Upload<T>(id, resume_seconds * 1000, upload_bytes, () => {
      own.delete(id)
      if (own.size === 0) this.owners.delete(owner)
    })
    this.owners.set(owner, own)
    own.set(id, upload)
    this.open++
    // The work counts until it has ended, also if nobody waits for it.
    upload.start(read).finally(() => {
      this.open--
    })
    return upload
  }

  /** An open upload, or one that has just ended. Throws `not_found` for those of others. */
  get(owner: string, id: string): Resumable<T> {
    const found = this.owners.get(owner)?.get(id)
    if (found) return found
    throw new Problem('not_found', 'no such upload in parts', {
      hint: 'It has ended, or was begun on another server. Begin again.',
    })
  }

  close(): void {
    for (const own of [...this.owners.values()]) for (const upload of [...own.values()]) upload.end()
  }
}

class Upload<T> implements Resumable<T> {
  received = 0
  /** Whether it has a result, or has failed. */
  isSettled = false
  private result: Promise<T> | undefined
  private failure: { error: unknown } | undefined
  /** Whether the file has arrived as a whole. */
  private ended = false
  /** Chunks that wait to be read: one for each request that is running. */
  private readonly waiting: { chunk: Uint8Array; taken: () => void }[] = []
  private wake: (() => void) | undefined
  /** Counts requests: a later one takes over from one whose connection is dead. */
  private turn = 0
  private timer: NodeJS.Timeout | undefined
  private isForgotten = false

  constructor(
    readonly id: string,
    private readonly patience: number,
    private readonly most: number,
    private readonly forget: () => void,
  ) {}

  /** Resolves when the reader has ended, in whatever way. */
  start(read: (bytes: Bytes) => Promise<T>): Promise<void> {
    this.result = read(this.bytes())
    this.touch()
    return this.result
      .then(
        () => {},
        (error) => {
          this.failure ??= { error }
        },
      )
      .finally(() => {
        this.isSettled = true
        this.release()
      })
  }

  async put(offset: number, bytes: Bytes, isLast: boolean): Promise<T | undefined> {
    const turn = ++this.turn
    this.touch()
    this.check(turn)
    if (offset > this.received)
      throw new Problem('conflict', `the upload goes on at byte ${this.received}, not ${offset}`)
    // What arrived before, when its answer was lost.
    let skip = this.received - offset
    for await (const all of bytes) {
      this.check(turn)
      const chunk = skip > 0 ? all.subarray(Math.min(skip, all.length)) : all
      skip -= all.length - chunk.length
      if (chunk.length === 0) continue
      if (this.ended) throw new Problem('conflict', 'the upload has ended')
      if (this.received + chunk.length > this.most)
        throw new Problem('too_large', 'the upload is larger than the limit upload_bytes')
      await this.handOver(chunk)
      this.touch()
    }
    this.check(turn)
    if (!isLast) return undefined
    this.ended = true
    this.wake?.()
    const result = await this.result
    this.touch()
    return result
  }

  cancel(): void {
    if (this.ended) throw new Problem('conflict', 'the upload has arrived as a whole')
    this.end()
  }

  end(): void {
    this.stop(new Problem('aborted', 'the upload was cancelled'))
  }

  /** Throws what has ended the upload, or that another request goes on. */
  private check(turn: number): void {
    if (turn !== this.turn) throw new Problem('conflict', 'another request goes on with this upload')
    if (this.failure) throw this.failure.error
  }

  /** Waits until a chunk has been read. A chunk of another request that is still waiting is read before it. */
  private async handOver(chunk: Uint8Array): Promise<void> {
    this.received += chunk.length
    // It may be read no further: a repeated upload, whose result is known.
    if (this.isSettled) return
    const taken = new Promise<void>((resolve) => this.waiting.push({ chunk, taken: resolve }))
    this.wake?.()
    await taken
  }

  private stop(problem: Problem): void {
    clearTimeout(this.timer)
    this.isForgotten = true
    this.failure ??= { error: problem }
    this.release()
    this.wake?.()
    this.forget()
  }

  /** Lets go of requests that wait for a reader that has ended. */
  private release(): void {
    for (const { taken } of this.waiting.splice(0)) taken()
  }

  /** Something arrived: called for each chunk. */
  private touch(): void {
    if (this.isForgotten) return
    const late = (): void =>
      this.stop(new Problem('too_slow', 'nothing arrived for too long (limit resume_seconds)'))
    this.timer = this.timer?.refresh() ?? setTimeout(late, this.patience).unref()
  }

  /** The bytes of all requests, as they arrive. */
  private async *bytes(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.failure) throw this.failure.error
      const [next] = this.waiting
      if (next) {
        yield next.chunk
        if (this.waiting[0] === next) this.waiting.shift()
        next.taken()
      } else if (this.ended) return
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
    }
  }
}
