/** Reads and checks request bodies: JSON, forms and uploads. */
import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import type { HttpRequest } from '../../contract/http.ts'
import { formatBytes, type LimitName, type Limits } from '../../contract/limits.ts'
import type { Body } from '../../contract/operations/index.ts'
import type { ObjectSchema, Schema } from '../../contract/schema.ts'
import { asBuffer, type Bytes, concatAsync, parseMembersAsync } from '../../json/index.ts'
import { decodeHeaderText, readForm } from './parameters.ts'
import {
  addSpeedCheck,
  createTooSlowError,
  MAX_SMALL_BODY_BYTES,
  readContentLength,
  removeSpeedCheck,
} from './receive-body.ts'

/** A request body, parsed by the schema of its operation. */
export interface ReceivedBody {
  fields: Record<string, unknown>
  bytes: Bytes
  contentType: string
  /** Filename of the uploaded part of a multipart body. */
  fileName?: string
  /** Names of fields that the operation does not define. */
  ignored: string[]
  /** Bytes of a JSON or form body, to compare a retry with the first request. */
  json?: Buffer
}

const EMPTY_BODY: Bytes = (async function* () {})()

/** Returns whether the request body is empty, already in memory, or announced as small. */
export function isSmallBody({ headers, body }: HttpRequest): boolean {
  if (body === null || body instanceof Uint8Array) return true
  return (readContentLength(headers) ?? Number.POSITIVE_INFINITY) <= MAX_SMALL_BODY_BYTES
}

/** Returns the media type of the body, in lower case and without parameters; empty if there is none. */
export function contentTypeOf({ headers }: HttpRequest): string {
  return (headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase()
}

/** Limits of reading a body. */
export interface BodyLimits {
  limits: Limits
  /** Called with the size of each chunk that is held in memory. Throws if there is no room. */
  take: (bytes: number) => void
  /** Returns whether other uploads wait for this one to finish. */
  hasWaiting?: () => boolean
}

/** Returns whether the body is streamed to the handler. Other bodies are read completely first. */
export function isStreamed(body: Body, contentType: string): boolean {
  return body.kind === 'bytes' && !(body.json && isJsonType(contentType))
}

function isJsonType(contentType: string): boolean {
  return contentType === 'application/json' || contentType.endsWith('+json')
}

/** Reads the body of a request. An empty body counts as none. Throws `too_large` beyond the limit. */
export async function receiveBody(
  request: HttpRequest,
  body: Body,
  { limits, take, hasWaiting }: BodyLimits,
): Promise<ReceivedBody> {
  const contentType = contentTypeOf(request)
  const emptyBody = { fields: {}, bytes: EMPTY_BODY, contentType, ignored: [] }
  if (body.kind === 'none') return emptyBody
  if (body.kind === 'bytes' && isStreamed(body, contentType)) {
    const bytes = limitBody(request, body.limit, limits, hasWaiting)
    if (contentType === 'multipart/form-data') {
      if (!body.types.includes(contentType)) throw createUnsupportedTypeError(contentType, body)
      return { ...emptyBody, ...(await streamFirstFile(request, bytes, limits)) }
    }
    // Operations that accept octet-stream accept any media type: the format is detected from the bytes.
    const anyFile = body.types.includes('application/octet-stream')
    if (!anyFile && !body.types.includes(contentType)) throw createUnsupportedTypeError(contentType, body)
    return { ...emptyBody, bytes }
  }
  const schema = body.kind === 'json' ? body.schema : body.json!
  const limit = body.kind === 'json' ? body.limit : 'json_body_bytes'
  const isForm = body.kind === 'json' && body.form === true && contentType === FORM_TYPE
  const content = await readBody(request, isForm ? 'small_body_bytes' : limit, limits, take)
  if (isForm) return { ...emptyBody, ...(await parseFormFields(content, schema, limits)), json: content }
  if (!isJsonType(contentType) && content.length > 0) throw createUnsupportedTypeError(contentType, body)
  if (content.length === 0) {
    await checkFields(schema, {}, body.raw ?? [])
    return { ...emptyBody, json: content }
  }
  const { fields, ignored } = await parseJsonFields(content, schema, body.raw ?? [], limits)
  await checkFields(schema, fields, body.raw ?? [])
  return { ...emptyBody, fields, ignored, json: content }
}

const FORM_TYPE = 'application/x-www-form-urlencoded'

function createUnsupportedTypeError(contentType: string, body: Body): Problem {
  const types = body.kind === 'bytes' ? [...(body.json ? ['application/json'] : []), ...body.types] : []
  return new Problem(
    'unsupported_media_type',
    contentType === ''
      ? 'the request has a body but no Content-Type'
      : `a body of type ${contentType.slice(0, 100)} is not supported here`,
    { hint: `Send ${types.length > 0 ? types.join(', ') : 'application/json'}.` },
  )
}

/** Parses the fields of a form-encoded body. */
async function parseFormFields(
  content: Buffer,
  schema: ObjectSchema,
  limits: Limits,
): Promise<Pick<ReceivedBody, 'fields' | 'ignored'>> {
  let separators = 0
  for (let at = content.indexOf(0x26); at >= 0; at = content.indexOf(0x26, at + 1)) separators++
  if (separators >= limits.form_fields)
    throw new Problem(
      'invalid_request',
      `a form of ${separators + 1} fields; the limit is ${limits.form_fields} (form_fields)`,
    )
  const text = content.toString('utf8')
  if (!isUtf8(content) || !hasUtf8Escapes(text)) throw new Problem('invalid_request', 'the body is not UTF-8')
  const form = new URLSearchParams(text)
  const fields = readForm(schema.properties, form)
  await checkFields(schema, fields, [])
  return { fields, ignored: listUnknownFields(schema, form.keys()) }
}

/** Returns whether the bytes that are written as `%E9` are UTF-8: parsing would replace others. */
function hasUtf8Escapes(form: string): boolean {
  try {
    // A lone % stands for itself.
    decodeURIComponent(form.replace(/%(?![0-9a-f]{2})/gi, '%25'))
    return true
  } catch {
    return false
  }
}

/** Maximum number of unknown fields that a response lists. */
const MAX_NAMED_FIELDS = 100

/** Returns names that the schema does not define, up to `MAX_NAMED_FIELDS`. */
function listUnknownFields(schema: ObjectSchema, names: Iterable<string>): string[] {
  const unknown = new Set<string>()
  for (const name of names) {
    if (Object.hasOwn(schema.properties, name)) continue
    unknown.add(name)
    if (unknown.size === MAX_NAMED_FIELDS) break
  }
  return [...unknown]
}

/** Passes a body through. Throws if it is too large or too slow; only waiting for the client counts. */
async function* limitBody(
  request: HttpRequest,
  name: LimitName,
  limits: Limits,
  hasWaiting: () => boolean = () => false,
): AsyncGenerator<Uint8Array> {
  const limit = limits[name]
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) throw createTooLargeError(announced, name, limit)
  const { body } = request
  if (!body) return
  if (body instanceof Uint8Array) {
    if (body.length > 0) yield body
    return
  }
  let size = 0
  let credit = 0
  const iterator = body[Symbol.asyncIterator]()
  let isTooLate = false
  try {
    for (;;) {
      const start = performance.now()
      const isLate = (): boolean => {
        isTooLate = performance.now() - start > limits.slow_seconds * 1000 + credit
        return isTooLate
      }
      const { value, done } = await rejectWhenLate(iterator.next(), isLate, limits)
      // A fast start buys at most MAX_CREDIT_MS of slowness.
      credit = Math.min(MAX_CREDIT_MS, credit - (performance.now() - start))
      if (done) return
      size += value.length
      const rate = limits.body_bytes_per_second * (hasWaiting() ? CONTENDED_RATE_FACTOR : 1)
      credit += (value.length / rate) * 1000
      if (size > limit) throw createTooLargeError(size, name, limit)
      yield value
    }
  } finally {
    // Release the stream, so that the rest can be discarded. For a slow client, this could block.
    if (!isTooLate) await iterator.return?.()
  }
}

