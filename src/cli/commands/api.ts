// `gridline api`: sends a request to the API.
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { HttpResponse } from '../../contract/http.ts'
import { defineCommand } from '../core/define.ts'
import { plannedView } from '../core/dry-run.ts'
import { otherOutput } from '../core/output-schema.ts'
import { createBody, makeRepeatable, openInput } from '../files/input.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export const command = defineCommand({
  output: otherOutput('the response of the API; with --paginate an array of all results'),
  arguments: '<method> <path>',
  options: [
    {
      flags: '-f, --raw-field <key=value>',
      description: 'add a string field to the JSON body, or to the query for GET (repeatable)',
      repeatable: true,
    },
    {
      flags: '-F, --field <key=value>',
      description: 'add a typed field: true, false, null, numbers and JSON are parsed (repeatable)',
      repeatable: true,
    },
    {
      flags: '-H, --header <name:value>',
      description: 'add a request header (repeatable)',
      repeatable: true,
    },
    { flags: '--input <file>', description: 'file to send as the request body (- for standard input)' },
    {
      flags: '--paginate',
      description: 'read all pages of a list, and print their results as one array',
    },
    { flags: '-i, --include', description: 'include the response status and headers in the output' },
  ],
  examples: [
    'gridline api GET /v2/users/current',
    "gridline api GET /v2/folders/all --paginate --jq '.[].filename'",
    'gridline api POST /v2/folders -f path=Reports/2024',
    'gridline api POST /v2/grids/alice:12/row -F \'rows=[[1,"x"]]\'',
    'gridline api GET /v2/folders/home -F page_size=2',
    'gridline api POST /v2/grids/upload --input data.csv -H X-File-Name:data.csv -H Content-Type:text/csv',
  ],
  writes: true,
  async run(context, [methodName, path], options) {
    const method = methodName.toUpperCase()
    if (!METHODS.includes(method))
      throw new Problem('usage', `unknown method: ${methodName}`, {
        hint: `Available methods: ${METHODS.join(', ')}.`,
      })
    const { field, rawField, header, input, include } = options
    const headers: Record<string, string> = {}
    for (const text of header ?? []) {
      const at = text.indexOf(':')
      if (at < 1) throw new Problem('usage', `--header ${text}: must be NAME:VALUE`)
      headers[text.slice(0, at).trim().toLowerCase()] = text.slice(at + 1).trim()
    }
    const fields = [
      ...(field ?? []).map((text) => parseField(text, parseTypedValue)),
      ...(rawField ?? []).map((text) => parseField(text, (value) => value)),
    ]
    if (fields.length > 0 && input !== undefined)
      throw new Problem('usage', '--field and --input cannot be used together')
    let requestPath = path.startsWith('/') ? path : `/${path}`
    let json: unknown
    if (fields.length > 0) {
      if (method === 'GET' || method === 'HEAD') {
        const query = new URLSearchParams(
          fields.map(([name, value]): [string, string] => [
            name,
            typeof value === 'string' ? value : JSON.stringify(value),
          ]),
        )
        requestPath += `${requestPath.includes('?') ? '&' : '?'}${query}`
      } else json = Object.fromEntries(fields)
    }
    const client = await context.client()
    if (options.paginate) {
      if (method !== 'GET') throw new Problem('usage', '--paginate can only be used with GET')
      return { items: await loadAllPages(client, requestPath, headers), view: { columns: [] } }
    }
    const body =
      input === undefined
        ? undefined
        : createBody(
            await makeRepeatable(await openInput(input)),
            headers['content-type'] ?? 'application/json',
          )
    const isDry = options.dryRun && method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
    const response = await client.send(method, requestPath, headers, { json, body, isDry })
    if (isDry) {
      const description = `${method} ${requestPath}`
      const dryRunRow = {
        dry_run: true,
        would: description,
        file: input ?? null,
        target: null,
        change: json ?? null,
      }
      return { item: dryRunRow, view: plannedView }
    }
    if (context.flags.jq !== undefined || typeof context.flags.json === 'string') {
      const value = (await response.json()) as object
      return Array.isArray(value)
        ? { items: value, view: { columns: [] } }
        : { item: value, view: { columns: [] } }
    }
    return { bytes: formatResponse(response, include === true) }
  },
})

/** Reads all pages of a list: from `results` of the response, or of its `children`. */
async function loadAllPages(
  client: Client,
  path: string,
  headers: Record<string, string>,
): Promise<object[]> {
  interface List {
    results?: object[]
    next?: string | null
  }
  const all: object[] = []
  const visited = new Set<string>()
  for (let pagePath: string | undefined = path; pagePath !== undefined; ) {
    const response = await client.send('GET', pagePath, headers)
    const body = (await response.json()) as List & { children?: List }
    const { results, next }: List = body.results ? body : (body.children ?? {})
    if (!Array.isArray(results))
      throw new Problem('usage', '--paginate: the response is not a list', {
        hint: 'Use it without --paginate.',
      })
    all.push(...results)
    if (!next) return all
    const { pathname, search } = new URL(next)
    visited.add(pagePath)
    pagePath = pathname.slice(pathname.indexOf('/v2/')) + search
    if (visited.has(pagePath))
      throw new Problem('failed', `--paginate: the server returned the page ${pagePath} twice`)
  }
  return all
}

/** Parses KEY=VALUE. Throws `usage`. */
function parseField(text: string, parse: (value: string) => unknown): [string, unknown] {
  const at = text.indexOf('=')
  if (at < 1) throw new Problem('usage', `--field ${text}: must be KEY=VALUE`)
  return [text.slice(0, at), parse(text.slice(at + 1))]
}

/** Parses JSON values; other texts are strings. */
function parseTypedValue(value: string): unknown {
  if (!/^(true|false|null|-?\d|[[{"])/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Yields the body with a final line break, optionally after status and headers. */
async function* formatResponse(response: HttpResponse, include: boolean): AsyncGenerator<Uint8Array> {
  if (include) {
    const lines = [
      `HTTP ${response.status}`,
      ...Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`),
    ]
    yield Buffer.from(`${lines.join('\n')}\n\n`)
  }
  let last: number | undefined
  for await (const chunk of response.bytes()) {
    last = chunk[chunk.length - 1]
    yield chunk
  }
  if (last !== undefined && last !== 0x0a) yield Buffer.from('\n')
}
