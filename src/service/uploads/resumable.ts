// Uploads whose bytes arrive in several requests (docs/adr/0012).
import { randomBytes } from 'node:crypto'
import { Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'
import type { SpooledUpload, UploadSpool } from './upload-spool.ts'

/** Upload whose bytes arrive in several requests. It is parsed while they arrive. */
export interface ResumableUpload<T> {
  readonly id: string
  /** Number of bytes received so far. */
  readonly received: number
  /** Passes on the bytes of one request, which start at `offset`. With `isLast`, resolves to the result. */
  put(offset: number, bytes: Bytes, isLast: boolean): Promise<T | undefined>
  /** Ends the upload and discards its bytes. Throws `conflict` if it is already complete. */
  cancel(): void
}

/** Maximum number of ended uploads kept per user, for clients that missed the response. */
const MAX_ENDED_PER_USER = 16

/** Interval of sweeping the spool, in ms. */
const SWEEP_EVERY_MS = 3600 * 1000

/**
 * Resumable uploads of this process. An upload ends if no bytes arrive for a while. With a spool, it can be
 * resumed later, also by another process.
 */
export class ResumableUploads<T> {
  private readonly owners = new Map<string, Map<string, Upload<T>>>()
  /** Uploads that are being restored from the spool, by id. */
  private readonly restoring = new Map<string, Promise<void>>()
  private open = 0

  constructor(
    private readonly limits: Pick<Limits, 'resumable_uploads' | 'resume_seconds' | 'upload_bytes'>,
    private readonly spool?: UploadSpool,
    /** Name of this server if other servers cannot resume its uploads. Upload ids then begin with it. */
    private readonly server?: string,
  ) {
    this.sweep()
    // Also sweep if nobody starts an upload.
    if (spool) this.sweepTimer = setInterval(() => this.sweep(), SWEEP_EVERY_MS).unref()
  }

  private readonly sweepTimer: NodeJS.Timeout | undefined

  private sweep(): void {
    const open = [...this.owners.values()].flatMap((uploads) => [...uploads.keys()])
    try {
      this.spool?.sweep(this.limits.resumable_uploads, new Set(open))
    } catch {
      // The folder is not readable. Uploads work without a spool.
    }
  }

  /** Begins an upload. `read` parses its bytes. `begun`: JSON that `find` needs to resume it. */
  begin(owner: string, read: (bytes: Bytes) => Promise<T>, begun?: unknown): ResumableUpload<T> {
    this.sweep()
    const name = randomBytes(16).toString('hex')
    const id = this.server === undefined ? name : `${this.server}.${name}`
    return this.add(owner, id, read, () => this.spool?.begin(owner, id, begun))
  }

  /** Returns an upload of a user; restores it from the spool if it is not open. Throws `not_found`. */
  async find(
    owner: string,
    id: string,
    read: (begun: unknown) => (bytes: Bytes) => Promise<T>,
  ): Promise<ResumableUpload<T>> {
    const stored = this.owners.get(owner)?.has(id) ? undefined : this.spool?.find(owner, id)
    if (!stored) {
      const open = this.get(owner, id)
      await this.restoring.get(id)
      return open
    }
    let upload: Upload<T>
    try {
      upload = this.add(owner, id, read(stored.begun), () => stored.spooled)
    } catch (error) {
      // Too many uploads are open. The stored one can be resumed later.
      stored.spooled.close()
      await stored.bytes[Symbol.asyncIterator]().return?.()
      throw error
    }
    const restored = upload
      .restore(stored.bytes)
      .catch(() => {})
      .finally(() => this.restoring.delete(id))
    this.restoring.set(id, restored)
    await restored
    return upload
  }

  /** Registers an upload and starts its reader. Throws `overloaded` above the limit. */
  private add(
    owner: string,
    id: string,
    read: (bytes: Bytes) => Promise<T>,
    openSpool: () => SpooledUpload | undefined,
  ): Upload<T> {
    const { resumable_uploads: maxUploads, resume_seconds, upload_bytes } = this.limits
    const uploads = this.owners.get(owner) ?? new Map<string, Upload<T>>()
    const ended = [...uploads.values()].filter(({ isSettled }) => isSettled)
    if (this.open >= maxUploads || uploads.size - ended.length >= Math.max(1, maxUploads / 2))
      throw new Problem('overloaded', 'too many uploads in parts are open (limit resumable_uploads)')
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_PER_USER + 1)))
      uploads.delete(id)
    const forget = (): void => {
      uploads.delete(id)
      if (uploads.size === 0) this.owners.delete(owner)
    }
    const upload = new Upload<T>(id, resume_seconds * 1000, upload_bytes, forget, openSpool())
    this.owners.set(owner, uploads)
    uploads.set(id, upload)
    this.open++
    // The work counts until it has ended, even if nobody waits for it.
    upload.start(read).finally(() => {
      this.open--
    })
    return upload
  }

  /** Returns an open or recently ended upload. Throws `not_found` or `wrong_server`. */
  get(owner: string, id: string): ResumableUpload<T> {
    const upload = this.owners.get(owner)?.get(id)
    if (upload) return upload
    const [, server] = /^([A-Za-z0-9-]{1,80})\.[0-9a-f]{32}$/.exec(id) ?? []
    if (server !== undefined && server !== this.server)
      throw new Problem('wrong_server', `this upload in parts is on the server ${server}`, { server })
    throw new Problem('not_found', 'no such upload in parts', {
      hint: 'It has ended, or was started on another server. Start again.',
    })
  }

  close(): void {
    clearInterval(this.sweepTimer)
    for (const uploads of [...this.owners.values()])
      for (const upload of [...uploads.values()]) upload.suspend()
  }
}

