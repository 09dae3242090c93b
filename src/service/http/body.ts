import { Readable } from 'node:stream'
import { Problem } from '../../contract/errors.ts'
import { bytesText, type LimitName, type Limits } from '../../contract/limits.ts'
import type { Body } from '../../contract/operations.ts'
import type { ObjectSchema, Schema } from '../../contract/schema.ts'
import { type Bytes, parseRaw } from '../../ingest/index.ts'
import type { Incoming } from './message.ts'
import { readForm, unmangled } from './parameters.ts'

/** What a request brought, as the operation takes it. */
export interface Received {
  fields: Record<string, unknown>
  bytes: Bytes
  contentType: string
  /** A filename inside the body (multipart). */
  fileName?: string
  /** Fields that the operation does not take. */
  ignored: string[]
  /** The bytes of a JSON body, for telling whether a retry is the same request. */
  json?: Buffer
}

const empty: Bytes = (async function* () {})()

/** Reads the body of a request. An empty one is none; one over the limit is 413. */
export async function receive(request: Incoming, body: Body, limits: Limits): Promise<Received> {
  const contentType = (request.headers.get('content-type') ?? '').split(';')[0].trim().toLowerCase()
  const none = { fields: {}, bytes: empty, contentType, ignored: [] }
  if (body.kind === 'none') return none
  const isJson = contentType === '' || contentType === 'application/json' || contentType.endsWith('+json')
  if (body.kind === 'bytes' && !(body.json && isJson)) {
    const bytes = limited(request, body.limit, limits)
    if (contentType !== 'multipart/form-data') return { ...none, bytes }
    return { ...none, ...(await firstFile(request, bytes)) }
  }
  const schema = body.kind === 'json' ? body.schema : body.json!
  const content = await whole(limited(request, 'json_body_bytes', limits))
  if (body.kind === 'json' && body.form && contentType === 'application/x-www-form-urlencoded') {
    const form = new URLSearchParams(content.toString('utf8'))
    const fields = readForm(schema.properties, form)
    await check(schema, fields, [])
    return { ...none, fields, ignored: unknownIn(schema, form.keys()), json: content }
  }
  if (!isJson && body.kind === 'json' && contentType !== 'text/plain') {
    throw new Problem('unsupported_media_type', `a body of type ${contentType} is not understood here`, {
      hint: 'Send application/json.',
    })
  }
  const fields = content.length === 0 ? {} : fieldsOf(content, body.raw ?? [])
  await check(schema, fields, body.raw ?? [])
  return { ...none, fields, ignored: unknownIn(schema, Object.keys(fields)), json: content }
}

function unknownIn(schema: ObjectSchema, names: Iterable<string>): string[] {
  return [...new Set(names)].filter((name) => !Object.hasOwn(schema.properties, name))
}

/** The bytes of a body, counted: no more than the limit get through. */
async function* limited(request: Incoming, name: LimitName, limits: Limits): AsyncGenerator<Uint8Array> {
  const limit = limits[name]
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) throw tooLarge(announced, name, limit)
  if (!request.body) return
  let size = 0
  for await (const chunk of request.body) {
    size += chunk.length
    if (size > limit) throw tooLarge(size, name, limit)
    yield chunk
  }
}

function tooLarge(size: number, name: string, limit: number): Problem {
  return new Problem(
    'too_large',
    `the body has ${bytesText(size)} or more; the limit is ${bytesText(limit)} (${name})`,
    {
      hint: 'Send it in parts, or ask the operator to raise the limit.',
    },
  )
}

async function whole(bytes: Bytes): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of bytes) parts.push(part)
  return parts.length === 1
    ? Buffer.from(parts[0].buffer, parts[0].byteOffset, parts[0].byteLength)
    : Buffer.concat(parts)
}

function fieldsOf(content: Buffer, raw: readonly string[]): Record<string, unknown> {
  const json = parseRaw(content)
  if (json.kind !== 'object') throw new Problem('invalid_request', 'the body must be a JSON object')
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, value] of json.entries()) fields[name] = raw.includes(name) ? value : value.value()
  return fields
}

/** Required fields are there and each is of its type; the message names the field. */
async function check(
  schema: ObjectSchema,
  fields: Record<string, unknown>,
  raw: readonly string[],
): Promise<void> {
  for (const name of schema.required) {
    if (fields[name] === undefined)
      throw new Problem('invalid_request', `${name}: is missing`, { field: name })
  }
  const checked = Object.keys(fields).filter(
    (name) => !raw.includes(name) && Object.hasOwn(schema.properties, name),
  )
  if (checked.length === 0) return
  const { Check } = await import('typebox/schema')
  for (const name of checked) {
    const property = schema.properties[name]
    const value = fields[name]
    if ([value].flat().some((one) => typeof one === 'string' && one.includes('\0'))) {
      throw new Problem('invalid_request', `${name}: must not hold zero characters`, { field: name })
    }
    // A number that has lost its last digits is none of ours.
    const exact = typeof value !== 'number' || Number.isSafeInteger(value)
    if (exact && Check(property as never, value)) continue
    throw new Problem('invalid_request', `${name}: must be ${described(property)}`, {
      field: name,
      path: name,
    })
  }
}

function described({ type, anyOf, enum: values, items, description }: Schema): string {
  if (items?.enum) return `an array of ${items.enum.join(', ')}`
  if (values) return `one of ${values.join(', ')}`
  if (anyOf) return anyOf.map(described).join(' or ')
  const article = type && /^[aeiou]/.test(type) ? 'an' : 'a'
  return type === 'null' ? 'null' : `${article} ${type}${description ? ` (${description})` : ''}`
}

/** The first file of a multipart body, as it streams in. */
async function firstFile(request: Incoming, bytes: Bytes): Promise<{ bytes: Bytes; fileName: string }> {
  const { Busboy } = await import('@fastify/busboy')
  const headers = { 'content-type': request.headers.get('content-type') ?? '' }
  const input = Readable.from(bytes)
  return new Promise((resolve, reject) => {
    let file: Readable | undefined
    const fail = (error: unknown): void => {
      reject(damagedForm(error))
      file?.destroy(damagedForm(error))
    }
    try {
      const parser = new Busboy({ headers, limits: { files: 1 } })
      parser.on('file', (_field, stream, fileName) => {
        file = stream
        // Nobody may be reading it any more when the connection breaks.
        stream.on('error', () => {})
        resolve({ bytes: filePart(stream), fileName: unmangled(fileName) })
      })
      parser.on('error', fail)
      parser.on('finish', () => reject(new Problem('invalid_request', 'the multipart body holds no file')))
      input.on('error', fail)
      input.pipe(parser)
    } catch (error) {
      fail(error)
    }
  })
}

async function* filePart(file: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* file
  } catch (error) {
    throw damagedForm(error)
  }
}

function damagedForm(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem('invalid_request', `the multipart body is damaged: ${(error as Error).message}`)
}
