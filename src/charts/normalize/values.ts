// Checks column values against what a chart type can show.

import { Problem } from '../../contract/errors.ts'
import { formatCount, formatList } from '../../contract/message-texts.ts'
import { quoteColumnName } from '../../query/index.ts'
import { NO_LABEL } from '../figure/shared-names.ts'
import { hasLabels } from '../spec/column-names.ts'
import { createDataError, createUsageError } from '../spec/errors.ts'
import {
  type ChartOptions,
  type Column,
  DEFAULT_MAX_SERIES,
  MAX_LABELS,
  MAX_SERIES,
} from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import type { Facts } from '../spec/spec.ts'
import { acceptsOption, type ChartType, hasTrait, withArticle } from '../spec/types.ts'
import { detectPlaces } from './places.ts'
import { type ChartClient, ValueReader } from './read-values.ts'

/** Maximum number of labels around a radar. */
const MAX_RADAR_LABELS = 48
/** Number of rows whose places are looked up. */
const MAX_PLACES = 1000
/** Above this number of rows, repeated x values are not detected. */
const MAX_PAIRED_ROWS = 200_000
/** Maximum number of facets that the server draws. */
const MAX_FACETS = 36
/** Maximum number of animation frames that the server draws. */
const MAX_FRAMES = 200
/** Diameter of the largest point sized by a column, in pixels. */
const MAX_POINT_PIXELS = 40

/** Notes for the user, and facts for the spec, about the values of a chart. */
export interface Findings {
  note(text: string): void
  /** Known facts; the checks add more. */
  facts: Facts
}

/** Checks the values of the rows that a chart shows; nothing without a client. Methods throw `bad_data`. */
export class ChartValues extends ValueReader {
  readonly facts: Facts
  private readonly note: Findings['note']

  constructor(
    client: ChartClient | undefined,
    fid: string,
    private readonly type: ChartType,
    private readonly options: ChartOptions,
    { note, facts }: Findings,
  ) {
    super(client, fid, options.where)
    this.note = note
    this.facts = facts
  }

  /** Throws `bad_data` if a column with parts of a whole has negative values. */
  async assertNotNegative(columns: readonly Column[], what: string): Promise<void> {
    const statistics = await this.loadStatistics(columns.map(({ name }) => name))
    const negative = statistics.find(({ min }) => typeof min === 'number' && min < 0)
    if (negative)
      throw createDataError(
        `${what} shows parts of a whole, but column ${negative.name} has values below zero (${negative.min})`,
        negative.name,
        `Use ${what.startsWith('--') ? '--stack normal' : '--type bar'}, or choose rows with --where '${quoteColumnName(negative.name)} >= 0'.`,
      )
  }

  /** Throws `bad_data` if stacked areas would add positive and negative values. */
  async assertOneSign(columns: readonly Column[]): Promise<void> {
    const statistics = await this.loadStatistics(columns.map(({ name }) => name))
    const ends = statistics.flatMap(({ min, max }) => [min, max])
    const numbers = ends.filter((end) => typeof end === 'number')
    if (Math.min(...numbers) >= 0 || Math.max(...numbers) <= 0) return
    throw createDataError(
      'stacked areas cannot add values above and below zero',
      columns[0]?.name,
      'Use --type bar, which stacks each sign from zero, or --stack none.',
    )
  }

  /** Notes that several rows of a series have the same x: its line is vertical there. */
  async noteRepeatedX(x: Column, by: Column): Promise<void> {
    const xCounts = await this.countDistinct(x.name)
    if (!xCounts || xCounts.distinct === xCounts.rows || xCounts.rows > MAX_PAIRED_ROWS) return
    const counts = await this.countCombinations([x, by])
    if (!counts || counts.distinct === counts.rows) return
    this.note(
      `--x ${x.name}: several rows of a series have the same value, so the line is vertical there (to combine them into one point, add --aggregate sum or mean)`,
    )
  }

