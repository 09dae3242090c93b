// Tools of `gridline mcp`: one per task, and `api` for everything else.
import { createChart } from '../../charts/create-chart.ts'
import { setTheme } from '../../charts/figure/themes.ts'
import { type ChartOptions, getOption, OPTION_NAMES } from '../../charts/spec/options.ts'
import { CHART_TYPE_CHOICES, type ChartType } from '../../charts/spec/types.ts'
import { encodeHeader, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { methodsOf, type Operation, operations, routesOf } from '../../contract/operations/index.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import type { Schema } from '../../contract/schema.ts'
import { createPlot } from '../charts/create.ts'
import { loadTheme } from '../charts/themes.ts'
import { type Content, defineTool, jsonContent, type Tool, type ToolCall, textContent } from './tool.ts'

/** Default number of rows. */
const DEFAULT_ROWS = 100
/** Maximum number of listed files. */
const MAX_FILES = 50

const textSchema = (description?: string): Schema<string> => ({ type: 'string', description })
const textsSchema = (description?: string): Schema<string[]> => ({
  type: 'array',
  items: textSchema(),
  description,
})
const integerSchema = (description?: string): Schema<number> => ({ type: 'integer', description })
const booleanSchema = (description?: string): Schema<boolean> => ({ type: 'boolean', description })
const objectSchema = (description?: string): Schema<Record<string, unknown>> => ({
  type: 'object',
  description,
})
const fileSchema = textSchema('Path (Reports/sales), id (alice:12) or link')

export const TOOLS: Readonly<Record<string, Tool>> = {
  find: defineTool({
    description: 'Find grids, plots and folders by name or column, or list a folder',
    properties: {
      query: textSchema('Part of a name, or a column'),
      folder: textSchema('Default: the home folder'),
    },
    required: [],
    async run({ client, toolArguments }) {
      const { query, folder } = toolArguments
      const page_size = MAX_FILES
      const { children } =
        query !== undefined
          ? await client.call('folders.search', { query: { q: query, page_size } })
          : folder === undefined
            ? await client.call('folders.home', { query: { page_size } })
            : await client.call('folders.get', {
                fid: await resolveFid(client, folder, 'fold'),
                query: { page_size },
              })
      return jsonContent((children?.results ?? []).map(summarizeFile))
    },
  }),
  read_rows: defineTool({
    description: 'Read rows of a grid as CSV',
    properties: {
      grid: fileSchema,
      columns: textsSchema('Names of columns. Default: all'),
      where: textSchema("Condition: temp > 20 and city in ('Oslo', 'Rome')"),
      sort: textSchema('Columns: -date,city'),
      limit: integerSchema(`Default: ${DEFAULT_ROWS}`),
    },
    required: ['grid'],
    async run({ client, toolArguments }) {
      const { grid, columns, where, sort, limit = DEFAULT_ROWS } = toolArguments
      const fid = await resolveFid(client, grid, 'grid')
      const query = { format: 'csv' as const, columns, where, sort, head: limit }
      return textContent(await (await client.response('grids.content', { fid, query })).text())
    },
  }),
  describe: defineTool({
    description: 'Describe a file: columns and statistics of a grid, type and options of a plot',
    properties: { file: fileSchema },
    required: ['file'],
    async run({ client, toolArguments }) {
      const fid = await resolveFid(client, String(toolArguments.file))
      const meta = await client.call('files.get', { fid })
      if (meta.filetype === 'grid') {
        const { columns } = await client.call('grids.describe', { fid })
        return jsonContent({ ...summarizeFile(meta), columns })
      }
      if (meta.filetype !== 'plot') return jsonContent(summarizeFile(meta))
      const figure = JSON.parse(await (await client.response('plots.content', { fid })).text())
      const { type, options } = figure.layout?.meta?.spec ?? {}
      return jsonContent({ ...summarizeFile(meta), type, options, grids: meta.references })
    },
  }),
  chart: defineTool({
    description:
      'Return an image of a plot; or create a plot of a grid, store it as name, and return its link and image (needs --allow-write)',
    properties: {
      plot: fileSchema,
      grid: fileSchema,
      type: {
        type: 'string',
        enum: [...CHART_TYPE_CHOICES],
        description: 'Default: chosen from the columns',
      },
      ...Object.fromEntries(
        (['x', 'y', 'by', 'aggregate', 'where', 'title'] as const).map((name) => [name, textSchema()]),
      ),
      options: objectSchema('Other options of gridline plot create: {"facet": "site", "logY": true}'),
      name: textSchema('Name of a new plot'),
    },
    required: [],
    async run(call) {
      const { client, toolArguments } = call
      const fid =
        toolArguments.plot === undefined
          ? await createStoredChart(call)
          : await resolveFid(client, String(toolArguments.plot), 'plot')
      const { web_url } = await client.call('files.get', { fid })
      const response = await client.response('files.image', { fid, query: { format: 'png' } })
      const chunks: Uint8Array[] = []
      for await (const chunk of response.bytes()) chunks.push(chunk)
      const image: Content = {
        type: 'image',
        data: Buffer.concat(chunks).toString('base64'),
        mimeType: 'image/png',
      }
      return [image, ...jsonContent({ fid, web_url })]
    },
  }),
  check: defineTool({
    description: 'Check a grid against rules, by default its own',
    properties: {
      grid: fileSchema,
      rules: objectSchema('A checks document. Default: the rules of the grid'),
    },
    required: ['grid'],
    async run({ client, toolArguments }) {
      const fid = await resolveFid(client, String(toolArguments.grid), 'grid')
      const json = toolArguments.rules === undefined ? {} : { checks: toolArguments.rules }
      return jsonContent(await client.call('checks.run', { fid, json }))
    },
  }),
  diff: defineTool({
    description: 'Compare a grid with another one, or with an earlier version',
    properties: {
      grid: fileSchema,
      base: textSchema('The other grid. Default: the same one'),
      base_version: textSchema('Default: the version before'),
      key: textsSchema('Key columns. Default: the key of the grid'),
      limit: integerSchema('Maximum number of listed rows. Default: 100'),
    },
    required: ['grid'],
    async run({ client, toolArguments }) {
      const { grid, base, ...query } = toolArguments
      const fid = await resolveFid(client, grid, 'grid')
      const other = base === undefined ? undefined : await resolveFid(client, base, 'grid')
      return jsonContent(await client.call('grids.diff', { fid, query: { ...query, base: other } }))
    },
  }),
  upload_draft: defineTool({
    description: 'Store data as a draft of a grid, or as a new private grid: invisible to readers',
    properties: {
      filename: textSchema('With extension: sales.csv'),
      content: textSchema('The data, such as CSV'),
      draft: textSchema('Name of the draft. Default: agent'),
    },
    required: ['filename', 'content'],
    writes: true,
    async run({ client, toolArguments }) {
      const { filename, content, draft = 'agent' } = toolArguments
      const headers = { Draft: draft, 'On-Conflict': 'replace' as const }
      const plainHeaders = { [FILE_NAME_HEADER]: encodeHeader(filename) }
      const body = {
        type: 'application/octet-stream',
        repeatable: true,
        async *open() {
          yield Buffer.from(content)
        },
      }
      return jsonContent(await client.call('grids.upload', { headers, plainHeaders, body }))
    },
  }),
  publish: defineTool({
    description: 'Make a file public, or private again',
    properties: { file: fileSchema, public: booleanSchema('Default: true') },
    required: ['file'],
    writes: true,
    async run({ client, toolArguments }) {
      const fid = await resolveFid(client, String(toolArguments.file))
      const json = { world_readable: toolArguments.public !== false }
      return jsonContent(summarizeFile(await client.call('files.update', { fid, json })))
    },
  }),
  share: defineTool({
    description: 'Share a file with users, teams or e-mail addresses',
    properties: {
      file: fileSchema,
      users: textsSchema(),
      teams: textsSchema(),
      readonly: booleanSchema('Read access only'),
    },
    required: ['file'],
    writes: true,
    async run({ client, toolArguments }) {
      const { file: name, ...json } = toolArguments
      const fid = await resolveFid(client, String(name))
      return jsonContent(await client.call('collaborators.add', { fid, json }))
    },
  }),
  api: defineTool({
    description: 'Send any request to the API (see /v2/openapi.json); writes need --allow-write',
    properties: {
      method: textSchema('Default: GET'),
      path: textSchema('/v2/grids/alice:12/versions'),
      query: objectSchema(),
      body: objectSchema('JSON'),
    },
    required: ['path'],
    async run({ client, toolArguments, mayWrite }) {
      const { method = 'GET', path, query, body } = toolArguments
      const [pathname, queryText = ''] = path.split('?')
      const operation = findOperation(method.toUpperCase(), pathname)
      if (!operation || operation.agentTool === 'none')
        throw new Problem('usage', `${method} ${pathname}: not an operation that agents may use`)
      if (operation.agentTool !== 'reads' && !mayWrite)
        throw new Problem(
          'usage',
          `${method} ${pathname} changes data: start gridline mcp with --allow-write`,
        )
      const searchParams = new URLSearchParams(queryText)
      for (const [key, value] of Object.entries(query ?? {}))
        for (const item of [value].flat()) searchParams.append(key, String(item))
      const requestPath = `${pathname}${searchParams.size > 0 ? `?${searchParams}` : ''}`
      const response = await client.send(method.toUpperCase(), requestPath, {}, { json: body })
      return textContent(response.status === 204 ? 'done' : await response.text())
    },
  }),
}

/** Returns the metadata that agents need. */
function summarizeFile(meta: FileMeta & Partial<Pick<GridMeta, 'row_count' | 'cols'>>): object {
  const { fid, filename, filetype, world_readable, web_url, date_modified, row_count, cols } = meta
  return {
    ...{ fid, filename, filetype, world_readable, web_url, date_modified, row_count },
    ...(cols && { columns: cols.slice(0, MAX_FILES).map(({ name, type }) => `${name}:${type}`) }),
  }
}

/** Creates a plot of a grid, and returns its fid. Throws `usage`. */
async function createStoredChart({ context, client, toolArguments, mayWrite }: ToolCall): Promise<string> {
  const { grid, type, name, options: more = {}, ...mainOptions } = toolArguments
  if (grid === undefined) throw new Problem('usage', 'expected plot or grid')
  if (!mayWrite) throw new Problem('usage', 'storing a plot needs gridline mcp --allow-write')
  const options = parseChartOptions({ ...(more as object), ...mainOptions })
  const meta = await client.call('grids.get', { fid: await resolveFid(client, String(grid), 'grid') })
  const notes: string[] = []
  const chart = await createChart(client, meta, { type: type as ChartType | undefined, options }, (note) =>
    notes.push(note),
  )
  const figure = options.theme === undefined ? chart.figure : setTheme(chart.figure, loadTheme(options.theme))
  const destination = {
    filename: String(name ?? `${meta.filename} ${chart.type}`),
    on_conflict: 'replace' as const,
  }
  return (await createPlot(context, JSON.stringify(figure), destination)).fid
}

/** Converts chart options of an agent. Throws `usage` for unknown ones. */
function parseChartOptions(values: Record<string, unknown>): ChartOptions {
  const options: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) {
    const option = OPTION_NAMES.find((known) => known === name)
    if (option === undefined)
      throw new Problem('usage', `no chart option named ${name}`, { hint: OPTION_NAMES.join(', ') })
    const { kind } = getOption(option)
    options[name] =
      kind === 'texts'
        ? [value].flat().map(String)
        : kind === 'flag'
          ? value === true
          : kind === 'number'
            ? Number(value)
            : String(value)
  }
  return options as ChartOptions
}

/** Returns the operation of a method and path, preferring literal segments; undefined if there is none. */
function findOperation(method: string, path: string): Operation | undefined {
  const segments = path.split('/')
  // Empty and dot segments would name another operation.
  if (segments.slice(1).some((word) => /^(?:\.|%2e){0,2}$/i.test(word))) return undefined
  const countLiteralSegments = (route: string): number | undefined => {
    const routeSegments = route.split('/')
    const isMatch =
      routeSegments.length === segments.length &&
      routeSegments.every((part, k) => part.startsWith(':') || part === segments[k])
    return isMatch ? routeSegments.filter((part) => !part.startsWith(':')).length : undefined
  }
  const matches = Object.values<Operation>(operations).flatMap((operation) => {
    if (!methodsOf(operation).some((known) => known === method)) return []
    return routesOf(operation).flatMap(({ path: route }) => {
      const count = countLiteralSegments(route)
      return count === undefined ? [] : [{ operation, count }]
    })
  })
  return matches.sort((a, b) => b.count - a.count)[0]?.operation
}
