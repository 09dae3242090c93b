// Resolves the columns named by options, and checks their types.

import { Problem } from '../../contract/errors.ts'
import { findClosest, formatList } from '../../contract/message-texts.ts'
import {
  bindWhere,
  formatSortKey,
  parseSort,
  parseWhere,
  queriedColumns,
  resolveColumn,
} from '../../query/index.ts'
import { COLUMN_NAMES_AXIS, detectNumberStyle, formatColumnType } from '../spec/column-names.ts'
import { createUsageError } from '../spec/errors.ts'
import type { ChartGrid, ChartOptions, Column } from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import { type ChartType, hasTrait, withArticle } from '../spec/types.ts'
import type { ChartValues } from './values.ts'

/** Returns the axis type of column names: years are numbers, and days are dates. */
function nameAxisTypeOf(names: readonly string[]): 'number' | 'date' | 'text' {
  if (names.every((name) => /^\d{1,4}(?:\.\d+)?$/.test(name))) return 'number'
  return names.every((name) => /^\d{4}-\d\d(?:-\d\d)?$/.test(name)) ? 'date' : 'text'
}

/** Resolves and checks the columns of one chart. */
export class ChartColumnResolver {
  /** Columns that options refer to. */
  readonly usedColumns = new Set<Column>()

  constructor(
    private readonly values: ChartValues,
    private readonly grid: ChartGrid,
    private readonly type: ChartType,
  ) {}

  get names(): string[] {
    return this.grid.cols.map((column) => column.name)
  }

  /** Returns the column of an option. Throws `unknown_column`, with the closest name. */
  resolveColumn(flag: string, name: string | undefined): Column | undefined {
    if (name === undefined) return undefined
    const { cols, filename } = this.grid
    const match = cols.find((column) => column.name === name)
    if (match) {
      this.usedColumns.add(match)
      return match
    }
    const { names } = this
    const suggestion = findClosest(name, names)
    throw new Problem('unknown_column', `${flag} ${name}: the grid ${filename} has no such column`, {
      hint: suggestion === undefined ? `Columns: ${formatList(names)}` : `Did you mean ${suggestion}?`,
    })
  }

  /** Returns a column that must be numeric. Throws `usage`. */
  async resolveNumber(flag: string, name: string | undefined): Promise<Column | undefined> {
    const column = this.resolveColumn(flag, name)
    if (column) await this.assertNumbers(flag, column)
    return column
  }

  /** Returns the columns of --y. They must be numeric, unless they only form an axis. */
  async resolveYColumns(input: string | undefined, isAxis: boolean, isCount: boolean): Promise<Column[]> {
    if (input === undefined) {
      if (isCount || hasTrait(this.type, 'optional y')) return []
      if (this.type === 'table') return this.grid.cols.map(({ name }) => this.resolveColumn('--y', name)!)
      throw createUsageError(
        `${withArticle(this.type)} chart needs --y`,
        `Columns: ${formatList(this.names)}`,
      )
    }
    const columns = this.resolveColumns('--y', input)
    if (hasTrait(this.type, 'one y') && columns.length > 1)
      throw createUsageError(`--y: ${withArticle(this.type)} accepts one column`)
    if (!hasTrait(this.type, 'spread') && !isAxis && !isCount)
      for (const column of columns) await this.assertNumbers('--y', column)
    return columns
  }

  /** Returns the columns of an option, comma-separated. */
  resolveColumns(flag: string, input: string | undefined): Column[] {
    return input === undefined
      ? []
      : parseColumnNames(input, this.names).map((name) => this.resolveColumn(flag, name)!)
  }

  /** Returns whether the x axis holds the names of the --y columns. */
  hasColumnNamesAxis({ x }: ChartOptions): boolean {
    return x === COLUMN_NAMES_AXIS && !this.names.includes(COLUMN_NAMES_AXIS)
  }

  /** Returns the axis of column names, and one virtual column of their values (transform `melt`). */
  meltColumns(ys: readonly Column[]): { x: Column; ys: Column[] } {
    const isOther = (['spread', 'cells', 'no axes', 'one y', 'two y'] as const).some((trait) =>
      hasTrait(this.type, trait),
    )
    if (isOther || ['candlestick', 'ohlc', 'funnel'].includes(this.type))
      throw createUsageError(
        `--x ${COLUMN_NAMES_AXIS}: ${withArticle(this.type)} needs a column on its x axis`,
      )
    if (ys.length < 2) throw createUsageError(`--x ${COLUMN_NAMES_AXIS} needs several columns with --y`)
    const type = nameAxisTypeOf(ys.map(({ name }) => name))
    const [first, last] = [ys[0].name, ys.at(-1)!.name]
    const columns: { x: Column; ys: Column[] } = {
      x: { name: COLUMN_NAMES_AXIS, uid: '', type },
      ys: [{ name: `${first} to ${last}`, uid: ys.map(({ uid }) => uid).join(','), type: 'number' }],
    }
    for (const { name } of [columns.x, ...columns.ys]) this.values.virtualNames.add(name)
    return columns
  }

