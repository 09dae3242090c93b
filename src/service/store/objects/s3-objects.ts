// Object store in an S3 bucket.
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { causeMessageOf, Problem } from '../../../contract/errors.ts'
import { traceHeaders } from '../../tracing/tracing.ts'
import { invalidAddressError, type ObjectStore, type S3Environment } from './object-store.ts'

/** Waits before each retry of a request, in ms. */
const RETRY_DELAYS_MS = [100, 400, 1600]
/** Timeout of one request, in ms; of one that sends bytes. An interrupted download goes on where it was. */
const REQUEST_TIMEOUT_MS = 10_000
const PUT_TIMEOUT_MS = 30_000
/** Minimum size of a part of a download after which it does not count as an attempt, in bytes. */
const MIN_PART_BYTES = 16 * 1024
/** Number of requests without an answer, each sent after the one before had failed, after which the bucket is not asked for a while. */
const MAX_UNANSWERED = 2
/** How long it is not asked, in ms. */
const PAUSE_MS = 5000

/** The part of aws4fetch that is used: signs requests. */
interface Signer {
  sign(
    url: string,
    init: { method: string; headers: Record<string, string>; body?: Uint8Array },
  ): Promise<Request>
}

/** A failure that a retry may solve. */
class TransientError extends Error {}

/** A download that was interrupted after a part of it. */
class PartialError extends TransientError {}

/**
 * Stores objects in a bucket of S3, or of a compatible service. PUT requests are signed with the SHA-256 of
 * their bytes, so that the service refuses damaged ones. An interrupted download is resumed with a range
 * request.
 */
export class S3Objects implements ObjectStore {
  /** How long other requests wait for the one that finds out whether the bucket answers again, in ms. */
  static probeWaitMs = 1000
  /** Ends with that request. After `PAUSE_MS`, another one finds out. */
  private probe: Promise<void> | undefined
  /** Number of requests without an answer since the last answer. */
  private unanswered = 0
  /** When the last of them had failed, in ms of `performance.now()`. */
  private failedAt = 0
  /** Time until which requests fail at once, in ms of `performance.now()`: each that waits takes a place of others. */
  private pausedUntil = 0

  private constructor(
    private readonly signer: Signer,
    /** URL of an object, without its key. */
    private readonly base: string,
    private readonly bucket: string,
  ) {}

  /**
   * `address`: `s3://bucket/prefix?endpoint=https://…&region=…&style=path`. Defaults: the endpoint of AWS
   * with style `virtual`, other endpoints with `path`. Credentials: `AWS_ACCESS_KEY_ID`,
   * `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`.
   */
  static async open(address: string, environment: S3Environment): Promise<S3Objects> {
    const invalid = (why: string): Problem => invalidAddressError(address, why)
    if (!URL.canParse(address) || !/^[a-z0-9][a-z0-9._-]+$/i.test(new URL(address).hostname))
      throw invalid(
        'expected the name of a bucket after s3://: at least two letters, digits, hyphens or dots',
      )
    const url = new URL(address)
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment
    for (const [name, value] of Object.entries({
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    }))
      if (!value)
        throw new Problem('usage', `--blobs ${address.split('?', 1)[0]}: ${name} is not set`, {
          hint: `Set ${name}, or ${name}_FILE, to the credentials of the object store.`,
        })
    if (url.username || url.password)
      throw new Problem(
        'usage',
        '--blobs: give the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
      )
    const region = url.searchParams.get('region') ?? environment.AWS_REGION ?? 'us-east-1'
    const endpoint = url.searchParams.get('endpoint') ?? environment.AWS_ENDPOINT_URL
    const style = url.searchParams.get('style') ?? (endpoint ? 'path' : 'virtual')
    if (style !== 'path' && style !== 'virtual') throw invalid(`style must be path or virtual, not ${style}`)
    if (!/^[a-z0-9-]+$/.test(region)) throw invalid(`not a region: ${region}`)
    if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:\/\//i.test(endpoint)))
      throw invalid(`the endpoint must be a URL that starts with http:// or https://, not ${endpoint}`)
    const server = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
    const bucket = url.hostname
    let prefix: string
    try {
      prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
    } catch {
      throw invalid('expected two hexadecimal digits after %')
    }
    if (style === 'virtual') server.hostname = `${bucket}.${server.hostname}`
    const path = [
      server.pathname.replace(/\/+$/, ''),
      ...(style === 'path' ? [bucket] : []),
      ...prefix.split('/').filter(Boolean).map(encodeURIComponent),
    ].join('/')
    const { AwsClient } = await import('../../../vendor/s3.ts')
    const signer = new AwsClient({
      accessKeyId: accessKeyId!,
      secretAccessKey: secretAccessKey!,
      sessionToken: environment.AWS_SESSION_TOKEN,
      service: 's3',
      region,
      retries: 0,
    })
    return new S3Objects(signer as unknown as Signer, `${server.origin}${path}/`, bucket)
  }

