/** Formats a diff as table, CSV, NDJSON, Markdown or HTML. See docs/diff.md. */
import { Chalk } from 'chalk'
import { counted } from '../../contract/closest.ts'
import type { DiffColumn, DiffRow, DiffValue, GridDiff } from '../../contract/resources/index.ts'
import { quoted } from '../../contract/shell.ts'
import { fittedTable } from './fitted.ts'
import { markdown } from './markdown.ts'
import { wrapped } from './messages.ts'
import { visible } from './visible.ts'

export const diffFormats = ['table', 'csv', 'ndjson', 'md', 'html'] as const
export type DiffFormat = (typeof diffFormats)[number]

/** Names of the two inputs. */
export interface DiffNames {
  before: string
  after: string
}

/** Options for formatting a diff. `width`: characters. */
export interface Printing {
  names: DiffNames
  /** True for counts and columns without rows. */
  isStat: boolean
  color: boolean
  width: number
}

/** Writers by format. */
const writers: Record<DiffFormat, (diff: GridDiff, options: Printing) => string> = {
  table: asTable,
  csv: asCsv,
  ndjson: ({ rows }) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  md: asMarkdown,
  html: asHtml,
}

/** Formats a diff in the given format. */
export function diffText(diff: GridDiff, format: DiffFormat, options: Printing): string {
  return writers[format](diff, options)
}

/** Signs of changes. */
const SIGN = { added: '+', removed: '−', changed: '~' } as const

/** Summarizes a diff: `2 rows added, 1 row removed, 3 rows changed (4 cells)` or `no differences`. */
export function summaryOf(diff: GridDiff): string {
  const orderNote = diff.is_reordered && 'rows in another order'
  if (diff.is_same) return orderNote ? `no differences except ${orderNote}` : 'no differences'
  const { rows_added, rows_removed, rows_changed, cells_changed, columns } = diff
  const parts = [
    rows_added > 0 && `${counted(rows_added, 'row')} added`,
    rows_removed > 0 && `${counted(rows_removed, 'row')} removed`,
    rows_changed > 0 && `${counted(rows_changed, 'row')} changed (${counted(cells_changed, 'cell')})`,
    ...(['added', 'removed', 'renamed', 'retyped', 'moved'] as const).map((change) => {
      const count = columns.filter((column) => column.change === change).length
      return count > 0 && `${counted(count, 'column')} ${CHANGED[change]}`
    }),
    orderNote,
  ]
  return parts.filter(Boolean).join(', ')
}

/** Words for changes of columns. */
const CHANGED = {
  added: 'added',
  removed: 'removed',
  renamed: 'renamed',
  retyped: 'of another type',
  moved: 'moved',
} as const

/** Describes how rows were matched. */
export function howCompared({ key, unique = 'COLUMN' }: GridDiff): string {
  return key.length > 0
    ? `Rows are matched by ${key.join(', ')}.`
    : `Rows are compared in order. To match them by a key: --key ${quoted(unique)}`
}

/** Describes a column: `price: number → text, 12 cells`. */
function columnText(column: DiffColumn): string {
  const { change, name_before, name_after, type_before, type_after, cells_changed } = column
  const name = name_after ?? name_before ?? ''
  const parts: string[] = []
  if (change === 'added' || change === 'removed') return `${name} (${type_after ?? type_before})`
  if (change === 'renamed') parts.push(`renamed from ${name_before}`)
  if (change === 'moved') parts.push('moved')
  if (type_before !== type_after && change !== 'values') parts.push(`${type_before} → ${type_after}`)
  if (cells_changed > 0) parts.push(counted(cells_changed, 'cell'))
  return `${name}: ${parts.join(', ')}`
}

/** Returns the sign of a column change. */
function signOf({ change }: DiffColumn): string {
  return change === 'added' || change === 'removed' ? SIGN[change] : SIGN.changed
}

/** Number of columns above which changed columns come first. */
const FEW_COLUMNS = 12

