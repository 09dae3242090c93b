// Prints the result of a command to stdout, in the requested format.
import { once } from 'node:events'
import { Problem } from '../../contract/errors.ts'
import type { Format } from '../config/settings.ts'
import { hasColor } from '../output/color.ts'
import { jqOn, pick } from '../output/selection.ts'
import { relativeTime } from '../output/times.ts'
import type { TableView } from '../output/view.ts'
import { visibleLines } from '../output/visible.ts'
import type { GlobalFlags } from './context.ts'
import type { CommandResult } from './define.ts'

/**
 * Prints a result in the format of --format, else JSON if requested, ids with --quiet, a table on a terminal,
 * and tab-separated values otherwise.
 */
export async function print(
  outcome: CommandResult,
  flags: GlobalFlags,
  setting: Format | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  if (outcome === undefined) return
  if (flags.template !== undefined && !('view' in outcome))
    throw new Problem('usage', '--template needs a command that prints a list or details')
  if ('bytes' in outcome) {
    for await (const chunk of outcome.bytes) await write(chunk)
    return
  }
  if ('text' in outcome) {
    await write(outcome.text)
    return
  }
  const single = 'one' in outcome
  const alone = single || outcome.alone === true
  const rows = (single ? [outcome.one] : outcome.many) as Record<string, unknown>[]
  const { view } = outcome
  if (flags.template !== undefined) {
    const { templateOf } = await import('../output/template.ts')
    await writeText(
      rows
        .map(templateOf(flags.template, undefined))
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
  const selected = fields ? rows.map((row) => pick(row, fields)) : rows
  if (flags.jq !== undefined) {
    await writeText(await jqOn(single ? selected[0] : selected, flags.jq))
    return
  }
  const empty = ('empty' in outcome && outcome.empty) || undefined
  const input = { rows, chosen: selected, single, alone, view, empty, environment }
  await WRITERS[format ?? (process.stdout.isTTY ? 'table' : 'tsv')](input)
}

/** Input of a format writer. */
interface Printed {
  rows: readonly Record<string, unknown>[]
  /** Rows reduced to the fields of --json. */
  chosen: Printed['rows']
  /** True if the result is one thing, not a list. */
  single: boolean
  /** True if a table shows the row as details. */
  alone: boolean
  view: TableView
  /** Text that replaces an empty table on a terminal. */
  empty: string | undefined
  environment: NodeJS.ProcessEnv
}

/** Writers by format. */
const WRITERS: Record<Format, (input: Printed) => Promise<void>> = {
  json: ({ chosen, single }) =>
    writeText(`${JSON.stringify(single ? chosen[0] : chosen, null, process.stdout.isTTY ? 2 : undefined)}\n`),
  ndjson: ({ chosen }) => writeText(chosen.map((row) => `${JSON.stringify(row)}\n`).join('')),
  csv: ({ rows, view }) =>
    writeText(csvLine(view.columns.map(({ field }) => field)) + cellsOf(rows, view).map(csvLine).join('')),
  tsv({ rows, view }) {
    const cells = cellsOf(rows, view)
    const lines = view.isLabeled
      ? cells.flatMap((row) => view.columns.map(({ field }, k) => [field, row[k]]))
      : cells
    return writeText(lines.map((row) => `${row.map(plain).join('\t')}\n`).join(''))
  },
  async table({ rows, alone, view, empty, environment }) {
    if (rows.length === 0) {
      if (empty) process.stderr.write(`${empty}\n`)
      return
    }
    const { narrowed, table } = await import('../output/table.ts')
    const { isTTY, columns } = process.stdout
    const cells = isTTY
      ? rows.map((row) => view.columns.map((column) => shownText(row, column)))
      : cellsOf(rows, view)
    const narrow = isTTY && !alone ? narrowed(view, cells, columns || 80) : { view, cells }
    await write(table(alone, narrow.view, narrow.cells, hasColor(process.stdout, environment), columns))
    const dropped = view.columns.filter((column) => !narrow.view.columns.includes(column))
    if (view.namesLeft && dropped.length > 0)
      await write(`not shown: ${dropped.map(({ title }) => title).join(', ')}\n`)
  },
}

/** Formats all cells of a table. */
function cellsOf(rows: Printed['rows'], view: TableView): string[][] {
  return rows.map((row) => view.columns.map((column) => cellText(row, column)))
}

function cellText(row: Record<string, unknown>, { field, format }: TableView['columns'][number]): string {
  const value = row[field]
  if (format) return format(value as never, row as never)
  return value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
}

/** Formats a cell for a terminal: times are relative to now. */
function shownText(row: Record<string, unknown>, column: TableView['columns'][number]): string {
  const text = cellText(row, column)
  return column.time && text !== '' ? relativeTime(text) : text
}

function csvLine(cells: readonly string[]): string {
  const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  return `${cells.map(quoted).join(',')}\n`
}

/** Escapes tabs, line breaks and backslashes of a tab-separated field. */
function plain(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (c) => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[c] ?? '\\\\')
}

/** Writes text with names and data. On a terminal, control characters are escaped. */
async function writeText(text: string): Promise<void> {
  await write(process.stdout.isTTY ? visibleLines(text) : text)
}

/** Writes to stdout; waits while its buffer is full. */
async function write(data: string | Uint8Array): Promise<void> {
  if (data.length > 0 && !process.stdout.write(data)) await once(process.stdout, 'drain')
}
