// Proposes a board for a table: numbers, charts, a table and filters, each with the reason for it.
import { groupColumnsByKind } from '../../charts/normalize/choose-type.ts'
import { choosePeriod, isLevel, MAX_DATES } from '../../charts/normalize/measures.ts'
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

/**
 * Proposes a board for a grid, which its file names `grid`. `cols`: its columns. Throws nothing: a table without numbers,
 * dates and labels gets its rows.
 */
export function proposeBoard(
  grid: string,
  cols: readonly Column[],
  { filename, row_count, columns }: GridDescription,
): ProposedBoard {
  const statisticsOf = (one: Column): ColumnDescription | undefined =>
    columns.find(({ name }) => name === one.name)
  const describe = (list: readonly Column[]): ColumnDescription[] =>
    list.flatMap((one) => statisticsOf(one) ?? []).filter(({ rows, nulls }) => nulls < rows)
  const kinds = groupColumnsByKind(cols)
  const [time] = describe(kinds.dates).filter(({ distinct }) => distinct > 1)
  const measures = describe(kinds.numbers)
    .filter(({ name, distinct }) => !POSITION.test(name) && distinct > 1)
    .slice(0, MAX_NUMBERS)
    .map(toMeasure)
  const groups = describe(kinds.texts)
    .filter(
      ({ distinct, rows, distinct_is_exact }) => distinct_is_exact && distinct > 1 && distinct <= rows / 2,
    )
    .sort((a, b) => a.distinct - b.distinct)
  const labels = groups[0] ?? describe(kinds.texts).find(({ distinct }) => distinct > 1)
  const charts: ProposedChart[] = []
  const title = `${filename} report`
  const rows: ProposedRow[] = []
  const add = (shows: string, why: string, row: object | object[]): void => {
    rows.push({ shows, why, row })
  }
  const addChart = (suffix: string, shows: string, why: string, chart: Omit<ChartFile, 'grid'>): void => {
    const slug = slugOf(`${filename} ${suffix}`)
    const isTaken = (one: string): boolean =>
      charts.some((other) => other.name.toLowerCase() === one.toLowerCase())
    const name = isTaken(slug) ? `${slug}-${charts.length + 1}` : slug
    charts.push({ name, chart: { grid, ...chart } })
    rows.push({ shows, why, row: [{ plot: name }], chart: name })
  }
  const period = time && choosePeriod(time.type, time.min, time.max)
  add('text', 'says what the board is about; change it', { text: describeTable(row_count, time) })
  add(
    ['number of rows', ...measures.map(({ column, aggregate }) => `${aggregate} of ${column.name}`)].join(
      ', ',
    ),
    [
      'how much there is, with the change since the version before',
      ...measures.map(({ column, why }) => `${column.name}: ${why}`),
    ].join('; '),
    [
      { number: grid, value: 'count', title: 'Rows', change: true },
      ...measures.map(({ column, aggregate }) => ({
        number: grid,
        value: `${aggregate}:${column.name}`,
        change: true,
        ...(time && isMomentType(time.type) && { spark: time.name, per: period ?? 'day' }),
      })),
    ],
  )
  const [first, second] = measures
  if (time && first) {
    const by = groups.find(({ distinct }) => distinct <= MAX_SERIES)
    const isDate = isMomentType(time.type)
    const isRepeated = time.distinct < time.rows - time.nulls || time.distinct > MAX_DATES
    addChart(
      `by ${time.name}`,
      `line of ${first.column.name} by ${time.name}`,
      `${time.name} has dates or years${by ? `; ${by.name} has ${by.distinct} values, which become series` : ''}${isRepeated ? `; the ${first.aggregate} per ${isDate && period ? period : 'year'}` : ''}`,
      {
        type: 'line',
        options: {
          x: time.name,
          y: quoteColumnName(first.column.name),
          ...(by && { by: by.name }),
          ...(isRepeated && { aggregate: first.aggregate }),
          ...(isRepeated && isDate && period && { per: period }),
        },
      },
    )
  }
  if (labels && first) {
    const isRepeated = labels.distinct < labels.rows - labels.nulls
    addChart(
      `by ${labels.name}`,
      `bars of ${first.column.name} by ${labels.name}`,
      `${labels.name} has ${formatCount(labels.distinct, 'value')}${labels.distinct > MAX_BARS ? `; the ${MAX_BARS} largest` : ''}`,
      {
        type: 'bar',
        options: {
          x: labels.name,
          y: quoteColumnName(first.column.name),
          ...(isRepeated && { aggregate: first.aggregate }),
          ...(labels.distinct > MAX_BARS && { top: MAX_BARS }),
        },
      },
    )
  }
  if (first && second && row_count <= MAX_POINTS)
    addChart(
      `${first.column.name} and ${second.column.name}`,
      `points of ${first.column.name} and ${second.column.name}`,
      'whether two numbers have to do with each other',
      { type: 'scatter', options: { x: first.column.name, y: quoteColumnName(second.column.name) } },
    )
  else if (first && !time && !labels)
    addChart(`${first.column.name}`, `histogram of ${first.column.name}`, 'how the only numbers are spread', {
      type: 'histogram',
      options: { x: first.column.name },
    })
  const sorted = time ?? first?.column
  const order = sorted && formatSortKey({ name: sorted.name, descending: true })
  add(
    'table of 10 rows',
    time ? 'the latest rows' : first ? `the rows with the largest ${first.column.name}` : 'the first rows',
    { table: grid, ...(order && { sort: order }), limit: 10 },
  )
  const filters = groups
    .filter(({ distinct, name }) => distinct <= MAX_FILTER_VALUES && name !== '')
    .slice(0, MAX_FILTERS)
    .map(({ name, distinct }) => ({
      column: name,
      why: `${formatCount(distinct, 'value')}, each in several rows`,
    }))
  return { title, filters, rows, charts }
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
