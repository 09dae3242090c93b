import { quoted } from '../../contract/shell.ts'
import { COLUMNS, columnNames, hasLabels, nameInList, numberStyle, yearNames } from '../spec/column-names.ts'
import { type ChartGrid, type ChartOptions, type Column, MAX_LABELS } from '../spec/options.ts'
import { AUTO, type ChartType, hasTrait, takes } from '../spec/types.ts'

/** What a chart shows that does not say everything: the rest is chosen from the types of the columns. */
export interface Completed {
  type: ChartType
  options: ChartOptions
  /** Options that were chosen, as they are typed; empty if all were given. */
  chosen: string
  /** Why the type was chosen, and which other types would show what; of a type that was given, nothing. */
  because?: string
  others: readonly string[]
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
const MAX_LINES = 4
/** Different values of a column that can be series. */
const MAX_GROUPS = 12

/** Bars that are chosen without being asked for. */
const MAX_BARS = 40

const LATITUDE = /^(?:lat|latitude)$/i
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
  const years = yearsOf(grid, given, options)
  if (years) return years
  const next: ChartOptions = await oriented(given, options, named, sample)
  const open = isOpen ? await typeFor(columns, named(next.x), next, distinct) : undefined
  const type = open?.type ?? (given as ChartType)
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
    if (labels && labels.distinct > MAX_LABELS) next.top = MAX_BARS
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
  return { type, options: next, chosen: words.join(' '), because: open?.because, others: open?.others ?? [] }
}

/** Types that show a table whose columns are years by itself. */
const OVER_YEARS: ReadonlySet<ChartType> = new Set(['line', 'step', 'slope', 'bump', 'area'])

/** A line for each row of a table whose columns are years; undefined for other tables. */
function yearsOf(
  grid: ChartGrid,
  given: ChartType | typeof AUTO | undefined,
  options: ChartOptions,
): Completed | undefined {
  const isOpen = given === undefined || given === AUTO
  const type = isOpen ? 'line' : given
  if (!OVER_YEARS.has(type)) return undefined
  const years = yearNames(grid.cols.filter(({ type }) => type === 'number').map(({ name }) => name))
  const isTaken = grid.cols.some(({ name }) => name === COLUMNS)
  if (years.length === 0 || isTaken || options.x !== undefined || options.y !== undefined) return undefined
  const labels = grid.cols.find(({ type }) => type === 'text')
  const y = years.join(',')
  const by = options.by ?? labels?.name
  const chosen = [
    `${isOpen ? '--type line ' : ''}--x ${COLUMNS} --y ${y}`,
    ...(by === undefined ? [] : [`--by ${quoted(by)}`]),
  ]
  return {
    ...{ type, options: { ...options, x: COLUMNS, y, by }, chosen: chosen.join(' ') },
    ...{ because: isOpen ? 'columns are named by years' : undefined, others: [] },
  }
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
  const isLabels = hasLabels(y)
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
    texts: cols.filter(hasLabels),
  }
}

/** Maximum number of text columns whose labels are counted. */
const MAX_COUNTED_COLUMNS = 20

/** Moves the first column of texts that an axis has room for to the front. Counts the labels of no more than it must. */
async function readableFirst(texts: Column[], distinct: Distinct): Promise<Column[]> {
  for (const column of texts.slice(0, MAX_COUNTED_COLUMNS)) {
    const count = await distinct(column.name)
    const room = count && count.distinct < count.rows ? MAX_BARS : MAX_LABELS
    if (!count || count.distinct <= room) return [column, ...texts.filter((one) => one !== column)]
  }
  return texts
}

/** The columns of a table, by kind, for the choice of a type. */
interface Known extends Columns {
  x: Column | undefined
  y: string | undefined
  /** How often there are labels of the first column of them. */
  labels: { rows: number; distinct: number } | undefined
}

interface Candidate {
  type: ChartType
  isFit(known: Known): boolean
  /** Why it is chosen. */
  because(known: Known): string
}

