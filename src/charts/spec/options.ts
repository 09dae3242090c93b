// The options of charts: one table for the command line, the edit form and the documentation.
import type { GridMeta } from '../../contract/resources/index.ts'
import {
  AGGREGATE_FUNCTIONS,
  PERIODS,
  sortOption,
  type TypedOption,
  whereOption,
} from '../../contract/row-options.ts'
import { quoteShellWord } from '../../contract/shell.ts'

/** Kinds of color scales. */
export const COLOR_SCALES = ['linear', 'diverging', 'log', 'steps'] as const

/** Maximum number of series that the server draws. */
export const MAX_SERIES = 1000
/** Maximum number of labels on an axis or a pie. */
export const MAX_LABELS = 1000
/** Maximum number of series without --top, including the series `other`. */
export const DEFAULT_MAX_SERIES = 12

/** Kinds of option values. The first four kinds contain column names. */
export type OptionKind = 'column' | 'columns' | 'where' | 'sort' | 'text' | 'texts' | 'flag' | 'number'

/** An option of charts, with the kind of its value. */
export interface ChartOption extends TypedOption {
  kind: OptionKind
}

type OptionDeclaration<K extends OptionKind, F extends string, R> = {
  kind: K
  flags: F
  description: string
} & R &
  (K extends 'texts' ? { repeatable: true } : unknown)

/** Returns a function that declares options of one kind. */
const createDeclarator =
  <K extends OptionKind>(kind: K) =>
  <const R extends Partial<ChartOption>, F extends string>(
    flags: F,
    description: string,
    more?: R,
  ): OptionDeclaration<K, F, R> =>
    ({ kind, flags, description, ...(kind === 'texts' && { repeatable: true }), ...more }) as never
const [column, columns] = [createDeclarator('column'), createDeclarator('columns')]
const [text, texts] = [createDeclarator('text'), createDeclarator('texts')]
const [flag, number] = [createDeclarator('flag'), createDeclarator('number')]

/** Options by name. The command line, the edit form and the documentation use this table. */
const OPTIONS_BY_NAME = {
  x: column(
    '--x <column>',
    'column of the x axis; pie: labels; choropleth: places; "columns": the names of the --y columns',
  ),
  y: columns(
    '--y <columns>',
    'columns of the y axis, comma-separated, as a range (2019-2023) or a pattern (temp_*); pie: values; candlestick: open,high,low,close',
  ),
  z: column('--z <column>', 'column of the z axis (scatter3d, surface)'),
  lat: column('--lat <column>', 'column of latitudes of a map (default: detected by name)'),
  lon: column('--lon <column>', 'column of longitudes of a map (default: detected by name)'),
  parent: column('--parent <column>', 'column with the name of the parent (treemap, sunburst)'),
  to: column('--to <column>', 'column with the target of each link (sankey); --x is the source'),
  geojson: text(
    '--geojson <file>',
    'GeoJSON or TopoJSON file with the regions of a choropleth; --x matches one of their properties',
  ),
  id: column(
    '--id <column>',
    'column with unique ids that --parent refers to (treemap, sunburst; default: the names)',
  ),
  color: column('--color <column>', 'column of numbers that colors points, bars or cells'),
  scale: text(
    '--scale <kind>',
    'color scale of --color: linear, diverging (two colors, split at zero), log or steps',
    { choices: COLOR_SCALES },
  ),
  symbol: column('--symbol <column>', 'draw one symbol per value of this column (scatter)'),
  dash: column('--dash <column>', 'draw one dash style per value of this column (line)'),
  angle: column(
    '--angle <column>',
    'draw arrows instead of points (scatter, map): column of directions, in degrees clockwise from the top',
  ),
  size: column('--size <column>', 'column of numbers that sizes points'),
  error: column('--error <column>', 'column with the lengths of error bars'),
  bandOf: columns('--band-of <low,high>', 'draw a band around a line, between two columns'),
  y2: columns('--y2 <columns>', 'draw columns as lines on a second y axis'),
  text: column('--text <column>', 'column with the text of tooltips and of --labels'),
  by: column('--by <column>', 'draw one series per value of this column'),
  facet: columns(
    '--facet <columns>',
    'draw one small chart per value, on shared axes; two columns make rows and columns',
  ),
  aggregate: text('--aggregate <function>', 'combine rows with the same x: sum, mean …', {
    choices: [...AGGREGATE_FUNCTIONS, 'none'],
  }),
  per: text(
    '--per <period>',
    'with --aggregate: one point per minute, hour, day, week, month, quarter or year',
    { choices: [...PERIODS, 'none'] },
  ),
  zone: text('--zone <zone>', 'time zone of the x axis, such as Europe/Oslo (default: UTC)'),
  top: number('--top <n>', 'show only the n largest series, bars or slices (--by: 11, the rest combined)', {
    integer: { max: MAX_SERIES },
  }),
  stack: text(
    '--stack [kind]',
    'stack bars or areas: normal (default), percent, center (around a middle line) or none',
    { preset: 'normal', choices: ['none', 'normal', 'percent', 'center'] },
  ),
  horizontal: flag('--horizontal', 'draw bars, boxes or violins horizontally'),
  animate: column('--animate <column>', 'animate: one frame per value of this column'),
  trend: text(
    '--trend <kind>',
    'add a trend line per series: linear, or mean:7 for a moving mean of 7 points',
  ),
  mark: texts(
    '--mark <place>',
    "add a line with a label: 'x=2024-03-01:Launch' or 'y=100:Goal' (repeatable)",
  ),
  band: texts('--band <range>', "shade a range, with a label: 'x=2020-03-01,2020-06-01:Closed' (repeatable)"),
  note: texts('--note <place>', "add a text with an arrow to a point: '2024-03-01,120:Launch' (repeatable)"),
  highlight: texts('--highlight <name>', 'series or bar to emphasize; all others turn grey (repeatable)'),
  labels: flag('--labels', 'write the value, or the text of --text, at each point or bar'),
  logX: flag('--log-x', 'logarithmic x axis'),
  logY: flag('--log-y', 'logarithmic y axis'),
  rangeX: text('--range-x <from,to>', 'limits of the x axis: numbers or dates'),
  rangeY: text('--range-y <from,to>', 'limits of the y axis: numbers or dates'),
  formatY: text('--format-y <format>', 'number format of the y axis (d3-format): .1% or ,.2f'),
  unit: text('--unit <unit>', 'unit of the y axis, such as € or % ($ is put in front)'),
  where: { kind: 'where', ...whereOption },
  order: text(
    '--order <labels>',
    "order of x labels or of series: 'low,medium,high', or a column to sort by",
  ),
  sort: { kind: 'sort', ...sortOption },
  title: text('--title <text>', 'title of the chart (default: from its columns), or none'),
  subtitle: text('--subtitle <text>', 'text below the title'),
  theme: text(
    '--theme <theme>',
    'theme: gridline (default), newsroom, print, or a JSON file with a plotly template',
  ),
  locale: text('--locale <tag>', 'language of month names and numbers, such as de (default: English)'),
  source: text('--source <text>', 'source of the data, in a small text below the chart'),
} as const satisfies Record<string, ChartOption>

