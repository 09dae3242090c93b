/** Converts query parameters, headers and form fields to the types of their schemas. */
import { Problem } from '../../contract/errors.ts'
import { getPrefixedHeader, HEADER_PREFIXES } from '../../contract/headers.ts'
import type { HttpRequest } from '../../contract/http.ts'
import type { ObjectSchema, Schema } from '../../contract/schema.ts'

/** Converts query parameters by their schema. Throws `invalid_request` with the name of the parameter. */
export function readQuery(
  { properties, required }: ObjectSchema,
  query: URLSearchParams,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(properties)) {
    const texts = query.getAll(name)
    if (texts.length === 0) {
      if (required.includes(name))
        throw new Problem('invalid_request', `${name}: is missing in the query`, { field: name })
      continue
    }
    if (schema.type === 'array')
      values[name] = texts.map((text) => convertText(name, schema.items ?? {}, text))
    // An empty optional number counts as absent.
    else if (texts[0] !== '' || schema.type === 'string' || required.includes(name))
      values[name] = convertText(name, schema, texts[0])
  }
  return values
}

/** Reads headers with a prefix of the service, such as `Gridline-`. */
export function readHeaders(
  schemas: Record<string, Schema> | undefined,
  headers: HttpRequest['headers'],
): Record<string, string | number | boolean | undefined> {
  const values: Record<string, string | number | boolean | undefined> = {}
  if (!schemas || !hasServiceHeader(headers)) return values
  for (const [name, schema] of Object.entries(schemas)) {
    const text = getPrefixedHeader(headers, name)
    if (text === undefined || text === '') continue
    values[name] = convertText(
      `${HEADER_PREFIXES[0]}${name.toLowerCase()}`,
      schema,
      decodeHeaderText(text),
    ) as string
  }
  return values
}

/** Returns whether any header has a prefix of the service: most requests have none. */
function hasServiceHeader(headers: HttpRequest['headers']): boolean {
  if (!headers.keys) return true
  for (const name of headers.keys())
    if (HEADER_PREFIXES.some((prefix) => name.startsWith(prefix))) return true
  return false
}

/** Decodes a header value as UTF-8, which clients send; Node reads Latin-1. Returns other text unchanged. */
export function decodeHeaderText(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  const decoded = bytes.toString('utf8')
  return decoded.includes('\ufffd') ? text : decoded
}

/** Parses a boolean in any case: Python clients send `True` and `False`. Undefined for other text. */
function parseBoolean(text: string): boolean | undefined {
  const word = text.trim().toLowerCase()
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : undefined
}

/** Converts a text to the type of its schema. Throws `invalid_request` with `name`. */
function convertText(name: string, schema: Schema, text: string): unknown {
  const wrongValue = (expected: string): Problem =>
    new Problem('invalid_request', `${name}: must be ${expected}`, { field: name })
  // PostgreSQL cannot store NUL characters in text.
  if (text.includes('\0')) throw wrongValue('text without NUL characters')
  if (schema.enum) {
    if (schema.enum.includes(text)) return text
    throw wrongValue(`one of ${schema.enum.join(', ')}`)
  }
  if (schema.type === 'integer') {
    const value = /^[+-]?\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN
    if (Number.isNaN(value)) throw wrongValue('an integer')
    if (schema.minimum !== undefined && value < schema.minimum) throw wrongValue(`${schema.minimum} or more`)
    return value
  }
  if (schema.type === 'number') {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (!Number.isFinite(value)) throw wrongValue('a number')
    return value
  }
  if (schema.type === 'boolean') {
    const value = parseBoolean(text)
    if (value === undefined) throw wrongValue('true or false')
    return value
  }
  return text
}

/** Converts form-encoded fields to the types of the schema. Skips unknown fields. */
export function readForm(properties: Record<string, Schema>, form: URLSearchParams): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, text] of form) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema)
      fields[name] = convertText(name, schema.anyOf?.find(({ type }) => type !== 'null') ?? schema, text)
  }
  return fields
}
