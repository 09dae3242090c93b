import type { ErrorCode } from './errors.ts'

/** What a client does that calls for another answer than everybody else gets. */
interface Quirk {
  client: string
  /** By what the client says of itself in `Plotly-Client-Platform` or `User-Agent`. */
  says: RegExp
  why: string
  status: Partial<Record<ErrorCode, number>>
}

export const quirks: readonly Quirk[] = [
  {
    client: 'R',
    says: /^R\b/,
    why: 'retries a 409 five times with growing waits; 400 is final to it',
    status: { already_exists: 400, conflict: 400 },
  },
]

/** The status this client is to see for an error, if not the usual one. */
export function quirkStatus(
  headers: { get(name: string): string | null },
  code: ErrorCode,
): number | undefined {
  const platform = headers.get('plotly-client-platform') ?? headers.get('user-agent') ?? ''
  return quirks.find(({ says }) => says.test(platform))?.status[code]
}
