import { Problem } from '../../contract/errors.ts'
import { prefixed, prefixes } from '../../contract/headers.ts'
import type { HttpRequest } from '../../contract/http.ts'
import type { ObjectSchema, Schema } from '../../contract/schema.ts'

/** Converts query parameters to the types of their schema. Throws `invalid_request` with the name. */
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
    if (schema.type === 'array') values[name] = texts.map((text) => convert(name, schema.items ?? {}, text))
    // An optional number that is empty counts as absent; a required one does not.
    else if (texts[0] !== '' || schema.type === 'string' || required.includes(name))
      values[name] = convert(name, schema, texts[0])
  }
  return values
}

/** Reads the service's own headers, under any prefix. */
export function readHeaders(
  schemas: Record<string, Schema> | undefined,
  headers: HttpRequest['headers'],
): Record<string, string | number | boolean | undefined> {
  const values: Record<string, string | number | boolean | undefined> = {}
  if (!schemas || !hasOwn(headers)) return values
  for (const [name, schema] of Object.entries(schemas)) {
    const text = prefixed(headers, name)
    if (text === undefined || text === '') continue
    values[name] = convert(`${prefixes[0]}${name.toLowerCase()}`, schema, decodeHeaderText(text)) as string
  }
  return values
}

/** Whether any header may be one of the service's own: most requests have none. */
function hasOwn(headers: HttpRequest['headers']): boolean {
  if (!headers.keys) return true
  for (const name of headers.keys()) if (prefixes.some((prefix) => name.startsWith(prefix))) return true
  return false
}

/** Decodes a header value: Node reads it as Latin-1, but clients send UTF-8. */
export function decodeHeaderText(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  const decoded = bytes.toString('utf8')
  return decoded.includes('\ufffd') ? text : decoded
}

/** Reads a boolean in any case: Python clients send `True` and `False`. */
function readBoolean(text: string): boolean | undefined {
  const word = text.trim().toLowerCase()
  if (word === 'true' || word === '1') return true
  return word === 'false' || word === '0' ? false : undefined
}

function convert(name: string, shape: Schema, text: string): unknown {
  const refuse = (what: string): Problem =>
    new Problem('invalid_request', `${name}: must be ${what}`, { field: name })
  // PostgreSQL cannot store NUL characters in text.
  if (text.includes('\0')) throw refuse('text without NUL characters')
  if (shape.enum) {
    if (shape.enum.includes(text)) return text
    throw refuse(`one of ${shape.enum.join(', ')}`)
  }
  if (shape.type === 'integer') {
    const value = /^[+-]?\d{1,15}$/.test(text.trim()) ? Number(text) : Number.NaN
    if (Number.isNaN(value)) throw refuse('an integer')
    if (shape.minimum !== undefined && value < shape.minimum) throw refuse(`${shape.minimum} or more`)
    return value
  }
  if (shape.type === 'number') {
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (!Number.isFinite(value)) throw refuse('a number')
    return value
  }
  if (shape.type === 'boolean') {
    const value = readBoolean(text)
    if (value === undefined) throw refuse('true or false')
    return value
  }
  return text
}

/** Converts form-encoded fields to the types of the schema. Skips unknown fields. */
export function readForm(properties: Record<string, Schema>, form: URLSearchParams): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, text] of form) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (schema)
      fields[name] = convert(name, schema.anyOf?.find(({ type }) => type !== 'null') ?? schema, text)
  }
  return fields
}
