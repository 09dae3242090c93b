// Traces requests, for --verbose.
import type { Fetch } from '../../client/index.ts'
import { errorMessageOf } from '../../contract/errors.ts'

/** Headers with secret values. */
const SECRET_HEADERS = /^(authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/i
/** Query parameters with secret values. */
const SECRET_QUERY = /([?&](?:share_key|code|token|api_key)=)[^&]*/gi

/** Wraps a fetch: prints each request and response with headers, without secrets. */
export function traceFetch(fetch: Fetch, line: (text: string) => void): Fetch {
  return async (request) => {
    const started = performance.now()
    line(`> ${request.method} ${maskUrl(request.url)}`)
    for (const [name, value] of Object.entries(request.headers.entries()))
      line(`> ${name}: ${maskHeader(name, value)}`)
    try {
      const response = await fetch(request)
      line(`< ${response.status} in ${Math.round(performance.now() - started)} ms`)
      for (const [name, value] of Object.entries(response.headers))
        line(`< ${name}: ${maskHeader(name, value)}`)
      return response
    } catch (error) {
      line(`< ${errorMessageOf(error)}, after ${Math.round(performance.now() - started)} ms`)
      throw error
    }
  }
}

/** Masks secrets in a header value. */
function maskHeader(name: string, value: string): string {
  // Keep the scheme: Basic or Bearer.
  if (/authorization$/i.test(name)) return `${/^(Basic|Bearer) /.exec(value)?.[0] ?? ''}…`
  if (SECRET_HEADERS.test(name)) return '…'
  return /^location$/i.test(name) ? value.replace(/\?.*/s, '?…') : maskUrl(value)
}

/** Masks secrets in a URL. */
function maskUrl(text: string): string {
  return text.replace(SECRET_QUERY, '$1…').replace(/\/\/[^/@\s]*@/g, '//…@')
}
