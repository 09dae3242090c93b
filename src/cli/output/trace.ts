import type { Fetch } from '../../client/index.ts'

/** Headers whose values are never printed. */
const SECRET = /^(authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/i
const SECRET_QUERY = /([?&](?:share_key|code|token|api_key)=)[^&]*/gi

/** A fetch that prints each request and its answer, one line each with headers below, without secrets. */
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

function shown(name: string, value: string): string {
  // The scheme is no secret: Basic or Bearer.
  if (/authorization$/i.test(name)) return `${/^(Basic|Bearer) /.exec(value)?.[0] ?? ''}…`
  if (SECRET.test(name)) return '…'
  return /^location$/i.test(name) ? value.replace(/\?.*/s, '?…') : withoutSecrets(value)
}

function withoutSecrets(text: string): string {
  return text.replace(SECRET_QUERY, '$1…').replace(/\/\/[^/@\s]*@/g, '//…@')
}
