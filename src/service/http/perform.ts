/** Performs operations: parses the request, waits in the queue, calls the handler and redacts the result. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, parseFid } from '../../contract/fid.ts'
import {
  DRY_RUN_HEADER,
  FILE_NAME_HEADER,
  getPrefixedHeader,
  IDEMPOTENCY_HEADER,
  MAX_MESSAGE_CHARACTERS,
  MESSAGE_HEADER,
} from '../../contract/headers.ts'
import { type HttpRequest, HttpResponse } from '../../contract/http.ts'
import type { Operation, OperationName } from '../../contract/operations/index.ts'
import { readOnlyFields } from '../../contract/resources/index.ts'
import { authorizeCall, type Caller, checkReplay, checkScope, hasScope, notFound } from '../access/access.ts'
import { ChecksummedBytes, hasContentHash } from '../core/body-checksum.ts'
import type { OperationCall, OperationResult } from '../core/call.ts'
import type { OperationService as Service } from '../operations/handler.ts'
import { findHandler } from '../operations/handlers.ts'
import { withoutCommit } from '../store/dry-store.ts'
import { parseTrace } from '../tracing/tracing.ts'
import { createOperationResponse } from './answer.ts'
import { checkOperator } from './auth.ts'
import {
  type BodyLimits,
  contentTypeOf,
  isSmallBody,
  isStreamed,
  type ReceivedBody,
  receiveBody,
} from './body.ts'
import { checkAtEnd, createCallerCheck } from './caller-check.ts'
import { fingerprintRequest } from './fingerprint.ts'
import {
  clientKeyOf,
  completeOutcome,
  createWork,
  type HttpContext,
  isNotModified,
  type Outcome,
  scopeService,
} from './http-context.ts'
import { PAGE_HEADERS } from './page-headers.ts'
import { decodeHeaderText, readHeaders, readQuery } from './parameters.ts'
import { adaptBody } from './quirks.ts'
import { redactBody, redactError } from './redact.ts'
import type { OperationRequest } from './route.ts'

/** A request whose path, query and headers are checked. */
interface CheckedRequest extends OperationRequest {
  /** Service whose store limits the database connections of this owner. */
  service: Service
  caller: Caller | undefined
  /** Username or address for limits. */
  user: string
  /** True if the request changes nothing. */
  isSafe: boolean
  /** Its changes are rolled back. */
  isDry: boolean
  fid: Fid
  shareKey: string | undefined
  version: string | undefined
  /** Path parameters other than the fid: a user, a team or a key. */
  pathValues: string[]
  search: URLSearchParams
  fields: { query: object; headers: object }
  /** Idempotency key; undefined without one. */
  idempotencyKey: string | undefined
  message: string | undefined
}

/** Performs an operation. */
export async function performOperation(
  context: HttpContext,
  caller: Caller | undefined,
  operationRequest: OperationRequest,
): Promise<HttpResponse> {
  const checked = parseRequest(context, caller, operationRequest)
  const respond = async (): Promise<HttpResponse> => completeOutcome(await admitRequest(context, checked))
  return context.responses ? context.responses.respond(checked, caller, respond) : respond()
}

/** Operations that change something and reveal content: they require the scope `read` too. */
const REVEALING: ReadonlySet<string> = new Set<OperationName>([
  'files.copy',
  'grids.derive',
  'refreshes.run',
  'alerts.create',
  'alerts.update',
  'alerts.test',
  'mailings.send',
  'mailings.create',
  'images.create',
  'collaborators.add',
  'members.add',
  'dashboards.create',
  'dashboards.update',
  'versions.revert',
  'versions.keep',
  'files.restore',
])