/** Returns the columns to list, key first. */
function columnsOf({ key: keyNames, context = [], rows }: GridDiff): string[] {
  const key = [...keyNames, ...context]
  // Complete rows contain all columns in order.
  const rowValues = rows.flatMap(({ before, after }) => [after, before]).filter((values) => values !== null)
  rowValues.sort((a, b) => Object.keys(b).length - Object.keys(a).length)
  const names = new Set([...key, ...rowValues.flatMap((values) => Object.keys(values))])
  if (names.size <= FEW_COLUMNS) return [...names]
  const changed = rows.flatMap(({ change, after }) => (change === 'changed' ? Object.keys(after!) : []))
  return [...new Set([...key, ...changed, ...names])]
}

/** Formats a value; empty for null and undefined. */
function plain(value: DiffValue | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}

/** Returns whether a cell identifies a changed row: key or unchanged context. */
function isPlace({ key, context = [] }: GridDiff, { before, after }: DiffRow, name: string): boolean {
  return key.includes(name) || (context.includes(name) && before?.[name] === after?.[name])
}

/** Formats a cell: `old → new` if changed. */
function cellText(diff: GridDiff, row: DiffRow, name: string): string {
  const { change, before, after } = row
  if (change === 'added') return plain(after![name])
  if (change === 'removed') return plain(before![name])
  if (!(name in after!)) return ''
  const [oldValue, newValue] = [before![name], after![name]]
  if (isPlace(diff, row, name)) return plain(newValue)
  return `${oldValue === null ? 'null' : plain(oldValue)} → ${newValue === null ? 'null' : plain(newValue)}`
}

/** Returns the number of rows that are not listed. */
function notListed({ rows, rows_added, rows_removed, rows_changed }: GridDiff): number {
  return rows_added + rows_removed + rows_changed - rows.length
}

function asTable(diff: GridDiff, { names, isStat, color, width }: Printing): string {
  const chalk = new Chalk({ level: color ? 1 : 0 })
  const colored = (sign: string, text: string): string => {
    const paint = sign === SIGN.added ? chalk.green : sign === SIGN.removed ? chalk.red : chalk.yellow
    return paint(text)
  }
  const lines = [`${chalk.bold(visible(`${names.before} → ${names.after}`))}: ${summaryOf(diff)}`]
  if (diff.is_same) return `${lines[0]}\n`
  if (diff.key.length === 0) lines.push(chalk.dim(wrapped(howCompared(diff), width)))
  if (diff.columns.length > 0) lines.push('')
  for (const column of diff.columns) {
    const sign = signOf(column)
    lines.push(colored(sign, `${sign} ${visible(columnText(column))}`))
  }
  if (isStat || diff.rows.length === 0) return `${lines.join('\n')}\n`
  const columns = columnsOf(diff)
  const rows = diff.rows.map((row) => [
    SIGN[row.change],
    String(row.row_after ?? row.row_before),
    ...columns.map((name) => cellText(diff, row, name)),
  ])
  const isNumber = (k: number): boolean => rows.every((row) => /^(-?\d[\d.e+-]*)?$/i.test(row[k]))
  const { text, shown: fitCount } = fittedTable(
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
  const more = notListed(diff)
  if (more > 0) lines.push(chalk.dim(`… ${counted(more, 'more row')} (--limit)`))
  if (hidden > 0) lines.push(chalk.dim(`… ${counted(hidden, 'more column')} (--columns, --format csv)`))
  return `${lines.join('\n')}\n`
}

/** Formats one line per changed cell, and per cell that identifies a changed row. Empty texts are quoted. */
function asCsv(diff: GridDiff): string {
  const cell = (value: DiffValue | undefined): string => (value === '' ? '""' : quotedCell(plain(value)))
  const lines = ['change,row_before,row_after,column,before,after']
  for (const row of diff.rows) {
    const { row_before, row_after, before, after } = row
    for (const name of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])) {
      const change = row.change === 'changed' && isPlace(diff, row, name) ? 'key' : row.change
      lines.push([change, row_before, row_after, name, before?.[name], after?.[name]].map(cell).join(','))
    }
  }
  return lines.map((line) => `${line}\n`).join('')
}

function quotedCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Maximum number of columns of a Markdown table. */
const MAX_COLUMNS = 12

