// `gridline cat`: prints the rows of grids and local files.

import { parseColumnNames } from '../../charts/spec/parse-names.ts'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { contentFormats, type QueryOf } from '../../contract/operations/index.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { sortOption, whereOption } from '../../contract/row-options.ts'
import { splitColumnNames } from '../charts/columns.ts'
import type { Context } from '../core/context.ts'
import {
  type CommandResult,
  defineCommand,
  type Option,
  type OptionValues,
  type ShortHelp,
} from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { isLocalDataFile, loadLocalGrid, openGridOrFile } from '../files/local-data.ts'
import { localOptions, type ReadingOptions } from '../files/parse-options.ts'
import { isPattern } from '../files/patterns.ts'
import { reshapeOptions, toReshapeQuery } from '../files/reshape.ts'
import { resolveTargets } from '../files/targets.ts'
import { appendNewline } from '../output/bytes.ts'
import { hasColor } from '../output/color.ts'
import { describeHiddenColumns, formatFittedTable, formatResultTable } from '../output/fit-table.ts'

/** Default number of rows on a terminal. */
const MAX_TERMINAL_ROWS = 1000
/** Polling interval of --follow, in ms. */
const FOLLOW_POLL_MS = 1000

const options = [
  {
    flags: '--format <format>',
    description:
      'table (default on a terminal), csv (default otherwise), tsv, json (by column, as in the API), ndjson (one object per row), xlsx, parquet, md (Markdown) or html (a page that is one file)',
    choices: [...contentFormats, 'table'],
  },
  {
    flags: '--columns <names>',
    description: 'print only these columns, comma-separated, in this order (repeatable)',
    repeatable: true,
  },
  {
    flags: '--limit <rows>',
    alias: '--head',
    integer: {},
    description: 'print only this many rows from the start',
  },
  { flags: '--tail <rows>', integer: {}, description: 'print only this many rows from the end' },
  { flags: '--sample <rows>', integer: {}, description: 'print a random sample of this size, in grid order' },
  whereOption,
  sortOption,
  ...reshapeOptions,
  { flags: '--no-header', description: 'omit column names from csv and tsv' },
  { flags: '-f, --follow', description: 'print rows as they are appended, until Ctrl-C' },
  { flags: '--no-pager', description: 'do not page the table on a terminal' },
  ...localOptions,
] as const satisfies readonly Option[]

/** Options shown by the short help. */
const shortHelp: ShortHelp = {
  options: {
    '--format': 'table, csv, tsv, json, ndjson, xlsx, parquet, md or html',
    '--columns': 'print only these columns, in this order',
    '--limit': 'print only this many rows from the start',
    '--tail': 'print only this many rows from the end',
    '--where': "only matching rows: temp > 20 and city = 'Oslo'",
    '--sort': 'sort by these columns: -date,city',
    '--group': 'one row per value of these columns',
    '--sum': 'with --group: sums of these columns; also --mean, --min …',
    '--per': 'group dates by day, month, year …',
    '--pivot': 'the values of this column become columns',
    '--unpivot': 'turn these columns into rows, with --into name,value',
    '--join': 'add the columns of another grid, with --on id',
    '--follow': 'print rows as they are appended, until Ctrl-C',
    '--no-pager': 'do not page the table on a terminal',
  },
  topics: ['formats'],
  examples: 4,
}

type CatOptions = OptionValues<typeof options> & { reshape?: Partial<QueryOf<'grids.content'>> }

