// Checks the credentials of a request again when its body has arrived.
import { Problem } from '../../contract/errors.ts'
import type { HttpRequest } from '../../contract/http.ts'
import type { Bytes } from '../../json/index.ts'
import type { Caller } from '../access/access.ts'
import { CREDENTIAL_CACHE_MS } from './auth.ts'
import type { HttpContext } from './http-context.ts'

/**
 * Returns a function that checks the credentials of a request again, if they were checked long ago: a body can arrive for
 * hours, and the key can be revoked meanwhile. It throws `unauthenticated`.
 */
export function createCallerCheck(
  { authenticator }: HttpContext,
  caller: Caller | undefined,
  request: HttpRequest,
): () => Promise<void> {
  const since = performance.now()
  return async () => {
    if (performance.now() - since <= CREDENTIAL_CACHE_MS) return
    const current = await authenticator.authenticate(request.headers)
    if (current?.credential !== caller?.credential)
      throw new Problem('unauthenticated', 'you were signed out while the request arrived')
  }
}

/** Passes bytes on, and calls `check` before the end. */
export async function* checkAtEnd(bytes: Bytes, check: () => Promise<void>): Bytes {
  yield* bytes
  await check()
}
