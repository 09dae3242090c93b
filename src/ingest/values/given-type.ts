// Reads cells of a column whose type is given by the user, the target grid or the style of its numbers.
import type { Problem } from '../../contract/errors.ts'
import { excerpt } from '../../json/index.ts'
import { type KnownOrders, parseDate } from './date.ts'
import { dateOrderOf, type GivenType, type NumberStyle } from './dialect.ts'
import { parseNumber, parseStyledNumber, suggestCommaOptions } from './number.ts'
import { isTotal } from './total.ts'
import { badData } from './warnings.ts'

/** Options of a column. */
export interface ColumnRules {
  name: string
  /** Whether the type comes from the target grid, not from the user. */
  isTarget?: boolean
  declaredType?: GivenType
  /**
   * Whether all values of the sample are numbers in the style `numbers`. A later value that is not makes all
   * of them text.
   */
  styled?: boolean
  nullTexts?: readonly string[]
  numbers?: NumberStyle
  orders: KnownOrders
  asWritten?: boolean
  /** Whether texts are kept, and ISO 8601 days and times among them have their types. */
  isExact?: boolean
  quote: number
  /** Byte before an escaped quote; −1 if there is none. */
  escape: number
  source: string
}

/** Returns the JSON of a cell in the given type; undefined if it does not have that type. */
export function convertToGiven(
  cell: string,
  type: GivenType | undefined,
  { styled, numbers, declaredType }: Pick<ColumnRules, 'styled' | 'numbers' | 'declaredType'>,
): string | undefined {
  switch (type) {
    case 'number':
      return styled ? parseStyledNumber(cell, numbers!) : parseNumber(cell, numbers)
    case 'boolean':
      return parseBooleanCell(cell)
    case 'text':
    case undefined:
      return undefined
    case 'date':
    case 'datetime':
    case 'date-dmy':
    case 'date-mdy': {
      const date = parseDate(cell, dateOrderOf(declaredType), true)
      return date === undefined || date === 'ambiguous' ? date : `"${date}"`
    }
    default:
      return type satisfies never
  }
}

function parseBooleanCell(cell: string): string | undefined {
  const word = cell.trim().toLowerCase()
  if (word === 'true' || word === '1') return 'true'
  if (word === 'false' || word === '0') return 'false'
  return undefined
}

/** Creates the error for a cell that does not have the type of its column, or is an ambiguous date. */
export function createTypeError(
  cell: string,
  value: 'ambiguous' | undefined,
  { line, type }: { line: number; type: GivenType | undefined },
  rules: ColumnRules,
): Problem {
  const { name, source } = rules
  if (value === 'ambiguous')
    return badData(
      source,
      { line, column: name },
      `"${excerpt(cell)}" can be read with the day or the month first`,
      `Give the order: --column ${JSON.stringify(`${name}:date-dmy`)} or ${JSON.stringify(`${name}:date-mdy`)}.`,
    )
  return badData(
    source,
    { line, column: name },
    `"${excerpt(cell)}" is not a ${type?.startsWith('date') ? 'date' : type}`,
    formatWrongTypeHint(cell, rules, type),
  )
}

/** Returns the hint for a cell that does not have the type of its column. */
function formatWrongTypeHint(
  cell: string,
  { name, isTarget, numbers }: ColumnRules,
  expectedType: GivenType | undefined,
): string {
  if (isTotal(cell)) return 'To skip the row of the total, use --skip-last 1.'
  const mayHaveComma = expectedType === 'number' && numbers?.decimal !== ','
  const options = mayHaveComma ? suggestCommaOptions(cell) : undefined
  if (options) return `Add ${options} if it has a decimal comma.`
  const alternative = isTarget
    ? 'allow the change with --allow-type-change'
    : `load the column as text (--column ${JSON.stringify(`${name}:text`)})`
  return `Fix the cell, name it as a missing value (--null ${JSON.stringify(cell.slice(0, 40))}), or ${alternative}.`
}