export const command = defineCommand({
  output: otherOutput(
    'the content of the grid by column: `{"cols": {name: {"uid", "order", "data"}}}`',
    ['cols'],
    'Use --columns to choose columns; --format ndjson prints one object per row.',
  ),
  arguments: '<grid...>',
  usage: '<grid|file...>',
  options,
  shortHelp,
  examples: [
    'gridline cat sales',
    'gridline cat sales.csv.gz --limit 10',
    'gridline cat sales --columns city,price --limit 10',
    'gridline cat sales --where "price > 100 and city = \'Oslo\'" --sort -price --limit 10',
    "gridline cat sales --jq 'select(.price > 100) | .city'",
    'gridline cat sales --tail 5 --follow',
    "gridline cat 'Reports/2024*' --format ndjson",
    'gridline cat sales --group city --sum price,cost --per month',
    'gridline cat sales --group city --pivot product --sum price',
    'gridline cat sales --join cities --on city --where "price > 100"',
    'gridline cat budget --unpivot 2019-2023 --into year,value',
  ],
  async run(context, grids, options) {
    const rowOptions = [options.limit, options.tail, options.sample].filter((rows) => rows !== undefined)
    if (rowOptions.length > 1) throw new Problem('usage', 'use only one of: --limit, --tail, --sample')
    if (grids.length === 1 && !isPattern(grids[0])) {
      const { client, fid } = await openGridOrFile(context, grids[0], readingOptionsOf(options))
      const reshape = await toReshapeQuery(client, fid, {
        ...options,
        join: options.join && [await resolveJoined(context, options.join, grids[0], options)],
      })
      const isReshaped = Object.keys(reshape).length > 0
      const names = isReshaped
        ? options.columns?.flatMap((text) => parseColumnNames(text))
        : await splitColumnNames(client, fid, options.columns)
      return printGrid(context, client, fid, {
        ...options,
        columns: names,
        reshape: isReshaped ? reshape : undefined,
      })
    }
    const client = await context.client()
    const { files, failures } = await resolveTargets(client, grids, { filetype: 'grid' })
    if (files.length === 0 || failures.length > 0) throw failures[0].problem
    if (options.follow) throw new Problem('usage', '--follow takes one grid')
    return {
      bytes: concatenateGrids(
        client,
        files.map(({ fid }) => fid),
        options,
        contentFormatOf(context, options),
      ),
    }
  },
})

/** Returns the grid of --join; a local file is loaded beside the local file of the command. Throws `usage`. */
async function resolveJoined(
  context: Context,
  joins: readonly string[],
  source: string,
  options: CatOptions,
): Promise<string> {
  const [joined] = joins
  if (joins.length > 1)
    throw new Problem('usage', 'cat joins one grid', { hint: 'For more, use SQL: gridline query' })
  const [isLocal, isSourceLocal] = await Promise.all([joined, source].map((word) => isLocalDataFile(word)))
  if (isLocal && isSourceLocal) return (await loadLocalGrid(context, joined, readingOptionsOf(options))).fid
  if (isLocal !== isSourceLocal)
    throw new Problem('usage', 'a grid and a data file can only be joined with: gridline query', {
      hint: `For example: gridline query "select * from '${source}' join '${joined}' using (id)"`,
    })
  return joined
}

/** Removes --no-header, which concerns output, from the options for reading a file. */
function readingOptionsOf({ header: _header, ...reading }: CatOptions): ReadingOptions {
  return reading
}

/** Yields the rows of several grids. Omits a header that equals the previous one. */
async function* concatenateGrids(
  client: Client,
  fids: readonly string[],
  options: CatOptions,
  format: Format,
): AsyncGenerator<Uint8Array> {
  if (FILE_FORMATS.has(format)) throw new Problem('usage', `--format ${format} prints one grid`)
  let lastHeader: string | undefined
  for (const fid of fids) {
    const bytes = readContent(client, fid, options, format)
    if (!HAS_HEADER[format] || fids.length === 1) yield* bytes
    else {
      const { cols } = await client.call('grids.get', { fid })
      const header = options.columns?.join(',') ?? JSON.stringify(cols.map(({ name }) => name))
      yield* header === lastHeader && options.header !== false ? skipHeader(bytes) : bytes
      lastHeader = header
    }
  }
}

type Format = (typeof contentFormats)[number]

/** Returns the output format. With --jq: one object per row. */
function contentFormatOf(context: Context, { format }: CatOptions): Format {
  const { json, jq } = context.flags
  if (format === 'table') return 'csv'
  return format ?? (json !== undefined ? 'json' : jq !== undefined ? 'ndjson' : 'csv')
}

