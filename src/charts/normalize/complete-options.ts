// Chooses the chart type and columns that the user left out.
import { isMomentType } from '../../contract/column-types.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import {
  COLUMN_NAMES_AXIS,
  detectNumberStyle,
  filterYearNames,
  hasLabels,
  parseColumnNames,
  quoteColumnName,
} from '../spec/column-names.ts'
import { type ChartGrid, type ChartOptions, type Column, MAX_LABELS } from '../spec/options.ts'
import { AUTO, acceptsOption, type ChartType, hasTrait } from '../spec/types.ts'

/** A chart with all options filled in from the column types and values. */
export interface CompletedChart {
  type: ChartType
  options: ChartOptions
  /** Automatically chosen options, as command-line flags; empty if there are none. */
  chosenFlags: string
  /** Reason for the chosen type; undefined if the type was requested. */
  reason?: string
  /** Other types that fit, each with what it would show. */
  suggestions: readonly string[]
}

/**
 * Counts the rows with a value and the distinct values of a column, and finds its largest absolute number.
 * Resolves to undefined if the values are unknown.
 */
export type CountDistinct = (
  name: string,
) => Promise<{ rows: number; distinct: number; largest?: number } | undefined>

/** Reads the first values of a column. */
export type ReadSample = (column: Column) => Promise<readonly unknown[]>

/** Maximum number of lines that are chosen automatically. */
const MAX_AUTO_LINES = 4
/** Maximum number of distinct values for a column to become series. */
const MAX_AUTO_SERIES = 12

/** Maximum number of bars that are chosen automatically. */
const MAX_AUTO_BARS = 40

