import { Problem } from '../../contract/errors.ts'
import { type Fid, parseFid } from '../../contract/fid.ts'
import {
  DRY_RUN_HEADER,
  FILE_NAME_HEADER,
  IDEMPOTENCY_HEADER,
  MAX_MESSAGE,
  MESSAGE_HEADER,
  prefixed,
} from '../../contract/headers.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Operation, OperationName } from '../../contract/operations/index.ts'
import { readOnlyFields } from '../../contract/resources/index.ts'
import { authorizeCall, type Caller, checkReplay, notFound } from '../access/access.ts'
import { isTagged, SummedBytes } from '../core/body-sum.ts'
import type { OperationCall, OperationResult } from '../core/call.ts'
import type { OperationService as Service } from '../operations/handler.ts'
import { jsonPage } from '../pages/reference/json.ts'
import { withoutCommit } from '../store/store.ts'
import { traceOf } from '../tracing/tracing.ts'
import { respond } from './answer.ts'
import { checkOperator, checkScope } from './auth.ts'
import { contentTypeOf, isSmall, type Reading, type Received, receive, streams } from './body.ts'
import { addressOf, type Desk, finish, isUnchanged, type Outcome, serviceFor, workOf } from './desk.ts'
import { fingerprint } from './fingerprint.ts'
import { decodeHeaderText, readHeaders, readQuery } from './parameters.ts'
import { quirkBody } from './quirks.ts'
import { mayRead, withoutContent, withoutNames } from './redact.ts'
import type { OperationRequest } from './route.ts'
import { PAGE_HEADERS } from './web/pages.ts'

/** A request whose path, query and headers were checked: what all later stages work with. */
interface Asked extends OperationRequest {
  /** The service with the connections that requests on this owner's files may use. */
  service: Service
  caller: Caller | undefined
  /** The user or address that the request counts for. */
  user: string
  /** It only reads. */
  isSafe: boolean
  /** Its changes are rolled back. */
  isDry: boolean
  fid: Fid
  shareKey: string | undefined
  version: string | undefined
  /** The other path parameters: a user, a team or a key. */
  others: string[]
  search: URLSearchParams
  fields: { query: object; headers: object }
  /** The idempotency key. */
  key: string | undefined
  message: string | undefined
}

/** Performs an operation: parse → admit → handle → redact → respond. */
export async function perform(
  desk: Desk,
  caller: Caller | undefined,
  given: OperationRequest,
): Promise<HttpResponse> {
  const asked = parse(desk, caller, given)
  return finish(await admit(desk, asked))
}

/** Checks what can be checked without the store and the body. */
function parse(desk: Desk, caller: Caller | undefined, given: OperationRequest): Asked {
  const { operation, name, filetype, parameters, request, query } = given
  const isSafe = operation.method === 'GET' || operation.agents === 'reads'
  checkScope(caller, isSafe ? 'read' : 'write')
  if ((operation.access === 'caller' || operation.account) && !caller)
    throw new Problem('unauthenticated', 'this requires an account')
  // A copy reveals the content of the original: it requires the read scope too.
  if (name === 'files.copy') checkScope(caller, 'read')
  if (operation.access === 'operator') checkOperator(caller)
  const { fid: fidText, ...rest } = parameters
  const fid = fidText === undefined ? NO_FILE : parseFid(fidText)
  if (!fid) throw notFound(filetype)
  const others = Object.values(rest)
  if (others.some((text) => text.includes('\0'))) throw notFound()
  const search = new URLSearchParams(query)
  const message = isSafe ? undefined : messageIn(request.headers)
  const isDry = !isSafe && isDryRun(request.headers, operation)
  return {
    ...given,
    service: serviceFor(
      desk.service,
      fidText === undefined ? (caller?.username ?? '') : fid.owner,
      isSafe
        ? undefined
        : { user: caller?.username ?? null, request_id: given.requestId, address: request.address, message },
    ),
    caller,
    user: caller?.username ?? addressOf(request),
    isSafe,
    isDry,
    fid,
    // A share key permits reading, and changes that require only read access: copying.
    shareKey: isSafe || operation.access === 'read' ? (search.get('share_key') ?? undefined) : undefined,
    version: versionIn(operation, search),
    others,
    search,
    fields: {
      query: operation.query ? readQuery(operation.query, search) : {},
      headers: readHeaders(operation.headers, request.headers),
    },
    key: isSafe || isDry || operation.repeatable ? undefined : idempotencyKey(request.headers, desk.service),
    message,
  }
}