/** Maximum time that a fast client earns for becoming slow later, in ms. */
const MAX_CREDIT_MS = 60_000

/** Factor by which the minimum upload rate rises while other uploads wait. */
const CONTENDED_RATE_FACTOR = 64

/** Resolves like `pending`. Rejects with `too_slow` as soon as `isLate` returns true. */
function rejectWhenLate<T>(pending: Promise<T>, isLate: () => boolean, limits: Limits): Promise<T> {
  return new Promise((resolve, reject) => {
    const checkLate = (): void => {
      if (!isLate()) return
      removeSpeedCheck(checkLate)
      reject(createTooSlowError(limits))
    }
    addSpeedCheck(checkLate)
    pending.then(resolve, reject).finally(() => removeSpeedCheck(checkLate))
  })
}

/** Creates the error for a body of at least `size` bytes, above the limit `name`. */
function createTooLargeError(size: number, name: string, limit: number): Problem {
  return new Problem(
    'too_large',
    `the body has ${formatBytes(size)} or more; the limit is ${formatBytes(limit)} (${name})`,
    { hint: 'Send it in parts, or ask the operator to raise the limit.' },
  )
}

/** Reads the whole body into memory. */
async function readBody(
  request: HttpRequest,
  name: LimitName,
  limits: Limits,
  take: (bytes: number) => void,
): Promise<Buffer> {
  const { body } = request
  if (!(body instanceof Uint8Array)) return joinChunks(limitBody(request, name, limits), take)
  if (body.length > limits[name]) throw createTooLargeError(body.length, name, limits[name])
  take(body.length)
  return asBuffer(body)
}

