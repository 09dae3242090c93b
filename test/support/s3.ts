// A fake S3 server with faults.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Faults of the next requests. */
export type Fault = 'error' | 'slow down' | 'cut' | 'silent' | 'hang' | 'stall' | 'wrong' | 'missing'

/**
 * A server that speaks S3 and refuses what AWS refuses: signatures (version 4) over all that is sent, bodies that are not
 * those of `x-amz-content-sha256`, clocks, buckets and keys. Path style and virtual hosts.
 */
export class S3Server {
  readonly objects = new Map<string, Buffer>()
  readonly accessKeyId = 'AKIATEST'
  readonly secretAccessKey = 'a secret of the tests'
  readonly bucket = 'gridline'
  readonly region = 'eu-test-1'
  /** All keys that were ever put. */
  readonly puts: string[] = []
  /** Offset of its clock, in ms. */
  ahead = 0
  mayDelete = true
  /** Faults of the next requests. */
  readonly faults: Fault[] = []
  /** Whether it answers requests for a part of an object with that part. */
  hasRanges = true
  /** Called when a request gets no answer. */
  onHang = (): void => {}
  /** Each request fails with this probability. */
  failing = 0
  private readonly server = createServer((request, response) => {
    this.answer(request, response).catch((error) => response.destroy(error))
  })

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return this
  }

  stop(): Promise<void> {
    this.server.closeAllConnections()
    return new Promise((resolve) => this.server.close(() => resolve()))
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  get address(): string {
    return `s3://${this.bucket}/some/prefix?endpoint=http://127.0.0.1:${this.port}&region=${this.region}`
  }

  get environment(): Record<string, string> {
    return { AWS_ACCESS_KEY_ID: this.accessKeyId, AWS_SECRET_ACCESS_KEY: this.secretAccessKey }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = Buffer.concat(parts)
    const fault: Fault | undefined =
      this.faults.shift() ??
      (Math.random() < this.failing
        ? (['error', 'cut', 'silent'][Math.floor(Math.random() * 3)] as Fault)
        : undefined)
    if (fault === 'error') return refuse(response, 500, 'InternalError')
    if (fault === 'slow down') return refuse(response, 503, 'SlowDown')
    if (fault === 'missing') return refuse(response, 404, 'NoSuchKey')
    if (fault === 'hang') return this.onHang()
    // Done, but the response is lost.
    const lost = fault === 'silent'
    const url = new URL(request.url!, 'http://x')
    const refused = this.refusal(request, url, body)
    if (refused) return refuse(response, ...refused)
    const path = decodeURIComponent(url.pathname)
    if (!path.startsWith(`/${this.bucket}/`)) return refuse(response, 404, 'NoSuchBucket')
    const key = path.slice(this.bucket.length + 2)
    const there = this.objects.get(key)
    switch (request.method) {
      case 'PUT':
        this.puts.push(key)
        this.objects.set(key, body)
        if (lost) return void response.destroy()
        response.setHeader('etag', `"${createHash('md5').update(body).digest('hex')}"`)
        return void response.end()
      case 'GET': {
        if (!there) return refuse(response, 404, 'NoSuchKey')
        if (lost) return void response.destroy()
        const range = this.hasRanges ? (request.headers.range ?? '') : ''
        const [, from] = /^bytes=(\d+)-$/.exec(range) ?? []
        if (from !== undefined && Number(from) >= there.length) return refuse(response, 416, 'InvalidRange')
        const bytes = there.subarray(Number(from ?? 0))
        if (from !== undefined) {
          response.statusCode = 206
          response.setHeader('content-range', `bytes ${from}-${there.length - 1}/${there.length}`)
        }
        response.setHeader('content-length', bytes.length)
        if (fault === 'stall') {
          // Half of it arrives, and no more.
          response.write(bytes.subarray(0, bytes.length >> 1), this.onHang)
          return
        }
        if (fault === 'cut' && bytes.length > 1) {
          response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy())
          return
        }
        return void response.end(fault === 'wrong' ? bytes.map((byte) => byte ^ 1) : bytes)
      }
      case 'DELETE':
        if (!this.mayDelete) return refuse(response, 403, 'AccessDenied')
        this.objects.delete(key)
        if (lost) return void response.destroy()
        response.statusCode = 204
        return void response.end()
      default:
        return refuse(response, 405, 'MethodNotAllowed')
    }
  }

  /** Returns status and code if a request is refused. */
  private refusal(
    { method, headers }: IncomingMessage,
    url: URL,
    body: Buffer,
  ): [status: number, code: string] | undefined {
    const match =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
        headers.authorization ?? '',
      )
    if (!match) return [403, 'AccessDenied']
    const [, id, day, region, names, signature] = match
    if (id !== this.accessKeyId) return [403, 'InvalidAccessKeyId']
    const at = String(headers['x-amz-date'])
    const time = Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    if (!(Math.abs(time - Date.now() - this.ahead) < 15 * 60_000)) return [403, 'RequestTimeTooSkewed']
    if (region !== this.region) return [400, 'AuthorizationHeaderMalformed']
    const given = String(headers['x-amz-content-sha256'])
    const isRead = method === 'GET' || method === 'DELETE'
    if (!isRead && given !== createHash('sha256').update(body).digest('hex'))
      return [400, 'XAmzContentSHA256Mismatch']
    if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => names.split(';').includes(name)))
      return [403, 'AccessDenied']
    const canonical = [
      method,
      url.pathname,
      [...url.searchParams]
        .map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`)
        .sort()
        .join('&'),
      ...names.split(';').map((name) => `${name}:${String(headers[name]).trim().replace(/\s+/g, ' ')}`),
      '',
      names,
      given,
    ].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = `AWS4-HMAC-SHA256\n${at}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
    const hmac = (key: Buffer | string, value: string): Buffer =>
      createHmac('sha256', key).update(value).digest()
    const key = hmac(hmac(hmac(hmac(`AWS4${this.secretAccessKey}`, day), region), 's3'), 'aws4_request')
    return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'))
      ? undefined
      : [403, 'SignatureDoesNotMatch']
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/xml')
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>no</Message></Error>`,
  )
}
