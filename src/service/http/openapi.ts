import { errorCodes } from '../../contract/errors.ts'
import { FILE_NAME_HEADER, IDEMPOTENCY_HEADER } from '../../contract/headers.ts'
import { type Operation, operations } from '../../contract/operations.ts'

/** The contract as an OpenAPI 3.1 document. */
export function openApi(url: string, version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, operation] of Object.entries(operations) as [string, Operation][]) {
    const path = operation.path.replace(':fid', '{fid}')
    paths[path] ??= {}
    paths[path][operation.method.toLowerCase()] = described(name, operation)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gridline',
      version,
      description: 'Grids and charts: upload, append, read, share.',
      license: { name: 'MIT' },
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

function described(name: string, operation: Operation): Record<string, unknown> {
  const { summary, section, path, body, result, status, access, method } = operation
  const parameters: unknown[] = []
  if (path.includes(':fid'))
    parameters.push({
      name: 'fid',
      in: 'path',
      required: true,
      schema: { type: 'string', examples: ['alice:12'] },
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
  return {
    operationId: name,
    tags: [name.split('.')[0]],
    summary,
    description: section === '-' ? undefined : `Reference section ${section}. Who may: ${access}.`,
    parameters,
    requestBody: requestBody(body),
    responses: {
      [status]: response(result, summary),
      default: {
        description: 'An error',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

function requestBody(body: Operation['body']): unknown {
  if (body.kind === 'none') return undefined
  const content: Record<string, unknown> = {}
  if (body.kind === 'json') {
    content['application/json'] = { schema: body.schema }
    if (body.form) content['application/x-www-form-urlencoded'] = { schema: body.schema }
  } else {
    if (body.json) content['application/json'] = { schema: body.json }
    for (const type of body.types) content[type] = {}
  }
  return { required: true, content }
}

function response(result: Operation['result'], summary: string): unknown {
  if (result === 'none') return { description: summary }
  return {
    description: summary,
    content: { 'application/json': result === 'stream' ? {} : { schema: result } },
  }
}
