// Traces requests, for --verbose.
import type { Fetch } from '../../client/index.ts'

/** Headers with secret values. */
const SECRET = /^(authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/i
/** Query parameters with secret values. */
const SECRET_QUERY = /([?&](?:share_key|code|token|api_key)=)[^&]*/gi

/** Wraps a fetch: prints each request and response with headers, without secrets. */
export function traced(fetch: Fetch, line: (text: string) => void): Fetch {
  return async (request) => {
    const started = performance.now()
    line(`> ${request.method} ${withoutSecrets(request.url)}`)
    for (const [name, value] of Object.entries(request.headers.entries()))
      line(`> ${name}: ${shown(name, value)}`)
    try {
      const response = await fetch(request)
      line(`< ${response.status} in ${Math.round(performance.now() - started)} ms`)
      for (const [name, value] of Object.entries(response.headers)) line(`< ${name}: ${shown(name, value)}`)
      return response
    } catch (error) {
      line(`< ${(error as Error).message}, after ${Math.round(performance.now() - started)} ms`)
      throw error
    }
  }
}

/** Masks secrets in a header value. */
function shown(name: string, value: string): string {
  // Keep the scheme: Basic or Bearer.
  if (/authorization$/i.test(name)) return `${/^(Basic|Bearer) /.exec(value)?.[0] ?? ''}…`
  if (SECRET.test(name)) return '…'
  return /^location$/i.test(name) ? value.replace(/\?.*/s, '?…') : withoutSecrets(value)
}

/** Masks secrets in a URL. */
function withoutSecrets(text: string): string {
  return text.replace(SECRET_QUERY, '$1…').replace(/\/\/[^/@\s]*@/g, '//…@')
}
