/** Formats a diff as table, CSV, NDJSON, Markdown or HTML. See docs/diff.md. */
import { Chalk } from 'chalk'
import { escapeHtml } from '../../contract/html.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { DiffColumn, DiffRow, DiffValue, GridDiff } from '../../contract/resources/index.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { escapeTerminal } from './escape-terminal.ts'
import { formatFittedTable } from './fit-table.ts'
import { escapeMarkdown } from './markdown.ts'
import { wrapText } from './messages.ts'

export const DIFF_FORMATS = ['table', 'csv', 'ndjson', 'md', 'html'] as const
export type DiffFormat = (typeof DIFF_FORMATS)[number]

/** Names of the two inputs. */
export interface DiffNames {
  before: string
  after: string
}

/** Options for formatting a diff. `width`: characters. */
export interface DiffPrintOptions {
  names: DiffNames
  /** True for counts and columns without rows. */
  isStat: boolean
  color: boolean
  width: number
}

/** Writers by format. */
const writers: Record<DiffFormat, (diff: GridDiff, options: DiffPrintOptions) => string> = {
  table: formatTable,
  csv: formatCsv,
  ndjson: ({ rows }) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  md: formatMarkdown,
  html: formatHtml,
}

/** Formats a diff in the given format. */
export function formatDiff(diff: GridDiff, format: DiffFormat, options: DiffPrintOptions): string {
  return writers[format](diff, options)
}

/** Signs of changes. */
const SIGNS = { added: '+', removed: '−', changed: '~' } as const

