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
  /** Ends the upload. What was read leaves no trace. */
  cancel(): void
}

/** Uploads that are kept, for each that may be open. */
const ENDED = 8

interface Held<T> {
  owner: string
  upload: Upload<T>
}

/** The resumable uploads of this process. Each is ended if nothing arrives for a while. */
export class ResumableUploads<T> {
  private readonly held = new Map<string, Held<T>>()

  constructor(
    private readonly limits: Pick<Limits, 'resumable_uploads' | 'resume_seconds' | 'upload_bytes'>,
  ) {}

  /** Begins an upload of `owner`, which `read` reads. */
  begin(owner: string, read: (bytes: Bytes) => Promise<T>): Resumable<T> {
    const { resumable_uploads: most, resume_seconds, upload_bytes } = this.limits
    const open = [...this.held.values()].filter(({ upload: one }) => !one.isSettled)
    const own = open.filter((one) => one.owner === owner).length
    // Those that have ended are kept for a while, so that a client that missed the answer can ask again.
    if (open.length >= most || own >= Math.max(1, most / 2) || this.held.size >= most * ENDED)
      throw new Problem('overloaded', 'too many uploads in parts are open (limit resumable_uploads)')
    const id = randomBytes(16).toString('hex')
    const upload = new Upload<T>(id, resume_seconds * 1000, upload_bytes, () => this.held.delete(id))
    this.held.set(id, { owner, upload })
    upload.start(read)
    return upload
  }

  /** An open upload, or one that has just ended. Throws `not_found` for those of others. */
  get(owner: string, id: string): Resumable<T> {
    const found = this.held.get(id)
    if (found?.owner === owner) return found.upload
    throw new Problem('not_found', 'no such upload in parts', {
      hint: 'It has ended, or was begun on another server. Begin again.',
    })
  }

  close(): void {
    for (const { upload } of this.held.values()) upload.cancel()
  }
}

class Upload<T> implements Resumable<T> {
  received = 0
  /** Whether it has a result, or has failed. */
  isSettled = false
  private result: Promise<T> | undefined
  private failure: { error: unknown } | undefined
  private ended = false
  /** The chunk that waits to be read, and what is called when it has been. */
  private waiting: { chunk: Uint8Array; taken: () => void } | undefined
  private wake: (() => void) | undefined
  /** Counts requests: a later one takes over from one whose connection is dead. */
  private turn = 0
  private timer: NodeJS.Timeout | undefined

  constructor(
    readonly id: string,
    private readonly patience: number,
    private readonly most: number,
    private readonly forget: () => void,
  ) {}

  start(read: (bytes: Bytes) => Promise<T>): void {
    this.result = read(this.bytes())
    this.result
      .catch((error) => {
        this.failure ??= { error }
      })
      .finally(() => {
        this.isSettled = true
        this.waiting?.taken()
      })
    this.touch()
  }

  async put(offset: number, bytes: Bytes, isLast: boolean): Promise<T | undefined> {
    const turn = ++this.turn
    this.touch()
    if (offset > this.received)
      throw new Problem('conflict', `the upload goes on at byte ${this.received}, not ${offset}`)
    // What arrived before, when its answer was lost.
    let skip = this.received - offset
    for await (const all of bytes) {
      if (turn !== this.turn) throw new Problem('conflict', 'another request goes on with this upload')
      if (this.failure) throw this.failure.error
      const chunk = skip > 0 ? all.subarray(Math.min(skip, all.length)) : all
      skip -= all.length - chunk.length
      if (chunk.length === 0) continue
      if (this.ended) throw new Problem('conflict', 'the upload has ended')
      if (this.received + chunk.length > this.most)
        throw new Problem('too_large', 'the upload is larger than the limit upload_bytes')
      this.received += chunk.length
      // It may be read no further: a repeated upload, whose result is known.
      if (this.isSettled) continue
      await new Promise<void>((taken) => {
        this.waiting = { chunk, taken }
        this.wake?.()
      })
      this.touch()
    }
    if (this.failure) throw this.failure.error
    if (!isLast) return undefined
    this.ended = true
    this.wake?.()
    const result = await this.result
    this.touch()
    return result
  }

  cancel(): void {
    this.stop(new Problem('aborted', 'the upload was cancelled'))
  }

  private stop(problem: Problem): void {
    clearTimeout(this.timer)
    this.failure ??= { error: problem }
    this.waiting?.taken()
    this.wake?.()
    this.forget()
  }

  private touch(): void {
    clearTimeout(this.timer)
    const late = new Problem('too_slow', 'nothing arrived for too long (limit resume_seconds)')
    this.timer = setTimeout(() => this.stop(late), this.patience).unref()
  }

  /** The bytes of all requests, as they arrive. */
  private async *bytes(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.failure) throw this.failure.error
      const { waiting } = this
      if (waiting) {
        yield waiting.chunk
        this.waiting = undefined
        waiting.taken()
      } else if (this.ended) return
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
    }
  }
}
