import { headerText, resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import { defineCommand } from '../define.ts'
import { bodyOf, type Input, openInput, spooled } from '../input.ts'
import { Progress } from '../output/progress.ts'
import type { TableView } from '../output/view.ts'
import { allowTypeChange, readingHeaders, textOptions } from '../parse-options.ts'

const appendedView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'rows_added', title: 'ADDED', align: 'right' },
    { field: 'row_count', title: 'ROWS', align: 'right' },
  ],
}

const formats = { csv: dataTypes.csv, tsv: dataTypes.tsv, ndjson: dataTypes.ndjson } as const

export const command = defineCommand({
  arguments: '<grid> [file]',
  localFiles: true,
  options: [
    {
      flags: '--row <cells>',
      description: 'a row as CSV, in column order (repeatable)',
      repeatable: true,
    },
    {
      flags: '--format <format>',
      description:
        'csv, tsv or ndjson, one object or array per line (default: from the file extension, otherwise detected)',
      choices: ['csv', 'tsv', 'ndjson'],
    },
    ...textOptions,
    allowTypeChange,
  ],
  writes: true,
  examples: [
    'gridline append sales more.csv',
    'gridline append sales --row 2024-05-01,Oslo,12.5',
    'tail -n +2 today.csv | gridline append sales - --no-header',
    'gridline append alice:12 events.jsonl',
  ],
  async run(context, [grid, file], options) {
    const rows = options.row as string[] | undefined
    if (rows && file !== undefined) throw new Problem('usage', '--row and a file cannot be used together')
    if (!rows && file === undefined && process.stdin.isTTY) {
      throw new Problem('usage', 'nothing to append', {
        hint: 'Pass a file, - for standard input, or --row.',
      })
    }
    const input = rows ? rowsInput(rows) : await openInput(file ?? '-')
    const allowed = { 'Allow-Type-Change': options.allowTypeChange ? true : undefined }
    const headers = rows
      ? {
          ...allowed,
          ...readingHeaders(options),
          Header: false,
          Delimiter: readingHeaders(options).Delimiter ?? '%2C',
        }
      : { ...allowed, ...readingHeaders(options) }
    const { client, server } = await context.connect()
    const { type, input: source } = await typed(
      server === undefined ? input : await spooled(input),
      rows ? 'csv' : (options.format as keyof typeof formats | undefined),
    )
    const fid = await resolve(client, grid, 'grid')
    const progress = new Progress(context.messages, source.name, source.size)
    try {
      const done = await client.call('rows.append', {
        fid,
        headers,
        plainHeaders: { [FILE_NAME_HEADER]: headerText(source.name) },
        body: bodyOf(
          source,
          type,
          (bytes) => progress.add(bytes),
          () => progress.restart(),
        ),
      })
      progress.end()
      for (const warning of done.warnings) context.messages.warning(warning)
      return { one: done, view: appendedView }
    } finally {
      progress.end()
    }
  },
})

function rowsInput(rows: readonly string[]): Input {
  const bytes = Buffer.from(rows.map((row) => `${row}\n`).join(''))
  return {
    name: '--row',
    size: bytes.length,
    repeatable: true,
    async *open() {
      yield bytes
    },
  }
}

/** The media type of an input: as given, by its extension, or by its first character. */
async function typed(
  input: Input,
  told: keyof typeof formats | undefined,
): Promise<{ type: string; input: Input }> {
  if (told) return { type: formats[told], input }
  if (/\.(jsonl|ndjson)(\.(gz|zst|bz2))?$/i.test(input.name)) return { type: formats.ndjson, input }
  if (/\.(tsv|tab)(\.(gz|zst|bz2))?$/i.test(input.name)) return { type: formats.tsv, input }
  if (/\.(csv|txt|gz)$/i.test(input.name)) return { type: formats.csv, input }
  const { peek } = await import('../../ingest/index.ts')
  const { head, whole } = await peek(input.open(), 64)
  const isJson = /^\ufeff?\s*[[{]/.test(head.toString('utf8'))
  const again = input.repeatable ? input : { ...input, open: () => whole }
  return { type: isJson ? formats.ndjson : formats.csv, input: again }
}
