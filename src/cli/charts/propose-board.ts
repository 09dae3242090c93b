// Proposes a board for a table: numbers, charts, a table and filters, each with the reason for it.
import { groupColumnsByKind } from '../../charts/normalize/choose-type.ts'
import { choosePeriod, isLevel, MAX_DATES, type Period } from '../../charts/normalize/measures.ts'
import { quoteColumnName } from '../../charts/spec/column-names.ts'
import type { Column } from '../../charts/spec/options.ts'
import { isMomentType } from '../../contract/column-types.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { ColumnDescription, GridDescription } from '../../contract/resources/index.ts'
import { formatSortKey } from '../../query/index.ts'
import type { ChartFile } from './chart-file.ts'

/** Maximum numbers of proposed items. */
const MAX_NUMBERS = 3
const MAX_FILTERS = 3
/** Largest number of values of a filter, and of a column whose values become series. */
const MAX_FILTER_VALUES = 50
const MAX_SERIES = 6
/** Number of bars of a chart. */
const MAX_BARS = 10
/** Largest number of points of a scatter plot. */
const MAX_POINTS = 10_000
/** Maximum length of the name of a chart: a file name has up to 255 bytes. */
const MAX_SLUG_CHARACTERS = 60

/** Names of positions, which are no amounts. */
const POSITION = /^(?:lat|latitude|lon|lng|long|longitude)$/i

/** A part of a board: a row of its file. */
export interface ProposedRow {
  /** Description for people. */
  shows: string
  why: string
  /** Members of the row in a board file. Charts are named by `chart`. */
  row: object | object[]
  /** Name of the chart that it shows. */
  chart?: string
}

/** A chart of a board. */
export interface ProposedChart {
  /** Name of the chart, and of its file. */
  name: string
  chart: ChartFile
}

export interface ProposedBoard {
  title: string
  filters: { column: string; why: string }[]
  rows: ProposedRow[]
  charts: ProposedChart[]
}

/** A column of numbers, and how its values are combined. */
interface Measure {
  column: ColumnDescription
  aggregate: 'sum' | 'mean'
  why: string
}

/** Columns of a grid that tell what a board of it can show. */
interface Contents {
  measures: readonly Measure[]
  /** The first column of dates or years. */
  time: ColumnDescription | undefined
  /** Period in which many dates are collected; undefined for years. */
  period: Period | undefined
  /** Columns of repeated labels, those with few values first. */
  groups: readonly ColumnDescription[]
  /** The column whose labels become bars. */
  labels: ColumnDescription | undefined
}

/**
 * Proposes a board for a grid, which its file names `grid`. `cols`: its columns. One without numbers, dates
 * and labels gets its rows.
 */
export function proposeBoard(
  grid: string,
  cols: readonly Column[],
  { filename, row_count, columns }: GridDescription,
): ProposedBoard {
  const contents = selectContents(cols, columns)
  const charts = nameCharts(proposeCharts(contents, row_count), grid, filename)
  return {
    title: `${filename} report`,
    filters: proposeFilters(contents),
    rows: [
      {
        shows: 'text',
        why: 'says what the board is about; change it',
        row: { text: describeTable(row_count, contents.time) },
      },
      proposeNumbers(grid, contents),
      ...charts.map(({ name, shows, why }) => ({ shows, why, row: [{ plot: name }], chart: name })),
      proposeTable(grid, contents),
    ],
    charts: charts.map(({ name, chart }) => ({ name, chart })),
  }
}

function selectContents(cols: readonly Column[], columns: readonly ColumnDescription[]): Contents {
  const describe = (list: readonly Column[]): ColumnDescription[] =>
    list
      .flatMap((one) => columns.find(({ name }) => name === one.name) ?? [])
      .filter(({ rows, nulls }) => nulls < rows)
  const kinds = groupColumnsByKind(cols)
  const [time] = describe(kinds.dates).filter(({ distinct }) => distinct > 1)
  const texts = describe(kinds.texts)
  const groups = texts
    .filter(
      ({ distinct, rows, distinct_is_exact }) => distinct_is_exact && distinct > 1 && distinct <= rows / 2,
    )
    .sort((a, b) => a.distinct - b.distinct)
  return {
    measures: describe(kinds.numbers)
      .filter(({ name, distinct }) => !POSITION.test(name) && distinct > 1)
      .slice(0, MAX_NUMBERS)
      .map(toMeasure),
    time,
    period: time && choosePeriod(time.type, time.min, time.max),
    groups,
    labels: groups[0] ?? texts.find(({ distinct }) => distinct > 1),
  }
}

function proposeNumbers(grid: string, { measures, time, period }: Contents): ProposedRow {
  const shown = measures.map(({ column, aggregate }) => `${aggregate} of ${column.name}`)
  const reasons = measures.map(({ column, why }) => `${column.name}: ${why}`)
  return {
    shows: ['number of rows', ...shown].join(', '),
    why: ['how much there is, with the change since the version before', ...reasons].join('; '),
    row: [
      { number: grid, value: 'count', title: 'Rows', change: true },
      ...measures.map(({ column, aggregate }) => ({
        number: grid,
        value: `${aggregate}:${column.name}`,
        change: true,
        ...(time && isMomentType(time.type) && { spark: time.name, per: period ?? 'day' }),
      })),
    ],
  }
}

