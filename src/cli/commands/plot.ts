// `gridline plot`: creates, changes, shows and lists plots.
import { existsSync } from 'node:fs'
import { CHART_OPTIONS, EXPLAIN_OPTION, flagOf, OPTION_NAMES } from '../../charts/spec/options.ts'
import { CHART_TYPE_CHOICES } from '../../charts/spec/types.ts'
import { type Client, resolveFid, resolveVersion } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { PlotMeta } from '../../contract/resources/index.ts'
import { createThemedChart } from '../charts/charts.ts'
import {
  assertDistinctNames,
  CHART_SHORT_HELP,
  createFigureBody,
  createPlot,
  PLOT_CONFLICT_RULES,
  type PlotDestination,
} from '../charts/create.ts'
import { applyDefaultTheme } from '../charts/default-theme.ts'
import { plotNameOf, readFigure, readFigures } from '../charts/figures.ts'
import { loadOmissions, printsAllFields } from '../charts/omissions.ts'
import type { Context } from '../core/context.ts'
import {
  type Command,
  type CommandEntry,
  camelCase,
  defineCommand,
  type Option,
  type OptionValues,
  type ShortHelp,
  subcommand,
} from '../core/define.ts'
import { arrayOf, objectOf, otherOutput } from '../core/output-schema.ts'
import { runEach, runOnFiles } from '../files/batch.ts'
import { loadPages } from '../files/pages.ts'
import { isPattern } from '../files/patterns.ts'
import { appendNewline } from '../output/bytes.ts'
import { changedView, chartView, fileView, type TableView } from '../output/view.ts'
import { listMatchingPaths } from '../upload/expand.ts'
import { editCommand } from './plot.edit.ts'
import { optionsCommand, setCommand } from './plot.set.ts'

const listView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'views', title: 'VIEWS', align: 'right' },
    { field: 'quality', title: 'QUALITY', align: 'right' },
    { field: 'date_modified', title: 'MODIFIED' },
    { field: 'web_url', title: 'LINK' },
  ],
}

