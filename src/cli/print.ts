import { once } from 'node:events'
import type { GlobalFlags } from './context.ts'
import type { CommandResult } from './define.ts'
import { jqOn, pick } from './output/selection.ts'
import type { TableView } from './output/view.ts'

/**
 * Prints the result of a command to stdout. All commands use this. Output is JSON if requested, ids with
 * --quiet, a table on a terminal, and otherwise tab-separated values.
 */
export async function print(
  outcome: CommandResult,
  flags: GlobalFlags,
  format: string | undefined,
  color: boolean,
): Promise<void> {
  if (outcome === undefined) return
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
  if (flags.json !== undefined || flags.jq !== undefined || (format === 'json' && !flags.quiet)) {
    const fields = typeof flags.json === 'string' ? flags.json.split(',') : undefined
    const chosen = fields ? rows.map((row) => pick(row, fields)) : rows
    await write(await json(single ? chosen[0] : chosen, flags.jq))
    return
  }
  if (flags.quiet) {
    await write(rows.map((row) => `${row[view.id ?? view.columns[0].field] ?? ''}\n`).join(''))
    return
  }
  const cells = rows.map((row) => view.columns.map((column) => cellText(row, column)))
  if (process.stdout.isTTY && format !== 'tsv') {
    if (rows.length === 0) {
      if ('empty' in outcome && outcome.empty) process.stderr.write(`${outcome.empty}\n`)
      return
    }
    const { table } = await import('./output/table.ts')
    await write(table(alone, view, cells, color))
    return
  }
  await write(cells.map((row) => `${row.map(plain).join('\t')}\n`).join(''))
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

/** A field of tab-separated output. Tabs, line breaks and backslashes are escaped. */
function plain(text: string): string {
  return text.replace(/[\t\n\r\\]/g, (c) => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[c] ?? '\\\\')
}

async function json(value: unknown, jq: string | undefined): Promise<string> {
  if (jq !== undefined) return jqOn(value, jq)
  return `${JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)}\n`
}

async function write(data: string | Uint8Array): Promise<void> {
  if (data.length > 0 && !process.stdout.write(data)) await once(process.stdout, 'drain')
}
