// Reads statistics and values of the rows that a chart shows.

import { isMomentType } from '../../contract/column-types.ts'
import type { ColumnDescription } from '../../contract/resources/index.ts'
import { parseInstant } from '../../json/index.ts'
import type { Column } from '../spec/options.ts'

/** The part of the API that charts use. */
export interface ChartClient {
  call(
    name: 'grids.describe',
    asked: { fid: string; query: { columns?: string[]; where?: string } },
  ): Promise<{ columns: ColumnDescription[] }>
  response(
    name: 'grids.content' | 'columns.get',
    asked: { fid: string; query: Record<string, unknown> },
  ): Promise<{ json(): Promise<unknown>; bytes(): AsyncIterable<Uint8Array> }>
}

/** Number of rows that `readSample` reads by default. */
const SAMPLE_ROWS = 100
/** Maximum number of distinct combinations that are counted. */
const MAX_COUNTED_COMBINATIONS = 1_000_000

/** Counts of the values of a column. */
export interface ValueCounts {
  /** Rows with a value. */
  rows: number
  distinct: number
  /** Largest absolute number; undefined without numbers. */
  largest?: number
  /** First and last value in order; undefined if they are unknown. */
  ends?: readonly unknown[]
}

/** Reads values for a chart. Without a client, the table is not uploaded, and the values are unknown. */
export class ValueReader {
  private readonly statisticsByName = new Map<string, ColumnDescription>()
  /** Names of computed columns, which are not in the grid: their values are unknown. */
  readonly virtualNames = new Set<string>()

  constructor(
    protected readonly client: ChartClient | undefined,
    protected readonly fid: string,
    private readonly where: string | undefined,
  ) {}

  /** Returns statistics of columns, for the rows of --where; empty without a client. Requests each once. */
  protected async loadStatistics(names: readonly string[]): Promise<ColumnDescription[]> {
    const missing = [...new Set(names)].filter(
      (name) => !this.statisticsByName.has(name) && !this.virtualNames.has(name),
    )
    if (this.client && missing.length > 0) {
      const query = { columns: missing, where: this.where }
      const { columns } = await this.client.call('grids.describe', { fid: this.fid, query })
      for (const column of columns) this.statisticsByName.set(column.name, column)
    }
    return names.flatMap((name) => this.statisticsByName.get(name) ?? [])
  }

  /**
   * Counts the values of a column. `isLabel`: null counts as a value. Undefined without statistics; `distinct`
   * is `rows` if unknown.
   */
  async countDistinct(name: string, isLabel = false): Promise<ValueCounts | undefined> {
    const [statistics] = await this.loadStatistics([name])
    if (!statistics) return undefined
    const unnamed = isLabel && statistics.nulls > 0 ? 1 : 0
    const rows = isLabel ? statistics.rows : statistics.rows - statistics.nulls
    const ends = [statistics.min, statistics.max]
    const sizes = ends.filter((end) => typeof end === 'number').map(Math.abs)
    return {
      rows,
      distinct: statistics.distinct_is_exact ? statistics.distinct + unnamed : rows,
      largest: sizes.length > 0 ? Math.max(...sizes) : undefined,
      ends,
    }
  }

  /** Reads the first values of a column. */
  async readSample(column: Column, rows = SAMPLE_ROWS): Promise<unknown[]> {
    if (!this.client) return (column.firstValues ?? []).map(({ text }) => removeQuotes(text))
    const query = { columns: [column.name], where: this.where, head: rows, format: 'json' as const }
    const response = await this.client.response('grids.content', { fid: this.fid, query })
    const content = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
    return content.cols[column.name]?.data ?? []
  }

  /** Returns the largest positive number of a column; 0 if there is none or it is unknown. */
  protected async readLargest({ uid }: Column): Promise<number> {
    if (!this.client) return 0
    const query = { uid }
    const response = await this.client.response('columns.get', { fid: this.fid, query })
    const { cols } = (await response.json()) as { cols: { data: unknown[] }[] }
    let largest = 0
    for (const value of cols[0].data) if (typeof value === 'number' && value > largest) largest = value
    return largest
  }

  /** Returns a day with several rows; undefined without one. */
  protected async findRepeatedDay(name: string): Promise<string | undefined> {
    if (!this.client) return undefined
    const where = this.where
    const query = { group: [name], per: 'day', aggregate: ['count'], where, format: 'json' as const }
    const response = await this.client.response('grids.content', { fid: this.fid, query })
    const { cols } = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
    const days = cols[name]?.data ?? []
    const counts = Object.values(cols).at(-1)?.data ?? []
    const k = days.findIndex((day, row) => day !== null && Number(counts[row]) > 1)
    return k < 0 ? undefined : String(days[k])
  }

  /** Counts the rows and their distinct combinations of values; undefined without a client. */
  protected async countCombinations(columns: readonly Column[]): Promise<ValueCounts | undefined> {
    if (!this.client) return undefined
    const names = [...new Set(columns.map(({ name }) => name))]
    const query = { columns: names, where: this.where, format: 'ndjson' as const }
    const areDates = names.map((name) => columns.some((one) => one.name === name && isMomentType(one.type)))
    const response = await this.client.response('grids.content', { fid: this.fid, query })
    const seen = new Set<string>()
    let rows = 0
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.bytes()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      rows += lines.length
      for (const line of lines)
        if (seen.size < MAX_COUNTED_COMBINATIONS) seen.add(identifyRow(line, names, areDates))
    }
    return { rows, distinct: seen.size < MAX_COUNTED_COMBINATIONS ? seen.size : rows }
  }
}

/** Returns a text that rows of equal values have in common: numbers as 1.0 and 1, dates of one time. `line`: a row as JSON. */
function identifyRow(line: string, names: readonly string[], areDates: readonly boolean[]): string {
  const row = JSON.parse(line)
  const values = names.map((name, k) => {
    const value: unknown = row[name]
    const time = areDates[k] && typeof value === 'string' ? parseInstant(value) : Number.NaN
    return Number.isNaN(time) ? value : time
  })
  return JSON.stringify(values)
}

/** Removes the quotes around a simple JSON string. */
function removeQuotes(text: string): string {
  return /^"[^"\\]*"$/.test(text) ? text.slice(1, -1) : text
}