/** Returns the query of the API. */
function contentQueryOf({ columns, limit, tail, sample, where, sort, reshape }: CatOptions) {
  return { columns, head: limit, tail, sample, where, sort, ...reshape }
}

/** Prints one grid as table, bytes or JSON, or follows it. */
async function printGrid(
  context: Context,
  client: Client,
  fid: string,
  options: CatOptions,
): Promise<CommandResult> {
  const { jq, json } = context.flags
  const isTable =
    options.format === 'table' ||
    (options.format === undefined && process.stdout.isTTY === true && jq === undefined && json === undefined)
  const format = contentFormatOf(context, options)
  if (options.follow) {
    if (options.where !== undefined || options.sort !== undefined || options.reshape)
      throw new Problem('usage', '--follow cannot be used with --where, --sort or --group', {
        hint: 'To filter new rows, use --jq.',
      })
    if (jq !== undefined || !(HAS_HEADER[format] || format === 'ndjson'))
      throw new Problem('usage', '--follow supports only csv, tsv and ndjson')
    return { bytes: followGrid(context, client, fid, options, format) }
  }
  if (FILE_FORMATS.has(format) && process.stdout.isTTY)
    throw new Problem('usage', `--format ${format} is not for a terminal: write it to a file`, {
      hint: `gridline cat GRID --format ${format} > GRID.${format}`,
    })
  if (isTable) return printTable(context, client, fid, options)
  if (jq !== undefined && format !== 'json') {
    if (format !== 'ndjson') throw new Problem('usage', `--jq needs --format json or ndjson, not ${format}`)
    return filterRows(client, fid, options, jq)
  }
  if (jq !== undefined || typeof json === 'string') {
    if (format !== 'json')
      throw new Problem('usage', `--json FIELDS can only be used with --format json, not ${format}`)
    const response = await client.response('grids.content', {
      fid,
      query: { ...contentQueryOf(options), format },
    })
    return { item: (await response.json()) as object, view: { columns: [] } }
  }
  return { bytes: readContent(client, fid, options, format) }
}

/** Formats whose first line is a header. */
const HAS_HEADER: Record<Format, boolean> = {
  csv: true,
  tsv: true,
  ndjson: false,
  json: false,
  xlsx: false,
  parquet: false,
  md: false,
  html: false,
}

/** Formats of files that hold one grid. */
const FILE_FORMATS: ReadonlySet<Format> = new Set(['xlsx', 'parquet', 'html'])

/** Yields the content of a grid, without header for --no-header. */
async function* readContent(
  client: Client,
  fid: string,
  options: CatOptions,
  format: Format,
): AsyncGenerator<Uint8Array> {
  const response = await client.response('grids.content', {
    fid,
    query: { ...contentQueryOf(options), format },
  })
  const bytes = response.bytes()
  if (HAS_HEADER[format] && options.header === false) yield* skipHeader(bytes)
  else yield* format === 'json' ? appendNewline(bytes) : bytes
}

/** Yields the results of a jq expression for each row. */
async function filterRows(
  client: Client,
  fid: string,
  options: CatOptions,
  jq: string,
): Promise<CommandResult> {
  const { applyJqToLines } = await import('../output/selection.ts')
  return { bytes: applyJqToLines(readContent(client, fid, options, 'ndjson'), jq) }
}

