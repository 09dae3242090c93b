import { quoted } from '../contract/shell.ts'
import { columnNames, nameInList, numberStyle } from './columns.ts'
import { type ChartGrid, type ChartOptions, type Column, MOST_LABELS } from './options.ts'
import { AUTO, type ChartType, hasTrait, takes } from './types.ts'

/** What a chart shows that does not say everything: the rest is chosen from the types of the columns. */
export interface Completed {
  type: ChartType
  options: ChartOptions
  /** Options that were chosen, as they are typed; empty if all were given. */
  chosen: string
}

/**
 * How many rows have a value of a column, how many different ones there are, and the largest number without its sign;
 * undefined if that is not known.
 */
export type Distinct = (
  name: string,
) => Promise<{ rows: number; distinct: number; largest?: number } | undefined>

/** The first values of a column. */
export type Sample = (column: Column) => Promise<readonly unknown[]>

/** Lines that are chosen without being asked for. */
const MOST_LINES = 4
/** Different values of a column that can be series. */
const MOST_GROUPS = 12

/** Bars that are chosen without being asked for. */
const MOST_BARS = 40

const LATITUDE = /^(?:lat|latitude)$/im
const LONGITUDE = /^(?:lon|lng|long|longitude)$/i
const IDENTIFIER = /^(?:id|index|row|no|nr|#|.*[_ ]id|unnamed:? ?\d*|col1)$/i
const YEAR = /^(?:year|jahr|år|année|ano|año|rok)$/i

/** Adds the type and the columns that are not given. See docs/guide.md#create-plots. */
export async function completed(
  grid: ChartGrid,
  given: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  distinct: Distinct,
  sample: Sample = async ({ seen = [] }) => seen.map(({ text }) => text.replace(/^"|"$/g, '')),
): Promise<Completed> {
  const all = sorted(grid.cols)
  const columns = options.x === undefined ? { ...all, texts: await readableFirst(all.texts, distinct) } : all
  const names = grid.cols.map(({ name }) => name)
  const named = (name: string | undefined): Column | undefined =>
    grid.cols.find((column) => column.name === name)
  const isOpen = given === undefined || given === AUTO
  const next: ChartOptions = await oriented(given, options, named, sample)
  const type = isOpen ? await typeFor(columns, named(next.x), next, distinct) : given
  if (next.x === undefined && next.lat === undefined && needsX(type, options))
    next.x = xFor(type, columns, options)?.name
  if (next.y === undefined && needsY(type, next)) {
    next.y = yFor(type, columns, next)
    if (hasTrait(type, 'joined') && next.y !== undefined)
      next.y = await ofOneScale(columnNames(next.y, names), distinct)
  }
  // More labels than an axis has room for: the largest of them.
  if (isOpen && type === 'bar' && options.x === undefined && next.x !== undefined && next.top === undefined) {
    const labels = await distinct(next.x)
    if (labels && labels.distinct > MOST_LABELS) next.top = MOST_BARS
  }
  // Several rows at one place are several series, or one sum.
  if (
    isOpen &&
    next.x !== undefined &&
    next.by === undefined &&
    (next.aggregate === undefined || next.aggregate === 'none')
  ) {
    const found = await distinct(next.x)
    if (found && found.distinct < found.rows && type !== 'scatter' && type !== 'histogram') {
      const group = await groupFor(columns.texts, next, found, distinct)
      if (group && type === 'line') {
        next.by = group
        next.y = next.y && nameInList(columnNames(next.y, names)[0])
      } else if (next.y !== undefined)
        next.aggregate = type === 'bar' || hasTrait(type, 'slices') ? 'sum' : 'mean'
    }
  }
  if (isOpen && type === 'bar' && next.y === undefined) next.aggregate = 'count'
  const words = [
    ...(isOpen ? [`--type ${type}`] : []),
    ...(['x', 'y', 'by', 'aggregate', 'top'] as const).flatMap((name) =>
      next[name] !== undefined && next[name] !== options[name]
        ? [`--${name} ${quoted(String(next[name]))}`]
        : [],
    ),
    ...(next.horizontal && !options.horizontal ? ['--horizontal'] : []),
  ]
  return { type, options: next, chosen: words.join(' ') }
}

/** Numbers along x and labels or dates along y are meant: the columns are exchanged, and bars go from left to right. */
async function oriented(
  type: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
  named: (name: string | undefined) => Column | undefined,
  sample: Sample,
): Promise<ChartOptions> {
  const [x, y] = [named(options.x), named(options.y)]
  if (x?.type !== 'number' || y === undefined || options.aggregate === 'count') return { ...options }
  const isLabels = y.type === 'text' || y.type === 'boolean'
  const isDates = y.type === 'date' || y.type === 'datetime'
  if ((!isLabels && !isDates) || NUMBERS_ACROSS.has(type ?? AUTO)) return { ...options }
  // Numbers that were read as texts are no labels.
  if (isLabels && numberStyle(await sample(y)) !== undefined) return { ...options }
  const isOpen = type === undefined || type === AUTO
  // Options of one axis would be wrong for the other: nothing is exchanged.
  if (OF_AXES.some((name) => options[name] !== undefined && options[name] !== false)) return { ...options }
  const canTurn = isLabels && (isOpen || takes(type, 'horizontal')) && options.facet === undefined
  return { ...options, x: options.y, y: options.x, ...(canTurn && { horizontal: true }) }
}

const OF_AXES = ['logX', 'logY', 'rangeX', 'rangeY', 'mark', 'band'] as const

/** Types whose x can hold numbers and whose y can hold labels. */
const NUMBERS_ACROSS: ReadonlySet<string> = new Set([
  ...['heatmap', 'contour', 'histogram', 'histogram2d', 'table', 'scatter3d', 'surface', 'map'],
  ...['parallel', 'scatter', 'choropleth', 'sankey', 'rose', 'hexbin', 'bump', 'slope'],
])

interface Columns {
  dates: Column[]
  numbers: Column[]
  texts: Column[]
}

function sorted(cols: readonly Column[]): Columns {
  const dates = cols.filter(
    ({ type, name }) =>
      type === 'date' || type === 'datetime' || (type === 'number' && YEAR.test(name.trim())),
  )
  const numbers = cols.filter((column) => column.type === 'number' && !dates.includes(column))
  const plain = numbers.filter(({ name }) => !IDENTIFIER.test(name.trim()))
  return {
    dates,
    numbers: plain.length > 0 ? plain : numbers,
    texts: cols.filter(({ type }) => type === 'text' || type === 'boolean'),
  }
}

/** Maximum number of text columns whose labels are counted. */
const MAX_COUNTED_COLUMNS = 20

/** Moves the first column of texts that an axis has room for to the front. Counts the labels of no more than it must. */
async function readableFirst(texts: Column[], distinct: Distinct): Promise<Column[]> {
  for (const column of texts.slice(0, MAX_COUNTED_COLUMNS)) {
    const count = await distinct(column.name)
    const room = count && count.distinct < count.rows ? MOST_BARS : MOST_LABELS
    if (!count || count.distinct <= room) return [column, ...texts.filter((one) => one !== column)]
  }
  return texts
}

async function typeFor(
  { dates, numbers, texts }: Columns,
  x: Column | undefined,
  options: ChartOptions,
  distinct: Distinct,
): Promise<ChartType> {
  const { y } = options
  if (x) {
    if (dates.includes(x)) return 'line'
    if (texts.includes(x)) return 'bar'
    return y === undefined && numbers.length < 2 ? 'histogram' : 'scatter'
  }
  if (numbers.length === 0) return 'bar'
  const isMap = LATITUDE.test(numbers.map(({ name }) => name).join('\n')) && y === undefined
  if (isMap && numbers.some(({ name }) => LONGITUDE.test(name))) return 'map'
  if (dates.length > 0) return 'line'
  if (texts.length > 0 && numbers.length > 1 && y === undefined) {
    // Many things with several numbers each: how the numbers go together, in a color for each group.
    const found = await distinct(texts[0].name)
    if (found && found.rows > MOST_BARS && found.distinct === found.rows) return 'scatter'
    if (found && found.distinct < found.rows && found.distinct <= MOST_GROUPS) {
      options.by ??= texts[0].name
      return 'scatter'
    }
  }
  if (texts.length > 0) return 'bar'
  return numbers.length > 1 ? 'scatter' : 'histogram'
}

function needsX(type: ChartType, { y, color }: ChartOptions): boolean {
  if (hasTrait(type, 'optional x') || hasTrait(type, 'no x')) return false
  if (hasTrait(type, 'spread')) return y === undefined
  // A map of several columns has the rows on its other axis.
  return !((hasTrait(type, 'cells') || type === 'surface') && color === undefined)
}

function needsY(type: ChartType, { aggregate, z }: ChartOptions): boolean {
  if (aggregate === 'count' || z !== undefined || hasTrait(type, 'optional y')) return false
  return !hasTrait(type, 'cells') && type !== 'table' && type !== 'surface'
}

function xFor(type: ChartType, { dates, numbers, texts }: Columns, { y }: ChartOptions): Column | undefined {
  const taken = new Set(
    y === undefined
      ? []
      : columnNames(
          y,
          [...dates, ...numbers, ...texts].map(({ name }) => name),
        ),
  )
  const free = (column: Column): boolean => !taken.has(column.name)
  if (type === 'ecdf' || type === 'density') return numbers[0]
  if (type === 'histogram') return numbers[0] ?? dates[0]
  if (type === 'scatter' || type === 'histogram2d' || type === 'hexbin' || type === 'scatter3d')
    return (y === undefined && numbers.length < 2 ? dates : numbers).find(free) ?? dates.find(free)
  const isTime = hasTrait(type, 'joined') || ['candlestick', 'ohlc', 'calendar'].includes(type)
  return (isTime ? [...dates, ...texts] : [...texts, ...dates]).find(free)
}

/** Prices by their names. */
const PRICES = ['open', 'high', 'low', 'close']

function yFor(
  type: ChartType,
  { numbers, dates }: Columns,
  { x, by, color, size, error }: ChartOptions,
): string | undefined {
  const used = new Set([x, by, color, size, error])
  const free = numbers.filter(({ name }) => !used.has(name)).map(({ name }) => name)
  if (type === 'candlestick' || type === 'ohlc') {
    const found = PRICES.map((price) => free.find((name) => name.toLowerCase() === price))
    return found.every((name) => name !== undefined)
      ? found.map((name) => nameInList(name)).join(',')
      : undefined
  }
  if (type === 'timeline' && dates.length > 1)
    return dates
      .slice(0, 2)
      .map(({ name }) => nameInList(name))
      .join(',')
  if (free.length === 0) return undefined
  if (hasTrait(type, 'two y')) return free.length < 2 ? undefined : free.slice(0, 2).map(nameInList).join(',')
  const isSeveral = type === 'parallel' || type === 'splom' || (hasTrait(type, 'joined') && by === undefined)
  const most = type === 'parallel' ? 12 : type === 'splom' ? 5 : isSeveral ? MOST_LINES : 1
  return free.slice(0, most).map(nameInList).join(',')
}

/** On one axis, a column whose largest value is so much smaller is a flat line. */
const MOST_RATIO = 20

/** The first of some columns, and those that can be seen beside it on one axis. */
async function ofOneScale(names: readonly string[], distinct: Distinct): Promise<string> {
  const sizes = await Promise.all(names.map(async (name) => (await distinct(name))?.largest))
  const [first] = sizes
  const isNear = (size: number | undefined): boolean =>
    first === undefined || size === undefined || (size <= first * MOST_RATIO && size * MOST_RATIO >= first)
  return names
    .filter((_, k) => isNear(sizes[k]))
    .map(nameInList)
    .join(',')
}

/** The column whose values tell the rows of one place apart. */
async function groupFor(
  texts: readonly Column[],
  { x }: ChartOptions,
  along: { rows: number; distinct: number },
  distinct: Distinct,
): Promise<string | undefined> {
  for (const { name } of texts) {
    const found = name === x ? undefined : await distinct(name)
    if (
      found &&
      found.distinct > 1 &&
      found.distinct <= MOST_GROUPS &&
      found.distinct * along.distinct >= along.rows
    )
      return name
  }
  return undefined
}
