import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import { Problem } from '../../contract/errors.ts'
import { bytesText, type Limits } from '../../contract/limits.ts'
import type { Bytes } from '../../json/index.ts'
import { isPublic } from './addresses.ts'

const REDIRECTS = 5

type LookupCallback = (error: Error | null, addresses: { address: string; family: number }[]) => void

/** A file at an address. */
export interface Fetched {
  bytes: Bytes
  /** The last part of its path; what a grid of it is called. */
  fileName: string
}

/**
 * Fetches files for URL imports: http and https only, and nothing but public addresses, looked at after
 * the name is resolved and for every redirect, at the very connection that is made.
 */
export class UrlImport {
  constructor(private readonly mayConnect: (address: string) => boolean = isPublic) {}

  /** Problem `invalid_request` for an address that is not to be fetched, `bad_data` where there is no file. */
  async open(text: string, limits: Limits): Promise<Fetched> {
    const { Agent, request } = await import('./undici.ts')
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
          headers: { 'user-agent': 'gridline', accept: '*/*' },
        })
        const location = headers.location
        if (statusCode >= 300 && statusCode < 400 && typeof location === 'string') {
          await body.dump()
          if (hop >= REDIRECTS) throw failed(text, `more than ${REDIRECTS} redirects`)
          url = this.checked(new URL(location, url).href)
          continue
        }
        if (statusCode !== 200) throw failed(text, `its server answered ${statusCode}`)
        const announced = Number(headers['content-length'] ?? 0)
        if (announced > limits.upload_bytes) throw tooLarge(text, announced, limits)
        return { bytes: counted(text, body, limits, close), fileName: nameOf(url) }
      }
    } catch (error) {
      close()
      throw reason(text, error, limits)
    }
  }

  private checked(text: string): URL {
    const refuse = (why: string): Problem =>
      new Problem('invalid_request', `source_url: ${why}`, { field: 'source_url' })
    if (!URL.canParse(text)) throw refuse(`not an address: ${text.slice(0, 200)}`)
    const url = new URL(text)
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw refuse('must begin with http:// or https://')
    if (url.username !== '' || url.password !== '') throw refuse('must not hold a password')
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) > 0 && !this.mayConnect(host)) throw refuse(NOT_PUBLIC)
    return url
  }

  /** Resolves a name for a connection, and lets it only lead where it may. */
  private readonly lookup = (host: string, _options: object, callback: LookupCallback): void => {
    lookup(host, { all: true }, (error, addresses) => {
      if (error) callback(error, [])
      else if (addresses.every(({ address }) => this.mayConnect(address))) callback(null, addresses)
      else callback(new Problem('invalid_request', `source_url: ${NOT_PUBLIC}`, { field: 'source_url' }), [])
    })
  }
}

const NOT_PUBLIC = 'leads to an address that is not public'

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

function reason(text: string, error: unknown, limits: Limits): unknown {
  if (error instanceof Problem) return error
  const { name, code, cause, message } = error as Error & { code?: string; cause?: unknown }
  if (cause instanceof Problem) return cause
  if (name === 'TimeoutError' || name === 'AbortError')
    return failed(text, `it took longer than ${limits.import_seconds} s (limit import_seconds)`)
  return failed(text, code === 'ENOTFOUND' ? 'the name of its host is not known' : message)
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

/** An address as it may be kept: without a password in it. */
export function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  if (url.username === '' && url.password === '') return text
  url.username = ''
  url.password = ''
  return url.href
}
