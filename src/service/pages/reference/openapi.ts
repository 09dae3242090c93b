/** OpenAPI document of the contract. */
import { errorCodes } from '../../../contract/errors.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER } from '../../../contract/headers.ts'
import {
  type Operation,
  operations,
  routesOf,
  VERSION_DESCRIPTION,
} from '../../../contract/operations/index.ts'
import * as resources from '../../../contract/resources/index.ts'
import type { Schema } from '../../../contract/schema.ts'

const { CheckReport } = resources

/** Schemas of the document by their names: `GridMeta` of the contract is `Grid`. */
const SCHEMAS: readonly (readonly [string, Schema])[] = Object.entries(resources).flatMap(([name, schema]) =>
  isObjectSchema(schema)
    ? // Columns of a request have other fields than those of a response.
      [[name === 'Column' ? 'NewColumn' : name.replace(/Meta$/, ''), schema] as const]
    : [],
)
/** Names of schemas by their JSON: optional fields have copies. */
const NAMES: ReadonlyMap<string, string> = new Map(
  SCHEMAS.map(([name, schema]) => [JSON.stringify(schema), name]),
)

function isObjectSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && (value as Schema).type === 'object'
}

/** Results of `refer`: the contract does not change, and everybody may ask for the document. */
const referred = new WeakMap<object, unknown>()

/** Replaces named schemas within a schema by references. */
function refer(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  let found = referred.get(schema)
  if (found === undefined) {
    const name = NAMES.get(JSON.stringify(schema))
    found = name === undefined ? referMembers(schema) : { $ref: `#/components/schemas/${name}` }
    referred.set(schema, found)
  }
  return found
}

function referMembers(schema: Schema | readonly Schema[]): unknown {
  if (Array.isArray(schema)) return schema.map(refer)
  const { anyOf: [first, second, ...others] = [] } = schema as Schema
  // Null is one more type, where that says the same in fewer bytes.
  if (
    second?.type === 'null' &&
    others.length === 0 &&
    first.type &&
    !first.enum &&
    !NAMES.has(JSON.stringify(first))
  )
    return { ...(referMembers(first) as Schema), type: [first.type, 'null'] }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, refer(value)]))
}

/** Error statuses that do not depend on the operation, with the reason. */
const ERROR_STATUSES: Readonly<Record<number, string>> = {
  400: 'The request or its data is invalid',
  401: 'Credentials are missing or wrong',
  403: 'The user may not do this',
  404: 'There is no such file, or the user may not know of it',
  409: 'The name or key is taken, or another change prevents this one',
  412: 'The file is no longer at the version of If-Match',
  413: 'The body is too large, or a quota would be exceeded',
  415: 'The media type of the body is not supported',
  422: 'The body is valid, but cannot be applied',
  429: 'Too many requests: try again after Retry-After seconds',
}

/** Lists the error statuses of an operation. */
function listErrorStatuses({ method, access, requiresAccount, body }: Operation, path: string): number[] {
  const isWrite = method !== 'GET'
  const needsAccount = access !== 'anyone' || requiresAccount === true
  return [
    400,
    401,
    ...(needsAccount ? [403] : []),
    ...(path.includes(':') ? [404] : []),
    ...(isWrite ? [409] : []),
    ...(isWrite && path.includes(':fid') ? [412] : []),
    ...(body.kind === 'none' ? [] : [413, 415]),
    ...(isWrite ? [422] : []),
    429,
  ]
}

/** Converts the contract to an OpenAPI 3.1 document. */
export function createOpenApi(url: string, version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  const shared = new SharedParameters()
  for (const [name, operation] of Object.entries(operations) as [string, Operation][]) {
    // Once: other paths and methods of an operation would be functions with the same effect in a client.
    const path = toTemplate(operation.path)
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = describeOperation(
      toIdentifier(name),
      operation.path,
      operation,
      shared,
    )
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gridline',
      version,
      description: 'Grids and charts: upload, append, read, share.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    security: [{ basic: [] }, { bearer: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'username and API key' },
        bearer: { type: 'http', scheme: 'bearer', description: 'API key' },
      },
      parameters: shared.components,
      responses: Object.fromEntries(
        Object.entries({ ...ERROR_STATUSES, default: 'Another error' }).map(([status, description]) => [
          status,
          describeError(description),
        ]),
      ),
      schemas: {
        ...Object.fromEntries(SCHEMAS.map(([name, schema]) => [name, referMembers(schema)])),
        Error: {
          type: 'object',
          required: ['detail', 'errors'],
          properties: {
            detail: { type: 'string' },
            errors: {
              type: 'array',
              items: {
                type: 'object',
                required: ['code', 'message'],
                properties: {
                  code: { type: 'string', enum: Object.keys(errorCodes) },
                  message: { type: 'string' },
                  field: { type: 'string' },
                  path: { type: 'string' },
                  line: { type: 'integer' },
                  column: { type: ['string', 'integer'] },
                  hint: { type: 'string' },
                  checks: refer(CheckReport),
                },
              },
            },
          },
        },
      },
    },
  }
}

