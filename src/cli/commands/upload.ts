import { basename } from 'node:path'
import { type Client, headerText, lookupIfThere, startOf } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatFid, parseFid } from '../../contract/fid.ts'
import { conflictRules, FILE_NAME_HEADER } from '../../contract/headers.ts'
import { limitsFrom } from '../../contract/limits.ts'
import type { HeadersOf } from '../../contract/operations/index.ts'
import type { GridMeta, UploadAction } from '../../contract/resources.ts'
import { runEach } from '../batch.ts'
import { type ChartType, chartOf, chartOptions, chartTypes, checkChart } from '../charts.ts'
import type { Context } from '../context.ts'
import { defineCommand, type Option, type OptionsOf } from '../define.ts'
import { bodyOf, openInput, spooled } from '../input.ts'
import { Progress } from '../output/progress.ts'
import { chartView, filetypeName, madeView, type TableView, typeName } from '../output/view.ts'
import { allowTypeChange, readingHeaders, readingOptions, readingOptionsOf } from '../parse-options.ts'
import { assertOwnNames, createPlot } from '../plots.ts'
import { confirm } from '../prompt.ts'
import { idOfFolder } from '../targets.ts'

const options = [
  { flags: '--name <name>', description: 'name of the grid (default: file name without its extension)' },
  { flags: '--folder <path|id>', description: 'destination folder; missing folders are created' },
  { flags: '--public', description: 'make the grid public (readable by anyone)' },
  {
    flags: '--on-conflict <rule>',
    description: 'if the name is taken: fail (default), rename, replace (keeps the id and link) or append',
    choices: conflictRules,
  },
  ...readingOptions,
  allowTypeChange,
  {
    flags: '--plot <type>',
    description: 'also make a chart of the grid, and print its link; see --x and --y',
    choices: chartTypes,
  },
  ...chartOptions,
  { flags: '-y, --yes', description: 'replace a grid without confirmation, even if columns are lost' },
  {
    flags: '--dry-run',
    description: 'show names, types, row counts and assumptions without changing anything',
  },
] as const satisfies readonly Option[]

type Options = OptionsOf<typeof options>

type Made = GridMeta & { action?: UploadAction; warnings: string[] }

/** Uploaded files with the action taken. */
const uploadedView: TableView = {
  ...madeView,
  columns: [...madeView.columns, { field: 'action', title: 'ACTION' }],
}

export const command = defineCommand({
  arguments: '<file...>',
  localFiles: true,
  options,
  writes: true,
  examples: [
    'gridline upload sales.csv',
    'gridline upload 2024/*.csv.gz --folder Reports/2024 --public',
    "mysql -B -e 'select …' | gridline upload - --name orders --on-conflict replace",
    'gridline upload sales.csv --plot line --x date --y price --on-conflict replace',
    'gridline upload data.txt --dry-run --column zip:text',
    'gridline upload https://example.com/sales.csv      # if the server allows URL imports',
  ],
  async run(context, files, options) {
    const { name } = options
    if (name !== undefined && (name.trim() === '' || /[/\\]/.test(name))) {
      throw new Problem('usage', `--name ${JSON.stringify(name)}: must not be empty or contain / or \\`, {
        hint: 'Use --folder to set the folder.',
      })
    }
    if (name !== undefined && files.length > 1)
      throw new Problem('usage', '--name can only be used with one file')
    assertOwnNames(files, options.onConflict)
    if (files.includes('-') && name === undefined && !options.dryRun) {
      throw new Problem('usage', 'standard input has no name', { hint: 'Set one with --name.' })
    }
    const { dryRun, plot } = options
    const lost = plot === undefined && chartOptions.find(({ flags }) => flagOf(flags) in options)
    if (lost) throw new Problem('usage', `--${flagOf(lost.flags)} can only be used with --plot`)
    const work = async (file: string): Promise<object[]> => {
      if (dryRun) return preview(context, file, options)
      const made = await uploadFile(context, file, options)
      return [plot === undefined ? made : await plotOf(context, made, plot, options)]
    }
    const view = dryRun ? previewView : plot === undefined ? uploadedView : chartView
    if (files.length === 1) {
      const many = await work(files[0])
      if (!dryRun) await context.noteLinks()
      return { many, view, alone: many.length === 1 }
    }
    ;(await context.client()).several = true
    const done = await runEach(files, work)
    if (!dryRun && done.many.length > 0) await context.noteLinks()
    return { ...done, view }
  },
})

