/** OpenAPI document of the contract. */
import { errorCodes } from '../../../contract/errors.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER } from '../../../contract/headers.ts'
import {
  methodsOf,
  type Operation,
  operations,
  routesOf,
  VERSION_DESCRIPTION,
} from '../../../contract/operations/index.ts'

/** Converts the contract to an OpenAPI 3.1 document. */
export function createOpenApi(url: string, version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, operation] of Object.entries(operations) as [string, Operation][]) {
    for (const [k, { path: template }] of routesOf(operation).entries()) {
      const path = template.replace(/:(\w+)/g, '{$1}')
      for (const method of methodsOf(operation)) {
        paths[path] ??= {}
        const id = [
          name,
          k > 0 ? template.split('/')[2] : '',
          method === operation.method ? '' : method.toLowerCase(),
        ]
        paths[path][method.toLowerCase()] = describeOperation(
          id.filter((part) => part !== '').join('.'),
          template,
          operation,
        )
      }
    }
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
      schemas: {
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
                },
              },
            },
          },
        },
      },
    },
  }
}

function describeOperation(id: string, path: string, operation: Operation): Record<string, unknown> {
  const { summary, body, result, status, access, requiresAccount, method, produces } = operation
  const parameters: unknown[] = []
  for (const [, name] of path.matchAll(/:(\w+)/g))
    parameters.push({
      name,
      in: 'path',
      required: true,
      schema: name === 'fid' ? { type: 'string', examples: ['alice:12'] } : { type: 'string' },
    })
  const required: readonly string[] = operation.query?.required ?? []
  for (const [key, schema] of Object.entries(operation.query?.properties ?? {})) {
    parameters.push({ name: key, in: 'query', required: required.includes(key), schema })
  }
  for (const [key, schema] of Object.entries(operation.headers ?? {}))
    parameters.push({ name: `Gridline-${key}`, in: 'header', schema })
  if (operation.body.kind === 'bytes')
    parameters.push({ name: FILE_NAME_HEADER, in: 'header', schema: { type: 'string' } })
  if (method !== 'GET')
    parameters.push({ name: IDEMPOTENCY_HEADER, in: 'header', schema: { type: 'string' } })
  if (path.includes(':fid')) {
    const precondition = method === 'GET' ? 'If-None-Match' : 'If-Match'
    parameters.push({ name: precondition, in: 'header', schema: { type: 'string' } })
    if (method === 'GET')
      parameters.push({
        name: 'share_key',
        in: 'query',
        description: 'Secret key that allows reading one private file.',
        schema: { type: 'string' },
      })
    if (operation.takesVersion)
      parameters.push({
        name: 'version',
        in: 'query',
        description: VERSION_DESCRIPTION,
        schema: { type: 'string' },
      })
  }
  return {
    operationId: id,
    tags: [path.split('/')[2] ?? 'service'],
    summary,
    description: `Access: ${access}${requiresAccount ? ', with an account' : ''}.`,
    parameters,
    requestBody: describeRequestBody(body),
    responses: {
      [status]: describeResponse(result, summary, produces),
      default: {
        description: 'Error response',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function describeRequestBody(body: Operation['body']): unknown {
  if (body.kind === 'none') return undefined
  const content: Record<string, unknown> = {}
  if (body.kind === 'json') {
    content['application/json'] = { schema: body.schema }
    if (body.form) content['application/x-www-form-urlencoded'] = { schema: body.schema }
  } else {
    if (body.json) content['application/json'] = { schema: body.json }
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
        : { 'application/json': { schema: result } },
  }
}
