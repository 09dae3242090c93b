/** Updates of open charts: events, fingerprints and data. */
import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatFid } from '../../../contract/fid.ts'
import { authorizeCall, type Caller, type FileRequest, type Principal } from '../../access/access.ts'
import { resolveFrame } from '../../boards/frames.ts'
import type { Service } from '../../core/context.ts'
import type { VisibleRanges } from '../../plots/downsampling/axes.ts'
import type { FindFingerprint, LiveService } from '../../plots/live-plots.ts'
import type { PageAnswer, PageRequest } from '../answer.ts'
import { createReadRequest } from './downloads.ts'

/** Lifetime of a token, in ms. After it, the page of the chart must be reloaded. */
const TOKEN_LIFETIME_MS = 24 * 3600 * 1000

/** Content of a token: who may read which plot, and until when. */
interface TokenContent {
  fid: string
  user?: string
  /** As in `Caller`: the token ends with this session or key. */
  credential?: string
  key?: string
  version?: string
  /** Signed frame of a board. */
  rows?: string
  until: number
}

/**
 * Creates the token with which an embedded chart loads its data: its opaque origin has no cookies. Pages of
 * other sites cannot read the responses without it.
 */
export function createChartToken(
  { cursors }: Service,
  { caller, shareKey, version }: Principal,
  fid: Fid,
  frame?: string | null,
): Promise<string> {
  const content: TokenContent = {
    fid: formatFid(fid),
    user: caller?.username,
    credential: caller?.credential,
    key: shareKey,
    version,
    ...(frame && { rows: frame }),
    until: Date.now() + TOKEN_LIFETIME_MS,
  }
  return cursors.sign(content, 'watch')
}

/** Requests of an open chart. */
type LiveKind = 'events' | 'state' | 'live'

/** Verifies a token and returns its reader; undefined if it is invalid, expired, or of another plot. */
async function resolveLiveToken(
  service: Service,
  token: string,
  fid: Fid,
  kind: LiveKind,
): Promise<Principal | undefined> {
  const content = await service.cursors.verify<TokenContent>(token, 'watch').catch(() => undefined)
  if (!content || content.fid !== formatFid(fid) || content.until < Date.now()) return undefined
  const caller: Caller | undefined =
    content.user === undefined
      ? undefined
      : {
          username: content.user,
          credential: content.credential,
          scopes: new Set(['read']),
          isAdmin: false,
          expiresAt: null,
        }
  const { key: shareKey, version, rows = null } = content
  const principal = { caller, shareKey, version }
  const { reader, isOfBoard } = await resolveFrame(service, rows, fid, principal)
  // A stream would outlast the access to the board.
  return isOfBoard && kind === 'events' ? undefined : reader
}

/** Serves `.events` (stream of fingerprints), `.state` (one fingerprint) and `.live` (figure with data). */
export async function serveLiveChart(
  service: LiveService,
  kind: LiveKind,
  { principal, fid, user, query }: PageRequest,
): Promise<PageAnswer> {
  const token = query.get('watch')
  const reader = token === null ? principal : await resolveLiveToken(service, token, fid, kind)
  if (!reader) throw new Problem('not_found', 'this page has expired; load it again')
  // With a token, pages of any origin may read the response.
  const headers = {
    'cache-control': 'no-store',
    ...(token !== null && { 'access-control-allow-origin': '*' }),
  }
  const read = createReadRequest(reader, fid)
  // Charts follow with a token.
  const find = token === null && kind !== 'live' ? await findBoardState(service, read) : undefined
  const request = find ? read : { ...read, filetype: 'plot' as const }
  const live = await service.live.get()
  switch (kind) {
    case 'events':
      return {
        body: await live.streamEvents(service, request, user, find),
        type: 'text/event-stream',
        headers: { ...headers, 'x-accel-buffering': 'no' },
      }
    case 'state':
      return {
        body: JSON.stringify({ state: await live.loadFingerprint(service, request, find) }),
        type: 'application/json',
        headers,
      }
    case 'live':
      return {
        body: await live.loadFigure(service, request, 'drawn', parseRanges(query)),
        type: 'application/json',
        headers,
      }
  }
}

/** Returns a function that finds the state of a board; undefined for other files. Throws `not_found`. */
async function findBoardState(service: Service, request: FileRequest): Promise<FindFingerprint | undefined> {
  const { file } = await service.store.read((readers) => authorizeCall(readers, request))
  if (file.filetype !== 'dashboard') return undefined
  const { createFindBoardState } = await import('./board-state.ts')
  return createFindBoardState(service, request)
}

/** Maximum number of axes in the query. */
const MAX_AXES = 50

/** Parses the visible ranges of axes: `range=xaxis2,FROM,TO`. Ignores invalid ones. */
function parseRanges(query: URLSearchParams): VisibleRanges {
  const ranges = query
    .getAll('range')
    .slice(0, MAX_AXES)
    .flatMap((text): [string, readonly [string, string]][] => {
      const [axis, from, to] = text.split(',')
      return /^xaxis\d*$/.test(axis) && from && to ? [[axis, [from, to]]] : []
    })
  return new Map(ranges)
}
