import { type Fid, formatFid } from '../../../contract/fid.ts'
import type { Caller, Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { LiveService } from '../../plots/live.ts'
import type { Ranges } from '../../plots/points/axes.ts'
import type { Answer } from '../answer.ts'
import { reading } from './downloads.ts'

/** How long an embedded chart follows its data before it has to be loaded again, in ms. */
const LIFETIME = 24 * 3600 * 1000

/** What a token says: who may read which plot, and until when. */
interface Watching {
  fid: string
  user?: string
  /** As `Caller.credential`: the token ends with this session or key. */
  credential?: string
  key?: string
  version?: string
  until: number
}

/**
 * A token with which an embedded chart asks for its data. Its page has an opaque origin, so it has no cookies; and
 * without the token no page of another site can read the responses.
 */
export function chartToken(
  { cursors }: Service,
  { caller, shareKey, version }: Principal,
  fid: Fid,
): Promise<string> {
  const watching: Watching = {
    fid: formatFid(fid),
    user: caller?.username,
    credential: caller?.credential,
    key: shareKey,
    version,
    until: Date.now() + LIFETIME,
  }
  return cursors.sign(watching, 'watch')
}

/** The reader that a token names; undefined for a token of another plot, or one that has expired. */
export async function readerOf(
  { cursors }: Service,
  token: string,
  fid: Fid,
): Promise<Principal | undefined> {
  const watching = await cursors.verify<Watching>(token, 'watch').catch(() => undefined)
  if (!watching || watching.fid !== formatFid(fid) || watching.until < Date.now()) return undefined
  const caller: Caller | undefined =
    watching.user === undefined
      ? undefined
      : {
          username: watching.user,
          credential: watching.credential,
          scopes: new Set(['read']),
          isAdmin: false,
          expiresAt: null,
        }
  return { caller, shareKey: watching.key, version: watching.version }
}

/** Headers of a response. The page that has a token may read it in any origin; no other page of another site may. */
const headersFor = (hasToken: boolean): Record<string, string> => ({
  'cache-control': 'no-store',
  ...(hasToken && { 'access-control-allow-origin': '*' }),
})

/** `.events`: a stream of the states of a plot, or the state alone. `.live`: the figure with its data. */
export async function watched(
  service: LiveService,
  principal: Principal,
  fid: Fid,
  what: 'events' | 'state' | 'live',
  hasToken: boolean,
  who: string,
  query: URLSearchParams,
): Promise<Answer> {
  const headers = headersFor(hasToken)
  const asked = { ...reading(principal, fid), filetype: 'plot' as const }
  const { live } = service
  switch (what) {
    case 'events':
      return {
        body: await live.events(service, asked, who),
        type: 'text/event-stream',
        headers: { ...headers, 'x-accel-buffering': 'no' },
      }
    case 'state':
      return {
        body: JSON.stringify({ state: await live.state(service, asked) }),
        type: 'application/json',
        headers,
      }
    case 'live':
      return {
        body: await live.inlined(service, asked, 'drawn', rangesOf(query)),
        type: 'application/json',
        headers,
      }
  }
}

/** Axes whose shown part is read: more are no chart. */
const MAX_AXES = 50

/** The parts of axes that an open chart shows: `range=xaxis2,FROM,TO`. */
function rangesOf(query: URLSearchParams): Ranges {
  const ranges = query
    .getAll('range')
    .slice(0, MAX_AXES)
    .flatMap((text): [string, readonly [string, string]][] => {
      const [axis, from, to] = text.split(',')
      return /^xaxis\d*$/.test(axis) && from && to ? [[axis, [from, to]]] : []
    })
  return new Map(ranges)
}
