// Fetches files for URL imports, only from public addresses.
import { errorCodeOf, Problem } from '../../contract/errors.ts'
import { formatBytes, type Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'
import { type Trace, traceHeaders } from '../tracing/tracing.ts'
import { PublicHosts } from './public-hosts.ts'

const MAX_REDIRECTS = 5
/** Maximum length of a validator. */
const MAX_VALIDATOR_CHARACTERS = 1000

/** Validators of a response, for the next request. */
export interface Validators {
  etag: string | null
  last_modified: string | null
}

/** File that is fetched from a URL. */
export interface FetchedFile extends Validators {
  bytes: Bytes
  /** Last segment of the URL path. The grid is named after it. */
  fileName: string
}

/**
 * Fetches files for URL imports. Allows only http and https, and only public IP addresses. The address of
 * each actual connection is checked after name resolution, also after every redirect.
 */
export class UrlImport {
  private readonly hosts: PublicHosts

  constructor(canConnect?: (address: string) => boolean) {
    this.hosts = new PublicHosts('source_url', canConnect)
  }

  /** Opens a URL. Throws `invalid_request` if it must not be fetched, `bad_data` if it yields no file. */
  async open(text: string, limits: Limits, trace?: Trace): Promise<FetchedFile> {
    return (await this.openIfChanged(text, limits, { etag: null, last_modified: null }, trace))!
  }

  /** Opens a URL as `open`; returns undefined if the file has not changed since a response with these validators. */
  async openIfChanged(
    text: string,
    limits: Limits,
    { etag, last_modified }: Validators,
    trace?: Trace,
  ): Promise<FetchedFile | undefined> {
    const { Agent, request } = await import('../../vendor/undici.ts')
    const agent = new Agent({
      connect: { timeout: 10_000, lookup: this.hosts.lookup as never },
      headersTimeout: limits.import_seconds * 1000,
    })
    const signal = AbortSignal.timeout(limits.import_seconds * 1000)
    const close = (): void => {
      agent.destroy().catch(() => {})
    }
    try {
      let url = this.hosts.parseUrl(text)
      for (let hop = 0; ; hop++) {
        const { statusCode, headers, body } = await request(url, {
          dispatcher: agent,
          signal,
          headers: {
            ...traceHeaders(trace),
            ...{ 'user-agent': 'gridline', accept: '*/*' },
            ...(etag !== null && { 'if-none-match': etag }),
            ...(last_modified !== null && { 'if-modified-since': last_modified }),
          },
        })
        const location = headers.location
        if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
          await body.dump()
          if (hop >= MAX_REDIRECTS) throw fetchFailed(text, `more than ${MAX_REDIRECTS} redirects`)
          url = this.hosts.parseUrl(new URL(location, url).href)
          continue
        }
        if (statusCode === 304 && (etag ?? last_modified) !== null) {
          await body.dump()
          close()
          return undefined
        }
        if (statusCode !== 200) throw fetchFailed(text, `the server answered ${statusCode}`)
        const contentLength = Number(headers['content-length'] ?? 0)
        if (contentLength > limits.upload_bytes) throw tooLarge(text, contentLength, limits)
        return {
          bytes: limitSize(text, body, limits, close),
          fileName: fileNameOf(url),
          etag: validatorOf(headers.etag),
          last_modified: validatorOf(headers['last-modified']),
        }
      }
    } catch (error) {
      close()
      throw toProblem(text, error, limits)
    }
  }
}

/** Passes the body through. Throws if it exceeds the limit `upload_bytes`. */
async function* limitSize(
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
    throw toProblem(text, error, limits)
  } finally {
    close()
  }
}

/** Converts an error of the request to a Problem that names the URL. */
function toProblem(text: string, error: unknown, limits: Limits): unknown {
  if (error instanceof Problem) return error
  if (!(error instanceof Error)) return error
  const { name, cause, message } = error
  if (cause instanceof Problem) return cause
  if (name === 'TimeoutError' || name === 'AbortError')
    return fetchFailed(text, `it took longer than ${limits.import_seconds} s (limit import_seconds)`)
  return fetchFailed(text, errorCodeOf(error) === 'ENOTFOUND' ? 'unknown host' : message)
}

/** Returns a header that can be sent back; null without one, or if it is too long. */
function validatorOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header.length <= MAX_VALIDATOR_CHARACTERS ? header : null
}

function fetchFailed(text: string, why: string): Problem {
  return new Problem('bad_data', `${text.slice(0, 200)} could not be fetched: ${why}`, {
    field: 'source_url',
  })
}

function tooLarge(text: string, size: number, limits: Limits): Problem {
  return fetchFailed(
    text,
    `${formatBytes(size)} or more; the limit is ${formatBytes(limits.upload_bytes)} (upload_bytes)`,
  )
}

/** Returns the last segment of the path, decoded if possible. */
function fileNameOf({ pathname }: URL): string {
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

/**
 * Removes user name and password from a URL before it is stored. Its query, and text that is not a URL, stay
 * unchanged.
 */
export function removeCredentials(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  if (url.username === '' && url.password === '') return text
  url.username = ''
  url.password = ''
  return url.href
}