/** The version that is asked for. Throws where an operation is on the present one only. */
function versionIn(operation: Operation, search: URLSearchParams): string | undefined {
  const version = search.get('version') ?? undefined
  if (version === undefined || version === '' || operation.ofVersions) return version || undefined
  if (!operation.path.includes(':fid') || operation.query?.properties.version) return undefined
  throw new Problem('invalid_request', 'version: this is possible with the present version only', {
    field: 'version',
  })
}

/** Waits for a place among the running requests, and receives the body: small ones in turn, large ones before it. */
async function admit(desk: Desk, asked: Asked): Promise<Outcome<HttpResponse>> {
  const { operation, request, service, user } = asked
  const { requests, uploads, bodies } = desk
  const read = (reading: Omit<Reading, 'limits'>): Promise<Received> =>
    receive(request, operation.body, { limits: service.limits, ...reading })
  const work = (received: Received): Promise<Outcome<HttpResponse>> => handle(asked, received)
  if (asked.isUnlimited) return work(await receive(request, { kind: 'none' }, unread(service)))
  // A small body has already arrived: it is read when the request runs.
  if (operation.body.kind === 'none' || isSmall(request))
    return bodies.hold(user, async (take) =>
      finish(await requests.run(user, async () => work(await read({ take })), request.gone)),
    )
  // Check that the file exists and may be changed before reading the body.
  await requests.run(user, () => decide(asked), request.gone)
  if (streams(operation.body, contentTypeOf(request))) {
    const pressed = (): boolean => uploads.load.waiting > 0
    return uploads.run(user, async () => work(await read({ take: () => {}, pressed })), request.gone)
  }
  return bodies.hold(user, async (take) => {
    const received = await read({ take })
    return finish(await requests.run(user, () => work(received), request.gone))
  })
}

/** Options for reading a body that is not held in memory: its bytes are not counted. */
function unread({ limits }: Service): Reading {
  return { limits, take: () => {} }
}

/**
 * Checks access before the body is read. A request with an idempotency key may be a retry of a change that
 * removed this access: then only read access is checked here, and the operation decides.
 */
async function decide({ service, name, caller, fid, filetype, shareKey, key }: Asked): Promise<void> {
  if (fid === NO_FILE) return
  const asked = { operation: name, caller, fid, filetype, shareKey }
  await service.store.read(async (readers) => {
    if (key === undefined) await authorizeCall(readers, asked)
    else await checkReplay(readers, await readers.files.get(fid.owner, fid.idlocal), fid, asked)
  })
}

/** Calls the handler of the operation. Hides what the caller may not read, also in errors. */
async function handle(asked: Asked, received: Received): Promise<Outcome<HttpResponse>> {
  const { operation, caller, request, user, isSafe, isDry } = asked
  const dry = isDry ? withoutCommit(asked.service.store) : undefined
  const service = dry ? { ...asked.service, store: dry } : asked.service
  let answer: OperationResult<unknown>
  try {
    answer = (await asked.handler(service, await callOf(asked, received))) as OperationResult<unknown>
  } catch (error) {
    throw isSafe || mayRead(caller) ? error : withoutNames(error)
  } finally {
    await dry?.giveUp()
  }
  if (!isSafe && !isDry)
    service.live.written(asked.fid === NO_FILE ? (caller?.username ?? '') : asked.fid.owner)
  const { later } = answer
  if (later && !isUnchanged(request, answer.etag))
    return async () => {
      const done = { ...answer, ...(await later(user, workOf(service, caller, request))) }
      if (!isSafe && !mayRead(caller)) done.body = withoutContent(done.body)
      return respond(operation, done, request)
    }
  if (!isSafe && !mayRead(caller)) {
    answer.body = withoutContent(answer.body)
    answer.etag = undefined
  }
  addWarnings(answer.body, received.ignored)
  if (operation.result === 'stream') return respond(operation, answer, request)
  if (isSafe && asked.search.get('format') === 'api')
    return new HttpResponse(
      operation.status,
      { ...PAGE_HEADERS },
      jsonPage(service.url, asked.path, answer.body),
    )
  answer.body = quirkBody(request.headers, answer.body)
  return respond(operation, answer, request)
}