/** A chart without a name. Its name and its file begin with the name of the grid, and end with `suffix`. */
interface UnnamedChart {
  suffix: string
  shows: string
  why: string
  chart: Omit<ChartFile, 'grid'>
}

function proposeCharts(
  { measures, time, period, groups, labels }: Contents,
  rowCount: number,
): UnnamedChart[] {
  const [first, second] = measures
  if (!first) return []
  const charts: UnnamedChart[] = []
  if (time)
    charts.push(
      proposeLine(
        first,
        time,
        period,
        groups.find(({ distinct }) => distinct <= MAX_SERIES),
      ),
    )
  if (labels) charts.push(proposeBars(first, labels))
  const { name } = first.column
  if (second && rowCount <= MAX_POINTS)
    charts.push({
      suffix: `${name} and ${second.column.name}`,
      shows: `points of ${name} and ${second.column.name}`,
      why: 'whether two numbers have to do with each other',
      chart: { type: 'scatter', options: { x: name, y: quoteColumnName(second.column.name) } },
    })
  else if (!time && !labels)
    charts.push({
      suffix: name,
      shows: `histogram of ${name}`,
      why: 'how the only numbers are spread',
      chart: { type: 'histogram', options: { x: name } },
    })
  return charts
}

/** `by`: the column whose values become series. */
function proposeLine(
  { column, aggregate }: Measure,
  time: ColumnDescription,
  period: Period | undefined,
  by: ColumnDescription | undefined,
): UnnamedChart {
  const isRepeated = time.distinct < time.rows - time.nulls || time.distinct > MAX_DATES
  return {
    suffix: `by ${time.name}`,
    shows: `line of ${column.name} by ${time.name}`,
    why: `${time.name} has dates or years${by ? `; ${by.name} has ${by.distinct} values, which become series` : ''}${isRepeated ? `; the ${aggregate} per ${period ?? 'year'}` : ''}`,
    chart: {
      type: 'line',
      options: {
        x: time.name,
        y: quoteColumnName(column.name),
        ...(by && { by: by.name }),
        ...(isRepeated && { aggregate }),
        ...(isRepeated && period && { per: period }),
      },
    },
  }
}

function proposeBars({ column, aggregate }: Measure, labels: ColumnDescription): UnnamedChart {
  const isRepeated = labels.distinct < labels.rows - labels.nulls
  const isCut = labels.distinct > MAX_BARS
  return {
    suffix: `by ${labels.name}`,
    shows: `bars of ${column.name} by ${labels.name}`,
    why: `${labels.name} has ${formatCount(labels.distinct, 'value')}${isCut ? `; the ${MAX_BARS} largest` : ''}`,
    chart: {
      type: 'bar',
      options: {
        x: labels.name,
        y: quoteColumnName(column.name),
        ...(isRepeated && { aggregate }),
        ...(isCut && { top: MAX_BARS }),
      },
    },
  }
}

/** Names charts, each differently: names of files may ignore case. */
function nameCharts(
  charts: readonly UnnamedChart[],
  grid: string,
  filename: string,
): (ProposedChart & Pick<UnnamedChart, 'shows' | 'why'>)[] {
  const taken = new Set<string>()
  return charts.map((one, k) => {
    const slug = slugOf(`${filename} ${one.suffix}`)
    const name = taken.has(slug.toLowerCase()) ? `${slug}-${k + 1}` : slug
    taken.add(name.toLowerCase())
    return { ...one, name, chart: { grid, ...one.chart } }
  })
}

function proposeTable(grid: string, { measures: [first], time }: Contents): ProposedRow {
  const sorted = time ?? first?.column
  const sort = sorted && formatSortKey({ name: sorted.name, descending: true })
  return {
    shows: 'table of 10 rows',
    why: time
      ? 'the latest rows'
      : first
        ? `the rows with the largest ${first.column.name}`
        : 'the first rows',
    row: { table: grid, ...(sort && { sort }), limit: 10 },
  }
}

function proposeFilters({ groups }: Contents): ProposedBoard['filters'] {
  return groups
    .filter(({ distinct, name }) => distinct <= MAX_FILTER_VALUES && name !== '')
    .slice(0, MAX_FILTERS)
    .map(({ name, distinct }) => ({
      column: name,
      why: `${formatCount(distinct, 'value')}, each in several rows`,
    }))
}

function toMeasure(column: ColumnDescription): Measure {
  const { name, min } = column
  if (isLevel(name)) return { column, aggregate: 'mean', why: 'its name is that of a level, so the mean' }
  if (typeof min === 'number' && min < 0)
    return { column, aggregate: 'mean', why: 'some are negative, so the mean' }
  return { column, aggregate: 'sum', why: 'amounts add up, so the sum' }
}

function describeTable(rows: number, time: ColumnDescription | undefined): string {
  const span = time ? `, from ${String(time.min).slice(0, 10)} to ${String(time.max).slice(0, 10)}` : ''
  return `${formatCount(rows, 'row')}${span}.`
}

/** Returns a name of letters, digits and hyphens, for a chart and its file. */
function slugOf(text: string): string {
  const slug = text.replace(/[^\p{L}\p{N}_]+/gu, '-')
  return slug.slice(0, MAX_SLUG_CHARACTERS).toWellFormed().replace(/^-|-$/g, '')
}
