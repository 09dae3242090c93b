/** Adapts responses to old clients. */
import type { ErrorCode } from '../../contract/errors.ts'

/** Differences between the standard response and the one for a client. See docs/api.md#legacy-clients. */
interface Quirk {
  client: string
  /** Matches the client's `Plotly-Client-Platform` or `User-Agent` header. */
  pattern: RegExp
  why: string
  status?: Partial<Record<ErrorCode, number>>
  /** Fields that this client receives as objects. Other clients receive JSON text. */
  objects?: readonly string[]
}

const QUIRKS: readonly Quirk[] = [
  {
    client: 'R',
    pattern: /^R\b/,
    why: 'retries a 409 five times with growing delays, but not a 400; shows the preview as a table',
    status: { already_exists: 400, conflict: 400 },
    objects: ['preview'],
  },
]

type Headers = { get(name: string): string | null }

function findQuirk(headers: Headers): Quirk | undefined {
  const platform = headers.get('plotly-client-platform') ?? headers.get('user-agent') ?? ''
  return QUIRKS.find(({ pattern }) => pattern.test(platform))
}

/** Returns the status that this client gets for an error code; undefined for the standard one. */
export function findQuirkStatus(headers: Headers, code: ErrorCode): number | undefined {
  return findQuirk(headers)?.status?.[code]
}

/** Converts a response body to the form this client expects. */
export function adaptBody<T>(headers: Headers, body: T): T {
  const objects = findQuirk(headers)?.objects
  if (!objects || typeof body !== 'object' || body === null) return body
  const adapted = { ...body } as Record<string, unknown>
  for (const field of objects) {
    const text = adapted[field]
    if (typeof text === 'string' && text.startsWith('{')) adapted[field] = JSON.parse(text)
  }
  return adapted as T
}
