// Prints the result of a command to stdout, in the requested format.
import { once } from 'node:events'
import { Problem } from '../../contract/errors.ts'
import { returnBuffer } from '../../json/index.ts'
import type { OutputFormat } from '../config/settings.ts'
import { hasColor } from '../output/color.ts'
import { escapeTerminalLines } from '../output/escape-terminal.ts'
import { applyJq, pickFields } from '../output/selection.ts'
import { formatRelativeTime } from '../output/times.ts'
import type { TableView } from '../output/view.ts'
import type { GlobalFlags } from './context.ts'
import type { CommandResult } from './define.ts'

/**
 * Prints a result in the format of --format, else JSON if requested, ids with --quiet, a table on a terminal,
 * and tab-separated values otherwise.
 */
export async function print(
  outcome: CommandResult,
  flags: GlobalFlags,
  setting: OutputFormat | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  if (outcome === undefined) return
  if (flags.template !== undefined && !('view' in outcome))
    throw new Problem('usage', '--template needs a command that prints a list or details')
  if ('bytes' in outcome) {
    for await (const chunk of outcome.bytes) {
      await write(chunk)
      if (process.stdout.writableLength === 0) returnBuffer(chunk)
    }
    return
  }
  if ('text' in outcome) {
    await write(outcome.text)
    return
  }
  const single = 'item' in outcome
  const alone = single || outcome.isDetail === true
  const rows = (single ? [outcome.item] : outcome.items) as Record<string, unknown>[]
  const { view } = outcome
  if (flags.template !== undefined) {
    const { compileTemplate } = await import('../output/template.ts')
    await writeText(
      rows
        .map(compileTemplate(flags.template, undefined))
        .map((line) => `${line}\n`)
        .join(''),
    )
    return
  }
  // Precedence: --format, then --json, then the setting.
  const json = flags.json !== undefined || flags.jq !== undefined || view.columns.length === 0
  const format = flags.format ?? (json ? 'json' : setting)
  const fields = typeof flags.json === 'string' ? flags.json.split(',') : undefined
  if (flags.quiet && !json) {
    await writeText(rows.map((row) => `${row[view.id ?? view.columns[0].field] ?? ''}\n`).join(''))
    return
  }
  const selected = fields ? rows.map((row) => pickFields(row, fields)) : rows
  if (flags.jq !== undefined) {
    await writeText(await applyJq(single ? selected[0] : selected, flags.jq))
    return
  }
  const empty = ('empty' in outcome && outcome.empty) || undefined
  const input = { rows, selected, isSingle: single, isDetail: alone, view, emptyText: empty, environment }
  await WRITERS[format ?? (process.stdout.isTTY ? 'table' : 'tsv')](input)
}

/** Input of a format writer. */
interface WriterInput {
  rows: readonly Record<string, unknown>[]
  /** Rows reduced to the fields of --json. */
  selected: WriterInput['rows']
  /** True if the result is one thing, not a list. */
  isSingle: boolean
  /** True if a table shows the row as details. */
  isDetail: boolean
  view: TableView
  /** Text that replaces an empty table on a terminal. */
  emptyText: string | undefined
  environment: NodeJS.ProcessEnv
}

/** Writers by format. */
const WRITERS: Record<OutputFormat, (input: WriterInput) => Promise<void>> = {
  json: ({ selected, isSingle }) =>
    writeText(
      `${JSON.stringify(isSingle ? selected[0] : selected, null, process.stdout.isTTY ? 2 : undefined)}\n`,
    ),
  ndjson: ({ selected }) => writeText(selected.map((row) => `${JSON.stringify(row)}\n`).join('')),
  csv: ({ rows, view }) =>
    writeText(
      csvLine(view.columns.map(({ field }) => field)) + formatCells(rows, view).map(csvLine).join(''),
    ),
  tsv({ rows, view }) {
    const cells = formatCells(rows, view)
    const lines = view.isLabeled
      ? cells.flatMap((row) => view.columns.map(({ field }, k) => [field, row[k]]))
      : cells
    return writeText(lines.map((row) => `${row.map(escapeTsv).join('\t')}\n`).join(''))
  },
  async md({ rows, isDetail, view }) {
    const { escapeMarkdown } = await import('../output/markdown.ts')
    const cells = formatCells(rows, view)
    const isNumber = view.columns.map(({ align }) => !isDetail && align === 'right')
    const head = isDetail ? ['', ''] : view.columns.map(({ title }) => title)
    const fields = view.columns.map(({ title }, k) => [title.toLowerCase(), cells[0]?.[k] ?? ''])
    const body = isDetail ? fields.filter(([, text]) => text !== '') : cells
    const rule = head.map((_, k) => (isNumber[k] ? '--:' : '---'))
    const lines = [head, ...body].map((line) => line.map(escapeMarkdown))
    lines.splice(1, 0, rule)
    await writeText(lines.map((line) => `| ${line.join(' | ')} |\n`).join(''))
  },
  async table({ rows, isDetail, view, emptyText, environment }) {
    if (rows.length === 0) {
      if (emptyText) process.stderr.write(`${emptyText}\n`)
      return
    }
    const { dropOptionalColumns, formatTable } = await import('../output/table.ts')
    const { isTTY, columns } = process.stdout
    const cells = isTTY
      ? rows.map((row) => view.columns.map((column) => formatTerminalCell(row, column)))
      : formatCells(rows, view)
    const narrow = isTTY && !isDetail ? dropOptionalColumns(view, cells, columns || 80) : { view, cells }
    await write(
      formatTable(isDetail, narrow.view, narrow.cells, hasColor(process.stdout, environment), columns),
    )
    const dropped = view.columns.filter((column) => !narrow.view.columns.includes(column))
    if (view.namesOmitted && dropped.length > 0)
      await write(`not shown: ${dropped.map(({ title }) => title).join(', ')}\n`)
  },
}

/** Formats all cells of a table. */
function formatCells(rows: WriterInput['rows'], view: TableView): string[][] {
  return rows.map((row) => view.columns.map((column) => formatCell(row, column)))
}

function formatCell(row: Record<string, unknown>, { field, format }: TableView['columns'][number]): string {
  const value = row[field]
  if (format) return format(value as never, row as never)
  return value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
}

/** Formats a cell for a terminal: times are relative to now. */
function formatTerminalCell(row: Record<string, unknown>, column: TableView['columns'][number]): string {
  const text = formatCell(row, column)
  return column.time && text !== '' ? formatRelativeTime(text) : text
}

function csvLine(cells: readonly string[]): string {
  const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return `${cells.map(quoted).join(',')}\n`
}

/** Escapes tabs, line breaks and backslashes of a tab-separated field. */
function escapeTsv(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (c) => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[c] ?? '\\\\')
}

/** Writes text with names and data. On a terminal, control characters are escaped. */
async function writeText(text: string): Promise<void> {
  await write(process.stdout.isTTY ? escapeTerminalLines(text) : text)
}

/** Writes to stdout; waits while its buffer is full. */
async function write(data: string | Uint8Array): Promise<void> {
  if (data.length > 0 && !process.stdout.write(data)) await once(process.stdout, 'drain')
}
