// Chooses the type of a chart from the kinds of its columns.
import { isMomentType } from '../../contract/column-types.ts'
import { hasLabels, quoteColumnName } from '../spec/column-names.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import type { ChartType } from '../spec/types.ts'
import { isAmount } from './measures.ts'
import type { ValueCounts } from './read-values.ts'

/** Counts the values of a column; undefined if they are unknown. */
export type CountDistinct = (name: string) => Promise<ValueCounts | undefined>

/** Maximum number of distinct values for a column to become series. */
export const MAX_AUTO_SERIES = 12
/** Maximum number of bars that are chosen automatically. */
export const MAX_AUTO_BARS = 40

const LATITUDE = /^(?:lat|latitude)$/i
const LONGITUDE = /^(?:lon|lng|long|longitude)$/i
const IDENTIFIER = /^(?:id|index|row|#|(?:.*[_ -])?(?:id|no|nr)\.?|.*nummer|unnamed:? ?\d*|col1)$/i
const YEAR = /^(?:year|jahr|år|année|ano|año|rok)$/i

/** Columns by kind. Numeric columns named like a year count as dates. */
export interface ColumnsByKind {
  dates: Column[]
  numbers: Column[]
  texts: Column[]
}

/** Groups columns by kind. Identifiers count as numbers only if there are no others. Amounts come before other numbers. */
export function groupColumnsByKind(cols: readonly Column[]): ColumnsByKind {
  const dates = cols.filter(
    ({ type, name }) => isMomentType(type) || (type === 'number' && YEAR.test(name.trim())),
  )
  const numbers = cols.filter((column) => column.type === 'number' && !dates.includes(column))
  const plain = numbers.filter(({ name }) => !IDENTIFIER.test(name.trim()))
  const kept = plain.length > 0 ? plain : numbers
  const amounts = kept.filter(({ name }) => isAmount(name))
  return {
    dates,
    numbers: [...amounts, ...kept.filter((column) => !amounts.includes(column))],
    texts: cols.filter(hasLabels),
  }
}

/** Facts about a table from which the type is chosen. */
interface TableFacts extends ColumnsByKind {
  x: Column | undefined
  y: string | undefined
  /** Counts of the first text column. */
  labels: ValueCounts | undefined
}

/** A type that may be chosen. */
interface Candidate {
  type: ChartType
  /** Returns whether the type suits the table. */
  isFit(known: TableFacts): boolean
  /** Returns the reason for choosing it, or what it would show. */
  describeReason(known: TableFacts): string
  /** Returns the columns that it would show, if not those that the type shows by default. */
  chooseColumns?(known: TableFacts): ChartOptions
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

const labelsAndNumbers = ({ texts, numbers }: TableFacts): ChartOptions => ({
  x: texts[0].name,
  y: quoteColumnName(numbers[0].name),
})

/** Types that are only suggested, and what they would show. */
const ALTERNATIVES: readonly Candidate[] = [
  {
    type: 'bar',
    isFit: ({ texts, numbers }) => texts.length > 0 && numbers.length > 0,
    describeReason: ({ texts, numbers }) => `amounts of ${numbers[0].name} by ${texts[0].name}`,
    chooseColumns: labelsAndNumbers,
  },
  {
    type: 'scatter',
    isFit: ({ numbers }) => numbers.length > 1,
    describeReason: ({ numbers }) => `how ${numbers[0].name} and ${numbers[1].name} relate`,
    chooseColumns: ({ numbers }) => ({ x: numbers[0].name, y: quoteColumnName(numbers[1].name) }),
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
    chooseColumns: labelsAndNumbers,
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
    chooseColumns: labelsAndNumbers,
  },
  {
    type: 'splom',
    isFit: ({ numbers }) => numbers.length > 2,
    describeReason: () => 'how each pair of numbers relates',
  },
]

/** Returns whether each of many rows has its own label. */
const isUniqueAmongMany = ({ rows, distinct }: ValueCounts): boolean =>
  rows > MAX_AUTO_BARS && distinct === rows
/** Returns whether the labels divide the rows into few groups. */
const isGroupColumn = ({ rows, distinct }: ValueCounts): boolean =>
  distinct < rows && distinct <= MAX_AUTO_SERIES

/** Another type that fits. */
export interface Suggestion {
  type: ChartType
  /** The data that it would show, in words. */
  shows: string
  columns: ChartOptions
}

/** Chooses a type and lists alternatives. Sets `options.by` if a text column groups a scatter. */
export async function chooseType(
  columns: ColumnsByKind,
  x: Column | undefined,
  options: ChartOptions,
  distinct: CountDistinct,
): Promise<{ type: ChartType; reason: string; suggestions: Suggestion[] }> {
  const [text] = columns.texts
  const facts: TableFacts = { ...columns, x, y: options.y, labels: text && (await distinct(text.name)) }
  const { type, describeReason } = CANDIDATES.find(({ isFit }) => isFit(facts))!
  if (type === 'scatter' && !x && text && facts.labels && !isUniqueAmongMany(facts.labels))
    options.by ??= text.name
  const alternatives = ALTERNATIVES.filter((candidate) => candidate.type !== type && candidate.isFit(facts))
  return {
    type,
    reason: describeReason(facts),
    suggestions: alternatives.map((candidate) => ({
      type: candidate.type,
      shows: candidate.describeReason(facts),
      columns: candidate.chooseColumns?.(facts) ?? {},
    })),
  }
}
