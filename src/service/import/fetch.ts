// Fetches files for URL imports, only from public addresses.
import { Problem } from '../../contract/errors.ts'
import { bytesText, type Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'
import { type Trace, traceHeaders } from '../tracing/tracing.ts'
import { isPublic } from './addresses.ts'

const REDIRECTS = 5

type LookupCallback = (error: Error | null, addresses: { address: string; family: number }[]) => void

/** File that is fetched from a URL. */
export interface Fetched {
  bytes: Bytes
  /** Last segment of the URL path. The grid is named after it. */
  fileName: string
}

/**
 * Fetches files for URL imports. Allows only http and https, and only public IP addresses. The address of
 * each actual connection is checked after name resolution, also after every redirect.
 */
export class UrlImport {
  constructor(private readonly mayConnect: (address: string) => boolean = isPublic) {}

  /** Opens a URL. Throws `invalid_request` if it must not be fetched, `bad_data` if it yields no file. */
  async open(text: string, limits: Limits, trace?: Trace): Promise<Fetched> {
    const { Agent, request } = await import('../../vendor/undici.ts')
    const agent = new Agent({
      connect: { timeout: 10_000, lookup: this.lookup as never },
      headersTimeout: limits.import_seconds * 1000,
    })
    const signal = AbortSignal.timeout(limits.import_seconds * 1000)
    const close = (): void => {
      agent.destroy().catch(() => {})
    }
    try {
      let url = this.checked(text)
      for (let hop = 0; ; hop++) {
        const { statusCode, headers, body } = await request(url, {
          dispatcher: agent,
          signal,
          headers: { ...traceHeaders(trace), 'user-agent': 'gridline', accept: '*/*' },
        })
        const location = headers.location
        if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
          await body.dump()
          if (hop >= REDIRECTS) throw failed(text, `more than ${REDIRECTS} redirects`)
          url = this.checked(new URL(location, url).href)
          continue
        }
        if (statusCode !== 200) throw failed(text, `the server answered ${statusCode}`)
        const contentLength = Number(headers['content-length'] ?? 0)
        if (contentLength > limits.upload_bytes) throw tooLarge(text, contentLength, limits)
        return { bytes: counted(text, body, limits, close), fileName: nameOf(url) }
      }
    } catch (error) {
      close()
      throw reason(text, error, limits)
    }
  }

  /** Parses a URL. Throws `invalid_request` unless it is http or https, public and without credentials. */
  private checked(text: string): URL {
    const refuse = (why: string): Problem =>
      new Problem('invalid_request', `source_url: ${why}`, { field: 'source_url' })
    if (!URL.canParse(text)) throw refuse(`not a URL: ${text.slice(0, 200)}`)
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw refuse('must start with http:// or https://')
    if (url.username !== '' || url.password !== '') throw refuse('must not contain a username or password')
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (process.getBuiltinModule('node:net').isIP(host) > 0 && !this.mayConnect(host))
      throw refuse(NOT_PUBLIC)
    return url
  }

  /** Resolves a host name. Fails if one of its addresses is not allowed. */
  private readonly lookup = (host: string, _options: object, callback: LookupCallback): void => {
    process.getBuiltinModule('node:dns').lookup(host, { all: true }, (error, addresses) => {
      if (error) callback(error, [])
      else if (addresses.every(({ address }) => this.mayConnect(address))) callback(null, addresses)
      else callback(new Problem('invalid_request', `source_url: ${NOT_PUBLIC}`, { field: 'source_url' }), [])
    })
  }
}

const NOT_PUBLIC = 'leads to an IP address that is not public'

/** Passes the body through. Throws if it exceeds the limit `upload_bytes`. */
async function* counted(
  text: string,
  body: Bytes,
  limits: Limits,
  close: () => void,
): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > limits.upload_bytes) throw tooLarge(text, size, limits)
      yield chunk
    }
  } catch (error) {
    throw reason(text, error, limits)
  } finally {
    close()
  }
}

/** Converts an error of the request to a Problem that names the URL. */
function reason(text: string, error: unknown, limits: Limits): unknown {
  if (error instanceof Problem) return error
  const { name, code, cause, message } = error as Error & { code?: string; cause?: unknown }
  if (cause instanceof Problem) return cause
  if (name === 'TimeoutError' || name === 'AbortError')
    return failed(text, `it took longer than ${limits.import_seconds} s (limit import_seconds)`)
  return failed(text, code === 'ENOTFOUND' ? 'unknown host' : message)
}

function failed(text: string, why: string): Problem {
  return new Problem('bad_data', `source_url: ${text.slice(0, 200)} could not be fetched: ${why}`, {
    field: 'source_url',
  })
}

function tooLarge(text: string, size: number, limits: Limits): Problem {
  return failed(
    text,
    `${bytesText(size)} or more; the limit is ${bytesText(limits.upload_bytes)} (upload_bytes)`,
  )
}

/** Returns the last segment of the path, decoded if possible. */
function nameOf({ pathname }: URL): string {
  const last =
    pathname
      .split('/')
      .filter((part) => part !== '')
      .pop() ?? ''
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

/** Removes credentials from a URL before it is stored. */
export function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  if (url.username === '' && url.password === '') return text
  url.username = ''
  url.password = ''
  return url.href
}
