/** A diff as people read it: as a table, CSV, NDJSON, Markdown or HTML. See docs/diff.md. */
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

/** How the two sides are called. */
export interface DiffNames {
  before: string
  after: string
}

export interface Printing {
  names: DiffNames
  /** Only counts and columns, no rows. */
  isStat: boolean
  color: boolean
  width: number
}

const writers: Record<DiffFormat, (diff: GridDiff, printing: Printing) => string> = {
  table: asTable,
  csv: asCsv,
  ndjson: ({ rows }) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  md: asMarkdown,
  html: asHtml,
}

export function diffText(diff: GridDiff, format: DiffFormat, printing: Printing): string {
  return writers[format](diff, printing)
}

const SIGN = { added: '+', removed: '−', changed: '~' } as const

/** `2 rows added, 1 row removed, 3 rows changed (4 cells)`; `no differences`. */
export function summaryOf(diff: GridDiff): string {
  const order = diff.is_reordered && 'rows in another order'
  if (diff.is_same) return order ? `no differences, but for ${order}` : 'no differences'
  const { rows_added, rows_removed, rows_changed, cells_changed, columns } = diff
  const parts = [
    rows_added > 0 && `${counted(rows_added, 'row')} added`,
    rows_removed > 0 && `${counted(rows_removed, 'row')} removed`,
    rows_changed > 0 && `${counted(rows_changed, 'row')} changed (${counted(cells_changed, 'cell')})`,
    ...(['added', 'removed', 'renamed', 'retyped', 'moved'] as const).map((change) => {
      const count = columns.filter((column) => column.change === change).length
      return count > 0 && `${counted(count, 'column')} ${CHANGED[change]}`
    }),
    order,
  ]
  return parts.filter(Boolean).join(', ')
}

const CHANGED = {
  added: 'added',
  removed: 'removed',
  renamed: 'renamed',
  retyped: 'of another type',
  moved: 'moved',
} as const

/** How rows were found. */
export function howCompared({ key, unique = 'COLUMN' }: GridDiff): string {
  return key.length > 0
    ? `Rows are compared by ${key.join(', ')}.`
    : `Rows are compared in order. To find them by a key: --key ${quoted(unique)}`
}

/** What is said of a column: `price: number → text, 12 cells`. */
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

function signOf({ change }: DiffColumn): string {
  return change === 'added' || change === 'removed' ? SIGN[change] : SIGN.changed
}

/** Of more columns than this, those with changes come first. */
const FEW_COLUMNS = 12

/** The columns that listed rows have values of: the key first. */
function columnsOf({ key: named, context = [], rows }: GridDiff): string[] {
  const key = [...named, ...context]
  // Whole rows have the columns in their order.
  const whole = rows.flatMap(({ before, after }) => [after, before]).filter((values) => values !== null)
  whole.sort((a, b) => Object.keys(b).length - Object.keys(a).length)
  const names = new Set([...key, ...whole.flatMap((values) => Object.keys(values))])
  if (names.size <= FEW_COLUMNS) return [...names]
  const changed = rows.flatMap(({ change, after }) => (change === 'changed' ? Object.keys(after!) : []))
  return [...new Set([...key, ...changed, ...names])]
}

function plain(value: DiffValue | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}

/** Whether a cell of a changed row says which row it is. */
function isPlace({ key, context = [] }: GridDiff, { before, after }: DiffRow, name: string): boolean {
  return key.includes(name) || (context.includes(name) && before?.[name] === after?.[name])
}