/** Reads a stream into one buffer. Calls `take` with the size of each chunk. */
async function joinChunks(bytes: Bytes, take: (bytes: number) => void): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of bytes) {
    take(chunk.length)
    chunks.push(chunk)
  }
  if (chunks.length === 1) return asBuffer(chunks[0])
  return concatAsync(chunks)
}

/** Parses the fields of a JSON body. Unknown fields are skipped and returned in `ignored`. */
async function parseJsonFields(
  content: Buffer,
  schema: ObjectSchema,
  raw: readonly string[],
  limits: Limits,
): Promise<Pick<ReceivedBody, 'fields' | 'ignored'>> {
  const { json, members } = await parseMembersAsync(content, limits)
  if (json.kind !== 'object') throw new Problem('invalid_request', 'the body must be a JSON object')
  // Only names of the schema are set, so it needs no `Object.create(null)`, which would slow down all access.
  const fields: Record<string, unknown> = {}
  for (const [name, value] of members) {
    if (!Object.hasOwn(schema.properties, name)) continue
    const size = value.end - value.start
    if (!raw.includes(name) && size > limits.small_body_bytes)
      throw new Problem(
        'too_large',
        `${name}: ${formatBytes(size)}; the limit is ${formatBytes(limits.small_body_bytes)} (small_body_bytes)`,
        { field: name },
      )
    fields[name] = raw.includes(name) ? value : value.toValue()
  }
  return {
    fields,
    ignored: listUnknownFields(
      schema,
      members.map(([name]) => name),
    ),
  }
}

/** Throws `invalid_request` with the name of a field that is missing or has the wrong type. */
async function checkFields(
  schema: ObjectSchema,
  fields: Record<string, unknown>,
  raw: readonly string[],
): Promise<void> {
  for (const name of schema.required) {
    if (fields[name] === undefined)
      throw new Problem('invalid_request', `${name}: is missing`, { field: name })
  }
  const names = Object.keys(fields).filter(
    (name) => !raw.includes(name) && Object.hasOwn(schema.properties, name),
  )
  if (names.length === 0) return
  const { Check } = await import('typebox/schema')
  for (const name of names) {
    const property = schema.properties[name]
    const value = fields[name]
    if ([value].flat().some((item) => typeof item === 'string' && item.includes('\0'))) {
      throw new Problem('invalid_request', `${name}: must not contain NUL characters`, { field: name })
    }
    // Reject integers beyond 2^53: parsing lost their precision.
    const isExact = typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)
    if (isExact && Check(property as never, value)) continue
    throw new Problem('invalid_request', `${name}: must be ${describeSchema(property)}`, {
      field: name,
      path: name,
    })
  }
}

/** Describes the values that a schema accepts, for error messages. */
function describeSchema({ type, anyOf, enum: values, items, description }: Schema): string {
  if (items?.enum) return `an array of ${items.enum.join(', ')}`
  if (values) return `one of ${values.join(', ')}`
  if (anyOf) return anyOf.map(describeSchema).join(' or ')
  const article = type && /^[aeiou]/.test(type) ? 'an' : 'a'
  return type === 'null' ? 'null' : `${article} ${type}${description ? ` (${description})` : ''}`
}

/** Streams the first file of a multipart body. */
async function streamFirstFile(
  request: HttpRequest,
  bytes: Bytes,
  limits: Limits,
): Promise<{ bytes: Bytes; fileName: string }> {
  const { Busboy } = await import('../../vendor/busboy.ts')
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  const input = Readable.from(bytes)
  return new Promise((resolve, reject) => {
    let file: Readable | undefined
    const fail = (error: unknown): void => {
      reject(toFormError(error))
      file?.destroy(toFormError(error))
      input.destroy()
    }
    const failTooMany = (): void =>
      fail(
        new Problem(
          'invalid_request',
          `a form of more than ${limits.form_fields} fields (limit form_fields)`,
        ),
      )
    try {
      const parser = new Busboy({
        headers,
        limits: {
          files: 1,
          fields: limits.form_fields,
          parts: limits.form_fields,
          fieldSize: 64 * 1024,
          headerPairs: 100,
        },
      })
      parser.on('file', (_field, stream, fileName) => {
        file = stream
        // The connection can break after the last read: ignore that error.
        stream.on('error', () => {})
        resolve({ bytes: streamFilePart(stream), fileName: decodeHeaderText(fileName) })
      })
      parser.on('fieldsLimit', failTooMany)
      parser.on('partsLimit', failTooMany)
      parser.on('error', fail)
      parser.on('finish', () => reject(new Problem('invalid_request', 'the multipart body contains no file')))
      input.on('error', fail)
      input.pipe(parser)
    } catch (error) {
      fail(error)
    }
  })
}

async function* streamFilePart(file: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* file
  } catch (error) {
    throw toFormError(error)
  }
}

/** Converts an error of the multipart parser to `invalid_request`. */
function toFormError(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem('invalid_request', `the multipart body is damaged: ${errorMessageOf(error)}`)
}