  /** Notes columns with values that a logarithmic axis cannot show. */
  async noteNotPositive(columns: readonly Column[], flag: string): Promise<void> {
    for (const { name, min } of await this.loadStatistics(columns.map((column) => column.name)))
      if (typeof min === 'number' && min <= 0)
        this.note(`${flag}: column ${name} has values that are not positive (${min}); they are not drawn`)
  }

  /** Returns the `sizeref` with which the largest value is drawn as the largest point. */
  async loadSizeRef(column: Column): Promise<number> {
    this.facts.sizeRef ??= await this.computeSizeRef(column)
    return this.facts.sizeRef
  }

  private async computeSizeRef(column: Column): Promise<number> {
    const largest = await this.readLargest(column)
    return largest === 0 ? 1 : (2 * largest) / MAX_POINT_PIXELS ** 2
  }

  /** Requests the statistics for all checks at once, and notes if no row matches. */
  async preloadStatistics(columns: readonly (Column | undefined)[]): Promise<void> {
    const { where } = this.options
    const names = columns.flatMap((column) => column?.name ?? [])
    const statistics = await this.loadStatistics(names)
    if (where !== undefined && statistics.length > 0 && statistics.every(({ rows }) => rows === 0))
      this.note(`--where ${where}: no row matches, so the chart is empty`)
    else if (
      statistics.length > 0 &&
      where !== undefined &&
      statistics.at(-1)!.nulls === statistics.at(-1)!.rows
    )
      this.note(
        `--where ${where}: the matching rows have no values of ${statistics.at(-1)!.name}, so the chart is empty`,
      )
  }

  /** Throws if a text axis has more labels than fit. A pie combines the smallest slices instead. */
  async assertFewLabels({ name, type }: Column): Promise<void> {
    if (this.options.top !== undefined || type !== 'text' || hasTrait(this.type, 'slices')) return
    const counts = await this.countDistinct(name)
    const maxLabels = this.type === 'radar' ? MAX_RADAR_LABELS : MAX_LABELS
    if (!counts || counts.distinct <= maxLabels) return
    const hasTop = acceptsOption(this.type, 'top')
    throw createDataError(
      `--x ${name}: the column has ${counts.distinct} different values; ${this.type === 'radar' ? 'a radar' : 'an axis'} shows at most ${maxLabels} labels`,
      name,
      `Choose some of them with --where${hasTop ? ', or the largest with --top' : ''}.`,
    )
  }

  /** Notes that stacked areas drop to zero where a value is missing. */
  async noteMissing(columns: readonly Column[]): Promise<void> {
    for (const { name, nulls } of await this.loadStatistics(columns.map((column) => column.name)))
      if (nulls > 0)
        this.note(
          `--y ${name}: ${formatCount(nulls, 'row')} without a value; stacked areas are at zero there (lines show a gap: --type line)`,
        )
  }

  /** Throws if several rows have the same value, or combination with `others`: they would overlap. */
  async assertUnique(column: Column, ...others: readonly (Column | undefined)[]): Promise<void> {
    const { name, type } = column
    if (this.virtualNames.has(name)) return
    const named = others.filter((other) => other !== undefined)
    const otherNames = named.map((other) => other.name)
    const counts =
      named.length > 0
        ? await this.countCombinations([column, ...named])
        : await this.countDistinct(name, hasLabels({ type }))
    if (!counts || counts.distinct >= counts.rows || counts.distinct === 0) return
    const { rows, distinct } = counts
    const byHint =
      acceptsOption(this.type, 'by') && otherNames.length === 0
        ? ', or show the rows of each category with --by COLUMN'
        : ''
    const what =
      otherNames.length > 0
        ? `${rows} rows have ${distinct} different ${otherNames.length === 1 ? 'pairs' : 'combinations'} of ${name} and ${otherNames.join(' and ')}, so ${withArticle(this.type)} would show several rows as one`
        : `${rows} rows have ${distinct} different values, so ${withArticle(this.type)} chart would show several rows as one`
    throw createDataError(
      `--x ${name}: ${what}`,
      name,
      acceptsOption(this.type, 'aggregate')
        ? `Add --aggregate sum (or mean, count …)${byHint}.`
        : 'Choose one row of each with --where, or make a table of sums first.',
    )
  }

