import type { ErrorCode } from '../../contract/errors.ts'

/** What a client does that calls for another answer than everybody else gets. */
interface Quirk {
  client: string
  /** By what the client says of itself in `Plotly-Client-Platform` or `User-Agent`. */
  says: RegExp
  why: string
  status?: Partial<Record<ErrorCode, number>>
  /** Fields it takes as objects where others get JSON text. */
  objects?: readonly string[]
}

export const quirks: readonly Quirk[] = [
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

/** The status this client is to see for an error, if not the usual one. */
export function quirkStatus(headers: Headers, code: ErrorCode): number | undefined {
  return quirkOf(headers)?.status?.[code]
}

/** An answer as this client takes it. */
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
