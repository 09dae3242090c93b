// `gridline append`: appends rows to a grid, or updates them by key.

import { type CallOptions, type Client, encodeHeader, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatOfFileName } from '../../contract/formats.ts'
import { FILE_NAME_HEADER } from '../../contract/headers.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import { peek } from '../../json/index.ts'
import { annotateErrors } from '../core/ci.ts'
import { defineCommand } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import { objectOf } from '../core/output-schema.ts'
import { readChecksHeaders } from '../files/checks-file.ts'
import { createBody, type Input, makeRepeatable, openInput } from '../files/input.ts'
import {
  allowTypeChangeOption,
  checksOption,
  keyOptions,
  strictOption,
  textOptions,
  toKeyHeaders,
  toReadingHeaders,
} from '../files/parse-options.ts'
import { FileMeter, Progress } from '../output/progress.ts'
import { formatUpsertCounts } from '../output/row-counts.ts'
import { type TableView, versionColumn } from '../output/view.ts'

const appendedView: TableView = {
  id: 'fid',
  columns: [
    { field: 'fid', title: 'FID' },
    { field: 'rows_added', title: 'ADDED', align: 'right' },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    versionColumn,
  ],
}

const formats = { csv: dataTypes.csv, tsv: dataTypes.tsv, ndjson: dataTypes.ndjson } as const
type Format = keyof typeof formats

export const command = defineCommand({
  output: objectOf('Appended rows', { action: 'appended, or updated (rows by key)' }),
  arguments: '<grid> [file]',
  completion: ['grid', 'local'],
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
    ...keyOptions,
    { flags: '-y, --yes', description: 'with --delete-missing: remove as many rows as the file lacks' },
    ...textOptions,
    allowTypeChangeOption,
    strictOption,
    checksOption,
  ],
  writes: true,
  createsVersions: true,
  reportsToCi: true,
  examples: [
    'gridline append sales more.csv',
    'gridline append sales --row 2024-05-01,Oslo,12.5',
    'tail -n +2 today.csv | gridline append sales - --no-header',
    'gridline append alice:12 events.jsonl',
    'gridline append customers today.csv --key id      # update rows with the same id, append others',
  ],
  async run(context, [grid, file], options) {
    const given = await openRows(options, file)
    const { isKeyOnly } = given
    const { yes, confirmed, dryRun } = options
    const reading = toReadingHeaders(options)
    const headers = {
      'Allow-Type-Change': options.allowTypeChange ? true : undefined,
      Strict: options.strict ? true : undefined,
      ...toKeyHeaders({ ...options, yes: dryRun ? confirmed : yes }),
      ...(await readChecksHeaders(options.checks)),
      ...reading,
      ...(options.row && { Header: false, Delimiter: reading.Delimiter ?? '%2C' }),
    }
    const { client, server } = await context.connect()
    const { type, input: source } = await detectType(
      server === undefined ? given.input : await makeRepeatable(given.input),
      given.format,
    )
    const fid = await resolveFid(client, grid, 'grid')
    const progress = new Progress(context.messages, source.name, source.size)
    try {
      const request = {
        headers,
        plainHeaders: { [FILE_NAME_HEADER]: encodeHeader(source.name) },
        body: createBody(source, type, new FileMeter(progress)),
      }
      if (dryRun) {
        const warn = (text: string): void => context.messages.warning(text, file)
        throw await planned(client, fid, request, isKeyOnly ? options.key : undefined, warn)
      }
      const append = () => client.call('rows.append', { fid, ...request })
      const done = await annotateErrors(context, source.name, append)
      progress.end()
      context.messages.warnAll(done.warnings, file)
      const counts = formatUpsertCounts(done)
      if (isKeyOnly) {
        const { primary_key: key } = await client.call('grids.get', { fid })
        context.messages.note(key ? `the key of ${grid} is ${key.join(', ')}` : `${grid} has no key`)
        context.messages.note(`use gridline column key ${grid} to set a key without rows`)
      } else if (counts !== undefined) context.messages.note(`${source.name}: ${counts}`)
      const action = counts === undefined ? 'appended' : 'updated'
      return { item: { ...done, action }, view: appendedView }
    } finally {
      progress.end()
    }
  },
})

/** Returns what would be appended, as the server says. */
async function planned(
  client: Client,
  fid: string,
  request: CallOptions<'rows.append'>,
  key: string | undefined,
  warn: (text: string) => void,
): Promise<Planned> {
  const tried = await client.tryCall('rows.append', { fid, ...request })
  for (const warning of tried.warnings) warn(warning)
  if (key !== undefined) return new Planned('rows.append', fid, { key })
  const { rows_added, rows_updated, rows_unchanged = 0, rows_removed = 0, row_count } = tried
  const rows = rows_added + (rows_updated ?? 0) + rows_unchanged
  const byKey =
    rows_updated === undefined ? {} : { updated: rows_updated, appended: rows_added, removed: rows_removed }
  return new Planned('rows.append', fid, {
    rows,
    rows_before: row_count - rows_added + rows_removed,
    ...byKey,
  })
}

/** Opens the rows of --row, the file or standard input. Without rows, --key is only set or removed. */
async function openRows(
  { row, format, key }: { row?: string[]; format?: Format; key?: string },
  file: string | undefined,
): Promise<{ input: Input; format?: Format; isKeyOnly?: true }> {
  if (row && file !== undefined) throw new Problem('usage', '--row and a file cannot be used together')
  if (row) return { input: rowsInput(row), format: 'csv' }
  if (file !== undefined) return { input: await openInput(file), format }
  const piped = process.stdin.isTTY ? undefined : await pipedInput()
  if (key !== undefined && !piped) return { input: rowsInput([]), format: 'ndjson', isKeyOnly: true }
  if (process.stdin.isTTY)
    throw new Problem('usage', 'nothing to append', {
      hint: 'Pass a file, - for standard input, or --row.',
    })
  return { input: piped ?? (await openInput('-')), format }
}

/** Opens standard input; undefined if it is empty. */
async function pipedInput(): Promise<Input | undefined> {
  const input = await openInput('-')
  const { head, whole } = await peek(input.open(), 1)
  return head.length === 0 ? undefined : { ...input, open: () => whole }
}

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

/** First bytes of formats that only uploads read. */
const OTHER_FORMATS: readonly [start: RegExp, what: string][] = [
  // A text can begin with these letters.
  [/^PAR1[^ -~\s]/, 'a Parquet file'],
  [/^ARROW1[^ -~\s]/, 'an Arrow file'],
  [/^PK\x03\x04/, 'a workbook or an archive'],
]

/** Returns the media type of an input: as given, by its extension, or by its first character. */
async function detectType(input: Input, format: Format | undefined): Promise<{ type: string; input: Input }> {
  if (format) return { type: formats[format], input }
  const named = formatOfFileName(input.name)
  if (named === 'ndjson' || named === 'tsv') return { type: formats[named], input }
  if (named === 'csv' || named === 'text') return { type: formats.csv, input }
  const { head, whole } = await peek(input.open(), 64)
  const start = head.toString('latin1')
  const other = OTHER_FORMATS.find(([pattern]) => pattern.test(start))
  if (other)
    throw new Problem('bad_data', `${input.name} is ${other[1]}; append reads CSV, TSV and lines of JSON`, {
      hint: 'For other formats: gridline upload FILE --name GRID --on-conflict append',
    })
  const isJson = /^\ufeff?\s*[[{]/.test(head.toString('utf8'))
  const again = input.repeatable ? input : { ...input, open: () => whole }
  return { type: isJson ? formats.ndjson : formats.csv, input: again }
}