const createOptions = [
  { flags: '--name <name>', description: 'name of the plot (default: file name without its extension)' },
  { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
  { flags: '--public', description: 'make the plot and its data public (readable by anyone)' },
  {
    flags: '--on-conflict <rule>',
    description: 'if the name is taken: fail (default), rename, or replace (keeps the id and link)',
    choices: PLOT_CONFLICT_RULES,
  },
  { flags: '--grid <grid>', description: 'create a chart from the columns of this grid' },
  {
    flags: '--type <type>',
    description: 'chart type (default: chosen from the columns)',
    choices: CHART_TYPE_CHOICES,
  },
  ...CHART_OPTIONS,
  EXPLAIN_OPTION,
] as const satisfies readonly Option[]

/** Options shown by the short help. */
const shortHelp: ShortHelp = {
  options: {
    ...CHART_SHORT_HELP,
    '--grid': 'create a chart from the columns of this grid',
    '--name': 'name of the plot',
    '--folder': 'destination folder; missing folders are created',
    '--public': 'make the plot and its data public',
    '--on-conflict': 'if the name is taken: fail, rename or replace',
    '--type': 'chart type (default: chosen from the columns)',
    '--stack': 'stack bars or areas: normal, percent or center',
    '--title': 'title of the chart (default: from its columns)',
    '--dry-run': 'show what would be created, without changing anything',
  },
  topics: ['charts'],
  examples: 3,
}

const create = defineCommand({
  output: arrayOf('Plot', {
    grid_fid: 'id of the grid with its data, or null',
    action: 'created, replaced or unchanged',
    warnings: 'warnings, as an array of texts',
  }),
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  arguments: '[figure...]',
  completion: ['local'],
  options: createOptions,
  shortHelp,
  examples: [
    'gridline plot create figure.json',
    'gridline plot create --grid sales --type line --x date --y price,cost --title "Sales 2024"',
    'gridline plot create --grid sales',
    'gridline plot create *.json *.html --folder Reports --on-conflict replace',
    "python3 -c 'import plotly.express as px; print(px.line(y=[1, 3, 2]).to_json())' | gridline plot create - --name line",
  ],
  async run(context, words, options) {
    const { name, grid } = options
    const figures = words.flatMap((word) =>
      isPattern(word) && !existsSync(word) ? listMatchingPaths(word) : [word],
    )
    if (words.length > 0 && figures.length === 0)
      throw new Problem('no_such_file', `no files match ${words.join(', ')}`, { hint: 'Check the pattern.' })
    if (grid !== undefined) {
      if (figures.length > 0) throw unexpectedArgument(figures[0], options)
      const created = await createFromGrid(context, grid, options)
      await context.noteLinksNeedServer()
      return { item: created, view: chartView }
    }
    const chartOption = ([...OPTION_NAMES, 'type'] as const).find((name) => options[name] !== undefined)
    if (chartOption) throw new Problem('usage', `${flagOf(chartOption)} can only be used with --grid`)
    if (figures.length === 0)
      throw new Problem('usage', 'the figure is missing', {
        hint: 'Name files with figures (JSON, or HTML written by Plotly), or use --grid.',
      })
    if (figures.length > 1 && name !== undefined)
      throw new Problem('usage', '--name can only be used with one figure')
    assertDistinctNames(
      figures.map((file) => ({ file, name: plotNameOf(file) })),
      options.onConflict,
    )
    if (figures.includes('-') && name === undefined)
      throw new Problem('usage', 'standard input has no name', { hint: 'Set one with --name.' })
    const work = async (file: string): Promise<object[]> => {
      const plots: object[] = []
      const warnOfUnread = (count: number): void =>
        context.messages.warning(
          `${file}: ${formatCount(count, 'other chart')} cannot be read: a script makes the figure when the page is opened`,
        )
      for (const figure of await readFigures(file, warnOfUnread)) {
        const filename = name ?? figure.name
        plots.push(await createPlot(context, figure.text, { ...destinationOf(options), filename }))
      }
      return plots
    }
    if (figures.length === 1) {
      const uploadedPlots = await work(figures[0])
      await context.noteLinksNeedServer()
      return uploadedPlots.length === 1
        ? { item: uploadedPlots[0], view: chartView }
        : { items: uploadedPlots, view: chartView }
    }
    ;(await context.client()).isMultiple = true
    const result = await runEach(figures, work)
    if (result.items.length > 0) await context.noteLinksNeedServer()
    return { ...result, view: chartView }
  },
})

/** Returns the error for an argument beside --grid: often a value after an option that takes none. */
function unexpectedArgument(word: string, options: OptionValues<typeof createOptions>): Problem {
  const switches = createOptions
    .filter(({ flags }) => !flags.includes('<'))
    .map(({ flags }) => flags)
    .filter((flag) => options[camelCase(flag.slice(2)) as keyof typeof options] === true)
  if (switches.length === 0 || existsSync(word))
    return new Problem('usage', 'figures and --grid cannot be used together', {
      hint: 'To name the chart, use --name.',
    })
  return new Problem(
    'usage',
    `unexpected argument ${word}: ${switches.join(' and ')} ${switches.length === 1 ? 'takes no value' : 'take no values'}`,
    { hint: 'To show a column as text at each point, use --text COLUMN.' },
  )
}

/** Returns the destination of a plot from the options. */
function destinationOf(options: OptionValues<typeof createOptions>): Omit<PlotDestination, 'filename'> {
  return {
    parent_path: options.folder,
    world_readable: options.public === true,
    on_conflict: options.onConflict,
  }
}

/** Creates a plot from the columns of a grid. Without --folder, it goes next to the grid. */
async function createFromGrid(
  context: Context,
  name: string,
  options: OptionValues<typeof createOptions>,
): Promise<object> {
  const client = await context.client()
  const { fid, version } = await resolveVersion(client, name, 'grid')
  if (version !== undefined)
    throw new Problem('usage', `${name}: charts can only show the current version of a grid`, {
      hint: `For a chart of version ${version}, copy it first: gridline cat ${name} | gridline upload - --name NAME`,
    })
  const grid = await client.call('grids.get', { fid })
  const { type, figure } = await createThemedChart(client, grid, options.type, options, (text) =>
    context.messages.note(text),
  )
  const isOwner = (await client.call('users.current')).username === grid.owner
  return createPlot(context, JSON.stringify(await applyDefaultTheme(context, figure, options)), {
    parent: options.folder === undefined && isOwner ? grid.parent : undefined,
    ...destinationOf(options),
    filename: options.name ?? `${grid.filename} ${type}`,
  })
}

const update = defineCommand({
  output: objectOf('Plot', { action: 'replaced' }),
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  arguments: '<plot> <figure>',
  completion: ['plot', 'local'],
  examples: [
    'gridline plot update "Sales 2024" figure.json',
    'python make_figure.py | gridline plot update alice:7 -',
  ],
  async run(context, [plot, figure]) {
    const body = createFigureBody((await readFigure(figure)).text, {})
    const client = await context.client()
    const fid = await resolveFid(client, plot, 'plot')
    const updated = await client.call('plots.update', { fid, body })
    return { item: { ...updated, action: 'replaced' }, view: changedView }
  },
})

const show = defineCommand({
  output: arrayOf('Plot', { not_shown: 'notes about omitted data, as an array of texts' }),
  arguments: '<plot...>',
  examples: [
    'gridline plot show "Sales 2024"',
    "gridline plot show alice:7 --jq '.figure.layout.title'",
    'gridline plot show alice:7 --json not_shown',
  ],
  run: (context, plots) =>
    runOnFiles(
      context,
      plots,
      async (client, fid) => {
        const plot = await client.call('plots.get', { fid })
        return printsAllFields(context) ? { ...plot, not_shown: await loadOmissions(client, fid) } : plot
      },
      listView,
      { filetype: 'plot', read: true },
    ),
})

const data = defineCommand({
  output: otherOutput('the figure: `{"data", "layout", "frames"}`'),
  arguments: '<plot>',
  options: [
    { flags: '--inline', description: 'include the data of grids instead of references' },
    { flags: '--unreadable', description: 'include the data of grids that you cannot access' },
  ],
  examples: ['gridline plot data "Sales 2024" > figure.json', 'gridline plot data alice:7 --inline'],
  async run(context, [plot], { inline, unreadable }) {
    const client = await context.clientFor(plot)
    const fid = await resolveFid(client, plot, 'plot')
    const query = {
      inline_data: inline ? true : undefined,
      map_data: unreadable ? ('unreadable' as const) : undefined,
    }
    const response = await client.response('plots.content', { fid, query })
    if (context.flags.json !== undefined || context.flags.jq !== undefined)
      return { item: (await response.json()) as object, view: { columns: [] } }
    return { bytes: appendNewline(response.bytes()) }
  },
})

const list = defineCommand({
  output: arrayOf('Plot'),
  lists: { limit: 20 },
  options: [
    { flags: '--public', description: "list everybody's public plots, not yours" },
    {
      flags: '--order <field>',
      description: 'views: most viewed first (default: newest first); with --public',
      choices: ['views'],
    },
    {
      flags: '--min-quality <n>',
      integer: { max: 5 },
      description: 'minimum quality of the plots, from 0 to 5; with --public',
    },
    { flags: '--all', description: 'list all plots, without a limit' },
  ],
  examples: [
    'gridline plot list',
    'gridline plot list --public --order views --limit 5',
    'gridline plot list --all --json fid,filename',
  ],
  async run(context, _, options) {
    const { order, minQuality, limit, all } = options
    if (!options.public && (order !== undefined || minQuality !== undefined))
      throw new Problem('usage', '--order and --min-quality can only be used with --public')
    const client = await context.client()
    // Request one more than printed, to detect further plots.
    const maxPlots = limit === undefined && all ? Number.POSITIVE_INFINITY : (limit ?? 20) + 1
    const page_size = Math.min(100, Math.max(1, maxPlots))
    if (!options.public) {
      const baseQuery = { page_size, filetype: ['plot' as const], order_by: '-date_modified' as const }
      const files = await loadPages(
        async (cursor) => (await client.call('folders.all', { query: { ...baseQuery, cursor } })).children,
        maxPlots,
      )
      return {
        items: files,
        view: fileView,
        empty: 'No plots yet. Create one with: gridline plot create FIGURE',
      }
    }
    const query = {
      order_by: order === undefined ? undefined : ('-views' as const),
      min_quality: minQuality,
      page_size,
    }
    const plots: PlotMeta[] = await loadPages(
      (cursor) => client.call('plots.list', { query: { ...query, cursor } }),
      maxPlots,
    )
    return { items: plots, view: listView, empty: 'No public plots.' }
  },
})

const feed = defineCommand({
  output: arrayOf('Plot'),
  lists: {},
  examples: ['gridline plot feed', 'gridline plot feed --json fid,filename,web_url'],
  async run(context) {
    const client = await context.client()
    return {
      items: (await client.call('plots.feed')).results,
      view: listView,
      empty: 'No featured plots.',
    }
  },
})

/** Returns a command that adds plots to the feed or removes them. */
const createFeedCommand = (
  name: string,
  work: (client: Client, fid: string) => Promise<unknown>,
): Command => ({
  output: arrayOf('Plot'),
  writes: true,
  arguments: '<plot...>',
  examples: [`gridline plot ${name} alice:7`, `gridline plot ${name} alice:7 bob:3`],
  run: (context, plots) =>
    runOnFiles(
      context,
      plots,
      async (client, fid) => {
        await work(client, fid)
        return client.call('files.get', { fid })
      },
      fileView,
      { filetype: 'plot' },
    ),
})
const pickCommand = createFeedCommand('pick', (client, fid) => client.call('feed.add', { fid }))
const unpickCommand = createFeedCommand('unpick', (client, fid) => client.call('feed.remove', { fid }))

export const commands: readonly CommandEntry[] = [
  subcommand('create', 'Create a plot from a figure; its data is stored in a grid', create),
  subcommand('set', 'Change a chart: its type, columns, title, or any attribute', setCommand),
  subcommand('edit', 'Edit the figure of a plot in your editor', editCommand),
  subcommand('options', 'Print the command that creates a chart', optionsCommand),
  subcommand('update', 'Replace the figure of a plot; the link does not change', update),
  subcommand('show', 'Show the details of plots', show),
  subcommand('data', 'Print the figure of a plot', data),
  subcommand('list', 'List your plots, or all public plots', list),
  subcommand('feed', 'List featured plots', feed),
  subcommand('pick', 'Add public plots to the feed (administrators only)', pickCommand),
  subcommand('unpick', 'Remove plots from the feed (administrators only)', unpickCommand),
]
