import type { ErrorCode } from '../../contract/errors.ts'

/** A client that needs a different response from the standard one. See docs/api.md#legacy-clients. */
interface Quirk {
  client: string
  /** Matches the client's `Plotly-Client-Platform` or `User-Agent` header. */
  says: RegExp
  why: string
  status?: Partial<Record<ErrorCode, number>>
  /** Fields that this client receives as objects; others receive JSON text. */
  objects?: readonly string[]
}

const quirks: readonly Quirk[] = [
  {
    client: 'R',
    says: /^R\b/,
    why: 'retries a 409 five times with growing waits, 400 is final to it; makes a table of the preview',
    status: { already_exists: 400, conflict: 400 },
    objects: ['preview'],
  },
]

type Headers = { get(name: string): string | null }

function quirkOf(headers: Headers): Quirk | undefined {
  const platform = headers.get('plotly-client-platform') ?? headers.get('user-agent') ?? ''
  return quirks.find(({ says }) => says.test(platform))
}

/** The status to send to this client for an error code; undefined for the standard one. */
export function quirkStatus(headers: Headers, code: ErrorCode): number | undefined {
  return quirkOf(headers)?.status?.[code]
}

/** Converts a response body to the form this client expects. */
export function quirkBody<T>(headers: Headers, body: T): T {
  const objects = quirkOf(headers)?.objects
  if (!objects || typeof body !== 'object' || body === null) return body
  const changed = { ...body } as Record<string, unknown>
  for (const field of objects) {
    const text = changed[field]
    if (typeof text === 'string' && text.startsWith('{')) changed[field] = JSON.parse(text)
  }
  return changed as T
}