function flagOf(flags: string): string {
  return flags.split(' ')[0].slice(2)
}

/** The chart of an uploaded grid, next to it. What happens to the grid if its name is taken happens to the chart. */
async function plotOf(context: Context, grid: Made, type: ChartType, options: Options): Promise<object> {
  if (grid.filetype !== 'grid')
    throw new Problem(
      'usage',
      `--plot: the file contains several tables; they are in the folder ${grid.filename}`,
      {
        hint: 'Make a chart of one of them with: gridline plot create --grid',
      },
    )
  const client = await context.client()
  const figure = await chartOf(client, grid, type, options).catch((error) => {
    if (!(error instanceof Problem)) throw error
    const { code, message, hint } = error
    const { fid, action = 'created' } = grid
    throw new Problem(code, `the grid is uploaded (${fid}, ${action}), but there is no chart: ${message}`, {
      hint: `${hint ? `${hint} ` : ''}Make the chart with: gridline plot create --grid ${fid} --type ${type} …`,
    })
  })
  const { onConflict } = options
  const plot = await createPlot(context, JSON.stringify(figure), {
    filename: `${grid.filename} ${type}`,
    parent: grid.parent,
    world_readable: options.public === true,
    on_conflict: onConflict === 'append' ? 'replace' : onConflict,
  })
  if (process.stdout.isTTY && !context.messages.silent) await showChart(context, plot.fid)
  return {
    ...plot,
    grid_fid: grid.fid,
    action: grid.action ?? plot.action,
    warnings: [...grid.warnings, ...plot.warnings],
  }
}

/** Shows a chart in the terminal. Without Chromium, there is only its link. */
async function showChart(context: Context, fid: string): Promise<void> {
  const client = await context.client()
  const response = await client.response('plots.content', { fid, query: { inline_data: true } })
  const { chartText } = await import('../output/chart.ts')
  const text = await chartText(JSON.parse(await response.text()), context.environment).catch(() => undefined)
  if (text !== undefined) context.messages.aside(text)
}

function gridNameOf(file: string, options: Options): string {
  return options.name ?? basename(file)
}

/** Headers for `--folder`: a path, `alice:12`, `alice:12/sub`, or an id (12) if no folder has that name. */
async function folderHeaders(
  client: Client,
  folder: string | undefined,
): Promise<Pick<HeadersOf<'grids.upload'>, 'Parent' | 'Parent-Path'>> {
  if (folder === undefined) return {}
  if (parseFid(folder) || startOf(folder).user !== undefined)
    return { Parent: await idOfFolder(client, folder) }
  const number = /^-?\d+$/.test(folder) && !(await lookupIfThere(client, folder))
  return number ? { Parent: Number(folder) } : { 'Parent-Path': folder }
}

async function uploadFile(context: Context, file: string, options: Options): Promise<Made> {
  if (isAddress(file)) return importFrom(context, file, options)
  const opened = await openInput(file)
  const { client, server } = await context.connect()
  const input = server === undefined ? opened : await spooled(opened)
  const folder = await folderHeaders(client, options.folder)
  const progress = new Progress(context.messages, input.name, input.size)
  try {
    const body = bodyOf(
      input,
      'application/octet-stream',
      (bytes) => progress.add(bytes),
      () => progress.restart(),
    )
    const send = (mayLoseColumns: boolean) =>
      client.call('grids.upload', {
        headers: {
          'World-Readable': options.public ? true : undefined,
          'On-Conflict': options.onConflict ?? 'fail',
          'Allow-Type-Change': options.allowTypeChange ? true : undefined,
          'Allow-Column-Loss': mayLoseColumns,
          ...folder,
          ...readingHeaders(options),
        },
        plainHeaders: { [FILE_NAME_HEADER]: headerText(gridNameOf(file, options)) },
        body,
      })
    const {
      file: made,
      warnings,
      action,
    } = await send(options.yes === true).catch(async (thrown) => {
      const error =
        thrown instanceof Problem ? aboutFile(thrown, gridNameOf(file, options), input.name) : thrown
      if (!(error instanceof Problem) || error.code !== 'column_loss') throw error
      progress.end()
      await confirm(`${input.name}: ${error.message}. Replace it?`, false)
      return send(true)
    })
    progress.end()
    for (const warning of warnings) context.messages.warning(`${input.name}: ${warning}`)
    return { ...(made as GridMeta), action, warnings }
  } finally {
    progress.end()
  }
}

