// `gridline plot set` and `plot options`: change a chart, or print the command that creates it.
import { applyOptions } from '../../charts/change/apply-options.ts'
import { CHART_OPTIONS, type ChartOptions, formatArguments, OPTION_NAMES } from '../../charts/spec/options.ts'
import { CHART_TYPES } from '../../charts/spec/types.ts'
import { resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import {
  type AttributeEdit,
  applyEdits,
  COLOR_HINT,
  isColor,
  parseAttributeEdit,
} from '../charts/attributes.ts'
import { formatChartFile } from '../charts/chart-file.ts'
import { addRegions, colorSeries } from '../charts/charts.ts'
import { CHART_SHORT_HELP } from '../charts/create.ts'
import { loadGridOf, readChart } from '../charts/read-chart.ts'
import { loadTheme } from '../charts/themes.ts'
import { changeFigure } from '../charts/update-figure.ts'
import { defineCommand, type Option, type ShortHelp } from '../core/define.ts'
import { objectOf } from '../core/output-schema.ts'
import { removeDefinitionExtension } from '../files/definitions.ts'
import { writeNamedFile } from '../files/write-file.ts'
import { changedView } from '../output/view.ts'

/** Flags that switch boolean options off. */
const switchOffOptions = [
  { flags: '--no-horizontal', description: 'switch back to vertical bars' },
  { flags: '--no-labels', description: 'hide values at points and bars' },
  { flags: '--no-log-x', description: 'switch back to a linear x axis' },
  { flags: '--no-log-y', description: 'switch back to a linear y axis' },
] as const satisfies readonly Option[]

/** Options shown by the short help. */
const shortHelp: ShortHelp = {
  options: {
    ...CHART_SHORT_HELP,
    '--type': 'new chart type',
    '--stack': 'stack bars or areas: normal, percent, center or none',
    '--title': 'title of the chart; none for no title',
    '--subtitle': 'text below the title',
    '--color-of': 'color of a series: Oslo=#d62728',
    '--unset': 'remove an attribute by its path',
    '--dry-run': 'show what would change, without changing anything',
  },
  topics: ['charts'],
  examples: 5,
}

export const setCommand = defineCommand({
  output: objectOf('Plot', { action: 'replaced or unchanged' }),
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  arguments: '<plot> [attribute...]',
  usage: '<plot> [path=value...]',
  options: [
    { flags: '--type <type>', description: 'new chart type', choices: CHART_TYPES },
    ...CHART_OPTIONS,
    {
      flags: '--color-of <series=color>',
      description: 'color of the series with this name (repeatable)',
      repeatable: true,
    },
    { flags: '--width <pixels>', description: 'width of the chart', integer: { max: 10_000 } },
    { flags: '--height <pixels>', description: 'height of the chart', integer: { max: 10_000 } },
    ...switchOffOptions,
    { flags: '--unset <path>', description: 'remove an attribute (repeatable)', repeatable: true },
  ],
  shortHelp,
  examples: [
    'gridline plot set "sales line" --title "Sales 2024" --type bar',
    'gridline plot set "sales line" --where "city = \'Oslo\'" --color-of \'price=#d62728\'',
    'gridline plot set "sales line" layout.yaxis.title.text=EUR data.0.line.width=3',
    'gridline plot set "sales line" --by none --where none     # one series, all rows',
    'gridline plot set "sales line" --unset layout.yaxis.title',
  ],
  async run(
    context,
    [plot, ...attributes],
    { colorOf = [], unset = [], type, width, height, ...otherOptions },
  ) {
    const sizes = Object.entries({ width, height }).filter(([, value]) => value !== undefined)
    const changes: AttributeEdit[] = [
      ...attributes.map(parseAttributeEdit),
      ...unset.map((path) => ({ path })),
      ...sizes.map(([name, value]) => ({ path: `layout.${name}`, value })),
    ]
    const options: ChartOptions = Object.fromEntries(OPTION_NAMES.map((name) => [name, otherOptions[name]]))
    const isChart = type !== undefined || OPTION_NAMES.some((name) => options[name] !== undefined)
    if (changes.length === 0 && colorOf.length === 0 && !isChart)
      throw new Problem('usage', 'nothing to change', {
        hint: 'Use options of plot create, such as --title, or attributes, such as layout.xaxis.title.text=Year.',
      })
    const client = await context.client()
    const fid = await resolveFid(client, plot, 'plot')
    const updated = await changeFigure(client, fid, async (original) => {
      const theme = options.theme === undefined ? undefined : loadTheme(options.theme)
      const note = (text: string): void => context.messages.note(text)
      let next = original
      if (isChart) {
        const grid = await loadGridOf(client, original)
        next = await applyOptions(client, grid, original, { type, options, theme }, note)
        next = await addRegions(client, grid, next, options, note)
      }
      const figure = await applyEdits(next, changes)
      return colorSeries(figure, new Map(colorOf.map(parseSeriesColor)), '--color-of')
    })
    return { item: updated, view: changedView }
  },
})

/** Prints the command that would create the chart. */
export const optionsCommand = defineCommand({
  output: objectOf([], { command: 'command that creates the chart', grid: 'id of the grid' }),
  arguments: '<plot>',
  options: [
    {
      flags: '-o, --output <file>',
      description:
        'write a chart file instead, which gridline upload makes a chart of; - for standard output',
    },
  ],
  examples: [
    'gridline plot options "sales line"',
    'gridline plot options "sales line" -o data/sales-line.chart.yml',
    'gridline plot options alice:7 --jq .command',
  ],
  async run(context, [plot], { output }) {
    const client = await context.clientFor(plot)
    const fid = await resolveFid(client, plot, 'plot')
    const { chart, grid, ownTheme, isComplete } = await readChart(client, fid)
    const { type, options } = chart
    if (ownTheme !== undefined)
      context.messages.note(
        `The chart has the theme ${ownTheme}; to create it again, pass the theme's file with --theme.`,
      )
    if (!(output === undefined ? isComplete.withoutColors : isComplete.withColors))
      context.messages.note(
        `The command lacks attributes of the figure that no option sets; to see them: gridline plot data ${quoteShellWord(plot)}`,
      )
    if (output !== undefined) {
      const { filename } = await client.call('files.get', { fid })
      const isNamed = removeDefinitionExtension(output) === filename
      const text = await formatChartFile({ ...chart, grid: grid.filename }, isNamed ? undefined : filename)
      if (output === '-') return { text }
      await writeNamedFile(output, text)
      return { text: '' }
    }
    const name = quoteShellWord(grid.filename)
    const command = ['gridline plot create --grid', name, '--type', type, ...formatArguments(options)].join(
      ' ',
    )
    const { json, jq, format, template } = context.flags
    if ([json, jq, format, template].every((flag) => flag === undefined)) return { text: `${command}\n` }
    const view = { id: 'command', columns: [{ field: 'command', title: 'COMMAND' }] }
    return { item: { command, grid: grid.fid }, view }
  },
})

/** Parses the color of a series: `price=#d62728`. Throws `usage`. */
function parseSeriesColor(assignment: string): [series: string, color: string] {
  const at = assignment.lastIndexOf('=')
  const [name, color] = [assignment.slice(0, at), assignment.slice(at + 1)]
  if (at <= 0 || color === '')
    throw new Problem('usage', `--color-of ${assignment}: expected SERIES=COLOR`, {
      hint: "For example: 'price=#d62728'",
    })
  if (!isColor(color))
    throw new Problem('usage', `--color-of ${assignment}: ${color} is not a color`, { hint: COLOR_HINT })
  return [name, color]
}
