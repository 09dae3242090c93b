/** Detects which of the first rows of a table are headers. */
type Kind = 'empty' | 'number' | 'date' | 'text'

const MISSING = /^(n\/?a|nan|null|none|nil|missing|unknown|-+|\?+|\.+)$/i

/** Numbers as people write them, also with groups of digits, a percent sign, or in parentheses. */
const NUMBER = /^\(?[+-]?\s?(\d+([.,'\u00a0\u202f ]\d+)*[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?\s?%?\)?$/
const CURRENCY = /^(?:[$€£¥₹]|USD|EUR|GBP|CHF)\s?|\s?(?:[$€£¥₹]|USD|EUR|GBP|CHF|kr)$/

function kindOf(cell: string): Kind {
  const text = cell.trim()
  if (text === '') return 'empty'
  if (NUMBER.test(text.replace(CURRENCY, ''))) return 'number'
  if (/^\d{4}-\d{2}(-\d{2})?([ T]\d|$)/.test(text) || /^\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b/.test(text))
    return 'date'
  return 'text'
}

/** The predominant kind of values in a column, ignoring missing values. */
function columnKind(rows: string[][], column: number): Kind {
  const counts = { empty: 0, number: 0, date: 0, text: 0 }
  let filled = 0
  for (const row of rows) {
    const cell = row[column] ?? ''
    const kind = kindOf(cell)
    if (kind === 'empty' || MISSING.test(cell.trim())) continue
    counts[kind]++
    filled++
  }
  if (filled === 0) return 'empty'
  for (const kind of ['number', 'date'] as const) if (counts[kind] >= filled * 0.8) return kind
  return 'text'
}

/** Detects the number of header rows: 0, 1 or 2. */
export function countHeaderRows(table: string[][]): number {
  const rows = table.filter((row) => row.length > 1 || row[0] !== '')
  const [first, ...data] = rows
  if (!first || first.every((cell) => cell.trim() === '')) return 0
  if (data.length === 0) return first.some((cell) => kindOf(cell) === 'number') ? 0 : 1
  if (!isHeader(first, data)) return 0
  return data.length > 1 && isSecondHeader(first, data[0], data.slice(1)) ? 2 : 1
}

function isHeader(first: string[], data: string[][]): boolean {
  // R writes no header for the row names: then names are one column to the left of their data.
  const shift = data.every((row) => row.length === first.length + 1) ? 1 : 0
  let forHeader = 0
  let forData = 0
  let repeated = 0
  first.forEach((cell, k) => {
    const kind = kindOf(cell)
    const below = columnKind(data, k + shift)
    if (kind === 'empty') return
    if (below === 'number' || below === 'date') {
      if (kind === below) forData++
      else if (!MISSING.test(cell.trim())) forHeader++
    } else if (kind === 'number' && below === 'text') forData++
    else if (below === 'text' && data.some((row) => row[k + shift] === cell)) repeated++
  })
  if (forData > 0) return isSequence(first, data) || forHeader > forData
  return forHeader > 0 || repeated === 0 || repeated === first.length
}

/**
 * Whether numbers in even steps (1990, 1991, 1992) are column names over other numbers. Two years are enough;
 * other numbers need three and a word next to them, and not every row may look like that.
 */
function isSequence(first: string[], data: string[][]): boolean {
  const steps = (cells: string[]): number[] | undefined => {
    const numbers = cells.filter((cell) => kindOf(cell) === 'number').map(Number)
    if (numbers.length < 2 || !numbers.every(Number.isInteger)) return undefined
    const step = numbers[1] - numbers[0]
    return step !== 0 && numbers.every((n, k) => k === 0 || n - numbers[k - 1] === step) ? numbers : undefined
  }
  const years = (cells: string[]): boolean => {
    const numbers = steps(cells)
    return numbers?.every((n) => n >= 1500 && n <= 2500) === true && Math.abs(numbers[1] - numbers[0]) <= 25
  }
  if (years(first)) return !data.every(years)
  const numbers = steps(first)
  return (
    numbers !== undefined &&
    numbers.length > 2 &&
    numbers.length < first.length &&
    !data.every((row) => steps(row))
  )
}

/**
 * Whether the second row is a header too (units or a second level of names): text over every numeric column,
 * and a sign that it is not data: brackets, empty cells over the text columns, or no text columns at all.
 */
function isSecondHeader(first: string[], second: string[], data: string[][]): boolean {
  if (second.length !== first.length || data.length < 2) return false
  if (
    second.some((cell) => kindOf(cell) === 'number' || kindOf(cell) === 'date' || MISSING.test(cell.trim()))
  )
    return false
  const kinds = first.map((_, k) => columnKind(data, k))
  const numeric = kinds.flatMap((kind, k) => (kind === 'number' || kind === 'date' ? [k] : []))
  const isUnits = kinds.every((kind, k) => kind !== 'text' || second[k].trim() === '')
  const hasBlanks = data.some((row) => numeric.some((k) => (row[k] ?? '').trim() === ''))
  if (numeric.length === 0 || (hasBlanks && !(isUnits && numeric.length < kinds.length))) return false
  const overNumbers = numeric.map((k) => second[k].trim())
  if (overNumbers.filter((cell) => cell !== '').length * 2 <= overNumbers.length) return false
  const overText = second.filter((_, k) => kinds[k] === 'text')
  const bracketed = overNumbers.filter((cell) => /^[([].*[)\]]$/.test(cell)).length * 2 > overNumbers.length
  const spread = first.some((cell, k) => k > 0 && (cell.trim() === '' || cell === first[k - 1]))
  const everyNumeric = numeric.length > 1 && numeric.every((_, k) => overNumbers[k] !== '')
  return (
    bracketed ||
    (overText.length > 0 && overText.every((cell) => cell.trim() === '')) ||
    (spread && everyNumeric) ||
    (overText.length === 0 && everyNumeric)
  )
}