  /** Returns the columns of an option. They must be numeric. */
  async resolveNumbers(flag: string, input: string | undefined): Promise<Column[]> {
    const columns = this.resolveColumns(flag, input)
    for (const column of columns) await this.assertNumbers(flag, column)
    return columns
  }

  /** Returns the first column name that matches. Throws `usage` if there is none. */
  findNameLike(flag: string, pattern: RegExp): string {
    const match = this.grid.cols.find(({ name }) => pattern.test(name.trim()))
    if (match) return match.name
    throw createUsageError(
      `a map needs ${flag}: the column of ${flag === '--lat' ? 'latitudes' : 'longitudes'}`,
      `Columns: ${formatList(this.names)}`,
    )
  }

  /** Throws `usage` if a column is not numeric, with an example value and how to load it as numbers. */
  private async assertNumbers(flag: string, column: Column): Promise<void> {
    const { name, type } = column
    if (type === 'number' || type === 'empty' || type === undefined) return
    const texts = await this.values.readSample(column)
    const firstText = texts.find(
      (text): text is string => typeof text === 'string' && Number.isNaN(Number(text)),
    )
    const reason = detectNumberStyle(texts)
    const example =
      firstText === undefined ? undefined : `for example ${JSON.stringify(firstText.slice(0, 40))}`
    const explanation = [reason, example].filter(Boolean).join(', ')
    const numbers = this.grid.cols.filter((column) => column.type === 'number').map((column) => column.name)
    const remedy =
      reason === 'decimal commas'
        ? 'read the file with --decimal , and, if points separate thousands, --thousands . (or with --locale, such as --locale de)'
        : reason === 'thousands separators'
          ? 'read the file with --thousands and the separator'
          : `read the file with --column ${JSON.stringify(`${name}:number`)}${texts.some((text) => /,\d{1,2}(?!\d)/.test(String(text))) ? ' --decimal ,' : ''}${texts.some((text) => /\d\.\d{3},/.test(String(text))) ? ' --thousands .' : ''}`
    const asNumbers = `write them with a decimal point and without units, and upload the file again with --column ${JSON.stringify(`${name}:number`)} --on-conflict replace`
    throw createUsageError(
      `${flag} ${name}: the column holds ${formatColumnType(type)} values, not numbers${explanation && ` (${explanation})`}`,
      reason
        ? `To load them as numbers, ${remedy}; for an existing grid, upload the file again with --on-conflict replace.`
        : numbers.length > 0
          ? `${flag === '--color' ? `For a color of each value: --by ${name}. ` : ''}Columns of numbers: ${formatList(numbers)}.`
          : `If these are numbers, ${asNumbers}.`,
    )
  }

  /** Returns the transform that filters and sorts rows; undefined if there is none. Throws `usage`. */
  createRowsTransform({ where, sort, aggregate, x, y }: ChartOptions): object | undefined {
    const condition = where === undefined ? undefined : parseWhere(where)
    const keys = sort === undefined ? [] : parseSort(sort)
    const invalidKey = aggregate && keys.find(({ name }) => name !== x && name !== y)
    if (invalidKey)
      throw createUsageError(
        `--sort ${invalidKey.name}: with --aggregate, sort by the --x or --y column`,
        'Each point combines several rows.',
      )
    // With --aggregate, other transforms sort the result.
    const rowKeys = aggregate ? [] : keys
    const usedNames = [
      ...new Set([
        ...(condition ? queriedColumns(condition.expression) : []),
        ...rowKeys.map(({ name }) => name),
      ]),
    ]
    if (condition && queriedColumns(condition.expression).length === 0)
      throw createUsageError(
        `--where ${where}: names no column`,
        'Put a name that is a number in double quotes: "2019" > 1.',
      )
    for (const { name } of keys) this.resolveColumn('--sort', name)
    const columns = usedNames.map((name) => resolveColumn(name, this.grid.cols))
    for (const column of columns) this.usedColumns.add(column)
    if (condition) bindWhere(condition, columns)
    if (!condition && rowKeys.length === 0) return undefined
    return {
      type: 'rows',
      where,
      sort: rowKeys.length === 0 ? undefined : rowKeys.map(formatSortKey).join(','),
      names: usedNames,
      types: columns.map(({ type }) => type),
      valuessrc: `${this.grid.fid}:${columns.map(({ uid }) => uid).join(',')}`,
    }
  }

  /** Returns the reference to the data of a column; undefined for virtual columns. */
  formatReference(column: Column | undefined): string | undefined {
    return column && column.uid !== '' ? `${this.grid.fid}:${column.uid}` : undefined
  }
}