  async put(key: string, bytes: Uint8Array, hash: string): Promise<void> {
    const read = async (response: Response): Promise<void> => {
      if (!response.ok) throw await this.readError(response)
      await response.arrayBuffer()
    }
    await this.retry(() => this.exchange('PUT', key, { 'x-amz-content-sha256': hash }, read, bytes))
  }

  async get(key: string): Promise<Buffer | undefined> {
    const chunks: Buffer[] = []
    let size: number | undefined
    const read = async (response: Response, noteAnswer: () => void, from: number): Promise<void> => {
      if (response.status === 404 && !(await this.readText(response)).includes('NoSuchBucket')) {
        chunks.length = 0
        size = undefined
        return
      }
      if (!response.ok) throw await this.readError(response)
      // A service without range requests sends everything again.
      if (from > 0 && response.status !== 206) chunks.length = 0
      const length = Number(response.headers.get('content-length') ?? Number.NaN)
      if (response.status === 200 && !Number.isNaN(length)) size = length
      size ??= Number.NaN
      let arrived = chunks.reduce((sum, part) => sum + part.length, 0)
      const begin = arrived
      try {
        for await (const chunk of response.body ?? []) {
          chunks.push(Buffer.from(chunk))
          arrived += chunk.length
          if (arrived - begin >= MIN_PART_BYTES) noteAnswer()
        }
        if (!Number.isNaN(size) && arrived < size) throw new TransientError('the body was cut off')
      } catch (error) {
        const isLonger = (from === 0 || response.status === 206) && arrived - begin >= MIN_PART_BYTES
        throw isLonger ? new PartialError(causeMessageOf(error)) : error
      }
    }
    await this.retry(() => {
      const from = chunks.reduce((sum, { length }) => sum + length, 0)
      const range: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {}
      return this.exchange('GET', key, range, (response, noteAnswer) => read(response, noteAnswer, from))
    })
    return size === undefined ? undefined : Buffer.concat(chunks)
  }

  async remove(key: string): Promise<void> {
    const read = async (response: Response): Promise<void> => {
      if (!response.ok && response.status !== 404) throw await this.readError(response)
      await response.arrayBuffer()
    }
    await this.retry(() => this.exchange('DELETE', key, {}, read))
  }

  async checkAccess(): Promise<void> {
    const key = `check-${randomBytes(8).toString('hex')}`
    const bytes = Buffer.from(key)
    await this.put(key, bytes, createHash('sha256').update(bytes).digest('hex'))
    if (!(await this.get(key))?.equals(bytes))
      throw new Problem(
        'overloaded',
        `the bucket ${this.bucket} does not return the bytes that were stored (--blobs)`,
      )
    await this.remove(key)
  }

