import { closest, listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import {
  boundWhere,
  columnNamed,
  columnsOf,
  parseSort,
  parseWhere,
  type QueryType,
  sortText,
} from '../../query/index.ts'
import { COLUMNS, columnNames, numberStyle, typeName } from '../spec/column-names.ts'
import type { ChartGrid, ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait } from '../spec/types.ts'
import type { ChartValues } from './values.ts'

/** The type of an axis of names: years are numbers, and days are dates. */
function axisTypeOf(names: readonly string[]): 'number' | 'date' | 'text' {
  if (names.every((name) => /^\d{1,4}(?:\.\d+)?$/.test(name))) return 'number'
  return names.every((name) => /^\d{4}-\d\d(?:-\d\d)?$/.test(name)) ? 'date' : 'text'
}

/** A chart that is being made: checks its options against the columns of a grid. */
export class Chart {
  /** The columns that options name. */
  readonly named = new Set<Column>()

  constructor(
    private readonly values: ChartValues,
    private readonly grid: ChartGrid,
    private readonly type: ChartType,
  ) {}

  get names(): string[] {
    return this.grid.cols.map((column) => column.name)
  }

  /** The column of an option. Throws with the name meant if there is none. */
  column(flag: string, name: string | undefined): Column | undefined {
    if (name === undefined) return undefined
    const { cols, filename } = this.grid
    const found = cols.find((column) => column.name === name)
    if (found) {
      this.named.add(found)
      return found
    }
    const { names } = this
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
  async yColumns(given: string | undefined, isAxis: boolean, isCount: boolean): Promise<Column[]> {
    if (given === undefined) {
      if (isCount || hasTrait(this.type, 'optional y')) return []
      if (this.type === 'table') return this.grid.cols.map(({ name }) => this.column('--y', name)!)
      throw new Problem('usage', `a ${this.type} chart needs --y`, {
        hint: `Columns: ${listed(this.names)}`,
      })
    }
    const columns = this.columns('--y', given)
    if (hasTrait(this.type, 'one y') && columns.length > 1)
      throw new Problem('usage', `--y: a ${this.type} shows one column`)
    if (!hasTrait(this.type, 'spread') && !isAxis && !isCount)
      for (const column of columns) await this.assertNumbers('--y', column)
    return columns
  }

  /** The columns of an option, comma-separated. */
  columns(flag: string, given: string | undefined): Column[] {
    return given === undefined ? [] : columnNames(given, this.names).map((name) => this.column(flag, name)!)
  }

  /** Whether the names of the columns of --y stand along the x axis. */
  isAcross({ x }: ChartOptions): boolean {
    return x === COLUMNS && !this.names.includes(COLUMNS)
  }

  /** The x axis with the names of columns, and their values as one column: see the transform `melt`. */
  across(ys: readonly Column[]): { x: Column; ys: Column[] } {
    const isOther = (['spread', 'cells', 'no axes', 'one y', 'two y'] as const).some((trait) =>
      hasTrait(this.type, trait),
    )
    if (isOther || ['candlestick', 'ohlc', 'funnel'].includes(this.type))
      throw new Problem('usage', `--x ${COLUMNS}: a ${this.type} has one column along its axis`)
    if (ys.length < 2) throw new Problem('usage', `--x ${COLUMNS} needs several columns with --y`)
    const type = axisTypeOf(ys.map(({ name }) => name))
    const [first, last] = [ys[0].name, ys.at(-1)!.name]
    const value = {
      name: `${first} to ${last}`,
      uid: ys.map(({ uid }) => uid).join(','),
    }
    const columns = { x: { name: COLUMNS, uid: '', type }, ys: [{ ...value, type: 'number' }] }
    for (const { name } of [columns.x, ...columns.ys]) this.values.virtual.add(name)
    return columns as { x: Column; ys: Column[] }
  }

  /** The columns of an option that must hold numbers. */
  async numbers(flag: string, given: string | undefined): Promise<Column[]> {
    const columns = this.columns(flag, given)
    for (const column of columns) await this.assertNumbers(flag, column)
    return columns
  }

  /** The column whose name says what it holds. Throws `usage` if there is none. */
  nameLike(flag: string, pattern: RegExp): string {
    const found = this.grid.cols.find(({ name }) => pattern.test(name.trim()))
    if (found) return found.name
    throw new Problem(
      'usage',
      `a map needs ${flag}: the column of its ${flag === '--lat' ? 'latitudes' : 'longitudes'}`,
      {
        hint: `Columns: ${listed(this.names)}`,
      },
    )
  }

  private async assertNumbers(flag: string, column: Column): Promise<void> {
    const { name, type } = column
    if (type === 'number' || type === 'empty' || type === undefined) return
    const texts = await this.values.sample(column)
    const shown = texts.find((text) => typeof text === 'string' && Number.isNaN(Number(text))) as
      | string
      | undefined
    const reason = numberStyle(texts)
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

  /** The transform that keeps and sorts rows; undefined without --where and --sort. Throws `usage` and `unknown_column`. */
  selection({ where, sort, aggregate, x, y }: ChartOptions): object | undefined {
    const condition = where === undefined ? undefined : parseWhere(where)
    const keys = sort === undefined ? [] : parseSort(sort)
    const lost = aggregate && keys.find(({ name }) => name !== x && name !== y)
    if (lost)
      throw new Problem(
        'usage',
        `--sort ${lost.name}: with --aggregate, only the columns of --x and --y are sorted by`,
        {
          hint: 'Each point combines several rows.',
        },
      )
    // With --aggregate, the axes are sorted after it.
    const before = aggregate ? [] : keys
    const named = [
      ...new Set([...(condition ? columnsOf(condition.expression) : []), ...before.map(({ name }) => name)]),
    ]
    if (condition && columnsOf(condition.expression).length === 0)
      throw new Problem('usage', `--where ${where}: names no column`, {
        hint: 'A name that is a number is in double quotes: "2019" > 1.',
      })
    for (const { name } of keys) this.column('--sort', name)
    const columns = named.map((name) => columnNamed(name, this.grid.cols))
    for (const column of columns) this.named.add(column)
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
      types: columns.map(({ type }) => type),
      valuessrc: `${this.grid.fid}:${columns.map(({ uid }) => uid).join(',')}`,
    }
  }

  /** The reference to a column, or to several that are one list; undefined for what is in no column. */
  reference(column: Column | undefined): string | undefined {
    return column && column.uid !== '' ? `${this.grid.fid}:${column.uid}` : undefined
  }
}
