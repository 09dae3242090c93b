import { gridIn, rechart } from '../../charts/change/rechart.ts'
import { specOf } from '../../charts/change/stored.ts'
import { figureOf } from '../../charts/compile/compile.ts'
import { type Figure, isSameFigure } from '../../charts/figure/figure.ts'
import { colorKey, groupingsIn, withStyle } from '../../charts/figure/series-color.ts'
import { isBuiltIn } from '../../charts/figure/themes.ts'
import type { ChartOptions } from '../../charts/spec/options.ts'
import { chartOptions, optionNames, wordsOf } from '../../charts/spec/options.ts'
import { chartTypes } from '../../charts/spec/types.ts'
import { type Client, resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { quoted } from '../../contract/shell.ts'
import { type Change, changed, isColor, readChange } from '../charts/attributes.ts'
import { changeFigure, storedFigure } from '../charts/change.ts'
import { inRegions } from '../charts/charts.ts'
import { themeNamed } from '../charts/themes.ts'
import { defineCommand, type Option, type ShortHelp } from '../core/define.ts'
import { object } from '../core/prints.ts'
import { changedView } from '../output/view.ts'

/** Options that are set or not: how each is removed. */
const removable = [
  { flags: '--no-horizontal', description: 'draw the bars upright again' },
  { flags: '--no-labels', description: 'draw no values at the points or bars' },
  { flags: '--no-log-x', description: 'a linear x axis again' },
  { flags: '--no-log-y', description: 'a linear y axis again' },
] as const satisfies readonly Option[]

/** The options that most changes need. */
const usual: ShortHelp = {
  options: {
    '--type': 'another type of chart',
    '--x': 'column of the x axis; labels of a pie',
    '--y': 'columns of the y axis: a,b or 2019-2023 or temp_*',
    '--color': 'color points, bars or cells by a column of numbers',
    '--by': 'draw one series per value of this column',
    '--facet': 'draw one small chart per value, on the same scales',
    '--aggregate': 'combine rows with the same x: sum, mean, count …',
    '--per': 'with --aggregate: one point per day, month, year …',
    '--top': 'only the largest series, bars or slices',
    '--stack': 'stack bars or areas: normal, percent, center or none',
    '--where': 'only rows for which this is true: temp > 20',
    '--sort': 'sort rows by these columns: -date,city',
    '--title': 'title of the chart; none for no title',
    '--subtitle': 'text below the title',
    '--theme': 'gridline, newsroom, print, or a JSON file',
    '--color-of': 'color of a series: Oslo=#d62728',
    '--unset': 'remove an attribute by its path',
    '--dry-run': 'show what would be changed, and change nothing',
  },
  topics: ['charts'],
  examples: 5,
}

export const set = defineCommand({
  prints: object('Plot', { action: 'replaced or unchanged' }),
  writes: true,
  versions: true,
  reports: true,
  arguments: '<plot> [attribute...]',
  usage: '<plot> [path=value...]',
  options: [
    { flags: '--type <type>', description: 'another type of chart', choices: chartTypes },
    ...chartOptions,
    {
      flags: '--color-of <series=color>',
      description: 'color of a series, by its name (repeatable)',
      repeatable: true,
    },
    { flags: '--width <pixels>', description: 'width of the chart', integer: { max: 10_000 } },
    { flags: '--height <pixels>', description: 'height of the chart', integer: { max: 10_000 } },
    ...removable,
    { flags: '--unset <path>', description: 'remove an attribute (repeatable)', repeatable: true },
  ],
  usual,
  examples: [
    'gridline plot set "sales line" --title "Sales 2024" --type bar',
    'gridline plot set "sales line" --where "city = \'Oslo\'" --color-of \'price=#d62728\'',
    'gridline plot set "sales line" layout.yaxis.title.text=EUR data.0.line.width=3',
    'gridline plot set "sales line" --by none --where none     # without series, and all rows',
    'gridline plot set "sales line" --unset layout.yaxis.title',
  ],
  async run(context, [plot, ...given], { colorOf = [], unset = [], type, width, height, ...others }) {
    const sizes = Object.entries({ width, height }).filter(([, value]) => value !== undefined)
    const changes: Change[] = [
      ...given.map(readChange),
      ...unset.map((path) => ({ path })),
      ...sizes.map(([name, value]) => ({ path: `layout.${name}`, value })),
    ]
    const options: ChartOptions = Object.fromEntries(optionNames.map((name) => [name, others[name]]))
    const isChart = type !== undefined || optionNames.some((name) => options[name] !== undefined)
    if (changes.length === 0 && colorOf.length === 0 && !isChart)
      throw new Problem('usage', 'nothing to change', {
        hint: 'Give options of plot create, such as --title, or attributes, such as layout.xaxis.title.text=Year.',
      })
    const client = await context.client()
    const fid = await resolve(client, plot, 'plot')
    const one = await changeFigure(client, fid, async (before) => {
      const theme = options.theme === undefined ? undefined : themeNamed(options.theme)
      const note = (text: string): void => context.messages.note(text)
      let next = before
      if (isChart) {
        const grid = await gridOf(client, before)
        next = await rechart(client, grid, before, type, options, theme, note)
        next = await inRegions(client, grid, next, options, note)
      }
      let figure = (await changed(next, changes)) as Figure
      // One after the other: colors of series of --by are one attribute.
      for (const given of colorOf) figure = (await changed(figure, colorsOf(figure, given))) as Figure
      return figure
    })
    return { one, view: changedView }
  },
})

/** Prints the command that would make a chart again. */
export const options = defineCommand({
  prints: object([], { command: 'the command that makes the chart', grid: 'the id of its grid' }),
  arguments: '<plot>',
  examples: ['gridline plot options "sales line"', 'gridline plot options alice:7 --jq .command'],
  async run(context, [plot]) {
    const client = await context.clientFor(plot)
    const fid = await resolve(client, plot, 'plot')
    const { figure } = await storedFigure(client, fid)
    const grid = await gridOf(client, figure)
    const { spec, options: present } = specOf(figure, grid)
    const { type } = spec
    const options = { ...present, theme: themeIn(figure) }
    const madeBy = (given: ChartOptions): Promise<Figure> => figureOf(grid.fid, { ...spec, options: given })
    // A title that was written into the figure is one of an option.
    const title = titleIn(figure)
    if (title !== titleIn(await madeBy(spec.options))) options.title = title || 'none'
    const made = JSON.parse(JSON.stringify(await madeBy({ ...spec.options, title: options.title })))
    const theme: unknown = figure.layout.meta?.theme
    if (themeIn(figure) === undefined && figure.layout.template !== undefined)
      context.messages.note(
        `The chart has the theme ${String(theme)}; to make it again, give its file with --theme.`,
      )
    if (!isSameFigure(withoutLook(figure), withoutLook(made)))
      context.messages.note(
        'The figure has attributes that no option of plot create sets; see them with: gridline plot data',
      )
    const name = quoted(grid.filename)
    const command = ['gridline plot create --grid', name, '--type', type, ...wordsOf(options)].join(' ')
    const { json, jq, format, template } = context.flags
    if ([json, jq, format, template].every((flag) => flag === undefined)) return { text: `${command}\n` }
    const view = { id: 'command', columns: [{ field: 'command', title: 'COMMAND' }] }
    return { one: { command, grid: grid.fid }, view }
  },
})

function titleIn({ layout: { title } }: Figure): string | undefined {
  return typeof title === 'string' ? title : title?.text
}

/** The built-in theme that was chosen for a chart. */
function themeIn({ layout: { meta, template } }: Figure): string | undefined {
  return isBuiltIn(meta?.theme) && template !== undefined ? meta.theme : undefined
}

/**
 * The figure without its theme, and without what says where its title comes from. The header of a table is stored as
 * data, and follows from its columns.
 */
function withoutLook({ layout: { meta: _meta, template: _, ...layout }, data, ...figure }: Figure): Figure {
  const plain = data.map((trace) =>
    trace.type === 'table' ? { ...trace, header: undefined, cells: trace.cells?.valuessrc } : trace,
  )
  return { ...figure, data: plain, layout }
}

/** The grid whose columns a figure shows. Throws `usage` if there is none, or several. */
async function gridOf(client: Client, figure: Figure): Promise<GridMeta> {
  return client.call('grids.get', { fid: gridIn(figure) })
}

/** The changes that give a series a color: that of its line, or of its bars and points. */
function colorsOf({ data }: Figure, given: string): Change[] {
  const at = given.lastIndexOf('=')
  const [name, color] = [given.slice(0, at), given.slice(at + 1)]
  if (at <= 0 || color === '')
    throw new Problem('usage', `--color-of ${given}: expected SERIES=COLOR`, {
      hint: "For example: 'price=#d62728'",
    })
  if (!isColor(color))
    throw new Problem('usage', `--color-of ${given}: ${color} is not a color`, {
      hint: 'Colors are written as #d62728, rgb(214,39,40) or steelblue.',
    })
  const grouped = groupingsIn(data)
  // Series of --by: their names are in the data.
  if (grouped.length > 0)
    return grouped.map(({ trace, transform }) => ({
      path: `data.${trace}.transforms.${transform}.styles`,
      value: withStyle(data[trace].transforms[transform].styles, name, color),
    }))
  const found = data.findIndex((trace) => trace.name === name)
  if (found < 0)
    throw new Problem('usage', `--color-of ${name}: the chart has no series of that name`, {
      hint: `Its series are: ${data.map((trace) => trace.name ?? '').join(', ')}`,
    })
  return [{ path: `data.${found}.${colorKey(data[found])}.color`, value: color }]
}
