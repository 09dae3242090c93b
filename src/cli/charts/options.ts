import { aggregateFunctions, type ChartOptions, MOST_SERIES, periods } from '../../charts/options.ts'
import { quoted } from '../../contract/shell.ts'
import { camelCase, type Option } from '../core/define.ts'
import { sortOption, whereOption } from '../core/row-options.ts'

/** Options that say what a chart shows. */
export const chartOptions = [
  { flags: '--x <column>', description: 'column of the x axis; pie: labels; choropleth: places' },
  {
    flags: '--y <columns>',
    description:
      'columns of the y axis, comma-separated, as a range (2019-2023) or a pattern (temp_*); pie: values; candlestick: open,high,low,close',
  },
  { flags: '--z <column>', description: 'column of the z axis of a scatter3d or a surface' },
  { flags: '--lat <column>', description: 'column of latitudes of a map (default: found by its name)' },
  { flags: '--lon <column>', description: 'column of longitudes of a map' },
  {
    flags: '--parent <column>',
    description: 'column that names the parent of each part of a treemap or sunburst',
  },
  {
    flags: '--id <column>',
    description:
      'column that tells the parts of a treemap or sunburst apart, which --parent names (default: their names)',
  },
  {
    flags: '--color <column>',
    description: 'column of numbers that colors the points of a scatter or the cells of a heatmap',
  },
  {
    flags: '--angle <column>',
    description:
      'column of numbers that turns the points of a scatter or a map to arrows, in degrees clockwise from the top',
  },
  { flags: '--size <column>', description: 'column of numbers that sizes the points of a scatter' },
  { flags: '--error <column>', description: 'column of numbers: the length of error bars' },
  { flags: '--y2 <columns>', description: 'columns of numbers drawn as lines on a second y axis' },
  { flags: '--text <column>', description: 'column with the text shown for each point' },
  {
    flags: '--by <column>',
    description: 'column whose values become series of their own, such as the city of each row',
  },
  {
    flags: '--facet <column>',
    description: 'column whose values become small charts of their own, with the same scales',
  },
  {
    flags: '--aggregate <function>',
    description: 'what is shown of rows with the same x: their sum, mean …',
    choices: [...aggregateFunctions, 'none'],
  },
  {
    flags: '--per <period>',
    description:
      'with --aggregate: one point for each minute, hour, day, week, month, quarter or year of a date axis',
    choices: [...periods, 'none'],
  },
  {
    flags: '--zone <zone>',
    description: 'time zone of an axis of times with offsets, such as Europe/Oslo (default: UTC)',
  },
  {
    flags: '--top <n>',
    description:
      'show only the n largest: series with --by (default: 11, and the others as one), bars, or slices',
    integer: { max: MOST_SERIES },
  },
  {
    flags: '--stack [kind]',
    description: 'how series of bars or areas stand: normal (on each other; the default), percent or none',
    preset: 'normal',
    choices: ['none', 'normal', 'percent'],
  },
  { flags: '--horizontal', description: 'bars, boxes or violins from left to right' },
  {
    flags: '--animate <column>',
    description: 'column whose values become frames, shown one after the other',
  },
  {
    flags: '--trend <kind>',
    description: 'a trend line for each series: linear, or mean:7 for the mean of 7 points',
  },
  {
    flags: '--mark <place>',
    description: "a line with a label: 'x=2024-03-01:Launch' or 'y=100:Goal' (repeatable)",
    repeatable: true,
  },
  {
    flags: '--band <range>',
    description: "a colored range with a label: 'x=2020-03-01,2020-06-01:Closed' (repeatable)",
    repeatable: true,
  },
  { flags: '--labels', description: 'write the value at each point or bar' },
  { flags: '--log-x', description: 'logarithmic x axis' },
  { flags: '--log-y', description: 'logarithmic y axis' },
  { flags: '--range-x <from,to>', description: 'part of the x axis that is shown: numbers or dates' },
  { flags: '--range-y <from,to>', description: 'part of the y axis that is shown' },
  {
    flags: '--format-y <format>',
    description: 'format of numbers on the y axis, as in d3-format: .1% or ,.2f',
  },
  { flags: '--unit <unit>', description: 'unit behind the numbers on the y axis, such as € or %' },
  whereOption,
  sortOption,
  {
    flags: '--title <text>',
    description: 'title of the chart (default: from its columns); none for no title',
  },
  { flags: '--subtitle <text>', description: 'text below the title' },
  {
    flags: '--theme <theme>',
    description:
      'look of the chart: gridline (default), newsroom, print, or a JSON file with a plotly template',
  },
  { flags: '--source <text>', description: 'where the data comes from: a small text below the chart' },
] as const satisfies readonly Option[]

/** Options of a chart, as they are typed. */
export function wordsOf(options: ChartOptions): string[] {
  return chartOptions.flatMap(({ flags }) => {
    const flag = flags.split(' ')[0]
    const value = options[camelCase(flag.slice(2)) as keyof ChartOptions]
    if (value === undefined) return []
    return value === true ? [flag] : [value].flat().flatMap((one) => [flag, quoted(String(one))])
  })
}