  /** Throws if several rows have times of one day: a calendar has a cell for each day. */
  async assertOneRowPerDay({ name }: Column): Promise<void> {
    const day = this.virtualNames.has(name) ? undefined : await this.findRepeatedDay(name)
    if (day !== undefined)
      throw createDataError(
        `--x ${name}: several rows are of ${day}, and a calendar has one cell for each day`,
        name,
        'Add --per day --aggregate sum (or mean, count …).',
      )
  }

  /** Throws if a column has more than two values. */
  async assertTwoSides({ name }: Column): Promise<void> {
    const counts = await this.countDistinct(name, true)
    if (counts && counts.distinct > 2)
      throw createDataError(
        `--by ${name}: a pyramid has two sides, and the column has ${counts.distinct} values`,
        name,
        'Choose two of them with --where.',
      )
  }

  /** Throws if a series would have several rows per column name. `first`: one of these columns. */
  async assertOneRowPerSeries(first: string, ...groups: readonly (Column | undefined)[]): Promise<void> {
    const groupColumns = groups.flatMap((column) => column ?? [])
    const [statistics] = await this.loadStatistics([first])
    if (groupColumns.length > 0) await this.assertUnique(groupColumns[0], ...groupColumns.slice(1))
    else if (statistics && statistics.rows > 1)
      throw new Problem('bad_data', `--x columns: ${statistics.rows} rows would be drawn as one series`, {
        hint: 'Add --by COLUMN for a series of each row, or --aggregate sum (or mean, count …).',
      })
  }

  /** Returns whether the points of a line must be sorted. */
  async isUnsorted(x: Column | undefined): Promise<boolean> {
    this.facts.isUnsorted ??= await this.detectUnsorted(x)
    return this.facts.isUnsorted
  }

  private async detectUnsorted(x: Column | undefined): Promise<boolean> {
    const [statistics] = x ? await this.loadStatistics([x.name]) : []
    if (!x || !statistics) return false
    const rows = statistics.rows - statistics.nulls
    if (x.type === 'text') await this.assertUnique(x)
    else if (statistics.distinct_is_exact && statistics.distinct < rows)
      this.note(
        `--x ${x.name}: ${rows} rows have ${statistics.distinct} different values, so the line is vertical there (to draw one point per value, add --aggregate mean; to draw one line per category, add --by COLUMN)`,
      )
    if (statistics.ascending !== false || this.options.sort !== undefined) return false
    this.note(`--x ${x.name}: the rows are not sorted by it; the line is drawn in ascending order`)
    return true
  }

  /** Throws if there would be too many facets. */
  async assertFewFacets(facets: readonly Column[]): Promise<void> {
    let charts = 1
    for (const { name } of facets) charts *= (await this.countDistinct(name, true))?.distinct ?? 1
    const name = facets.map((column) => column.name).join(',')
    if (charts > MAX_FACETS)
      throw createDataError(
        `--facet ${name}: ${facets.length === 1 ? `the column has ${charts} different values` : `the columns have ${charts} pairs of values`}; at most ${MAX_FACETS} small charts are drawn`,
        facets[0].name,
        'Choose some of them with --where, or show them as series with --by.',
      )
  }

  /** Throws if --mark names a label that no row has: plotly.js would draw it at an arbitrary position. */
  async assertMarksExist({ name, type }: Column): Promise<void> {
    if (!this.client || type !== 'text' || this.virtualNames.has(name)) return
    for (const mark of this.options.mark ?? []) {
      const [, label] = /^\s*x\s*=\s*([^,:]+)/.exec(mark) ?? []
      if (label === undefined) continue
      await this.assertValueExists(name, label.trim(), `--mark ${mark}`)
    }
  }