/** Parses path, query and headers, and checks them without reading the store or the body. */
function parseRequest(
  context: HttpContext,
  caller: Caller | undefined,
  operationRequest: OperationRequest,
): CheckedRequest {
  const { operation, name, filetype, parameters, request, query, path, rawUrl, requestId, isUnlimited } =
    operationRequest
  const isSafe = operation.method === 'GET' || operation.agentTool === 'reads'
  checkScope(caller, isSafe ? 'read' : 'write')
  if ((operation.access === 'caller' || operation.requiresAccount) && !caller)
    throw new Problem('unauthenticated', 'this requires an account')
  if (REVEALING.has(name)) checkScope(caller, 'read')
  if (operation.access === 'operator') checkOperator(caller)
  const { fid: fidText, ...rest } = parameters
  const fid = fidText === undefined ? NO_FILE : parseFid(fidText)
  if (!fid) throw notFound(filetype)
  const pathValues = Object.values(rest)
  if (pathValues.some((text) => text.includes('\0'))) throw notFound()
  const search = new URLSearchParams(query)
  const message = isSafe ? undefined : readMessage(request.headers)
  const isDry = !isSafe && isDryRun(request.headers, operation)
  return {
    name,
    operation,
    filetype,
    isUnlimited,
    parameters,
    request,
    path,
    query,
    rawUrl,
    requestId,
    service: scopeService(
      context.service,
      fidText === undefined ? (caller?.username ?? '') : fid.owner,
      isSafe
        ? undefined
        : {
            user: caller?.username ?? null,
            request_id: requestId,
            address: request.address,
            message,
          },
    ),
    caller,
    user: caller?.username ?? clientKeyOf(request),
    isSafe,
    isDry,
    fid,
    // A share key permits reading, and operations that require only read access, such as copying.
    shareKey: isSafe || operation.access === 'read' ? (search.get('share_key') ?? undefined) : undefined,
    version: readVersion(operation, search),
    pathValues,
    search,
    fields: {
      query: operation.query ? readQuery(operation.query, search) : {},
      headers: readHeaders(operation.headers, request.headers),
    },
    idempotencyKey:
      isSafe || isDry || operation.isIdempotent
        ? undefined
        : readIdempotencyKey(request.headers, context.service),
    message,
  }
}

/** Returns the requested version. Throws `invalid_request` if the operation works on the current one only. */
function readVersion(operation: Operation, search: URLSearchParams): string | undefined {
  const version = search.get('version') ?? undefined
  if (version === undefined || version === '' || operation.takesVersion) return version || undefined
  if (!operation.path.includes(':fid') || operation.query?.properties.version) return undefined
  throw new Problem('invalid_request', 'version: this operation requires the current version', {
    field: 'version',
  })
}

/** Waits in the queue and receives the body: small ones in their slot, large ones before it. */
async function admitRequest(context: HttpContext, checked: CheckedRequest): Promise<Outcome<HttpResponse>> {
  const { operation, caller, request, service, user } = checked
  const { requestQueue, uploadQueue, bodyBudget } = context
  const checkAgain = createCallerCheck(context, caller, request)
  const read = async (reading: Omit<BodyLimits, 'limits'>): Promise<ReceivedBody> => {
    const received = await receiveBody(request, operation.body, { limits: service.limits, ...reading })
    if (caller?.credential === undefined) return received
    if (isStreamed(operation.body, contentTypeOf(request)))
      return { ...received, bytes: checkAtEnd(received.bytes, checkAgain) }
    await checkAgain()
    return received
  }
  const handleBody = (received: ReceivedBody): Promise<Outcome<HttpResponse>> =>
    callHandler(checked, received)
  if (checked.isUnlimited)
    return handleBody(await receiveBody(request, { kind: 'none' }, uncountedLimits(service)))
  // A small body has already arrived: read it when the request runs.
  if (operation.body.kind === 'none' || isSmallBody(request))
    return bodyBudget.runCounted(user, async (take) =>
      completeOutcome(
        await requestQueue.run(user, async () => handleBody(await read({ take })), request.isAborted),
      ),
    )
  // Check that the file exists and that the caller may change it before reading the body.
  await requestQueue.run(user, () => checkAccess(checked), request.isAborted)
  if (isStreamed(operation.body, contentTypeOf(request))) {
    const hasWaiting = (): boolean => uploadQueue.load.waiting > 0
    return uploadQueue.run(
      user,
      async () => handleBody(await read({ take: () => {}, hasWaiting })),
      request.isAborted,
    )
  }
  return bodyBudget.runCounted(user, async (take) => {
    const received = await read({ take })
    return completeOutcome(await requestQueue.run(user, () => handleBody(received), request.isAborted))
  })
}

/** Returns options for reading a body without counting its bytes. */
function uncountedLimits({ limits }: Service): BodyLimits {
  return { limits, take: () => {} }
}

/**
 * Checks access before the body is read. A request with an idempotency key can be the retry of a change that
 * removed this access, so only read access is checked, and the operation decides.
 */
async function checkAccess({
  service,
  name,
  caller,
  fid,
  filetype,
  shareKey,
  idempotencyKey: key,
}: CheckedRequest): Promise<void> {
  if (fid === NO_FILE) return
  const fileRequest = { operation: name, caller, fid, filetype, shareKey }
  await service.store.read(async (readers) => {
    if (key === undefined) await authorizeCall(readers, fileRequest)
    else await checkReplay(readers, await readers.files.get(fid.owner, fid.idlocal), fid, fileRequest)
  })
}

