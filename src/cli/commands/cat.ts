import { resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import type { HttpResponse } from '../../contract/http.ts'
import { contentFormats } from '../../contract/operations/index.ts'
import { defineCommand } from '../define.ts'

export const command = defineCommand({
  arguments: '<grid>',
  options: [
    {
      flags: '--format <format>',
      description:
        'csv (default), tsv, json (by column, as in the API), ndjson (one object per row) or table',
      choices: [...contentFormats, 'table'],
    },
    { flags: '--columns <names>', description: 'print only these columns, comma-separated, in this order' },
    { flags: '--head <rows>', integer: {}, description: 'print only this many rows from the start' },
  ],
  examples: [
    'gridline cat sales',
    'gridline cat sales --columns city,price --head 10',
    "gridline cat sales --format ndjson | jq 'select(.price > 100)'",
  ],
  async run(context, [grid], options) {
    const { format, columns, head } = options
    const client = await context.clientFor(grid)
    const fid = await resolve(client, grid, 'grid')
    const json = context.flags.json !== undefined || context.flags.jq !== undefined
    const chosen = format ?? (json ? 'json' : 'csv')
    const query = { columns: columns?.split(','), head }
    if (chosen === 'table') {
      const response = await client.response('grids.content', { fid, query: { ...query, format: 'json' } })
      return table(await response.text())
    }
    const response = await client.response('grids.content', {
      fid,
      query: { ...query, format: chosen as 'csv' },
    })
    if (context.flags.jq !== undefined || typeof context.flags.json === 'string') {
      if (chosen !== 'json')
        throw new Problem(
          'usage',
          `--jq and --json FIELDS can only be used with --format json, not ${chosen}`,
        )
      return { one: (await response.json()) as object, view: { columns: [] } }
    }
    return { bytes: chosen === 'json' ? withNewline(response) : response.bytes() }
  },
})

async function* withNewline(response: HttpResponse): AsyncGenerator<Uint8Array> {
  yield* response.bytes()
  yield Buffer.from('\n')
}

/** Formats grid content as a table, with numbers as written. Holds everything in memory: use with --head. */
async function table(content: string) {
  const { parseRaw } = await import('../../json/index.ts')
  const { table: render } = await import('../output/table.ts')
  const columns = [...parseRaw(Buffer.from(content)).entries().get('cols')!.entries()].map(
    ([name, column]) => {
      const values = [...column.entries().get('data')!.items()]
      const numeric = values.every(({ kind }) => kind === 'number' || kind === 'null')
      const cells = values.map((value) =>
        value.kind === 'string'
          ? (value.value() as string)
          : value.kind === 'null'
            ? ''
            : value.bytes.toString('utf8'),
      )
      return { name, numeric, cells }
    },
  )
  const rows = Math.max(0, ...columns.map(({ cells }) => cells.length))
  const cells = Array.from({ length: rows }, (_, row) => columns.map((column) => column.cells[row] ?? ''))
  const view = {
    columns: columns.map(({ name, numeric }) => ({
      field: name,
      title: name,
      align: numeric ? ('right' as const) : undefined,
    })),
  }
  return { text: render(false, view, cells, process.stdout.isTTY === true && !process.env.NO_COLOR) }
}