/** Returns a name as programming languages write it: `grids.permanent_delete` → `gridsPermanentDelete`. */
function toIdentifier(name: string): string {
  return name.replace(/[._-](\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Says at which other paths, and with which other method, an operation can be called. */
function listSynonyms(operation: Operation): string[] {
  const { method, synonym } = operation
  const others = routesOf(operation).slice(1)
  return [
    ...(others.length > 0 ? [`Also ${others.map(({ path }) => toTemplate(path)).join(', ')}.`] : []),
    ...(synonym ? [`${synonym} is the same as ${method}.`] : []),
  ]
}

/** Returns a path as OpenAPI writes it: `/v2/files/:fid` → `/v2/files/{fid}`. */
function toTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

function describeError(description: string): unknown {
  return {
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  }
}

/** Parameters by reference: most operations have the same. */
class SharedParameters {
  readonly components: Record<string, unknown> = {}
  private readonly nameByJson = new Map<string, string>()

  /** `operation`: id of the operation that has the parameter. */
  refer(parameter: { name: string }, operation: string): unknown {
    const json = JSON.stringify(parameter)
    let name = this.nameByJson.get(json)
    if (name === undefined) {
      const base = toIdentifier(parameter.name)
      // Operations after the first give the same name another meaning.
      name = base in this.components ? toIdentifier(`${operation}.${base}`) : base
      this.nameByJson.set(json, name)
      this.components[name] = parameter
    }
    return { $ref: `#/components/parameters/${name}` }
  }
}

function describeOperation(
  id: string,
  path: string,
  operation: Operation,
  shared: SharedParameters,
): Record<string, unknown> {
  const { summary, body, result, status, access, requiresAccount, method, produces } = operation
  const parameters: { name: string }[] = []
  const addHeader = (name: string, schema: unknown = { type: 'string' }): void => {
    parameters.push({ name, in: 'header', schema } as { name: string })
  }
  const addQuery = (name: string, schema: unknown, required = false): void => {
    parameters.push({ name, in: 'query', ...(required && { required }), schema: refer(schema) } as {
      name: string
    })
  }
  for (const [, name] of path.matchAll(/:(\w+)/g))
    parameters.push({
      name,
      in: 'path',
      required: true,
      schema: name === 'fid' ? { type: 'string', examples: ['alice:12'] } : { type: 'string' },
    } as { name: string })
  const required: readonly string[] = operation.query?.required ?? []
  for (const [key, schema] of Object.entries(operation.query?.properties ?? {}))
    addQuery(key, schema, required.includes(key))
  for (const [key, schema] of Object.entries(operation.headers ?? {})) addHeader(`Gridline-${key}`, schema)
  if (body.kind === 'bytes') addHeader(FILE_NAME_HEADER)
  if (method !== 'GET') addHeader(IDEMPOTENCY_HEADER)
  if (path.includes(':fid')) {
    addHeader(method === 'GET' ? 'If-None-Match' : 'If-Match')
    if (method === 'GET')
      addQuery('share_key', {
        type: 'string',
        description: 'Secret key that allows reading one private file.',
      })
    if (operation.takesVersion) addQuery('version', { type: 'string', description: VERSION_DESCRIPTION })
  }
  // Answers to a condition have no body.
  const unchanged = path.includes(':fid') && method === 'GET' ? { 304: { description: 'Not modified' } } : {}
  const errors = listErrorStatuses(operation, path).map((code) => [
    code,
    { $ref: `#/components/responses/${code}` },
  ])
  return {
    operationId: id,
    tags: [path.split('/')[2] ?? 'service'],
    summary,
    description: [
      `Access: ${access}${requiresAccount ? ', with an account' : ''}.`,
      ...listSynonyms(operation),
    ].join(' '),
    parameters: parameters.map((parameter) => shared.refer(parameter, id)),
    requestBody: describeRequestBody(body),
    responses: {
      [status]: describeResponse(result, summary, produces),
      ...unchanged,
      ...Object.fromEntries(errors),
      default: { $ref: '#/components/responses/default' },
    },
  }
}

function describeRequestBody(body: Operation['body']): unknown {
  if (body.kind === 'none') return undefined
  const content: Record<string, unknown> = {}
  if (body.kind === 'json') {
    content['application/json'] = { schema: refer(body.schema) }
    if (body.form) content['application/x-www-form-urlencoded'] = { schema: refer(body.schema) }
  } else {
    if (body.json) content['application/json'] = { schema: refer(body.json) }
    for (const type of body.types) content[type] = {}
  }
  const required = body.kind === 'bytes' || body.schema.required.length > 0
  return { required, content }
}

function describeResponse(
  result: Operation['result'],
  summary: string,
  produces: readonly string[] = ['application/json'],
): unknown {
  if (result === 'none') return { description: summary }
  return {
    description: summary,
    content:
      result === 'stream'
        ? Object.fromEntries(produces.map((type) => [type, {}]))
        : { 'application/json': { schema: refer(result) } },
  }
}
