// Detects the header rows of a table.

type Kind = 'empty' | 'number' | 'date' | 'pattern' | 'text'

const MISSING_VALUE = /^(n\/?a|nan|null|none|nil|missing|unknown|-+|\?+|\.+)$/i

/** Remarks in place of a missing value. */
const MISSING_REMARK =
  /^(tbd|tba|closed|refused|suppressed|pending|none|dn[fqs]|dsq|withheld|confidential|few|low|high|x+|\*+|not .*|no .*)$/i

/** Numbers with optional thousands separators, percent sign or parentheses. */
const NUMBER = /^\(?[+-]?\s?(\d+([.,'\u00a0\u202f ]\d+)*[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s?%?\)?$/
const CURRENCY = /^(?:[$€£¥₹]|USD|EUR|GBP|CHF)\s?|\s?(?:[$€£¥₹]|USD|EUR|GBP|CHF|kr)$/

/** Longer cells are texts. Bounds the time of the regular expressions. */
const MAX_VALUE_CHARACTERS = 100

/** Classifies a cell. */
function cellKindOf(cell: string): Kind {
  const text = cell.trim()
  if (text === '') return 'empty'
  if (text.length > MAX_VALUE_CHARACTERS) return 'text'
  // Before numbers, since points can also separate thousands.
  if (/^\d{1,2}\.\d{1,2}\.\d{4}$/.test(text)) return 'date'
  if (NUMBER.test(text.replace(CURRENCY, ''))) return 'number'
  if (/^\d{4}-\d{2}(-\d{2})?([ T]\d|$)/.test(text) || /^\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b/.test(text))
    return 'date'
  if (/^\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[ap]m)?( |$)/i.test(text)) return 'date'
  return NON_NAME_PATTERNS.some((pattern) => pattern.test(text)) ? 'pattern' : 'text'
}

/** Values that are not column names: booleans, addresses, labels with values. */
const NON_NAME_PATTERNS = [
  /^(true|false)$/i,
  /^[\w.+-]+@[\w-]+(\.[\w-]+)+$/,
  /^https?:\/\/\S+$/,
  /^\d{1,3}(\.\d{1,3}){3}$/,
  /^[A-Za-z][\w .-]{0,30}(: |=)\S/,
]

/** Returns whether a cell is a number, date, time or marker of a missing value. */
export function isDataValue(cell: string): boolean {
  const kind = cellKindOf(cell)
  return kind === 'number' || kind === 'date' || MISSING_VALUE.test(cell.trim())
}

/** Returns the kind of at least 80% of a column's values, ignoring missing ones; otherwise text. */
function columnKindOf(rows: string[][], column: number): Kind {
  const counts = { empty: 0, number: 0, date: 0, pattern: 0, text: 0 }
  let filled = 0
  for (const row of rows) {
    const cell = row[column] ?? ''
    const kind = cellKindOf(cell)
    if (kind === 'empty' || MISSING_VALUE.test(cell.trim())) continue
    counts[kind]++
    filled++
  }
  if (filled === 0) return 'empty'
  for (const kind of ['number', 'date', 'pattern'] as const) if (counts[kind] >= filled * 0.8) return kind
  return 'text'
}

/** Header rows of a table. */
export interface HeaderRows {
  count: number
  /** Content of the rows after the first, if they do not belong to the names. */
  besides?: string
}

/** Detects the header rows, and rows that programs write below the names. */
export function detectHeaderRows(table: string[][]): HeaderRows {
  const rows = table.filter((row) => row.some((cell) => cell.trim() !== ''))
  const [first, second, third] = rows
  if (second && second.length === first.length && second.length > 1) {
    const rest = rows.slice(2)
    const isAlone = (pattern: RegExp): boolean =>
      second.every((cell) => pattern.test(cell)) &&
      !rest.some((row) => row.every((cell) => pattern.test(cell)))
    if (isAlone(/^\s*(-{3,}|={3,})\s*$/)) return { count: 2, besides: 'a rule' }
    if (isAlone(/^\d+[sdn]$/)) return { count: 2, besides: 'column formats' }
    if (second.every((cell, k) => cell.trim() === `(${k + 1})`))
      return { count: 2, besides: 'column numbers' }
    if (isAlone(/^(|Response|Open-Ended Response)$/) && second.some((cell) => cell !== ''))
      return { count: 2, besides: 'answer types' }
    if (third?.length === first.length && third.every((cell) => /^\{"ImportId":/.test(cell)))
      return { count: 3, besides: 'the questions and ids of Qualtrics' }
  }
  return { count: countHeaderRows(table) }
}

/** Detects the number of header rows: 0, 1, 2 or 3. */
export function countHeaderRows(table: string[][]): number {
  const rows = table.filter((row, k) => k === 0 || row.some((cell) => cell.trim() !== ''))
  const [first, ...data] = rows
  if (!first || first.every((cell) => cell.trim() === '')) return 0
  if (data.length === 0) return first.some((cell) => cellKindOf(cell) === 'number') ? 0 : 1
  if (data.length > 2 && isSplitHeader(first, data[0], data.slice(1))) return 2
  if (!isHeaderRow(first, data)) return 0
  if (data.length > 3 && areUnitRows(first, [data[0], data[1]], data.slice(2))) return 3
  return data.length > 1 && isSecondHeader(first, data[0], data.slice(1)) ? 2 : 1
}

/**
 * Returns whether the second row has the names that the first row lacks: answers to a survey question, or
 * years. It holds only texts or years: below every empty cell and below the name to its left, but not in the
 * first column, which all other rows fill.
 */
function isSplitHeader(first: string[], second: string[], data: string[][]): boolean {
  if (second.length !== first.length || isEmptyCell(first[0]) || !isEmptyCell(second[0])) return false
  let named = 0
  let gaps = 0
  for (const [k, cell] of first.entries()) {
    if (!isEmptyCell(cell)) named = k
    else if (isEmptyCell(second[k]) || isEmptyCell(second[named])) return false
    else gaps++
  }
  if (gaps === 0) return false
  const isName = (cell: string): boolean =>
    isEmptyCell(cell) || cellKindOf(cell) === 'text' || /^(19|20)\d\d$/.test(cell.trim())
  return second.every(isName) && data.every((row) => !isEmptyCell(row[0]))
}

function isEmptyCell(cell: string | undefined): boolean {
  return (cell ?? '').trim() === ''
}

/** Returns whether the first row is a header: compares its cells with the columns below. */
function isHeaderRow(first: string[], data: string[][]): boolean {
  // R writes no name for the column of row names: all names are one column too far left.
  const shift = data.every((row) => row.length === first.length + 1) ? 1 : 0
  let forHeader = 0
  let forData = 0
  let repeated = 0
  first.forEach((cell, k) => {
    const kind = cellKindOf(cell)
    const below = columnKindOf(data, k + shift)
    if (kind === 'empty') return
    if (below === 'number' || below === 'date' || below === 'pattern') {
      if (kind === below) forData++
      else if (!MISSING_VALUE.test(cell.trim())) forHeader++
    } else if (kind === 'number' && below === 'text') forData++
    else if (below === 'text' && data.some((row) => row[k + shift] === cell)) repeated++
  })
  if (forData > 0)
    return isHeaderOfNumbers(first, data) || isHeaderWithYear(first, data) || forHeader > forData
  return forHeader > 0 || repeated === 0 || repeated === first.filter((cell) => !isEmptyCell(cell)).length
}

/** Returns whether all names are texts but one, a year over numbers that are not years. */
function isHeaderWithYear(first: string[], data: string[][]): boolean {
  const at = first.findIndex((cell) => cellKindOf(cell) === 'number')
  const isYearly = (cell: string | undefined): boolean => /^(1[5-9]|20)\d\d$/.test((cell ?? '').trim())
  return (
    first.length > 1 &&
    isYearly(first[at]) &&
    first.every((cell, k) => k === at || cellKindOf(cell) === 'text') &&
    new Set(first).size === first.length &&
    data.length > 1 &&
    !data.some((row) => isYearly(row[at]))
  )
}

/**
 * Returns whether names are numbers in even steps (1990, 1991, 1992). Two years suffice. Other numbers need
 * three, a word beside them, and rows unlike them.
 */
function isHeaderOfNumbers(first: string[], data: string[][]): boolean {
  const steps = (cells: string[]): number[] | undefined => {
    const numbers = cells.filter((cell) => cellKindOf(cell) === 'number').map(Number)
    if (numbers.length < 2 || !numbers.every(Number.isInteger)) return undefined
    const step = numbers[1] - numbers[0]
    return step !== 0 && numbers.every((n, k) => k === 0 || n - numbers[k - 1] === step) ? numbers : undefined
  }
  const allYears = (cells: string[]): boolean =>
    cells.every((cell) => /^(1[5-9]|2[0-4])\d\d$/.test(cell.trim()))
  const years = (cells: string[]): boolean => {
    const numbers = steps(cells)
    return numbers?.every((n) => n >= 1500 && n <= 2500) === true && Math.abs(numbers[1] - numbers[0]) <= 25
  }
  const increasing = first.filter((cell) => cellKindOf(cell) === 'number').map(Number)
  const isCensus =
    increasing.length > 2 &&
    increasing.length < first.length &&
    increasing.every(
      (n, k) => Number.isInteger(n) && n >= 1500 && n <= 2500 && (k === 0 || n > increasing[k - 1]),
    )
  if (isCensus) return true
  if (years(first))
    return (
      !data.every(years) &&
      (first.length > 2 || first.some((cell) => cellKindOf(cell) !== 'number') || !data.some(allYears))
    )
  const numbers = steps(first)
  return (
    numbers !== undefined &&
    numbers.length > 2 &&
    numbers.length < first.length &&
    !data.every((row) => steps(row))
  )
}

/**
 * Returns whether two rows below the names hold units, as loggers write them: only texts, over numbers and
 * dates.
 */
function areUnitRows(first: string[], rows: [string[], string[]], data: string[][]): boolean {
  const kinds = first.map((_, k) => columnKindOf(data, k))
  const isUnit = (cell: string, k: number): boolean =>
    isEmptyCell(cell) ||
    ((kinds[k] === 'number' || kinds[k] === 'date') &&
      cellKindOf(cell) === 'text' &&
      !MISSING_REMARK.test(cell.trim()) &&
      !/^(nan|null|none|nil|missing|unknown)$/i.test(cell.trim()))
  const areUnits = (row: string[]): boolean =>
    row.length === first.length && row.every(isUnit) && row.some((cell) => /[\p{L}%°]/u.test(cell))
  return rows.every(areUnits) && rows.some((row) => isSecondHeader(first, row, data))
}

/**
 * Returns whether the second row is a header too (units, or a second level of names): text over every numeric
 * column, and a sign that it is not data, such as brackets, empty cells over text columns, or no text
 * columns.
 */
function isSecondHeader(first: string[], second: string[], data: string[][]): boolean {
  if (second.length !== first.length || data.length < 2) return false
  // A repeated header.
  if (second.every((cell, k) => cell === first[k])) return false
  if (second.some((cell) => cellKindOf(cell) === 'number' || cellKindOf(cell) === 'date')) return false
  const isMissing = (cell: string): boolean => cell.trim() === '' || MISSING_VALUE.test(cell.trim())
  const kinds = first.map((_, k) => columnKindOf(data, k))
  const numeric = kinds.flatMap((kind, k) => (kind === 'number' || kind === 'date' ? [k] : []))
  const isUnits = kinds.every((kind, k) => kind !== 'text' || isMissing(second[k]))
  const hasBlanks = data.some((row) => numeric.some((k) => (row[k] ?? '').trim() === ''))
  // Names over several columns, and below them a name for each column.
  const isBelowSpread =
    first.some((cell, k) => k > 0 && cell.trim() === '') &&
    second.every((cell) => cell.trim() !== '') &&
    numeric.length === kinds.length
  if (numeric.length === 0 || (hasBlanks && !isBelowSpread && !(isUnits && numeric.length < kinds.length)))
    return false
  // A column of dates has no unit.
  const measured = numeric.filter((k) => kinds[k] === 'number' || !isMissing(second[k]))
  const overNumbers = measured.map((k) => second[k].trim())
  if (overNumbers.some((cell) => MISSING_VALUE.test(cell))) return false
  if (overNumbers.filter((cell) => cell !== '').length * 2 <= overNumbers.length) return false
  const overText = second.filter((_, k) => kinds[k] === 'text')
  const bracketed = overNumbers.filter((cell) => /^[([].*[)\]]$/.test(cell)).length * 2 > overNumbers.length
  const spread = first.some((cell, k) => k > 0 && (cell.trim() === '' || cell === first[k - 1]))
  const everyNumeric = measured.length > 1 && overNumbers.every((cell) => cell !== '')
  return (
    bracketed ||
    (overText.length > 0 && overText.every(isMissing)) ||
    (spread && everyNumeric) ||
    (overText.length === 0 && everyNumeric) ||
    // Different words over all numeric columns are not data.
    (everyNumeric &&
      data.length >= 3 &&
      !hasBlanks &&
      new Set(overNumbers).size === overNumbers.length &&
      !overNumbers.some((cell) => MISSING_REMARK.test(cell)))
  )
}