function asMarkdown(diff: GridDiff, { names, isStat }: Printing): string {
  const lines = [`**${markdown(names.before)} → ${markdown(names.after)}**: ${summaryOf(diff)}`, '']
  if (diff.is_same) return `${lines[0]}\n`
  for (const column of diff.columns) lines.push(`- ${signOf(column)} ${markdown(columnText(column))}`)
  if (diff.columns.length > 0) lines.push('')
  if (!isStat && diff.rows.length > 0) {
    const columns = columnsOf(diff).slice(0, MAX_COLUMNS)
    lines.push(
      `| | row | ${columns.map(markdown).join(' | ')} |`,
      `|---|---:|${columns.map(() => '---|').join('')}`,
    )
    // Removed rows first: nobody sees them afterwards.
    for (const row of removedFirst(diff.rows)) {
      const cells = columns.map((name) => markdown(cellText(diff, row, name)))
      lines.push(`| ${SIGN[row.change]} | ${row.row_after ?? row.row_before} | ${cells.join(' | ')} |`)
    }
    const more = notListed(diff)
    if (more > 0) lines.push('', `… ${counted(more, 'more row')}`)
  }
  if (diff.key.length === 0) lines.push('', 'Rows are compared in order.')
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`
}

/** Sorts rows: removed, changed, added. */
function removedFirst(rows: readonly DiffRow[]): DiffRow[] {
  const rank = { removed: 0, changed: 1, added: 2 } as const
  return [...rows].sort((a, b) => rank[a.change] - rank[b.change])
}

/** Escapes text for HTML. */
function html(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}

const STYLE =
  'body{font:14px/1.4 system-ui,sans-serif;margin:2rem;color:#1c2330}table{border-collapse:collapse}th,td{padding:.2rem .6rem;border-bottom:1px solid #e3e6ec;text-align:left;white-space:pre-wrap}th{color:#5b6575;font-weight:600}.added{background:#e8f6ec}.removed{background:#fdecec}del{color:#b3261e}ins{color:#146c2e;text-decoration:none}'

/** Formats a diff as a self-contained page without scripts. */
function asHtml(diff: GridDiff, { names, isStat }: Printing): string {
  const title = html(`${names.before} → ${names.after}`)
  const parts = [
    `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${title}</title>\n<style>${STYLE}</style>`,
    `<h1>${title}</h1>\n<p>${html(summaryOf(diff))}. ${html(howCompared(diff))}</p>`,
  ]
  if (diff.columns.length > 0)
    parts.push(
      `<ul>\n${diff.columns.map((column) => `<li>${signOf(column)} ${html(columnText(column))}</li>`).join('\n')}\n</ul>`,
    )
  if (!isStat && diff.rows.length > 0) {
    const columns = columnsOf(diff)
    const head = ['', 'row', ...columns].map((name) => `<th>${html(name)}</th>`).join('')
    const body = diff.rows.map((row) => {
      const cells = columns.map((name) => `<td>${htmlCell(diff, row, name)}</td>`).join('')
      return `<tr class="${row.change}"><td>${SIGN[row.change]}</td><td>${row.row_after ?? row.row_before}</td>${cells}</tr>`
    })
    parts.push(`<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>`)
    const more = notListed(diff)
    if (more > 0) parts.push(`<p>… ${counted(more, 'more row')}</p>`)
  }
  return `${parts.join('\n')}\n</html>\n`
}

/** Formats a cell, with marks for old and new value if changed. */
function htmlCell(diff: GridDiff, row: DiffRow, name: string): string {
  if (row.change !== 'changed' || isPlace(diff, row, name)) return html(cellText(diff, row, name))
  if (!(name in row.after!)) return ''
  return `<del>${html(plain(row.before![name]))}</del> <ins>${html(plain(row.after![name]))}</ins>`
}

/** Formats changed attributes of plots. */
export function attributesText(
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
        .map((row) => `${row.map(quotedCell).join(',')}\n`)
        .join('')
    case 'md':
      return `**${markdown(title)}**\n\n| attribute | before | after |\n|---|---|---|\n${rows.map((row) => `| ${row.map(markdown).join(' | ')} |\n`).join('')}`
    case 'html':
      return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>${html(title)}</title>\n<style>${STYLE}</style>\n<h1>${html(title)}</h1>\n<table>\n<tr><th>attribute</th><th>before</th><th>after</th></tr>\n${rows.map((row) => `<tr>${row.map((cell) => `<td>${html(cell)}</td>`).join('')}</tr>\n`).join('')}</table>\n</html>\n`
  }
}
