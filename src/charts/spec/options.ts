import type { GridMeta } from '../../contract/resources/index.ts'
import { sortOption, type TypedOption, whereOption } from '../../contract/row-options.ts'
import { quoted } from '../../contract/shell.ts'

/** What `--aggregate` computes of the rows with the same x. */
const aggregateFunctions = ['sum', 'mean', 'median', 'min', 'max', 'count', 'first', 'last'] as const

/** How numbers become colors. */
export const colorScales = ['linear', 'diverging', 'log', 'steps'] as const

/** Periods that dates are put together in. */
export const periods = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const
/** Series of a chart, as the service draws them. */
export const MAX_SERIES = 1000
/** Labels that one axis, or one pie, has room for. */
export const MAX_LABELS = 1000
/** Series that one can tell apart: without --top, there are not more. */
export const TOP_SERIES = 12

/** Kinds of values of options. The first four contain names of columns. */
export type OptionKind = 'column' | 'columns' | 'where' | 'sort' | 'text' | 'texts' | 'flag' | 'number'

/** An option of charts. */
export interface ChartOption extends TypedOption {
  kind: OptionKind
}

type Made<K extends OptionKind, F extends string, R> = { kind: K; flags: F; description: string } & R &
  (K extends 'texts' ? { repeatable: true } : unknown)

/** Makes rows of one kind. */
const rowsOf =
  <K extends OptionKind>(kind: K) =>
  <const R extends Partial<ChartOption>, F extends string>(
    flags: F,
    description: string,
    more?: R,
  ): Made<K, F, R> =>
    ({ kind, flags, description, ...(kind === 'texts' && { repeatable: true }), ...more }) as never
const [column, columns] = [rowsOf('column'), rowsOf('columns')]
const [text, texts] = [rowsOf('text'), rowsOf('texts')]
const [flag, number] = [rowsOf('flag'), rowsOf('number')]

/** What a chart can be told. The command line, the form of the page and the documentation are made from this table. */
const table = {
  x: column(
    '--x <column>',
    'column of the x axis; pie: labels; choropleth: places; columns: the names of the columns of --y',
  ),
  y: columns(
    '--y <columns>',
    'columns of the y axis, comma-separated, as a range (2019-2023) or a pattern (temp_*); pie: values; candlestick: open,high,low,close',
  ),
  z: column('--z <column>', 'column of the z axis of a scatter3d or a surface'),
  lat: column('--lat <column>', 'column of latitudes of a map (default: found by its name)'),
  lon: column('--lon <column>', 'column of longitudes of a map'),
  parent: column('--parent <column>', 'column that names the parent of each part of a treemap or sunburst'),
  to: column('--to <column>', 'column of the ends of the links of a sankey, which begin at --x'),
  geojson: text(
    '--geojson <file>',
    'GeoJSON or TopoJSON file with the regions of a choropleth, which a property of each names',
  ),
  id: column(
    '--id <column>',
    'column that tells the parts of a treemap or sunburst apart, which --parent names (default: their names)',
  ),
  color: column(
    '--color <column>',
    'column of numbers that colors points, bars, the points of a line or the cells of a heatmap',
  ),
  scale: text(
    '--scale <kind>',
    'how --color is shown: linear, diverging (two colors that part at zero), log or steps',
    { choices: colorScales },
  ),
  symbol: column('--symbol <column>', 'column whose values become symbols of the points of a scatter'),
  dash: column('--dash <column>', 'column whose values become dashes of lines'),
  angle: column(
    '--angle <column>',
    'column of numbers that turns the points of a scatter or a map to arrows, in degrees clockwise from the top',
  ),
  size: column('--size <column>', 'column of numbers that sizes the points of a scatter'),
  error: column('--error <column>', 'column of numbers: the length of error bars'),
  bandOf: columns('--band-of <low,high>', 'two columns: a band from one to the other, around a line'),
  y2: columns('--y2 <columns>', 'columns of numbers drawn as lines on a second y axis'),
  text: column('--text <column>', 'column with the text that the pointer shows, and --labels writes'),
  by: column('--by <column>', 'column whose values become series of their own, such as the city of each row'),
  facet: columns(
    '--facet <columns>',
    'column whose values become small charts of their own, with the same scales; of two, rows and columns',
  ),
  aggregate: text('--aggregate <function>', 'what is shown of rows with the same x: their sum, mean …', {
    choices: [...aggregateFunctions, 'none'],
  }),
  per: text(
    '--per <period>',
    'with --aggregate: one point for each minute, hour, day, week, month, quarter or year of a date axis',
    { choices: [...periods, 'none'] },
  ),
  zone: text(
    '--zone <zone>',
    'time zone of an axis of times with offsets, such as Europe/Oslo (default: UTC)',
  ),
  top: number(
    '--top <n>',
    'show only the n largest: series with --by (default: 11, and the others as one), bars, or slices',
    { integer: { max: MAX_SERIES } },
  ),
  stack: text(
    '--stack [kind]',
    'how series of bars or areas stand: normal (on each other; the default), percent, center (around a middle) or none',
    { preset: 'normal', choices: ['none', 'normal', 'percent', 'center'] },
  ),
  horizontal: flag('--horizontal', 'bars, boxes or violins from left to right'),
  animate: column('--animate <column>', 'column whose values become frames, shown one after the other'),
  trend: text('--trend <kind>', 'a trend line for each series: linear, or mean:7 for the mean of 7 points'),
  mark: texts('--mark <place>', "a line with a label: 'x=2024-03-01:Launch' or 'y=100:Goal' (repeatable)"),
  band: texts(
    '--band <range>',
    "a colored range with a label: 'x=2020-03-01,2020-06-01:Closed' (repeatable)",
  ),
  note: texts('--note <place>', "a text with an arrow to a point: '2024-03-01,120:Launch' (repeatable)"),
  highlight: texts(
    '--highlight <name>',
    'a series, or a bar, that keeps its color: all others are grey (repeatable)',
  ),
  labels: flag('--labels', 'write the value at each point or bar, or the text of --text'),
  logX: flag('--log-x', 'logarithmic x axis'),
  logY: flag('--log-y', 'logarithmic y axis'),
  rangeX: text('--range-x <from,to>', 'part of the x axis that is shown: numbers or dates'),
  rangeY: text('--range-y <from,to>', 'part of the y axis that is shown'),
  formatY: text('--format-y <format>', 'format of numbers on the y axis, as in d3-format: .1% or ,.2f'),
  unit: text('--unit <unit>', 'unit behind the numbers on the y axis, such as € or %'),
  where: { kind: 'where', ...whereOption },
  order: text(
    '--order <labels>',
    "order of the labels of the x axis, or of series: 'low,medium,high', or a column to sort by",
  ),
  sort: { kind: 'sort', ...sortOption },
  title: text('--title <text>', 'title of the chart (default: from its columns); none for no title'),
  subtitle: text('--subtitle <text>', 'text below the title'),
  theme: text(
    '--theme <theme>',
    'look of the chart: gridline (default), newsroom, print, or a JSON file with a plotly template',
  ),
  locale: text('--locale <tag>', 'language of months and numbers, such as de (default: English)'),
  source: text('--source <text>', 'where the data comes from: a small text below the chart'),
} as const satisfies Record<string, ChartOption>