  /** Throws if --note or --order names a label that no row has. `by`: the column of the series. */
  async assertLabelsExist(x: Column, by: Column | undefined): Promise<void> {
    const { note = [], order, y = '' } = this.options
    if (x.type === 'text' && !this.virtualNames.has(x.name))
      for (const entry of note)
        await this.assertValueExists(x.name, (entry.split(',')[0] ?? '').trim(), `--note ${entry}`)
    if (order === undefined) return
    const labels = parseColumnNames(order)
    const labeled = x.type === 'text' ? x : by
    if (labeled?.type === 'text' && !this.virtualNames.has(labeled.name))
      for (const label of labels) await this.assertValueExists(labeled.name, label, `--order ${order}`)
    else if (!labeled && !labels.every((label) => parseColumnNames(y).includes(label)))
      throw createUsageError(`--order ${order}: the x axis has no labels, and no series have these names`)
  }

  /** Throws if --highlight names neither a series nor a label of a chart without series. */
  async assertHighlightsExist(
    by: Column | undefined,
    x: Column | undefined,
    ys: readonly Column[],
  ): Promise<void> {
    for (const highlight of this.options.highlight ?? []) {
      const labeled = by ?? (ys.length > 1 ? undefined : x)
      if (labeled && this.virtualNames.has(labeled.name)) continue
      if (labeled?.type === 'text')
        await this.assertValueExists(labeled.name, highlight, `--highlight ${highlight}`)
      else if (!labeled && !ys.some(({ name }) => name === highlight))
        throw createUsageError(
          `--highlight ${highlight}: no series has this name`,
          `Series: ${formatList(ys.map(({ name }) => name))}`,
        )
    }
  }

  /** Throws `bad_data` if no row of column `name` contains `text`. */
  private async assertValueExists(name: string, text: string, flag: string): Promise<void> {
    const where = `${quoteColumnName(name)} = '${text.replaceAll("'", "''")}'`
    const query = { columns: [name], where }
    const columns = await this.client?.call('grids.describe', { fid: this.fid, query })
    if (columns?.columns[0]?.rows === 0 && text !== NO_LABEL)
      throw createDataError(`${flag}: no row has ${text} in ${name}`, name)
  }

  /** Throws if there would be too many animation frames. */
  async assertFewFrames({ name }: Column): Promise<void> {
    const counts = await this.countDistinct(name)
    if (counts && counts.distinct > MAX_FRAMES)
      throw createDataError(
        `--animate ${name}: the column has ${counts.distinct} different values; at most ${MAX_FRAMES} frames are shown`,
        name,
        'Choose some of them with --where.',
      )
  }

  /** Notes how many values of --by are combined into one series, or not shown. */
  async noteSmallSeries({ name }: Column): Promise<void> {
    const counts = await this.countDistinct(name, true)
    const shownSeries = this.options.top ?? DEFAULT_MAX_SERIES - 1
    if (!counts || counts.distinct <= shownSeries + 1) return
    const maxTop = Math.min(counts.distinct, MAX_SERIES)
    const hint = maxTop > shownSeries ? ` (to show more, use --top ${maxTop})` : ''
    const isDropped = this.type === 'bump' || this.type === 'slope'
    this.note(
      `--by ${name}: the column has ${counts.distinct} values; ${shownSeries === 1 ? 'the largest is shown as a series' : `the ${shownSeries} largest are shown as series`}, and the other ${counts.distinct - shownSeries} are ${isDropped ? 'not shown' : 'combined into one series, other'}${hint}`,
    )
  }

  /** Returns the kind of places in a column: country codes or names, or US states. Throws `bad_data`. */
  async detectPlaceKind(column: Column): Promise<Facts['places']> {
    if (this.options.geojson !== undefined) return 'geojson-id'
    this.facts.places ??= await detectPlaces(
      column.name,
      await this.readSample(column, MAX_PLACES),
      this.note,
    )
    return this.facts.places
  }
}