/** The text of a cell of a row: `old → new` where it changed. */
function cellText(diff: GridDiff, row: DiffRow, name: string): string {
  const { change, before, after } = row
  if (change === 'added') return plain(after![name])
  if (change === 'removed') return plain(before![name])
  if (!(name in after!)) return ''
  const [old, now] = [before![name], after![name]]
  if (isPlace(diff, row, name)) return plain(now)
  return `${old === null ? 'null' : plain(old)} → ${now === null ? 'null' : plain(now)}`
}

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
  const shown = columnsOf(diff)
  const rows = diff.rows.map((row) => [
    SIGN[row.change],
    String(row.row_after ?? row.row_before),
    ...shown.map((name) => cellText(diff, row, name)),
  ])
  const isNumber = (k: number): boolean => rows.every((row) => /^(-?\d[\d.e+-]*)?$/i.test(row[k]))
  const { text, shown: fit } = fittedTable(
    {
      names: ['', 'ROW', ...shown],
      numeric: ['', 'ROW', ...shown].map((_, k) => k > 0 && isNumber(k)),
      rows,
    },
    width,
    color,
  )
  const [head, ...body] = text.trimEnd().split('\n')
  lines.push('', head, ...body.map((line) => colored(line[0], line)))
  const hidden = shown.length + 2 - fit
  const more = notListed(diff)
  if (more > 0) lines.push(chalk.dim(`… ${counted(more, 'more row')} (--limit)`))
  if (hidden > 0) lines.push(chalk.dim(`… ${counted(hidden, 'more column')} (--columns, --format csv)`))
  return `${lines.join('\n')}\n`
}

/** A line for each cell that differs, and for the cells of a changed row that say which it is. A text that is empty is in quotes. */
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

/** Columns of a table in Markdown. */
const MAX_COLUMNS = 12

function asMarkdown(diff: GridDiff, { names, isStat }: Printing): string {
  const lines = [`**${markdown(names.before)} → ${markdown(names.after)}**: ${summaryOf(diff)}`, '']
  if (diff.is_same) return `${lines[0]}\n`
  for (const column of diff.columns) lines.push(`- ${signOf(column)} ${markdown(columnText(column))}`)
  if (diff.columns.length > 0) lines.push('')
  if (!isStat && diff.rows.length > 0) {
    const shown = columnsOf(diff).slice(0, MAX_COLUMNS)
    lines.push(
      `| | row | ${shown.map(markdown).join(' | ')} |`,
      `|---|---:|${shown.map(() => '---|').join('')}`,
    )
    // What is gone comes first: it is what nobody sees afterwards.
    for (const row of removedFirst(diff.rows)) {
      const cells = shown.map((name) => markdown(cellText(diff, row, name)))
      lines.push(`| ${SIGN[row.change]} | ${row.row_after ?? row.row_before} | ${cells.join(' | ')} |`)
    }
    const more = notListed(diff)
    if (more > 0) lines.push('', `… ${counted(more, 'more row')}`)
  }
  if (diff.key.length === 0) lines.push('', 'Rows are compared in order.')
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`
}

function removedFirst(rows: readonly DiffRow[]): DiffRow[] {
  const rank = { removed: 0, changed: 1, added: 2 } as const
  return [...rows].sort((a, b) => rank[a.change] - rank[b.change])
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}

const STYLE =
  'body{font:14px/1.4 system-ui,sans-serif;margin:2rem;color:#1c2330}table{border-collapse:collapse}th,td{padding:.2rem .6rem;border-bottom:1px solid #e3e6ec;text-align:left;white-space:pre-wrap}th{color:#5b6575;font-weight:600}.added{background:#e8f6ec}.removed{background:#fdecec}del{color:#b3261e}ins{color:#146c2e;text-decoration:none}'

/** A page of its own, without scripts. */
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
    const shown = columnsOf(diff)
    const head = ['', 'row', ...shown].map((name) => `<th>${html(name)}</th>`).join('')
    const body = diff.rows.map((row) => {
      const cells = shown.map((name) => `<td>${htmlCell(diff, row, name)}</td>`).join('')
      return `<tr class="${row.change}"><td>${SIGN[row.change]}</td><td>${row.row_after ?? row.row_before}</td>${cells}</tr>`
    })
    parts.push(`<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>`)
    const more = notListed(diff)
    if (more > 0) parts.push(`<p>… ${counted(more, 'more row')}</p>`)
  }
  return `${parts.join('\n')}\n</html>\n`
}

function htmlCell(diff: GridDiff, row: DiffRow, name: string): string {
  if (row.change !== 'changed' || isPlace(diff, row, name)) return html(cellText(diff, row, name))
  if (!(name in row.after!)) return ''
  return `<del>${html(plain(row.before![name]))}</del> <ins>${html(plain(row.after![name]))}</ins>`
}

/** Attributes of plots that differ, in another format than a table. */
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
      return attributes.map((one) => `${JSON.stringify(one)}\n`).join('')
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
