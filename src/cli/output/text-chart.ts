// Draws indicators and tables as text.
// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** Maximum number of rows of a table. */
const MAX_TABLE_ROWS = 15
/** Maximum width of a cell, in characters. */
const MAX_CELL_CHARACTERS = 30

/** Formats a figure that is a single number or a table; undefined for others. */
export function formatTextChart(data: readonly Attributes[], columns: number): string[] | undefined {
  if (data.length !== 1) return undefined
  const [trace] = data
  if (trace.type === 'indicator' && typeof trace.value === 'number') {
    const { prefix = '', suffix = '' } = trace.number ?? {}
    return ['', `  ${prefix}${trace.value.toLocaleString('en', { maximumFractionDigits: 6 })}${suffix}`, '']
  }
  return trace.type === 'table' ? formatTableTrace(trace, columns) : undefined
}

/** Formats a table trace as aligned lines. */
function formatTableTrace({ header, cells }: Attributes, columns: number): string[] | undefined {
  const heads: unknown[] = Array.isArray(header?.values) ? header.values : []
  const lists: unknown[][] = Array.isArray(cells?.values) ? cells.values.filter(Array.isArray) : []
  if (lists.length === 0) return undefined
  const count = Math.max(...lists.map(({ length }) => length))
  const rows = Array.from({ length: Math.min(count, MAX_TABLE_ROWS) }, (_, row) =>
    lists.map((list) => formatCell(list[row])),
  )
  const names = lists.map((_, k) => formatCell(heads[k]))
  const widths = names.map((name, k) => Math.max(name.length, ...rows.map((row) => row[k].length)))
  const isNumber = lists.map((list) => list.every((value) => typeof value === 'number' || value === null))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, k) => (isNumber[k] ? text.padStart(widths[k]) : text.padEnd(widths[k])))
      .join('  ')
      .slice(0, columns)
      .trimEnd()
  const more = count > MAX_TABLE_ROWS ? [`… ${count - MAX_TABLE_ROWS} more rows`] : []
  return [line(names), ...rows.map(line), ...more]
}

/** Formats a cell: one line, at most `MAX_CHARACTERS`. */
function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
  return plain.length > MAX_CELL_CHARACTERS ? `${plain.slice(0, MAX_CELL_CHARACTERS - 1)}…` : plain
}