/** The types that are chosen, the first that fits. */
const candidates: readonly Candidate[] = [
  {
    type: 'map',
    isFit: ({ x, y, numbers }) =>
      x === undefined &&
      y === undefined &&
      [LATITUDE, LONGITUDE].every((name) => numbers.some((one) => name.test(one.name))),
    because: () => 'there are latitudes and longitudes',
  },
  {
    type: 'line',
    isFit: ({ x, dates, numbers }) => (x ? dates.includes(x) : dates.length > 0 && numbers.length > 0),
    because: ({ x, dates }) => `${(x ?? dates[0]).name} has dates or years`,
  },
  {
    type: 'scatter',
    isFit: ({ x, y, texts, numbers, labels }) => {
      if (x) return !texts.includes(x) && (y !== undefined || numbers.length > 1)
      if (numbers.length < 2) return false
      if (texts.length === 0) return true
      // Many things with several numbers each: how the numbers go together, in a color for each group.
      return y === undefined && labels !== undefined && (isNameOfMany(labels) || isGroup(labels))
    },
    because: () => 'there are several numbers of each row',
  },
  {
    type: 'histogram',
    isFit: ({ x, texts, numbers }) => (x ? !texts.includes(x) : texts.length === 0 && numbers.length > 0),
    because: () => 'there is one column of numbers',
  },
  {
    type: 'table',
    isFit: ({ x, y, dates, numbers, texts }) =>
      !x && !y && dates.length + numbers.length + texts.length === 0,
    because: () => 'no column has numbers, dates or labels',
  },
  {
    type: 'bar',
    isFit: () => true,
    because: ({ x, texts }) => `${(x ?? texts[0])?.name ?? 'the rows'} has labels`,
  },
]

/** Types that nobody chooses for a table, and what they would show. */
const others: readonly Candidate[] = [
  {
    type: 'bar',
    isFit: ({ texts, numbers }) => texts.length > 0 && numbers.length > 0,
    because: ({ texts, numbers }) => `amounts of ${numbers[0].name} by ${texts[0].name}`,
  },
  {
    type: 'scatter',
    isFit: ({ numbers }) => numbers.length > 1,
    because: ({ numbers }) => `how ${numbers[0].name} and ${numbers[1].name} go together`,
  },
  {
    type: 'histogram',
    isFit: ({ numbers }) => numbers.length > 0,
    because: ({ numbers }) => `how ${numbers[0].name} is distributed`,
  },
  {
    type: 'box',
    isFit: ({ texts, numbers, labels }) =>
      texts.length > 0 && numbers.length > 0 && labels !== undefined && isGroup(labels),
    because: ({ texts, numbers }) => `the spread of ${numbers[0].name} for each ${texts[0].name}`,
  },
  {
    type: 'heatmap',
    isFit: ({ dates, texts, numbers }) => dates.length + texts.length > 1 && numbers.length > 0,
    because: ({ dates, texts, numbers }) =>
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
    because: ({ texts }) => `the shares of each ${texts[0].name}`,
  },
  {
    type: 'splom',
    isFit: ({ numbers }) => numbers.length > 2,
    because: () => 'how all numbers go together, each with each',
  },
]

const isNameOfMany = ({ rows, distinct }: { rows: number; distinct: number }): boolean =>
  rows > MAX_BARS && distinct === rows
const isGroup = ({ rows, distinct }: { rows: number; distinct: number }): boolean =>
  distinct < rows && distinct <= MAX_GROUPS

/** The type for a table, why, and what other types would show. A column of groups becomes the series of a scatter. */
async function typeFor(
  columns: Columns,
  x: Column | undefined,
  options: ChartOptions,
  distinct: Distinct,
): Promise<{ type: ChartType; because: string; others: string[] }> {
  const [text] = columns.texts
  const known: Known = { ...columns, x, y: options.y, labels: text && (await distinct(text.name)) }
  const { type, because } = candidates.find(({ isFit }) => isFit(known))!
  if (type === 'scatter' && !x && text && known.labels && !isNameOfMany(known.labels))
    options.by ??= text.name
  const rest = others.filter((one) => one.type !== type && one.isFit(known))
  return { type, because: because(known), others: rest.map((one) => `${one.type} (${one.because(known)})`) }
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
  if (hasTrait(type, 'two y') || (type === 'pyramid' && by === undefined))
    return free.length < 2 ? undefined : free.slice(0, 2).map(nameInList).join(',')
  const isSeveral = type === 'parallel' || type === 'splom' || (hasTrait(type, 'joined') && by === undefined)
  const most = type === 'parallel' ? 12 : type === 'splom' ? 5 : isSeveral ? MAX_LINES : 1
  return free.slice(0, most).map(nameInList).join(',')
}

/** On one axis, a column whose largest value is so much smaller is a flat line. */
const MAX_RATIO = 20

/** The first of some columns, and those that can be seen beside it on one axis. */
async function ofOneScale(names: readonly string[], distinct: Distinct): Promise<string> {
  const sizes = await Promise.all(names.map(async (name) => (await distinct(name))?.largest))
  const [first] = sizes
  const isNear = (size: number | undefined): boolean =>
    first === undefined || size === undefined || (size <= first * MAX_RATIO && size * MAX_RATIO >= first)
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
      found.distinct <= MAX_GROUPS &&
      found.distinct * along.distinct >= along.rows
    )
      return name
  }
  return undefined
}
