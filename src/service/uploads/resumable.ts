import { randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'
import type { SpooledUpload, UploadSpool } from './upload-spool.ts'

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
const MAX_ENDED = 16

/** How often the spool is swept, in ms. */
const SWEEP_EVERY_MS = 3600 * 1000

/**
 * The resumable uploads of this process. Each is ended if nothing arrives for a while. With a spool, it can be taken up
 * again later, also by another process.
 */
export class ResumableUploads<T> {
  private readonly owners = new Map<string, Map<string, Upload<T>>>()
  /** Uploads that are being read again from the spool. */
  private readonly restoring = new Map<string, Promise<void>>()
  private open = 0

  constructor(
    private readonly limits: Pick<Limits, 'resumable_uploads' | 'resume_seconds' | 'upload_bytes'>,
    private readonly spool?: UploadSpool,
    /** The name of this server, if others cannot take its uploads up: their ids begin with it. */
    private readonly server?: string,
  ) {
    this.sweep()
    // What nobody continues goes also where nobody begins an upload.
    if (spool) this.sweeping = setInterval(() => this.sweep(), SWEEP_EVERY_MS).unref()
  }

  private readonly sweeping: NodeJS.Timeout | undefined

  private sweep(): void {
    const open = [...this.owners.values()].flatMap((own) => [...own.keys()])
    try {
      this.spool?.sweep(this.limits.resumable_uploads, new Set(open))
    } catch {
      // The folder is not readable: uploads work without it.
    }
  }

  /** Begins an upload of `owner`, which `read` reads. `begun` is what `find` needs to take it up again, as JSON. */
  begin(owner: string, read: (bytes: Bytes) => Promise<T>, begun?: unknown): Resumable<T> {
    this.sweep()
    const name = randomBytes(16).toString('hex')
    const id = this.server === undefined ? name : `${this.server}.${name}`
    return this.add(owner, id, read, () => this.spool?.begin(owner, id, begun))
  }

  /** An upload of a user. One that is not open any more is taken up again with `read`. Throws `not_found`. */
  async find(
    owner: string,
    id: string,
    read: (begun: unknown) => (bytes: Bytes) => Promise<T>,
  ): Promise<Resumable<T>> {
    const kept = this.owners.get(owner)?.has(id) ? undefined : this.spool?.find(owner, id)
    if (!kept) {
      const found = this.get(owner, id)
      await this.restoring.get(id)
      return found
    }
    let upload: Upload<T>
    try {
      upload = this.add(owner, id, read(kept.begun), () => kept.kept)
    } catch (error) {
      // Too many are open: it stays on disk.
      kept.kept.close()
      await kept.bytes[Symbol.asyncIterator]().return?.()
      throw error
    }
    const restored = upload
      .restore(kept.bytes)
      .catch(() => {})
      .finally(() => this.restoring.delete(id))
    this.restoring.set(id, restored)
    await restored
    return upload
  }

  private add(
    owner: string,
    id: string,
    read: (bytes: Bytes) => Promise<T>,
    keep: () => SpooledUpload | undefined,
  ): Upload<T> {
    const { resumable_uploads: most, resume_seconds, upload_bytes } = this.limits
    const own = this.owners.get(owner) ?? new Map<string, Upload<T>>()
    const ended = [...own.values()].filter(({ isSettled }) => isSettled)
    if (this.open >= most || own.size - ended.length >= Math.max(1, most / 2))
      throw new Problem('overloaded', 'too many uploads in parts are open (limit resumable_uploads)')
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED + 1))) own.delete(id)
    const forget = (): void => {
      own.delete(id)
      if (own.size === 0) this.owners.delete(owner)
    }
    const upload = new Upload<T>(id, resume_seconds * 1000, upload_bytes, forget, keep())
    this.owners.set(owner, own)
    own.set(id, upload)
    this.open++
    // The work counts until it has ended, also if nobody waits for it.
    upload.start(read).finally(() => {
      this.open--
    })
    return upload
  }

  /** An open upload, or one that has just ended. Throws `not_found` for those of others; `wrong_server` elsewhere. */
  get(owner: string, id: string): Resumable<T> {
    const found = this.owners.get(owner)?.get(id)
    if (found) return found
    const [, server] = /^([A-Za-z0-9-]{1,80})\.[0-9a-f]{32}$/.exec(id) ?? []
    if (server !== undefined && server !== this.server)
      throw new Problem('wrong_server', `this upload in parts is on the server ${server}`, { server })
    throw new Problem('not_found', 'no such upload in parts', {
      hint: 'It has ended, or was begun on another server. Begin again.',
    })
  }

  close(): void {
    clearInterval(this.sweeping)
    for (const own of [...this.owners.values()]) for (const upload of [...own.values()]) upload.leave()
  }
}

class Upload<T> implements Resumable<T> {
  received = 0
  /** Whether it has a result, or has failed. */
  isSettled = false
  private result: Promise<T> | undefined
  private failure: { error: unknown } | undefined
  /** Whether the whole file has arrived. */
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
    private readonly kept?: SpooledUpload,
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
        // Its result, or an error in the file. What was left before that can be taken up again.
        if (!this.isForgotten) this.kept?.remove()
        this.release()
      })
  }

  async put(offset: number, bytes: Bytes, isLast: boolean): Promise<T | undefined> {
    const turn = ++this.turn
    this.touch()
    this.check(turn)
    if (offset > this.received)
      throw new Problem('conflict', `the next byte is ${this.received}, not ${offset}`)
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
      this.kept?.add(chunk)
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
    if (this.ended) throw new Problem('conflict', 'the upload is already complete')
    this.kept?.remove()
    this.stop(new Problem('aborted', 'the upload was cancelled'))
  }

  /** Ends the upload in this process. What was kept of it stays. */
  leave(): void {
    this.stop(new Problem('aborted', 'the server was stopped'))
  }

  /** Reads what was kept of it. */
  async restore(bytes: Bytes): Promise<void> {
    for await (const chunk of bytes) {
      if (this.failure) return
      await this.handOver(chunk)
      this.touch()
    }
  }

  /** Throws what has ended the upload, or that another request is sending. */
  private check(turn: number): void {
    if (turn !== this.turn) throw new Problem('conflict', 'another request is sending this upload')
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
    this.kept?.close()
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
      this.stop(new Problem('too_slow', 'timed out waiting for data (limit resume_seconds)'))
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