/** Summarizes a diff: `2 rows added, 1 row removed, 3 rows changed (4 cells)` or `no differences`. */
export function summarizeDiff(diff: GridDiff): string {
  const orderNote = diff.is_reordered && 'rows in another order'
  if (diff.is_same) return orderNote ? `no differences except ${orderNote}` : 'no differences'
  const { rows_added, rows_removed, rows_changed, cells_changed, columns } = diff
  const parts = [
    rows_added > 0 && `${formatCount(rows_added, 'row')} added`,
    rows_removed > 0 && `${formatCount(rows_removed, 'row')} removed`,
    rows_changed > 0 && `${formatCount(rows_changed, 'row')} changed (${formatCount(cells_changed, 'cell')})`,
    ...(['added', 'removed', 'renamed', 'retyped', 'moved'] as const).map((change) => {
      const count = columns.filter((column) => column.change === change).length
      return count > 0 && `${formatCount(count, 'column')} ${COLUMN_CHANGES[change]}`
    }),
    orderNote,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Words for changes of columns. */
const COLUMN_CHANGES = {
  added: 'added',
  removed: 'removed',
  renamed: 'renamed',
  retyped: 'of another type',
  moved: 'moved',
} as const

/** Describes how rows were matched. */
export function describeMatching({ key, unique = 'COLUMN' }: GridDiff): string {
  return key.length > 0
    ? `Rows are matched by ${key.join(', ')}.`
    : `Rows are compared in order. To match them by a key: --key ${quoteShellWord(unique)}`
}

/** Describes a column: `price: number → text, 12 cells`. */
function describeColumn(column: DiffColumn): string {
  const { change, name_before, name_after, type_before, type_after, cells_changed } = column
  const name = name_after ?? name_before ?? ''
  const parts: string[] = []
  if (change === 'added' || change === 'removed') return `${name} (${type_after ?? type_before})`
  if (change === 'renamed') parts.push(`renamed from ${name_before}`)
  if (change === 'moved') parts.push('moved')
  if (type_before !== type_after && change !== 'values') parts.push(`${type_before} → ${type_after}`)
  if (cells_changed > 0) parts.push(formatCount(cells_changed, 'cell'))
  return `${name}: ${parts.join(', ')}`
}

/** Returns the sign of a column change. */
function signOf({ change }: DiffColumn): string {
  return change === 'added' || change === 'removed' ? SIGNS[change] : SIGNS.changed
}

/** Number of columns above which changed columns come first. */
const REORDER_THRESHOLD_COLUMNS = 12

/** Returns the columns to list, key first. */
function listedColumns({ key: keyNames, context = [], rows }: GridDiff): string[] {
  const key = [...keyNames, ...context]
  // Complete rows contain all columns in order.
  const rowValues = rows.flatMap(({ before, after }) => [after, before]).filter((values) => values !== null)
  rowValues.sort((a, b) => Object.keys(b).length - Object.keys(a).length)
  const names = new Set([...key, ...rowValues.flatMap((values) => Object.keys(values))])
  if (names.size <= REORDER_THRESHOLD_COLUMNS) return [...names]
  const changed = rows.flatMap(({ change, after }) => (change === 'changed' ? Object.keys(after!) : []))
  return [...new Set([...key, ...changed, ...names])]
}

/** Formats a value; empty for null and undefined. */
function formatValue(value: DiffValue | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}

/** Returns whether a cell identifies a changed row: key or unchanged context. */
function identifiesRow({ key, context = [] }: GridDiff, { before, after }: DiffRow, name: string): boolean {
  return key.includes(name) || (context.includes(name) && before?.[name] === after?.[name])
}

/** Formats a cell: `old → new` if changed. */
function formatCell(diff: GridDiff, row: DiffRow, name: string): string {
  const { change, before, after } = row
  if (change === 'added') return formatValue(after![name])
  if (change === 'removed') return formatValue(before![name])
  if (!(name in after!)) return ''
  const [oldValue, newValue] = [before![name], after![name]]
  if (identifiesRow(diff, row, name)) return formatValue(newValue)
  return `${oldValue === null ? 'null' : formatValue(oldValue)} → ${newValue === null ? 'null' : formatValue(newValue)}`
}

/** Returns the number of rows that are not listed. */
function countUnlisted({ rows, rows_added, rows_removed, rows_changed }: GridDiff): number {
  return rows_added + rows_removed + rows_changed - rows.length
}

function formatTable(diff: GridDiff, { names, isStat, color, width }: DiffPrintOptions): string {
  const chalk = new Chalk({ level: color ? 1 : 0 })
  const colored = (sign: string, text: string): string => {
    const paint = sign === SIGNS.added ? chalk.green : sign === SIGNS.removed ? chalk.red : chalk.yellow
    return paint(text)
  }
  const lines = [`${chalk.bold(escapeTerminal(`${names.before} → ${names.after}`))}: ${summarizeDiff(diff)}`]
  if (diff.is_same) return `${lines[0]}\n`
  if (diff.key.length === 0) lines.push(chalk.dim(wrapText(describeMatching(diff), width)))
  if (diff.columns.length > 0) lines.push('')
  for (const column of diff.columns) {
    const sign = signOf(column)
    lines.push(colored(sign, `${sign} ${escapeTerminal(describeColumn(column))}`))
  }
  if (isStat || diff.rows.length === 0) return `${lines.join('\n')}\n`
  const columns = listedColumns(diff)
  const rows = diff.rows.map((row) => [
    SIGNS[row.change],
    String(row.row_after ?? row.row_before),
    ...columns.map((name) => formatCell(diff, row, name)),
  ])
  const isNumber = (k: number): boolean => rows.every((row) => /^(-?\d[\d.e+-]*)?$/i.test(row[k]))
  const { text, columnCount: fitCount } = formatFittedTable(
    {
      names: ['', 'ROW', ...columns],
      numeric: ['', 'ROW', ...columns].map((_, k) => k > 0 && isNumber(k)),
      rows,
    },
    width,
    color,
  )
  const [head, ...body] = text.trimEnd().split('\n')
  lines.push('', head, ...body.map((line) => colored(line[0], line)))
  const hidden = columns.length + 2 - fitCount
  const more = countUnlisted(diff)
  if (more > 0) lines.push(chalk.dim(`… ${formatCount(more, 'more row')} (--limit)`))
  if (hidden > 0) lines.push(chalk.dim(`… ${formatCount(hidden, 'more column')} (--columns, --format csv)`))
  return `${lines.join('\n')}\n`
}

/** Formats one line per changed cell, and per cell that identifies a changed row. Empty texts are quoted. */
function formatCsv(diff: GridDiff): string {
  const cell = (value: DiffValue | undefined): string =>
    value === '' ? '""' : quoteCsvCell(formatValue(value))
  const lines = ['change,row_before,row_after,column,before,after']
  for (const row of diff.rows) {
    const { row_before, row_after, before, after } = row
    for (const name of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
      const change = row.change === 'changed' && identifiesRow(diff, row, name) ? 'key' : row.change
      lines.push([change, row_before, row_after, name, before?.[name], after?.[name]].map(cell).join(','))
    }
  }
  return lines.map((line) => `${line}\n`).join('')
}

function quoteCsvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Maximum number of columns of a Markdown table. */
const MAX_MARKDOWN_COLUMNS = 12

function formatMarkdown(diff: GridDiff, { names, isStat }: DiffPrintOptions): string {
  const lines = [
    `**${escapeMarkdown(names.before)} → ${escapeMarkdown(names.after)}**: ${summarizeDiff(diff)}`,
    '',
  ]
  if (diff.is_same) return `${lines[0]}\n`
  for (const column of diff.columns)
    lines.push(`- ${signOf(column)} ${escapeMarkdown(describeColumn(column))}`)
  if (diff.columns.length > 0) lines.push('')
  if (!isStat && diff.rows.length > 0) {
    const columns = listedColumns(diff).slice(0, MAX_MARKDOWN_COLUMNS)
    lines.push(
      `| | row | ${columns.map(escapeMarkdown).join(' | ')} |`,
      `|---|---:|${columns.map(() => '---|').join('')}`,
    )
    // Removed rows first: nobody sees them afterwards.
    for (const row of sortRemovedFirst(diff.rows)) {
      const cells = columns.map((name) => escapeMarkdown(formatCell(diff, row, name)))
      lines.push(`| ${SIGNS[row.change]} | ${row.row_after ?? row.row_before} | ${cells.join(' | ')} |`)
    }
    const more = countUnlisted(diff)
    if (more > 0) lines.push('', `… ${formatCount(more, 'more row')}`)
  }
  if (diff.key.length === 0) lines.push('', 'Rows are compared in order.')
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`
}

/** Sorts rows: removed, changed, added. */
function sortRemovedFirst(rows: readonly DiffRow[]): DiffRow[] {
  const rank = { removed: 0, changed: 1, added: 2 } as const
  return [...rows].sort((a, b) => rank[a.change] - rank[b.change])
}

const STYLE_SHEET =
  'body{font:14px/1.4 system-ui,sans-serif;margin:2rem;color:#1c2330}table{border-collapse:collapse}th,td{padding:.2rem .6rem;border-bottom:1px solid #e3e6ec;text-align:left;white-space:pre-wrap}th{color:#5b6575;font-weight:600}.added{background:#e8f6ec}.removed{background:#fdecec}del{color:#b3261e}ins{color:#146c2e;text-decoration:none}'

/** Formats a diff as a self-contained page without scripts. */
function formatHtml(diff: GridDiff, { names, isStat }: DiffPrintOptions): string {
  const title = escapeHtml(`${names.before} → ${names.after}`)
  const parts = [
    `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${title}</title>\n<style>${STYLE_SHEET}</style>`,
    `<h1>${title}</h1>\n<p>${escapeHtml(summarizeDiff(diff))}. ${escapeHtml(describeMatching(diff))}</p>`,
  ]
  if (diff.columns.length > 0)
    parts.push(
      `<ul>\n${diff.columns.map((column) => `<li>${signOf(column)} ${escapeHtml(describeColumn(column))}</li>`).join('\n')}\n</ul>`,
    )
  if (!isStat && diff.rows.length > 0) {
    const columns = listedColumns(diff)
    const head = ['', 'row', ...columns].map((name) => `<th>${escapeHtml(name)}</th>`).join('')
    const body = diff.rows.map((row) => {
      const cells = columns.map((name) => `<td>${formatHtmlCell(diff, row, name)}</td>`).join('')
      return `<tr class="${row.change}"><td>${SIGNS[row.change]}</td><td>${row.row_after ?? row.row_before}</td>${cells}</tr>`
    })
    parts.push(`<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>`)
    const more = countUnlisted(diff)
    if (more > 0) parts.push(`<p>… ${formatCount(more, 'more row')}</p>`)
  }
  return `${parts.join('\n')}\n</html>\n`
}

/** Formats a cell, with marks for old and new value if changed. */
function formatHtmlCell(diff: GridDiff, row: DiffRow, name: string): string {
  if (row.change !== 'changed' || identifiesRow(diff, row, name))
    return escapeHtml(formatCell(diff, row, name))
  if (!(name in row.after!)) return ''
  return `<del>${escapeHtml(formatValue(row.before![name]))}</del> <ins>${escapeHtml(formatValue(row.after![name]))}</ins>`
}

/** Formats changed attributes of plots. */
export function formatAttributes(
  attributes: readonly { attribute: string; before?: unknown; after?: unknown }[],
  format: Exclude<DiffFormat, 'table'>,
  names: DiffNames,
): string {
  const json = (value: unknown): string =>
    value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  const rows = attributes.map(({ attribute, before, after }) => [attribute, json(before), json(after)])
  const title = `${names.before} → ${names.after}`
  switch (format) {
    case 'ndjson':
      return attributes.map((change) => `${JSON.stringify(change)}\n`).join('')
    case 'csv':
      return [['attribute', 'before', 'after'], ...rows]
        .map((row) => `${row.map(quoteCsvCell).join(',')}\n`)
        .join('')
    case 'md':
      return `**${escapeMarkdown(title)}**\n\n| attribute | before | after |\n|---|---|---|\n${rows.map((row) => `| ${row.map(escapeMarkdown).join(' | ')} |\n`).join('')}`
    case 'html':
      return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${escapeHtml(title)}</title>\n<style>${STYLE_SHEET}</style>\n<h1>${escapeHtml(title)}</h1>\n<table>\n<tr><th>attribute</th><th>before</th><th>after</th></tr>\n${rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>\n`).join('')}</table>\n</html>\n`
  }
}
