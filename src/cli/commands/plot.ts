import { type BodySource, type Client, resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { PlotMeta } from '../../contract/resources.ts'
import { runOnFiles } from '../batch.ts'
import { type Command, type CommandEntry, defineCommand, subcommand } from '../define.ts'
import { type FigureFile, readFigure } from '../figures.ts'
import { pages } from '../lists.ts'
import { fileView, linkView, type TableView } from '../output/view.ts'

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

const createdView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'filename', title: 'NAME' },
    { field: 'grid_fid', title: 'DATA', format: (fid: string | null) => fid ?? '' },
    { field: 'web_url', title: 'LINK' },
  ],
}

/** A request body with a figure and other fields. */
function bodyWith({ text }: FigureFile, fields: object): BodySource {
  const rest = JSON.stringify({ raw_data: 'grid', ...fields }).slice(1)
  const bytes = Buffer.from(`{"figure":${text},${rest}`)
  return {
    type: 'application/json',
    repeatable: true,
    async *open() {
      yield bytes
    },
  }
}

const create = defineCommand({
  writes: true,
  arguments: '<figure>',
  localFiles: true,
  options: [
    { flags: '--name <name>', description: 'name of the plot (default: file name without .json)' },
    { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
    { flags: '--public', description: 'make the plot and its data public (readable by anyone)' },
  ],
  examples: [
    'gridline plot create figure.json',
    'gridline plot create figure.json --name "Sales 2024" --folder Reports --public',
    "python3 -c 'import plotly.express as px; print(px.line(y=[1, 3, 2]).to_json())' | gridline plot create - --name line",
  ],
  async run(context, [figure], options) {
    const { name, folder, public: isPublic } = options
    if (figure === '-' && name === undefined)
      throw new Problem('usage', 'standard input has no name', { hint: 'Set one with --name.' })
    const read = await readFigure(figure)
    const filename = name ?? read.name
    const body = bodyWith(read, { filename, parent_path: folder, world_readable: isPublic === true })
    const client = await context.client()
    const { file, warnings, grid_fid } = await client.call('plots.create', { body })
    for (const warning of warnings) context.messages.warning(warning)
    await context.noteLinks()
    return { one: { ...file, grid_fid: grid_fid ?? null, warnings }, view: createdView }
  },
})

const update = defineCommand({
  writes: true,
  arguments: '<plot> <figure>',
  localFiles: true,
  examples: ['gridline plot update "Sales 2024" figure.json'],
  async run(context, [plot, figure]) {
    const body = bodyWith(await readFigure(figure), {})
    const client = await context.client()
    const fid = await resolve(client, plot, 'plot')
    return { one: await client.call('plots.update', { fid, body }), view: linkView }
  },
})

const show = defineCommand({
  arguments: '<plot...>',
  examples: ['gridline plot show "Sales 2024"', "gridline plot show alice:7 --jq '.figure.layout.title'"],
  run: (context, plots) =>
    runOnFiles(context, plots, (client, fid) => client.call('plots.get', { fid }), listView, {
      filetype: 'plot',
      read: true,
    }),
})

const data = defineCommand({
  arguments: '<plot>',
  options: [
    { flags: '--inline', description: 'include the data of its grids instead of references to them' },
    { flags: '--unreadable', description: 'include the data of grids you do not have access to' },
  ],
  examples: ['gridline plot data "Sales 2024" > figure.json', 'gridline plot data alice:7 --inline'],
  async run(context, [plot], { inline, unreadable }) {
    const client = await context.clientFor(plot)
    const fid = await resolve(client, plot, 'plot')
    const query = {
      inline_data: inline ? true : undefined,
      map_data: unreadable ? ('unreadable' as const) : undefined,
    }
    const response = await client.response('plots.content', { fid, query })
    if (context.flags.json !== undefined || context.flags.jq !== undefined)
      return { one: (await response.json()) as object, view: { columns: [] } }
    return { bytes: withNewline(response.bytes()) }
  },
})

async function* withNewline(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* bytes
  yield Buffer.from('\n')
}

const list = defineCommand({
  options: [
    {
      flags: '--order <field>',
      description: 'views: most viewed first (default: newest first)',
      choices: ['views'],
    },
    {
      flags: '--min-quality <n>',
      integer: { max: 5 },
      description: 'minimum quality of the plots, from 0 to 5',
    },
    { flags: '--limit <n>', integer: {}, description: 'maximum number of plots to list (default: 20)' },
    { flags: '--all', description: 'list all public plots' },
  ],
  examples: [
    'gridline plot list',
    'gridline plot list --order views --limit 5',
    'gridline plot list --all --json fid,filename',
  ],
  async run(context, _, options) {
    const { order, minQuality, limit = 20, all } = options
    const client = await context.client()
    const most = all ? Number.POSITIVE_INFINITY : limit
    const query = {
      order_by: order === undefined ? undefined : ('-views' as const),
      min_quality: minQuality,
      page_size: Math.min(100, Math.max(1, most)),
    }
    const plots: PlotMeta[] = await pages(
      (cursor) => client.call('plots.list', { query: { ...query, cursor } }),
      most,
    )
    return { many: plots, view: listView, empty: 'No public plots.' }
  },
})

const feed = defineCommand({
  examples: ['gridline plot feed'],
  async run(context) {
    const client = await context.client()
    return {
      many: (await client.call('plots.feed')).results,
      view: listView,
      empty: 'No plots have been picked.',
    }
  },
})

const picking = (work: (client: Client, fid: string) => Promise<unknown>, example: string): Command => ({
  writes: true,
  arguments: '<plot...>',
  examples: [example],
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
const pick = picking((client, fid) => client.call('feed.add', { fid }), 'gridline plot pick alice:7')
const unpick = picking((client, fid) => client.call('feed.remove', { fid }), 'gridline plot unpick alice:7')

export const commands: readonly CommandEntry[] = [
  subcommand('create', 'Create a plot from a figure; its data is stored in a grid', create),
  subcommand('update', 'Replace the figure of a plot; the link does not change', update),
  subcommand('show', 'Show the details of plots', show),
  subcommand('data', 'Print the figure of a plot', data),
  subcommand('list', 'List public plots', list),
  subcommand('feed', 'List handpicked plots', feed),
  subcommand('pick', 'Add public plots to the feed (administrators only)', pick),
  subcommand('unpick', 'Remove plots from the feed (administrators only)', unpick),
]