/** Prints a table. On a terminal, as wide as the terminal, with a note about omitted rows and columns. */
async function printTable(
  context: Context,
  client: Client,
  fid: string,
  options: CatOptions,
): Promise<CommandResult> {
  const meta: GridMeta = await client.call('grids.get', { fid })
  const isTerminal = process.stdout.isTTY === true
  const isAll = options.limit === undefined && options.tail === undefined && options.sample === undefined
  const query = contentQueryOf(options)
  if (isAll && isTerminal) query.head = MAX_TERMINAL_ROWS
  if (options.reshape) return printReshaped(context, client, fid, query)
  const response = await client.response('grids.content', { fid, query: { ...query, format: 'ndjson' } })
  const names = query.columns ?? meta.cols.map(({ name }) => name)
  const { parseCells } = await import('../files/rows.ts')
  const cells = parseCells(await response.text(), names)
  const width = isTerminal ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY
  const { text, columnCount } = formatFittedTable(
    cells,
    width,
    hasColor(process.stdout, context.environment),
    isTerminal,
  )
  const omitted: string[] = []
  if (isTerminal && cells.rows.length < meta.row_count)
    omitted.push(
      options.where === undefined
        ? `${cells.rows.length} of ${meta.row_count} rows`
        : isAll && cells.rows.length < MAX_TERMINAL_ROWS
          ? `${cells.rows.length} of ${meta.row_count} rows match`
          : `${formatCount(cells.rows.length, 'row')} of the matching rows`,
    )
  omitted.push(...[describeHiddenColumns(names, columnCount)].filter((text) => text !== undefined))
  const output = omitted.length > 0 ? `${text}${omitted.join('; ')}\n` : text
  if (!isTerminal || options.pager === false) return { text: output }
  const { writePaged } = await import('../output/pager.ts')
  await writePaged(output, context.environment)
  return undefined
}

/** Prints another table of the rows, whose columns are not those of the grid. */
async function printReshaped(
  context: Context,
  client: Client,
  fid: string,
  query: ReturnType<typeof contentQueryOf>,
): Promise<CommandResult> {
  const response = await client.response('grids.content', { fid, query: { ...query, format: 'json' } })
  const { parseColumns } = await import('../files/rows.ts')
  return { text: formatResultTable(context.environment, parseColumns(await response.text())) }
}

/** Yields the rows, then appended ones, until the command ends. */
async function* followGrid(
  context: Context,
  client: Client,
  fid: string,
  options: CatOptions,
  format: Format,
): AsyncGenerator<Uint8Array> {
  const { row_count } = await client.call('grids.get', { fid })
  let next = row_count
  const { columns } = options
  const { tail, limit } = options
  // Offset instead of tail: rows can have been appended since the count was read.
  const offset = tail === undefined ? undefined : Math.max(0, row_count - tail)
  const head = tail ?? limit ?? row_count
  const first = await client.response('grids.content', { fid, query: { format, columns, head, offset } })
  yield* options.header === false && HAS_HEADER[format] ? skipHeader(first.bytes()) : first.bytes()
  // Last row, to distinguish a replaced grid from one that has grown.
  let last = await loadRow(client, fid, next - 1)
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_POLL_MS))
    const { row_count: rows } = await client.call('grids.get', { fid })
    const isReplaced = rows < next || (rows > next && last !== (await loadRow(client, fid, next - 1)))
    if (isReplaced) {
      context.messages.warning('the grid was replaced; printing all of its rows')
      next = 0
    }
    if (rows === next) continue
    const more = await client.response('grids.content', {
      fid,
      query: { format, columns, offset: next, head: rows - next },
    })
    yield* HAS_HEADER[format] ? skipHeader(more.bytes()) : more.bytes()
    next = rows
    last = await loadRow(client, fid, next - 1)
  }
}

/** Returns a row as JSON text; undefined for a negative offset. */
async function loadRow(client: Client, fid: string, offset: number): Promise<string | undefined> {
  if (offset < 0) return undefined
  const query = { format: 'ndjson' as const, offset, head: 1 }
  return (await client.response('grids.content', { fid, query })).text()
}

/** Yields CSV without its first record. Quoted column names can contain line breaks. */
async function* skipHeader(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isQuoted = false
  let isHeaderPast = false
  for await (const chunk of bytes) {
    let from = 0
    for (; !isHeaderPast && from < chunk.length; from++) {
      if (chunk[from] === 0x22) isQuoted = !isQuoted
      else if (chunk[from] === 0x0a && !isQuoted) isHeaderPast = true
    }
    if (isHeaderPast && from < chunk.length) yield chunk.subarray(from)
  }
}