const LATITUDE = /^(?:lat|latitude)$/i
const LONGITUDE = /^(?:lon|lng|long|longitude)$/i
const IDENTIFIER = /^(?:id|index|row|no|nr|#|.*[_ ]id|unnamed:? ?\d*|col1)$/i
const YEAR = /^(?:year|jahr|år|année|ano|año|rok)$/i

/** Fills in the missing chart type and columns. See docs/guide.md#create-plots. */
export async function completed(
  grid: ChartGrid,
  requestedType: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  distinct: CountDistinct,
  sample: ReadSample = async ({ firstValues = [] }) =>
    firstValues.map(({ text }) => text.replace(/^"|"$/g, '')),
): Promise<CompletedChart> {
  const grouped = groupColumnsByKind(grid.cols)
  const columns =
    options.x === undefined
      ? { ...grouped, texts: await moveReadableFirst(grouped.texts, distinct) }
      : grouped
  const names = grid.cols.map(({ name }) => name)
  const findColumn = (name: string | undefined): Column | undefined =>
    grid.cols.find((column) => column.name === name)
  const isOpen = requestedType === undefined || requestedType === AUTO
  const years = completeYearColumns(grid, requestedType, options)
  if (years) return years
  const next: ChartOptions = await swapForLabels(requestedType, options, findColumn, sample)
  const choice = isOpen ? await chooseType(columns, findColumn(next.x), next, distinct) : undefined
  const type = choice?.type ?? (requestedType as ChartType)
  if (next.x === undefined && next.lat === undefined && needsX(type, options))
    next.x = chooseX(type, columns, options)?.name
  if (next.y === undefined && needsY(type, next)) {
    next.y = chooseY(type, columns, next)
    if (hasTrait(type, 'joined') && next.y !== undefined)
      next.y = await selectComparable(parseColumnNames(next.y, names), distinct)
  }
  // With more labels than fit on an axis, show only the largest values.
  if (isOpen && type === 'bar' && options.x === undefined && next.x !== undefined && next.top === undefined) {
    const labels = await distinct(next.x)
    if (labels && labels.distinct > MAX_LABELS) next.top = MAX_AUTO_BARS
  }
  // With several rows per x, draw several series or aggregate.
  if (
    isOpen &&
    next.x !== undefined &&
    next.by === undefined &&
    (next.aggregate === undefined || next.aggregate === 'none')
  ) {
    const counts = await distinct(next.x)
    if (counts && counts.distinct < counts.rows && type !== 'scatter' && type !== 'histogram') {
      const group = await findSeriesColumn(columns.texts, next, counts, distinct)
      if (group && type === 'line') {
        next.by = group
        next.y = next.y && quoteColumnName(parseColumnNames(next.y, names)[0])
      } else if (next.y !== undefined)
        next.aggregate = type === 'bar' || hasTrait(type, 'slices') ? 'sum' : 'mean'
    }
  }
  if (isOpen && type === 'bar' && next.y === undefined) next.aggregate = 'count'
  const flags = [
    ...(isOpen ? [`--type ${type}`] : []),
    ...(['x', 'y', 'by', 'aggregate', 'top'] as const).flatMap((name) =>
      next[name] !== undefined && next[name] !== options[name]
        ? [`--${name} ${quoteShellWord(String(next[name]))}`]
        : [],
    ),
    ...(next.horizontal && !options.horizontal ? ['--horizontal'] : []),
  ]
  return {
    type,
    options: next,
    chosenFlags: flags.join(' '),
    reason: choice?.because,
    suggestions: choice?.others ?? [],
  }
}

/** Types for which year columns become the x axis. */
const YEAR_COLUMN_TYPES: ReadonlySet<ChartType> = new Set(['line', 'step', 'slope', 'bump', 'area'])

/** Chooses one line per row for a table with year columns; undefined for other tables. */
function completeYearColumns(
  grid: ChartGrid,
  requestedType: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
): CompletedChart | undefined {
  const isOpen = requestedType === undefined || requestedType === AUTO
  const type = isOpen ? 'line' : requestedType
  if (!YEAR_COLUMN_TYPES.has(type)) return undefined
  const years = filterYearNames(grid.cols.filter(({ type }) => type === 'number').map(({ name }) => name))
  const isTaken = grid.cols.some(({ name }) => name === COLUMN_NAMES_AXIS)
  if (years.length === 0 || isTaken || options.x !== undefined || options.y !== undefined) return undefined
  const labels = grid.cols.find(({ type }) => type === 'text')
  const y = years.join(',')
  const by = options.by ?? labels?.name
  const chosen = [
    `${isOpen ? '--type line ' : ''}--x ${COLUMN_NAMES_AXIS} --y ${y}`,
    ...(by === undefined ? [] : [`--by ${quoteShellWord(by)}`]),
  ]
  return {
    ...{ type, options: { ...options, x: COLUMN_NAMES_AXIS, y, by }, chosenFlags: chosen.join(' ') },
    ...{ reason: isOpen ? 'columns are named by years' : undefined, suggestions: [] },
  }
}

/** Swaps x and y if x holds numbers and y holds labels or dates. Bars then become horizontal. */
async function swapForLabels(
  type: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  findColumn: (name: string | undefined) => Column | undefined,
  sample: ReadSample,
): Promise<ChartOptions> {
  const [x, y] = [findColumn(options.x), findColumn(options.y)]
  if (x?.type !== 'number' || y === undefined || options.aggregate === 'count') return { ...options }
  const isLabels = hasLabels(y)
  const isDates = isMomentType(y.type)
  if ((!isLabels && !isDates) || NUMERIC_X_TYPES.has(type ?? AUTO)) return { ...options }
  // Text that looks like numbers is not labels.
  if (isLabels && detectNumberStyle(await sample(y)) !== undefined) return { ...options }
  const isOpen = type === undefined || type === AUTO
  // Do not swap if an option applies to one axis.
  if (ONE_AXIS_OPTIONS.some((name) => options[name] !== undefined && options[name] !== false))
    return { ...options }
  const canBeHorizontal =
    isLabels && (isOpen || acceptsOption(type, 'horizontal')) && options.facet === undefined
  return { ...options, x: options.y, y: options.x, ...(canBeHorizontal && { horizontal: true }) }
}

/** Options that apply to one axis. */
const ONE_AXIS_OPTIONS = ['logX', 'logY', 'rangeX', 'rangeY', 'mark', 'band'] as const

/** Types that accept numbers on x and labels on y. */
const NUMERIC_X_TYPES: ReadonlySet<string> = new Set([
  ...['heatmap', 'contour', 'histogram', 'histogram2d', 'table', 'scatter3d', 'surface', 'map'],
  ...['parallel', 'scatter', 'choropleth', 'sankey', 'rose', 'hexbin', 'bump', 'slope'],
])

/** Columns by kind. Numeric columns named like a year count as dates. */
interface ColumnsByKind {
  dates: Column[]
  numbers: Column[]
  texts: Column[]
}

function groupColumnsByKind(cols: readonly Column[]): ColumnsByKind {
  const dates = cols.filter(
    ({ type, name }) => isMomentType(type) || (type === 'number' && YEAR.test(name.trim())),
  )
  const numbers = cols.filter((column) => column.type === 'number' && !dates.includes(column))
  const plain = numbers.filter(({ name }) => !IDENTIFIER.test(name.trim()))
  return {
    dates,
    numbers: plain.length > 0 ? plain : numbers,
    texts: cols.filter(hasLabels),
  }
}

/** Maximum number of text columns whose labels are counted. */
const MAX_COUNTED_COLUMNS = 20

/** Moves the first text column whose labels fit on an axis to the front. */
async function moveReadableFirst(texts: Column[], distinct: CountDistinct): Promise<Column[]> {
  for (const column of texts.slice(0, MAX_COUNTED_COLUMNS)) {
    const count = await distinct(column.name)
    const maxLabels = count && count.distinct < count.rows ? MAX_AUTO_BARS : MAX_LABELS
    if (!count || count.distinct <= maxLabels) return [column, ...texts.filter((other) => other !== column)]
  }
  return texts
}

/** Facts about a table from which the type is chosen. */
interface TableFacts extends ColumnsByKind {
  x: Column | undefined
  y: string | undefined
  /** Counts of the first text column. */
  labels: { rows: number; distinct: number } | undefined
}

/** A type that may be chosen. */
interface Candidate {
  type: ChartType
  /** Returns whether the type suits the table. */
  isFit(known: TableFacts): boolean
  /** Returns the reason for choosing it, or what it would show. */
  describeReason(known: TableFacts): string
}

/** Types in order of preference: the first that fits is chosen. */
const CANDIDATES: readonly Candidate[] = [
  {
    type: 'map',
    isFit: ({ x, y, numbers }) =>
      x === undefined &&
      y === undefined &&
      [LATITUDE, LONGITUDE].every((name) => numbers.some((column) => name.test(column.name))),
    describeReason: () => 'there are latitudes and longitudes',
  },
  {
    type: 'line',
    isFit: ({ x, dates, numbers }) => (x ? dates.includes(x) : dates.length > 0 && numbers.length > 0),
    describeReason: ({ x, dates }) => `${(x ?? dates[0]).name} has dates or years`,
  },
  {
    type: 'scatter',
    isFit: ({ x, y, texts, numbers, labels }) => {
      if (x) return !texts.includes(x) && (y !== undefined || numbers.length > 1)
      if (numbers.length < 2) return false
      if (texts.length === 0) return true
      // Many items with several numbers each: show how the numbers relate, one color per group.
      return y === undefined && labels !== undefined && (isUniqueAmongMany(labels) || isGroupColumn(labels))
    },
    describeReason: () => 'each row has several numbers',
  },
  {
    type: 'histogram',
    isFit: ({ x, texts, numbers }) => (x ? !texts.includes(x) : texts.length === 0 && numbers.length > 0),
    describeReason: () => 'there is one column of numbers',
  },
  {
    type: 'table',
    isFit: ({ x, y, dates, numbers, texts }) =>
      !x && !y && dates.length + numbers.length + texts.length === 0,
    describeReason: () => 'no column has numbers, dates or labels',
  },
  {
    type: 'bar',
    isFit: () => true,
    describeReason: ({ x, texts }) => `${(x ?? texts[0])?.name ?? 'the rows'} has labels`,
  },
]

/** Types that are only suggested, and what they would show. */
const ALTERNATIVES: readonly Candidate[] = [
  {
    type: 'bar',
    isFit: ({ texts, numbers }) => texts.length > 0 && numbers.length > 0,
    describeReason: ({ texts, numbers }) => `amounts of ${numbers[0].name} by ${texts[0].name}`,
  },
  {
    type: 'scatter',
    isFit: ({ numbers }) => numbers.length > 1,
    describeReason: ({ numbers }) => `how ${numbers[0].name} and ${numbers[1].name} relate`,
  },
  {
    type: 'histogram',
    isFit: ({ numbers }) => numbers.length > 0,
    describeReason: ({ numbers }) => `how ${numbers[0].name} is distributed`,
  },
  {
    type: 'box',
    isFit: ({ texts, numbers, labels }) =>
      texts.length > 0 && numbers.length > 0 && labels !== undefined && isGroupColumn(labels),
    describeReason: ({ texts, numbers }) => `the spread of ${numbers[0].name} for each ${texts[0].name}`,
  },
  {
    type: 'heatmap',
    isFit: ({ dates, texts, numbers }) => dates.length + texts.length > 1 && numbers.length > 0,
    describeReason: ({ dates, texts, numbers }) =>
      `${numbers[0].name} for each pair of ${[...dates, ...texts]
        .slice(0, 2)
        .map(({ name }) => name)
        .join(' and ')}`,
  },
  {
    type: 'pie',
    isFit: ({ texts, numbers, dates, labels }) =>
      dates.length === 0 &&
      texts.length > 0 &&
      numbers.length > 0 &&
      labels !== undefined &&
      labels.distinct <= 8,
    describeReason: ({ texts }) => `the shares of each ${texts[0].name}`,
  },
  {
    type: 'splom',
    isFit: ({ numbers }) => numbers.length > 2,
    describeReason: () => 'how each pair of numbers relates',
  },
]

/** Returns whether each of many rows has its own label. */
const isUniqueAmongMany = ({ rows, distinct }: { rows: number; distinct: number }): boolean =>
  rows > MAX_AUTO_BARS && distinct === rows
/** Returns whether the labels divide the rows into few groups. */
const isGroupColumn = ({ rows, distinct }: { rows: number; distinct: number }): boolean =>
  distinct < rows && distinct <= MAX_AUTO_SERIES

/** Chooses a type and lists alternatives. Sets `options.by` if a text column groups a scatter. */
async function chooseType(
  columns: ColumnsByKind,
  x: Column | undefined,
  options: ChartOptions,
  distinct: CountDistinct,
): Promise<{ type: ChartType; because: string; others: string[] }> {
  const [text] = columns.texts
  const facts: TableFacts = { ...columns, x, y: options.y, labels: text && (await distinct(text.name)) }
  const { type, describeReason } = CANDIDATES.find(({ isFit }) => isFit(facts))!
  if (type === 'scatter' && !x && text && facts.labels && !isUniqueAmongMany(facts.labels))
    options.by ??= text.name
  const alternatives = ALTERNATIVES.filter((candidate) => candidate.type !== type && candidate.isFit(facts))
  return {
    type,
    because: describeReason(facts),
    others: alternatives.map((candidate) => `${candidate.type} (${candidate.describeReason(facts)})`),
  }
}

function needsX(type: ChartType, { y, color }: ChartOptions): boolean {
  if (hasTrait(type, 'optional x') || hasTrait(type, 'no x')) return false
  if (hasTrait(type, 'spread')) return y === undefined
  // A heatmap of several columns uses the rows as its other axis.
  return !((hasTrait(type, 'cells') || type === 'surface') && color === undefined)
}

function needsY(type: ChartType, { aggregate, z }: ChartOptions): boolean {
  if (aggregate === 'count' || z !== undefined || hasTrait(type, 'optional y')) return false
  return !hasTrait(type, 'cells') && type !== 'table' && type !== 'surface'
}

/** Returns the x column for a type; undefined if no column suits. */
function chooseX(
  type: ChartType,
  { dates, numbers, texts }: ColumnsByKind,
  { y }: ChartOptions,
): Column | undefined {
  const taken = new Set(
    y === undefined
      ? []
      : parseColumnNames(
          y,
          [...dates, ...numbers, ...texts].map(({ name }) => name),
        ),
  )
  const isFree = (column: Column): boolean => !taken.has(column.name)
  if (type === 'ecdf' || type === 'density') return numbers[0]
  if (type === 'histogram') return numbers[0] ?? dates[0]
  if (type === 'scatter' || type === 'histogram2d' || type === 'hexbin' || type === 'scatter3d')
    return (y === undefined && numbers.length < 2 ? dates : numbers).find(isFree) ?? dates.find(isFree)
  const isTime = hasTrait(type, 'joined') || ['candlestick', 'ohlc', 'calendar'].includes(type)
  return (isTime ? [...dates, ...texts] : [...texts, ...dates]).find(isFree)
}

/** Price columns, by name. */
const PRICE_NAMES = ['open', 'high', 'low', 'close']

/** Returns the --y columns for a type, comma-separated; undefined if no column suits. */
function chooseY(
  type: ChartType,
  { numbers, dates }: ColumnsByKind,
  { x, by, color, size, error }: ChartOptions,
): string | undefined {
  const used = new Set([x, by, color, size, error])
  const free = numbers.filter(({ name }) => !used.has(name)).map(({ name }) => name)
  if (type === 'candlestick' || type === 'ohlc') {
    const prices = PRICE_NAMES.map((price) => free.find((name) => name.toLowerCase() === price))
    return prices.every((name) => name !== undefined)
      ? prices.map((name) => quoteColumnName(name)).join(',')
      : undefined
  }
  if (type === 'timeline' && dates.length > 1)
    return dates
      .slice(0, 2)
      .map(({ name }) => quoteColumnName(name))
      .join(',')
  if (free.length === 0) return undefined
  if (hasTrait(type, 'two y') || (type === 'pyramid' && by === undefined))
    return free.length < 2 ? undefined : free.slice(0, 2).map(quoteColumnName).join(',')
  const hasSeveral = type === 'parallel' || type === 'splom' || (hasTrait(type, 'joined') && by === undefined)
  const maxColumns = type === 'parallel' ? 12 : type === 'splom' ? 5 : hasSeveral ? MAX_AUTO_LINES : 1
  return free.slice(0, maxColumns).map(quoteColumnName).join(',')
}

/** Maximum ratio of the largest values of columns on one axis: a smaller column would be a flat line. */
const MAX_SCALE_RATIO = 20

/** Returns the first column and every column on a comparable scale. */
async function selectComparable(names: readonly string[], distinct: CountDistinct): Promise<string> {
  const sizes = await Promise.all(names.map(async (name) => (await distinct(name))?.largest))
  const [first] = sizes
  const isComparable = (size: number | undefined): boolean =>
    first === undefined ||
    size === undefined ||
    (size <= first * MAX_SCALE_RATIO && size * MAX_SCALE_RATIO >= first)
  return names
    .filter((_, k) => isComparable(sizes[k]))
    .map(quoteColumnName)
    .join(',')
}

/** Returns the text column that separates rows with the same x; undefined if there is none. */
async function findSeriesColumn(
  texts: readonly Column[],
  { x }: ChartOptions,
  xCounts: { rows: number; distinct: number },
  distinct: CountDistinct,
): Promise<string | undefined> {
  for (const { name } of texts) {
    const counts = name === x ? undefined : await distinct(name)
    if (
      counts &&
      counts.distinct > 1 &&
      counts.distinct <= MAX_AUTO_SERIES &&
      counts.distinct * xCounts.distinct >= xCounts.rows
    )
      return name
  }
  return undefined
}