/** Calls the handler of the operation. Removes content that the caller may not read, also from errors. */
async function callHandler(checked: CheckedRequest, received: ReceivedBody): Promise<Outcome<HttpResponse>> {
  const { operation, caller, request, user, isSafe, isDry } = checked
  // Writes with a long body take long enough for others to take numbers meanwhile.
  const dryStore = isDry ? withoutCommit(checked.service.store, received.json === undefined) : undefined
  const service = dryStore ? { ...checked.service, store: dryStore } : checked.service
  let result: OperationResult<unknown>
  try {
    const call = await createCall(checked, received)
    const handler = findHandler(checked.name)
    result = await (typeof handler === 'function' ? handler : await handler)(service, call)
  } catch (error) {
    throw isSafe || hasScope(caller, 'read') ? error : redactError(error)
  } finally {
    await dryStore?.giveUp()
  }
  if (!isSafe && !isDry)
    service.live.loaded?.notifyWrite(checked.fid === NO_FILE ? (caller?.username ?? '') : checked.fid.owner)
  const { createBody } = result
  if (createBody && !isNotModified(request, result.etag))
    return async () => {
      const completed = { ...result, ...(await createBody(user, createWork(service, caller, request))) }
      if (!isSafe && !hasScope(caller, 'read')) completed.body = redactBody(completed.body)
      return createOperationResponse(operation, completed, request)
    }
  if (!isSafe && !hasScope(caller, 'read')) {
    result.body = redactBody(result.body)
    result.etag = undefined
  }
  addWarnings(result.body, received.ignored)
  if (operation.result === 'stream') return createOperationResponse(operation, result, request)
  if (isSafe && checked.search.get('format') === 'api') {
    const { renderJsonPage } = await import('../pages/reference/json.ts')
    return new HttpResponse(
      operation.status,
      { ...PAGE_HEADERS },
      renderJsonPage(service.url, checked.path, result.body),
    )
  }
  result.body = adaptBody(request.headers, result.body)
  return createOperationResponse(operation, result, request)
}

/** Creates the call that the handler gets. */
async function createCall(
  checked: CheckedRequest,
  received: ReceivedBody,
): Promise<OperationCall<OperationName>> {
  const { name, caller, fields, idempotencyKey: key } = checked
  const { headers } = checked.request
  const requestHash =
    key === undefined
      ? ''
      : await fingerprintRequest(checked.rawUrl, fields.headers as never, headers, received.json)
  const summedBytes =
    key !== undefined && received.json === undefined && !hasContentHash(fields.headers as never)
      ? new ChecksummedBytes(received.bytes)
      : undefined
  const fileName = headers.get(FILE_NAME_HEADER)
  return {
    // No spread: it would slow down access to all later properties.
    operation: name,
    caller,
    fid: checked.fid,
    filetype: checked.filetype,
    shareKey: checked.shareKey,
    version: checked.version,
    name: checked.pathValues[0] ?? '',
    // Validated against the schemas of the operation, from which the types of the call derive.
    query: fields.query as never,
    headers: fields.headers as never,
    fields: received.fields as never,
    bytes: summedBytes?.bytes ?? received.bytes,
    contentType: received.contentType,
    fileName: fileName === null ? received.fileName : decodeHeaderText(fileName),
    ifMatch: headers.get('if-match') ?? undefined,
    trace: parseTrace(headers),
    isAborted: checked.request.isAborted,
    message: checked.message,
    writeKey: (owner) => ({
      owner,
      caller: caller?.username ?? '',
      key,
      operation: name,
      fingerprint: requestHash,
      bodySum: summedBytes?.checksum,
    }),
  }
}

/** Adds a warning for each ignored field: old clients send whole records back, with read-only fields. */
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
  const text = getPrefixedHeader(headers, DRY_RUN_HEADER)?.toLowerCase()
  if (text === undefined || text === 'false') return false
  const why =
    text === 'true' ? (lasts ? 'this operation cannot be tried' : undefined) : 'must be true or false'
  if (why) throw new Problem('invalid_request', `${DRY_RUN_HEADER}: ${why}`, { field: DRY_RUN_HEADER })
  return true
}

/** Reads the reason of a change from its header. Throws `invalid_request` if it is too long. */
function readMessage(headers: HttpRequest['headers']): string | undefined {
  const header = getPrefixedHeader(headers, MESSAGE_HEADER)
  if (header === undefined || header === '') return undefined
  let text: string
  try {
    text = decodeURIComponent(header)
  } catch {
    throw new Problem('invalid_request', 'Message: must be percent-encoded', { field: MESSAGE_HEADER })
  }
  if (text.length > MAX_MESSAGE_CHARACTERS || text.includes('\0'))
    throw new Problem(
      'invalid_request',
      `Message: must have at most ${MAX_MESSAGE_CHARACTERS} characters and no NUL; found ${text.length}`,
      { field: MESSAGE_HEADER },
    )
  return text
}

/** Reads the idempotency key; undefined without one. Throws `invalid_request` if it is too long. */
function readIdempotencyKey(headers: HttpRequest['headers'], { limits }: Service): string | undefined {
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