/** Replaces the grid name in a message of the service by the name of the local file. */
function aboutFile(problem: Problem, name: string, file: string): Problem {
  const { code, message, field, path, hint } = problem
  if (name === file || !(message.startsWith(`${name}, line`) || message.startsWith(`${name}:`)))
    return problem
  return new Problem(code, file + message.slice(name.length), { field, path, hint })
}

function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file)
}

/** Imports from a URL, which the server fetches. Its operator must have enabled this. */
async function importFrom(
  context: Context,
  source_url: string,
  { name, folder, public: isPublic, onConflict }: Options,
): Promise<Made> {
  if (onConflict === 'replace' || onConflict === 'append')
    throw new Problem('usage', `--on-conflict ${onConflict} cannot be used with a URL`, {
      hint: `Download the file first: curl ${source_url} | gridline upload - --name NAME --on-conflict ${onConflict}`,
    })
  const client = await context.client()
  const place = await folderHeaders(client, folder)
  const json = {
    source_url,
    filename: name,
    world_readable: isPublic === true,
    parent: place.Parent,
    parent_path: place['Parent-Path'],
  }
  const { file: made, warnings } = await client.call('grids.create', { json })
  for (const warning of warnings) context.messages.warning(`${source_url}: ${warning}`)
  return { ...(made as GridMeta), action: 'created', warnings }
}

interface Preview {
  file: string
  name: string
  rows: number
  columns: { name: string; type: string }[]
  warnings: string[]
  /** The existing file with that name, or null. */
  target: { fid: string; filetype: string } | null
}

const previewView: TableView = {
  id: 'name',
  columns: [
    { field: 'name', title: 'NAME' },
    { field: 'rows', title: 'ROWS', align: 'right' },
    {
      field: 'columns',
      title: 'COLUMNS',
      format: (columns: Preview['columns']) =>
        columns.map(({ name, type }) => `${name}:${typeName(type)}`).join(' '),
    },
    {
      field: 'target',
      title: 'TAKEN BY',
      format: (target: Preview['target']) =>
        target ? `${target.fid} (${filetypeName(target.filetype)})` : '',
    },
  ],
}

/**
 * Determines locally what an upload would do. The server is only asked whether the name is taken. An archive
 * or workbook with several tables would become a folder of grids: each is listed.
 */
async function preview(context: Context, file: string, options: Options): Promise<Preview[]> {
  if (isAddress(file))
    throw new Problem('usage', '--dry-run cannot be used with a URL', {
      hint: `Download the file first: curl ${file} | gridline upload - --dry-run`,
    })
  const input = await openInput(file)
  const { gridName, ingestFile } = await import('../../ingest/index.ts')
  const fileName = options.name ?? (file === '-' ? undefined : basename(file))
  const reading = {
    ...readingOptionsOf(options, input.name),
    fileName,
    limits: limitsFrom(context.environment),
  }
  const { tables, warnings } = await ingestFile(input.open(), reading, () => ({ slice() {} }))
  const all = [...warnings, ...tables.flatMap(({ ingested }) => ingested.warnings)]
  const name = gridName(fileName)
  if (options.plot !== undefined && tables.length === 1) {
    const { columns } = tables[0].ingested
    await checkChart(name, columns, options.plot, options)
  }
  const client = await context.client()
  const place = await folderHeaders(client, options.folder)
  const path = place['Parent-Path'] === undefined ? name : `${place['Parent-Path']}/${name}`
  const target = await lookupIfThere(client, path, place.Parent)
  for (const warning of all) context.messages.warning(`${input.name}: ${warning}`)
  if (target && options.onConflict === undefined)
    context.messages.warning(`${input.name}: the name ${name} is taken by ${target.fid}; use --on-conflict`)
  return tables.map((table) => ({
    file: input.name,
    name: [name, ...table.path].join('/'),
    rows: table.ingested.rows,
    columns: table.ingested.columns.map(({ name: column, type }) => ({ name: column, type })),
    warnings: all,
    target: target ? { fid: formatFid(parseFid(target.fid)!), filetype: target.filetype } : null,
  }))
}