  /** Sends a request, and reads its response. `read` calls `noteAnswer` if a part of a long one has arrived. */
  private async exchange(
    method: string,
    key: string,
    headers: Record<string, string>,
    read: (response: Response, noteAnswer: () => void) => Promise<void>,
    body?: Uint8Array,
  ): Promise<void> {
    const request = await this.signer.sign(this.base + encodeURIComponent(key), {
      method,
      headers: { ...traceHeaders(), ...headers },
      body,
    })
    if (this.probe) await Promise.race([this.probe, sleep(S3Objects.probeWaitMs, undefined, { ref: false })])
    if (this.probe || performance.now() < this.pausedUntil)
      throw this.unreachable('it has not answered for a while')
    const sentAt = performance.now()
    const signal = AbortSignal.timeout(method === 'PUT' ? PUT_TIMEOUT_MS : REQUEST_TIMEOUT_MS)
    let noteAnswer = (): void => {}
    const partial = new Promise<void>((resolve) => {
      noteAnswer = () => {
        this.noteAnswer()
        resolve()
      }
    })
    const answer = fetch(request, { signal, redirect: 'manual' }).then((response) =>
      read(response, noteAnswer),
    )
    // One request finds out whether it answers again.
    if (this.unanswered >= MAX_UNANSWERED) this.probe = this.watchProbe(Promise.race([answer, partial]))
    try {
      await answer
      this.noteAnswer()
    } catch (error) {
      if (error instanceof Problem || error instanceof TransientError) this.noteAnswer()
      // Also of a body that has begun, and does not go on.
      else if (signal.aborted && sentAt >= this.failedAt) {
        this.failedAt = performance.now()
        if (++this.unanswered >= MAX_UNANSWERED) this.pausedUntil = this.failedAt + PAUSE_MS
      }
      throw error
    }
  }

  private noteAnswer(): void {
    this.unanswered = 0
    this.pausedUntil = 0
  }

  /** Returns a promise that ends with an answer, and lets another request find out if that takes long. */
  private watchProbe(answer: Promise<unknown>): Promise<void> {
    const probe = Promise.race([answer, sleep(PAUSE_MS, undefined, { ref: false })])
      .catch(() => {})
      .then(() => {
        if (this.probe === probe) this.probe = undefined
      })
    return probe
  }

  private unreachable(why: string): Problem {
    return new Problem('overloaded', `the bucket ${this.bucket} does not answer: ${why} (--blobs)`)
  }

  /** Runs `work`, and retries after transient failures. */
  private async retry(work: () => Promise<void>): Promise<void> {
    for (let attempt = 0; ; attempt++)
      try {
        return await work()
      } catch (error) {
        if (error instanceof Problem) throw error
        if (error instanceof PartialError) attempt = 0
        if (attempt >= RETRY_DELAYS_MS.length) throw this.unreachable(causeMessageOf(error))
        await new Promise((resolve) =>
          setTimeout(resolve, RETRY_DELAYS_MS[attempt] * (0.75 + Math.random() / 2)),
        )
      }
  }

  /** Returns the error of a response: a transient one, or a Problem with its fix. */
  private async readError(response: Response): Promise<Error> {
    const { status } = response
    const text = await this.readText(response)
    const code = /<Code>([^<]{1,100})<\/Code>/.exec(text)?.[1] ?? String(status)
    if (code === 'RequestTimeTooSkewed')
      return this.bucketError('the clock of this server differs from that of the store', 'Set the clock.')
    if (code === 'NoSuchBucket')
      return this.bucketError('there is no such bucket', 'Create it, or correct --blobs.')
    if (code === 'InvalidAccessKeyId')
      return this.bucketError('the store rejects AWS_ACCESS_KEY_ID as unknown')
    if (code === 'SignatureDoesNotMatch')
      return this.bucketError('AWS_SECRET_ACCESS_KEY is wrong, or the region of --blobs')
    if (status === 401 || status === 403)
      return this.bucketError(
        `the store refuses ${code}`,
        'The key must be allowed s3:GetObject, s3:PutObject and s3:DeleteObject on the bucket.',
      )
    if (status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed')
      return this.bucketError('the bucket is in another region', 'Give region=… in --blobs.')
    return new TransientError(`${status} ${code}`)
  }

  private bucketError(why: string, hint?: string): Problem {
    return new Problem('overloaded', `the bucket ${this.bucket}: ${why} (--blobs)`, hint ? { hint } : {})
  }

  private readText(response: Response): Promise<string> {
    return response.text().catch((error) => {
      // An answer that does not go on is none.
      if (/^(?:Abort|Timeout)Error$/.test(error.name)) throw error
      return ''
    })
  }
}
