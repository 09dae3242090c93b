import { type Answered, resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { contentFormats } from '../../contract/operations.ts'
import type { Command } from '../command.ts'

export const command: Command = {
  arguments: '<grid>',
  options: [
    {
      flags: '--format <format>',
      description:
        'csv (default), tsv, json (columns, as the API has them), ndjson (an object a row), or table',
      choices: [...contentFormats, 'table'],
    },
    { flags: '--columns <names>', description: 'only these columns, parted by commas, in that order' },
    { flags: '--head <rows>', description: 'only the first rows' },
  ],
  examples: [
    'gridline cat sales',
    'gridline cat sales --columns city,price --head 10',
    "gridline cat sales --format ndjson | jq 'select(.price > 100)'",
  ],
  async run(context, [grid], options) {
    const { format, columns, head } = options as { format?: string; columns?: string; head?: string }
    if (head !== undefined && !/^\d+$/.test(head))
      throw new Problem('usage', `--head ${head}: must be a number of rows`)
    const client = await context.client()
    const fid = await resolve(client, grid, 'grid')
    const json = context.flags.json !== undefined || context.flags.jq !== undefined
    const chosen = format ?? (json ? 'json' : 'csv')
    const query = { columns: columns?.split(','), head: head === undefined ? undefined : Number(head) }
    if (chosen === 'table') {
      const response = await client.response('grids.content', { fid, query: { ...query, format: 'json' } })
      const { cols } = (await response.json()) as { cols: Record<string, { data: unknown[]; order: number }> }
      return table(cols)
    }
    const response = await client.response('grids.content', {
      fid,
      query: { ...query, format: chosen as 'csv' },
    })
    if (context.flags.jq !== undefined || typeof context.flags.json === 'string') {
      if (chosen !== 'json')
        throw new Problem('usage', `--jq and --json FIELDS go with --format json, not ${chosen}`)
      return { one: (await response.json()) as object, view: { columns: [] } }
    }
    return { bytes: chosen === 'json' ? withNewline(response) : response.body! }
  },
}

async function* withNewline(response: Answered): AsyncGenerator<Uint8Array> {
  if (response.body) yield* response.body
  yield Buffer.from('\n')
}

/** Rows under their names, for eyes: everything is in memory, so meant with --head. */
async function table(cols: Record<string, { data: unknown[]; order: number }>) {
  const { table: render } = await import('../output/table.ts')
  const columns = Object.entries(cols).sort(([, a], [, b]) => a.order - b.order)
  const rows = Math.max(0, ...columns.map(([, { data }]) => data.length))
  const text = (value: unknown): string =>
    value === null || value === undefined
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value)
  const cells = Array.from({ length: rows }, (_, row) => columns.map(([, { data }]) => text(data[row])))
  const view = {
    columns: columns.map(([name, { data }]) => ({
      field: name,
      title: name,
      align: data.every((v) => v === null || typeof v === 'number') ? ('right' as const) : undefined,
    })),
  }
  return { text: render(false, view, cells, process.stdout.isTTY === true && !process.env.NO_COLOR) }
}
