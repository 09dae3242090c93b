// `gridline query`: queries grids and local files in SQL.
import { buffer } from 'node:stream/consumers'
import { CHART_OPTIONS, type ChartOptions, flagOf, OPTION_NAMES } from '../../charts/spec/options.ts'
import { CHART_TYPE_CHOICES } from '../../charts/spec/types.ts'
import { type BodySource, type Client, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { contentFormats, type ImageFormat, imageFormats } from '../../contract/operations/index.ts'
import { toByteStream } from '../../json/index.ts'
import { createThemedChart } from '../charts/charts.ts'
import { createFigureBody } from '../charts/create.ts'
import type { Context } from '../core/context.ts'
import {
  type CommandResult,
  defineCommand,
  type Option,
  type OptionValues,
  type ShortHelp,
} from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { isLocalDataFile, loadLocalGrid } from '../files/local-data.ts'
import { assertNoReadingOptions, localOptions, type ReadingOptions } from '../files/parse-options.ts'
import { parseParameters, type QueryParameters, readSql, sendSql, sqlOptions } from '../files/sql-options.ts'
import { writeNamedFile } from '../files/write-file.ts'
import { formatResultTable } from '../output/fit-table.ts'
import type { TableView } from '../output/view.ts'

/** Options of charts, without those that the query itself has. */
const PLOT_OPTIONS = CHART_OPTIONS.filter(({ flags }) => !/^--(?:locale|where|sort|geojson) /.test(flags))

const options = [
  ...sqlOptions,
  {
    flags: '--format <format>',
    description:
      'table (default on a terminal), csv (default otherwise), tsv, json (by column), ndjson (one object per row), xlsx, parquet, md (Markdown) or html',
    choices: [...contentFormats, 'table'],
  },
  {
    flags: '--plot <type>',
    description: 'draw the result as a chart of this type in the terminal, or with -o into a file',
    choices: CHART_TYPE_CHOICES,
  },
  {
    flags: '-o, --output <file>',
    description:
      'write the result to this file (- for stdout), or with --plot an image; its extension sets the format',
  },
  ...PLOT_OPTIONS,
  ...localOptions,
] as const satisfies readonly Option[]

/** The file that was written. */
const fileView: TableView = {
  id: 'file',
  columns: [
    { field: 'file', title: 'FILE' },
    { field: 'format', title: 'FORMAT' },
  ],
}

type QueryOptions = OptionValues<typeof options>

/** Comments, texts and names in quotes. */
const QUOTED = /--[^\n]*|\/\*[\s\S]*?\*\/|'((?:[^']|'')+)'|"((?:[^"]|"")+)"/g

/** Options shown by the short help. */
const shortHelp: ShortHelp = {
  options: {
    '--file': 'read the query from this file; - for standard input',
    '--param': 'value of a parameter, which the query names $name',
    '--format': 'table, csv, tsv, json, ndjson, xlsx, parquet, md or html',
    '--output': 'write the result to this file, or - for stdout; the extension sets the format',
    '--plot': 'draw the result in the terminal, or with -o into a file',
    '--x': 'with --plot: column of the x axis',
    '--y': 'with --plot: columns of the y axis',
    '--by': 'with --plot: one series per value of this column',
    '--title': 'with --plot: title of the chart',
    '--delimiter': 'of data files: delimiter between cells',
    '--decimal': 'of data files: decimal separator',
    '--null': 'of data files: text of missing values',
  },
  topics: ['formats', 'charts'],
  examples: 6,
}

export const command = defineCommand({
  output: otherOutput(
    'the result by column: `{"cols": {name: {"uid", "order", "data"}}}`',
    ['cols'],
    '--format ndjson prints one object per row.',
  ),
  arguments: '[sql]',
  options,
  shortHelp,
  examples: [
    "gridline query 'select city, avg(temp) from sales group by city'",
    `gridline query "select * from 'sales.csv' join cities using (city)"`,
    `gridline query 'select * from "Reports/2024@3" where day >= $day' --param day=2024-06-01`,
    'gridline query --file report.sql -o report.xlsx',
    "gridline query 'select month, sum(price) from sales group by month' --plot bar",
    'cat sales.csv | gridline query "select count(*) from \'-\'"',
  ],
  async run(context, [text], options) {
    const sql = readSql(text, options.file)
    const query = { sql, params: parseParameters(options.param ?? []) }
    return sendSql(() => runQuery(context, query, options), { file: options.file })
  },
})