/** One upload: passes the chunks of its requests to the reader. */
class Upload<T> implements ResumableUpload<T> {
  received = 0
  /** True once the reader has returned a result or failed. */
  isSettled = false
  private result: Promise<T> | undefined
  private failure: { error: unknown } | undefined
  /** True once the last byte has arrived. */
  private isComplete = false
  /** Chunks that wait for the reader: at most one per running request. */
  private readonly queue: { chunk: Uint8Array; onRead: () => void }[] = []
  private wake: (() => void) | undefined
  /** Number of requests so far. A later request takes over from one whose connection is dead. */
  private requestNumber = 0
  private timer: NodeJS.Timeout | undefined
  private isForgotten = false

  constructor(
    readonly id: string,
    private readonly timeoutMs: number,
    private readonly maxBytes: number,
    private readonly onEnd: () => void,
    private readonly spooled?: SpooledUpload,
  ) {}

  /** Starts the reader. Resolves when it has ended, also if it failed. */
  start(read: (bytes: Bytes) => Promise<T>): Promise<void> {
    this.result = read(this.readQueue())
    this.restartTimer()
    return this.result
      .then(
        () => {},
        (error) => {
          this.failure ??= { error }
        },
      )
      .finally(() => {
        this.isSettled = true
        // Done, or the file is invalid. Uploads that were interrupted before stay in the spool.
        if (!this.isForgotten) this.spooled?.delete()
        this.releaseWaiting()
      })
  }

  async put(offset: number, bytes: Bytes, isLast: boolean): Promise<T | undefined> {
    const requestNumber = ++this.requestNumber
    this.restartTimer()
    this.checkActive(requestNumber)
    if (offset > this.received)
      throw new Problem('conflict', `expected offset ${this.received}, found ${offset}`)
    // Skip bytes that arrived before, but whose response was lost.
    let skip = this.received - offset
    for await (const received of bytes) {
      this.checkActive(requestNumber)
      const chunk = skip > 0 ? received.subarray(Math.min(skip, received.length)) : received
      skip -= received.length - chunk.length
      if (chunk.length === 0) continue
      if (this.isComplete) throw new Problem('conflict', 'the upload has ended')
      if (this.received + chunk.length > this.maxBytes)
        throw new Problem('too_large', 'the upload is larger than the limit upload_bytes')
      this.spooled?.append(chunk)
      await this.passToReader(chunk)
      this.restartTimer()
    }
    this.checkActive(requestNumber)
    if (!isLast) return undefined
    this.isComplete = true
    this.wake?.()
    const result = await this.result
    this.restartTimer()
    return result
  }

  cancel(): void {
    if (this.isComplete) throw new Problem('conflict', 'the upload is already complete')
    this.spooled?.delete()
    this.stop(new Problem('aborted', 'the upload was cancelled'))
  }

  /** Ends the upload in this process. Its bytes stay in the spool. */
  suspend(): void {
    this.stop(new Problem('aborted', 'the server was stopped'))
  }

  /** Passes the bytes of the spool to the reader. */
  async restore(bytes: Bytes): Promise<void> {
    for await (const chunk of bytes) {
      if (this.failure) return
      await this.passToReader(chunk)
      this.restartTimer()
    }
  }

  /** Throws the error that ended the upload, or `conflict` if a later request has taken over. */
  private checkActive(requestNumber: number): void {
    if (requestNumber !== this.requestNumber)
      throw new Problem('conflict', 'another request is sending this upload')
    if (this.failure) throw this.failure.error
  }

  /** Resolves when the reader has consumed a chunk. Waiting chunks of other requests are read first. */
  private async passToReader(chunk: Uint8Array): Promise<void> {
    this.received += chunk.length
    // The reader has ended early: this is a retry whose result is already stored.
    if (this.isSettled) return
    const read = new Promise<void>((resolve) => this.queue.push({ chunk, onRead: resolve }))
    this.wake?.()
    await read
  }

  private stop(problem: Problem): void {
    clearTimeout(this.timer)
    this.isForgotten = true
    this.spooled?.close()
    this.failure ??= { error: problem }
    this.releaseWaiting()
    this.wake?.()
    this.onEnd()
  }

  /** Resolves all requests that wait for a reader that has ended. */
  private releaseWaiting(): void {
    for (const { onRead } of this.queue.splice(0)) onRead()
  }

  /** Restarts the timeout. Called for each chunk. */
  private restartTimer(): void {
    if (this.isForgotten) return
    const stop = (): void =>
      this.stop(new Problem('too_slow', 'timed out waiting for data (limit resume_seconds)'))
    this.timer = this.timer?.refresh() ?? setTimeout(stop, this.timeoutMs).unref()
  }

  /** Yields the bytes of all requests in order of arrival. */
  private async *readQueue(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.failure) throw this.failure.error
      const [next] = this.queue
      if (next) {
        yield next.chunk
        if (this.queue[0] === next) this.queue.shift()
        next.onRead()
      } else if (this.isComplete) return
      else
        await new Promise<void>((resolve) => {
          this.wake = resolve
        })
    }
  }
}
