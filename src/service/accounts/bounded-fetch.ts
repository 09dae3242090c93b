// `fetch` with a size limit, for responses of identity providers.
import { errorMessageOf } from '../../contract/errors.ts'
import { traceHeaders } from '../tracing/tracing.ts'

/** Maximum size of a response of an identity provider, in bytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024

/** A response of an identity provider that did not arrive, or not whole. */
class FetchError extends Error {}

/** Returns whether an error, or one of its causes, is a response that did not arrive. */
export function isFetchError(error: unknown): boolean {
  return error instanceof FetchError || (error instanceof Error && isFetchError(error.cause))
}

/** Fetches and reads a whole response. Throws if it does not arrive, or is larger than 1 MiB. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const init = options as RequestInit
  try {
    const { status, headers, body } = await fetch(url, {
      ...init,
      headers: { ...traceHeaders(), ...(init.headers as Record<string, string>) },
    })
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of body ?? []) {
      size += part.length
      if (size > MAX_RESPONSE_BYTES) throw new Error('the response is too large')
      parts.push(part)
    }
    return new Response(parts.length === 0 ? null : Buffer.concat(parts), { status, headers: [...headers] })
  } catch (error) {
    throw new FetchError(errorMessageOf(error), { cause: error })
  }
}