async function runQuery(context: Context, query: Source['query'], options: QueryOptions) {
  const source = await openSource(context, query, options)
  if (options.plot !== undefined) return drawResult(context, source, options)
  const lost = OPTION_NAMES.find((name) => name !== 'locale' && name in options)
  if (lost) throw new Problem('usage', `${flagOf(lost)} can only be used with --plot`)
  return printResult(context, source, options)
}

/** A service that runs a query, and the ids of tables that it knows under other names. */
interface Source {
  client: Client
  query: { sql: string; params: QueryParameters; tables?: Record<string, string> }
}

/**
 * Returns the service that runs a query: that of the grids, or, if the query names local files, a temporary one into
 * which all of its tables are loaded.
 */
async function openSource(context: Context, query: Source['query'], options: QueryOptions): Promise<Source> {
  const quoted = [...query.sql.matchAll(QUOTED)].flatMap(
    ([, text, name]) => text?.replaceAll("''", "'") ?? name?.replaceAll('""', '"') ?? [],
  )
  const useServer = async (): Promise<Source> => ({ client: await context.client(), query })
  if (!(await hasLocalFile(quoted))) {
    assertNoReadingOptions(options as ReadingOptions)
    return useServer()
  }
  const client = await context.temporaryClient()
  // Only the parser knows which of the texts are tables.
  const names = await findUnknownTables(client, query).catch((error) => {
    // Without DuckDB here, only a server can run it.
    if (error instanceof Problem && error.code === 'no_duckdb') return []
    throw error
  })
  if (!(await hasLocalFile(names))) return useServer()
  const tables: Record<string, string> = {}
  for (const name of names)
    tables[name] = (await isLocalDataFile(name))
      ? (await loadLocalGrid(context, name, options as ReadingOptions)).fid
      : await copyGrid(context, client, name)
  return { client, query: { ...query, tables } }
}

async function hasLocalFile(names: readonly string[]): Promise<boolean> {
  return (await Promise.all(names.map((name) => isLocalDataFile(name)))).includes(true)
}

/** Returns the tables that a query names and a service without grids does not have. */
async function findUnknownTables(client: Client, query: Source['query']): Promise<readonly string[]> {
  try {
    await client.response('queries.run', { json: { ...query, format: 'csv' } })
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'unknown_table' && error.tables)) throw error
    return error.tables
  }
  return []
}

/** Copies a stored grid into a temporary service. Returns its id there. */
async function copyGrid(context: Context, temporary: Client, name: string): Promise<string> {
  const client = await context.client()
  const fid = await resolveTable(client, name)
  const content = await client.response('grids.content', { fid, query: { format: 'parquet' } })
  const { file } = await temporary.call('grids.upload', {
    headers: { 'Parent-Path': fid.replace(':', '-') },
    plainHeaders: { [FILE_NAME_HEADER]: 'grid.parquet' },
    body: toBody(await buffer(content.bytes())),
  })
  return file.fid
}

/** Resolves a table to a grid: a name, id or version, or `user.name`. */
async function resolveTable(client: Client, name: string): Promise<string> {
  const [, user, path] = /^([^./:]+)\.(.+)$/s.exec(name) ?? []
  try {
    return await resolveFid(client, name, 'grid')
  } catch (error) {
    if (user === undefined || !(error instanceof Problem && error.code === 'not_found')) throw error
    return (await client.call('grids.lookup', { query: { path, user } })).fid
  }
}

