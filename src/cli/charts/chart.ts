import type { Client } from '../../client/index.ts'
import { closest, listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { boundWhere, columnsOf, parseSort, parseWhere, type QueryType, sortText } from '../../query/index.ts'
import { typeName } from '../output/view.ts'
import { columnNames } from './columns.ts'
import {
  type ChartGrid,
  type ChartOptions,
  type ChartType,
  type Column,
  GROUPED,
  MOST_SERIES,
  TOP_SERIES,
} from './options.ts'

/** Values of a text column that are read to say why it is not a number. */
const SAMPLE_ROWS = 100
/** Different cells of a heatmap that are counted. */
const MOST_CELLS = 1_000_000
/** Small charts of one figure, as the service draws them. */
const MOST_FACETS = 36
/** Diameter of the largest point sized by a column, in pixels. */
const LARGEST_POINT_PIXELS = 40

/** A chart that is being made: checks its options against the columns and the values of a grid. */
export class Chart {
  constructor(
    private readonly client: Client | undefined,
    private readonly grid: ChartGrid,
    private readonly type: ChartType,
  ) {}

  /** The column of an option. Throws with the name meant if there is none. */
  column(flag: string, name: string | undefined): Column | undefined {
    if (name === undefined) return undefined
    const { cols, filename } = this.grid
    const found = cols.find((column) => column.name === name)
    if (found) return found
    const names = cols.map((column) => column.name)
    const meant = closest(name, names)
    throw new Problem('unknown_column', `${flag} ${name}: the grid ${filename} has no column of that name`, {
      hint: meant === undefined ? `Columns: ${listed(names)}` : `Did you mean ${meant}?`,
    })
  }

  /** A column that must hold numbers. */
  async number(flag: string, name: string | undefined): Promise<Column | undefined> {
    const column = this.column(flag, name)
    if (column) await this.assertNumbers(flag, column)
    return column
  }

  /** The columns of --y. They hold numbers, unless they are an axis only. */
  async yColumns(given: string | undefined, isAxis: boolean): Promise<Column[]> {
    const isHistogram = this.type === 'histogram'
    if (given === undefined) {
      if (isHistogram) return []
      throw new Problem('usage', `a ${this.type} chart needs --y`, {
        hint: `Columns: ${listed(this.grid.cols.map(({ name }) => name))}`,
      })
    }
    const names = this.grid.cols.map(({ name }) => name)
    const columns = columnNames(given, names).map((name) => this.column('--y', name)!)
    if (this.type === 'pie' && columns.length > 1) throw new Problem('usage', '--y: a pie shows one column')
    if (!isHistogram && !isAxis) for (const column of columns) await this.assertNumbers('--y', column)
    return columns
  }

  private async assertNumbers(flag: string, column: Column): Promise<void> {
    const { name, type } = column
    if (type === 'number' || type === 'empty' || type === undefined) return
    const texts = await this.sample(column)
    const shown = texts.find((text) => typeof text === 'string' && Number.isNaN(Number(text))) as
      | string
      | undefined
    const reason = reasonOf(texts)
    const example = shown === undefined ? undefined : `for example ${JSON.stringify(shown.slice(0, 40))}`
    const why = [reason, example].filter(Boolean).join(', ')
    const numbers = this.grid.cols.filter((one) => one.type === 'number').map((one) => one.name)
    const again =
      reason === 'decimal commas'
        ? 'read the file with --decimal , and, if points separate thousands, --thousands . (or with --locale, such as --locale de)'
        : reason === 'thousands separators'
          ? 'read the file with --thousands and the separator'
          : `read the file with --column ${JSON.stringify(`${name}:number`)}${texts.some((text) => /,\d{1,2}(?!\d)/.test(String(text))) ? ' --decimal ,' : ''}${texts.some((text) => /\d\.\d{3},/.test(String(text))) ? ' --thousands .' : ''}`
    const asNumbers = `write them with a decimal point and without units, and upload the file again with --column ${JSON.stringify(`${name}:number`)} --on-conflict replace`
    throw new Problem(
      'usage',
      `${flag} ${name}: the column holds ${typeName(type)} values, not numbers${why && ` (${why})`}`,
      {
        hint: reason
          ? `To load them as numbers, ${again}; of a grid that exists, upload the file again with --on-conflict replace.`
          : numbers.length > 0
            ? `Columns of numbers: ${listed(numbers)}.`
            : `If they are numbers, ${asNumbers}.`,
      },
    )
  }

  /** The first values of a column. */
  private async sample(column: Column): Promise<unknown[]> {
    if (!this.client) return (column.seen ?? []).map(({ text }) => text)
    const query = { columns: [column.name], head: SAMPLE_ROWS, format: 'json' as const }
    const response = await this.client.response('grids.content', { fid: this.grid.fid, query })
    const content = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
    return content.cols[column.name]?.data ?? []
  }

  /** The value per pixel that draws the largest value of a column as the largest point. */
  async sizeRef(column: Column): Promise<number> {
    if (!this.client) return 1
    const query = { uid: column.uid }
    const response = await this.client.response('columns.get', { fid: this.grid.fid, query })
    const { cols } = (await response.json()) as { cols: { data: unknown[] }[] }
    let most = 0
    for (const value of cols[0].data) if (typeof value === 'number' && value > most) most = value
    return most === 0 ? 1 : (2 * most) / LARGEST_POINT_PIXELS ** 2
  }

  /** The transform that keeps and sorts rows; undefined without --where and --sort. Throws `usage` and `unknown_column`. */
  selection({ where, sort, aggregate, x, y }: ChartOptions): object | undefined {
    const condition = where === undefined ? undefined : parseWhere(where)
    // With --aggregate, the axes are sorted after it.
    const keys = sort === undefined ? [] : parseSort(sort)
    const before = keys.filter(({ name }) => !aggregate || (name !== x && name !== y))
    const named = [
      ...new Set([...(condition ? columnsOf(condition.expression) : []), ...keys.map(({ name }) => name)]),
    ]
    const columns = named.map((name) => this.column(sort?.includes(name) ? '--sort' : '--where', name)!)
    if (condition)
      boundWhere(
        condition,
        columns.map(({ name, type }) => ({ name, type: type as QueryType })),
      )
    if (!condition && before.length === 0) return undefined
    return {
      type: 'rows',
      where,
      sort: before.length === 0 ? undefined : before.map(sortText).join(','),
      names: named,
      valuessrc: `${this.grid.fid}:${columns.map(({ uid }) => uid).join(',')}`,
    }
  }

  /**
   * Throws `bad_data` if several rows have the same value, or the same pair of values: their bars or cells would be drawn
   * over each other.
   */
  async assertSingle({ name }: Column, where: string | undefined, second?: Column): Promise<void> {
    if (!this.client) return
    const { rows, distinct } = second
      ? await this.pairs(this.client, [name, second.name], where)
      : await this.distinct(this.client, name, where)
    if (distinct >= rows || distinct === 0) return
    const by = GROUPED.includes(this.type) ? ', or show the rows of each category with --by COLUMN' : ''
    const what = second
      ? `${rows} rows have ${distinct} different cells of ${name} and ${second.name}, so a ${this.type} would show one row of several`
      : `${rows} rows have ${distinct} different values, so a ${this.type} chart would show several rows as one`
    throw new Problem('bad_data', `--x ${name}: ${what}`, {
      field: name,
      hint: `Add --aggregate sum (or mean, count …)${by}.`,
    })
  }

  /** How the lines are drawn: in the order of the axis, with points where a line alone would not show them. */
  async lineOf(
    x: Column | undefined,
    ys: readonly Column[],
    { by, facet, aggregate, sort, where, zone }: ChartOptions,
    note: (text: string) => void,
  ): Promise<{ styles: Map<Column, object>; transforms?: object[] }> {
    const plain = { mode: 'lines' }
    if (!this.client || by || facet || aggregate) return { styles: new Map(ys.map((y) => [y, plain])) }
    const columns = [...new Set([...(x ? [x] : []), ...ys])].map(({ name }) => name)
    const query = { columns, where }
    const { columns: found } = await this.client.call('grids.describe', { fid: this.grid.fid, query })
    const of = (column: Column) => found.find(({ name }) => name === column.name)
    // A point beside gaps has no line.
    const styles = new Map(
      ys.map((y) => [y, (of(y)?.nulls ?? 0) > 0 ? { mode: 'lines+markers', marker: { size: 4 } } : plain]),
    )
    if (!x || sort !== undefined || of(x)?.ascending !== false) return { styles }
    note(`--x ${x.name}: the values do not ascend, so the line is drawn in ascending order`)
    const selected = this.selection({ where })
    const shown = [selected, zone && { type: 'zone', target: 'x', zone }, { type: 'sort', target: 'x' }]
    return { styles, transforms: shown.filter((one) => typeof one === 'object') }
  }

  /** Throws `bad_data` if there would be too many small charts. */
  async assertFewFacets({ name }: Column, where: string | undefined): Promise<void> {
    if (!this.client) return
    const { distinct } = await this.distinct(this.client, name, where)
    if (distinct > MOST_FACETS)
      throw new Problem(
        'bad_data',
        `--facet ${name}: the column has ${distinct} different values; at most ${MOST_FACETS} small charts are drawn`,
        { field: name, hint: 'Choose some of them with --where, or show them as series with --by.' },
      )
  }

  /** Says how many values of --by are not series of their own. */
  async noteOthers(
    { name }: Column,
    { where, top }: ChartOptions,
    note: (text: string) => void,
  ): Promise<void> {
    if (!this.client) return
    const { distinct } = await this.distinct(this.client, name, where)
    const most = top ?? TOP_SERIES
    if (distinct <= most) return
    const own = Math.max(1, most - 1)
    note(
      `--by ${name}: the column has ${distinct} values; the ${own} largest are series of their own, and the other ${distinct - own} are one series, other (to show more, use --top ${Math.min(distinct, MOST_SERIES)})`,
    )
  }

  private async distinct(client: Client, name: string, where: string | undefined) {
    const query = { columns: [name], where }
    const described = (await client.call('grids.describe', { fid: this.grid.fid, query })).columns[0]
    const rows = described.rows - described.nulls
    return { rows, distinct: described.distinct_is_exact ? described.distinct : rows }
  }

  /** How many rows have both values, and how many different pairs there are. */
  private async pairs(client: Client, columns: string[], where: string | undefined) {
    const query = { columns, where, format: 'ndjson' as const }
    const response = await client.response('grids.content', { fid: this.grid.fid, query })
    const seen = new Set<string>()
    let rows = 0
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.bytes()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop()!
      rows += lines.length
      for (const line of lines) if (seen.size < MOST_CELLS) seen.add(line)
    }
    return { rows, distinct: seen.size < MOST_CELLS ? seen.size : rows }
  }

  only(flag: string, given: unknown, types: readonly ChartType[]): void {
    if (given !== undefined && !types.includes(this.type))
      throw new Problem('usage', `${flag} can only be used with --type ${types.join(' or ')}`)
  }

  reference(column: Column | undefined): string | undefined {
    return column && `${this.grid.fid}:${column.uid}`
  }
}

/** Why numbers were read as text; undefined if they do not look like numbers. */
function reasonOf(values: readonly unknown[]): string | undefined {
  const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim())
  const some = (pattern: RegExp): boolean => texts.some((text) => pattern.test(text))
  if (some(/^[-+]?[\d. ]*\d,\d+$/)) return 'decimal commas'
  if (some(/^[-+]?\d{1,3}([,' \u00a0\u202f]\d{3})+(\.\d+)?$/)) return 'thousands separators'
  if (some(/[$€£¥₹]|\b(USD|EUR|GBP|CHF|JPY)\b/)) return 'currency'
  if (some(/^[-+]?[\d.,]+\s*%$/)) return 'percent signs'
  return undefined
}