type Value<R extends ChartOption> = R extends { kind: 'flag' }
  ? boolean
  : R extends { kind: 'number' }
    ? number
    : R extends { kind: 'texts' }
      ? readonly string[]
      : R extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string

export type ChartOptions = { -readonly [Name in keyof typeof table]?: Value<(typeof table)[Name]> }

export const optionNames = Object.keys(table) as readonly (keyof ChartOptions)[]

/** An option beside those of a chart: it is not kept. */
export const explainOption = {
  flags: '--explain',
  description: 'say which other types of chart would show what, where the type is chosen',
} as const

/** The options as the command line declares them. */
export const chartOptions = Object.values(table)

/** How an option is typed, and what it does. */
export function rowOf(name: keyof ChartOptions): ChartOption {
  return table[name]
}

/** The kind of an option; undefined if there is none of this name. */
export function kindOfOption(name: string): OptionKind | undefined {
  return Object.hasOwn(table, name) ? table[name as keyof ChartOptions].kind : undefined
}

/** `logX` → `--log-x`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Options of a chart, as they are typed. */
export function wordsOf(options: ChartOptions): string[] {
  return optionNames.flatMap((name) => {
    const value = options[name]
    if (value === undefined) return []
    return value === true
      ? [flagOf(name)]
      : [value].flat().flatMap((one) => [flagOf(name), quoted(String(one))])
  })
}

/** Options of which `none` is a value like others. */
const WITH_NONE: ReadonlySet<string> = new Set(['title', 'stack'])

/** The options without those that are `none`, or an empty text. */
export function withoutNone(options: ChartOptions): ChartOptions {
  const isNone = (name: string, value: unknown): boolean =>
    !WITH_NONE.has(name) && /^(?:none)?$/.test(String(value))
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== undefined && !isNone(name, value)),
  ) as ChartOptions
}

/** A column, as far as charts need it. */
export type Column = Pick<GridMeta['cols'][number], 'name' | 'type' | 'uid' | 'date_order' | 'zoned'> & {
  /** The first value of each type, where the table was read here. */
  seen?: readonly { text: string }[]
}

/** A grid, as far as charts need it. */
export type ChartGrid = Pick<GridMeta, 'fid' | 'filename'> & { cols: readonly Column[] }