/** Prints the result as a table or in a format of grids. */
async function printResult(
  context: Context,
  { client, query }: Source,
  { format: asked, output }: QueryOptions,
): Promise<CommandResult> {
  const { json, jq } = context.flags
  if (output !== undefined && output !== '-') return writeResult({ client, query }, output, asked)
  const format = asked
  const isTerminal = process.stdout.isTTY === true
  if (jq !== undefined) {
    const { applyJqToLines } = await import('../output/selection.ts')
    const response = await client.response('queries.run', { json: { ...query, format: 'ndjson' } })
    return { bytes: applyJqToLines(response.bytes(), jq) }
  }
  if (format === 'table' || (format === undefined && isTerminal && json === undefined))
    return printTable(context, { client, query })
  if ((format === 'xlsx' || format === 'parquet') && isTerminal)
    throw new Problem('usage', `--format ${format} is not for a terminal`, {
      hint: `Write it to a file: -o result.${format}`,
    })
  const printed = format ?? (json === undefined ? 'csv' : 'json')
  const response = await client.response('queries.run', { json: { ...query, format: printed } })
  if (typeof json === 'string') return { item: (await response.json()) as object, view: { columns: [] } }
  return { bytes: response.bytes() }
}

/** Writes the result to a file, in the format of its extension. */
async function writeResult(
  { client, query }: Source,
  output: string,
  asked: QueryOptions['format'],
): Promise<CommandResult> {
  const extension = output.slice(output.lastIndexOf('.') + 1).toLowerCase()
  const format = contentFormats.find((name) => name === (asked ?? extension))
  if (format === undefined)
    throw new Problem(
      'usage',
      `--output ${output}: the extension must be one of ${contentFormats.join(', ')}`,
    )
  const response = await client.response('queries.run', { json: { ...query, format } })
  await writeNamedFile(output, await buffer(response.bytes()))
  return { item: { file: output, format }, view: fileView }
}

async function printTable(context: Context, { client, query }: Source): Promise<CommandResult> {
  const response = await client.response('queries.run', { json: { ...query, format: 'json' } })
  const { parseColumns } = await import('../files/rows.ts')
  const cells = parseColumns(await response.text())
  const text = formatResultTable(context.environment, cells)
  return { text: cells.rows.length === 0 ? `${text}no rows\n` : text }
}

/** Draws the result in the terminal, or into a file. */
async function drawResult(
  context: Context,
  { client, query }: Source,
  { plot: type, output, ...options }: QueryOptions,
): Promise<CommandResult> {
  const temporary = await context.temporaryClient()
  const response = await client.response('queries.run', { json: { ...query, format: 'parquet' } })
  const bytes = await buffer(response.bytes())
  const { file } = await temporary.call('grids.upload', {
    headers: { 'Parent-Path': 'result' },
    plainHeaders: { [FILE_NAME_HEADER]: 'result.parquet' },
    body: toBody(bytes),
  })
  if (!('cols' in file)) throw new Problem('internal', 'the result is not a table')
  const { figure } = await createThemedChart(temporary, file, type, chartOptionsOf(options), (text) =>
    context.messages.note(text),
  )
  const made = await temporary.call('plots.create', { body: createFigureBody(JSON.stringify(figure), {}) })
  if (output === undefined) {
    const content = await temporary.response('plots.content', {
      fid: made.file.fid,
      query: { inline_data: true },
    })
    const { drawChart } = await import('../output/chart.ts')
    return { text: await drawChart(JSON.parse(await content.text()), context.environment, process.stdout) }
  }
  const format = imageFormats.find((name) => output.toLowerCase().endsWith(`.${name}`))
  if (!format)
    throw new Problem('usage', `--output ${output}: the extension must be one of ${imageFormats.join(', ')}`)
  const image = await temporary.response('files.image', {
    fid: made.file.fid,
    query: { format: format satisfies ImageFormat },
  })
  await writeNamedFile(output, await buffer(image.bytes()))
  return { item: { file: output, format }, view: fileView }
}

/** Returns a request body of bytes. */
function toBody(bytes: Buffer): BodySource {
  return { type: 'application/octet-stream', repeatable: true, open: () => toByteStream(bytes) }
}

/** Returns the options of the chart alone. */
function chartOptionsOf(options: object): ChartOptions {
  const given = new Map(Object.entries(options))
  return Object.fromEntries(
    OPTION_NAMES.filter((name) => name !== 'locale' && given.has(name)).map((name) => [
      name,
      given.get(name),
    ]),
  )
}