type OptionValue<R extends ChartOption> = R extends { kind: 'flag' }
  ? boolean
  : R extends { kind: 'number' }
    ? number
    : R extends { kind: 'texts' }
      ? readonly string[]
      : R extends { choices: readonly (infer Choice)[] }
        ? Choice
        : string

export type ChartOptions = {
  -readonly [Name in keyof typeof OPTIONS_BY_NAME]?: OptionValue<(typeof OPTIONS_BY_NAME)[Name]>
}

export const OPTION_NAMES = Object.keys(OPTIONS_BY_NAME) as readonly (keyof ChartOptions)[]

/** An option beside those of a chart; not stored in the spec. */
export const EXPLAIN_OPTION = {
  flags: '--explain',
  description:
    'also list other chart types that fit, and what each would show; with --dry-run, no chart is made',
} as const

/** Options as the command line declares them. */
export const CHART_OPTIONS = Object.values(OPTIONS_BY_NAME)

/** Returns the declaration of an option. */
export function getOption(name: keyof ChartOptions): ChartOption {
  return OPTIONS_BY_NAME[name]
}

function isOptionName(name: string): name is keyof ChartOptions {
  return Object.hasOwn(OPTIONS_BY_NAME, name)
}

/** Returns the kind of an option; undefined for an unknown name. */
export function optionKindOf(name: string): OptionKind | undefined {
  return isOptionName(name) ? OPTIONS_BY_NAME[name].kind : undefined
}

/** Returns the flag of an option: `logX` → `--log-x`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Returns options as command-line arguments, quoted for the shell. */
export function formatArguments(options: ChartOptions): string[] {
  return OPTION_NAMES.flatMap((name) => {
    const value = options[name]
    if (value === undefined) return []
    return value === true
      ? [flagOf(name)]
      : [value].flat().flatMap((item) => [flagOf(name), quoteShellWord(String(item))])
  })
}

/** Options for which `none` is a value like others. */
const OPTIONS_WITH_NONE: ReadonlySet<string> = new Set(['title', 'stack'])

/** Returns the options without those that are `none` or empty. */
export function dropEmptyOptions(options: ChartOptions): ChartOptions {
  const kept = { ...options }
  const isNone = (name: string, value: unknown): boolean =>
    !OPTIONS_WITH_NONE.has(name) && /^(?:none)?$/.test(String(value))
  for (const name of OPTION_NAMES) if (kept[name] === undefined || isNone(name, kept[name])) delete kept[name]
  return kept
}

/** Column metadata that charts use. */
export type Column = Pick<GridMeta['cols'][number], 'name' | 'type' | 'uid' | 'date_order' | 'zoned'> & {
  /** First value of each type, for a table that is read locally. */
  firstValues?: readonly { text: string }[]
}

/** Grid metadata that charts use. */
export type ChartGrid = Pick<GridMeta, 'fid' | 'filename'> & { cols: readonly Column[] }