/** The call of the handler. */
async function callOf(asked: Asked, received: Received): Promise<OperationCall<OperationName>> {
  const { name, caller, fid, filetype, shareKey, version, others, fields, key, request, sent } = asked
  const { headers } = request
  const head =
    key === undefined ? '' : await fingerprint(sent, fields.headers as never, headers, received.json)
  const summed =
    key !== undefined && received.json === undefined && !isTagged(fields.headers as never)
      ? new SummedBytes(received.bytes)
      : undefined
  const fileName = headers.get(FILE_NAME_HEADER)
  return {
    // Listed one by one: a spread would slow down access to all later properties.
    operation: name,
    caller,
    fid,
    filetype,
    shareKey,
    version,
    name: others[0] ?? '',
    // Validated against the schemas of the operation, from which the types of the call derive.
    query: fields.query as never,
    headers: fields.headers as never,
    fields: received.fields as never,
    bytes: summed?.bytes ?? received.bytes,
    contentType: received.contentType,
    fileName: fileName === null ? received.fileName : decodeHeaderText(fileName),
    ifMatch: headers.get('if-match') ?? undefined,
    trace: traceOf(headers),
    gone: asked.request.gone,
    message: asked.message,
    writeKey: (owner) => ({
      owner,
      caller: caller?.username ?? '',
      key,
      operation: name,
      fingerprint: head,
      bodySum: summed?.sum,
    }),
  }
}

/** Adds a warning for each ignored field. Old clients send whole records back, with read-only fields. */
function addWarnings(body: unknown, ignored: readonly string[]): void {
  if (ignored.length === 0 || typeof body !== 'object' || body === null || Array.isArray(body)) return
  const object = body as { warnings?: string[] }
  object.warnings = [
    ...(object.warnings ?? []),
    ...ignored.map((name) =>
      readOnlyFields.has(name)
        ? `${name} cannot be changed here and was ignored`
        : `${name.slice(0, 100)} is not a known field here and was ignored`,
    ),
  ]
}

const NO_FILE: Fid = { owner: '', idlocal: 0 }

/** Returns whether a write is a dry run. Throws `invalid_request` for one that cannot be rolled back. */
function isDryRun(headers: HttpRequest['headers'], { lasts }: Operation): boolean {
  const text = prefixed(headers, DRY_RUN_HEADER)?.toLowerCase()
  if (text === undefined || text === 'false') return false
  const why =
    text === 'true' ? (lasts ? 'this operation cannot be tried' : undefined) : 'must be true or false'
  if (why) throw new Problem('invalid_request', `${DRY_RUN_HEADER}: ${why}`, { field: DRY_RUN_HEADER })
  return true
}

/** Why a change is made. Throws `invalid_request` if that is too long. */
function messageIn(headers: HttpRequest['headers']): string | undefined {
  const given = prefixed(headers, MESSAGE_HEADER)
  if (given === undefined || given === '') return undefined
  let text: string
  try {
    text = decodeURIComponent(given)
  } catch {
    throw new Problem('invalid_request', 'Message: not percent-encoded text', { field: MESSAGE_HEADER })
  }
  if (text.length > MAX_MESSAGE || text.includes('\0'))
    throw new Problem(
      'invalid_request',
      `Message: ${text.length} characters; up to ${MAX_MESSAGE} are possible, without NUL`,
      { field: MESSAGE_HEADER },
    )
  return text
}

function idempotencyKey(headers: HttpRequest['headers'], { limits }: Service): string | undefined {
  const key = headers.get(IDEMPOTENCY_HEADER)
  if (key === null || key === '') return undefined
  if (key.length > limits.idempotency_key_length) {
    throw new Problem(
      'invalid_request',
      `${IDEMPOTENCY_HEADER}: ${key.length} characters; the limit is ${limits.idempotency_key_length}`,
    )
  }
  return key
}
