import { columnNames } from '../../charts/columns.ts'
import { type Client, headerText, resolve } from '../../client/index.ts'
import { counted, listed } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { formatByName } from '../../contract/formats.ts'
import { FILE_NAME_HEADER, MOST_REMOVED } from '../../contract/headers.ts'
import { limitsFrom } from '../../contract/limits.ts'
import { dataTypes } from '../../contract/operations/index.ts'
import type { GridDiff } from '../../contract/resources/index.ts'
import { annotated } from '../core/ci.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { Planned } from '../core/dry-run.ts'
import { object } from '../core/prints.ts'
import { checksHeaders } from '../files/checks-file.ts'
import { bodyOf, type Input, openInput, spooled } from '../files/input.ts'
import { gridOfFile } from '../files/local-data.ts'
import {
  allowTypeChange,
  checksOption,
  keyHeaders,
  keyOptions,
  type ReadingOptions,
  readingHeaders,
  readingOptionsOf,
  strict,
  textOptions,
} from '../files/parse-options.ts'
import { diffWithFile } from '../files/sides.ts'
import { Meter, Progress } from '../output/progress.ts'
import { rowsByKey } from '../output/row-counts.ts'
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

export const command = defineCommand({
  prints: object('Appended rows', { action: 'appended, or updated (rows by key)' }),
  arguments: '<grid> [file]',
  completes: ['grid', 'local'],
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
    allowTypeChange,
    strict,
    checksOption,
  ],
  writes: true,
  reports: true,
  examples: [
    'gridline append sales more.csv',
    'gridline append sales --row 2024-05-01,Oslo,12.5',
    'tail -n +2 today.csv | gridline append sales - --no-header',
    'gridline append alice:12 events.jsonl',
    'gridline append customers today.csv --key id      # update rows with the same id, append others',
    'gridline append customers --key id                # set the key, without rows; --key "" removes it',
  ],
  async run(context, [grid, file], options) {
    const rows = options.row as string[] | undefined
    if (rows && file !== undefined) throw new Problem('usage', '--row and a file cannot be used together')
    const piped = !rows && file === undefined && !process.stdin.isTTY ? await pipedInput() : undefined
    // Nothing but a key: it is set, or removed.
    const isKeyOnly = !rows && file === undefined && options.key !== undefined && !piped
    if (!rows && file === undefined && !isKeyOnly && process.stdin.isTTY) {
      throw new Problem('usage', 'nothing to append', {
        hint: 'Pass a file, - for standard input, or --row.',
      })
    }
    const input = isKeyOnly
      ? rowsInput([])
      : rows
        ? rowsInput(rows)
        : (piped ?? (await openInput(file ?? '-')))
    const allowed = {
      'Allow-Type-Change': options.allowTypeChange ? true : undefined,
      Strict: options.strict ? true : undefined,
      ...keyHeaders(options),
      ...(await checksHeaders(options.checks)),
    }
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
      isKeyOnly ? 'ndjson' : rows ? 'csv' : (options.format as keyof typeof formats | undefined),
    )
    const fid = await resolve(client, grid, 'grid')
    if (options.dryRun && isKeyOnly) throw new Planned('rows.append', fid, { key: options.key })
    if (options.dryRun) {
      const warn = (text: string): void => context.messages.warning(text, file)
      const isFile = file !== undefined && file !== '-'
      const keyed = isFile ? byKey(context, client, fid, file, options) : undefined
      throw await planned(client, fid, source, options, rows !== undefined, warn, keyed)
    }
    const progress = new Progress(context.messages, source.name, source.size)
    const meter = new Meter(progress)
    try {
      const append = () =>
        client.call('rows.append', {
          fid,
          headers,
          plainHeaders: { [FILE_NAME_HEADER]: headerText(source.name) },
          body: bodyOf(
            source,
            type,
            (bytes) => meter.add(bytes),
            () => meter.restart(),
          ),
        })
      const done = await annotated(context, source.name, append)
      progress.end()
      for (const warning of done.warnings) context.messages.warning(warning, file)
      const counts = rowsByKey(done)
      if (isKeyOnly) {
        const { primary_key: key } = await client.call('grids.get', { fid })
        context.messages.note(key ? `the key of ${grid} is ${key.join(', ')}` : `${grid} has no key any more`)
      } else if (counts !== undefined) context.messages.note(`${source.name}: ${counts}`)
      const action = counts === undefined ? 'appended' : 'updated'
      return { one: { ...done, action }, view: appendedView }
    } finally {
      progress.end()
    }
  },
})

/** What would be appended: read here, and matched with the columns of the grid. */
async function planned(
  client: Client,
  fid: string,
  input: Input,
  options: ReadingOptions & { key?: string; deleteMissing?: boolean; confirmed?: boolean },
  isRows: boolean,
  warn: (text: string) => void,
  /** Compares the file with the grid by a key, if that is possible. */
  keyed?: (key: string[], columns: string[]) => Promise<GridDiff>,
): Promise<Planned> {
  const { ingestFile } = await import('../../ingest/index.ts')
  const limits = limitsFrom(process.env)
  const given = readingOptionsOf(options, input.name)
  const reading = isRows ? { ...given, header: false, delimiter: given.delimiter ?? ',' } : given
  const { tables, warnings } = await ingestFile(
    input.open(),
    { ...reading, fileName: input.name, limits },
    () => ({
      slice() {},
    }),
  )
  const { cols, row_count, primary_key } = await client.call('grids.get', { fid })
  const names = cols.map(({ name }) => name)
  const [{ ingested }] = tables
  const isNameless = reading.header === false
  const unknown = isNameless ? undefined : ingested.columns.find(({ name }) => !names.includes(name))
  if (unknown)
    throw new Problem(
      'unknown_column',
      `${input.name}: the grid has no column ${JSON.stringify(unknown.name)}`,
      {
        hint: `Its columns are: ${listed(names)}`,
      },
    )
  if (isNameless && ingested.columns.length > names.length)
    throw new Problem(
      'bad_data',
      `${input.name}: ${counted(ingested.columns.length, 'cell')}; the grid has ${counted(names.length, 'column')}`,
    )
  const columns = isNameless
    ? names.slice(0, ingested.columns.length)
    : ingested.columns.map(({ name }) => name)
  const missing = names.filter((name) => !columns.includes(name))
  for (const text of [...warnings, ...ingested.warnings]) warn(text)
  const key =
    options.key === undefined ? (primary_key ?? []) : columnNames(options.key, names).filter(Boolean)
  if (key.length > 0 && keyed !== undefined) {
    const counts = await keyed(key, columns)
    const removed = options.deleteMissing ? counts.rows_removed : 0
    if (removed * 100 > row_count * MOST_REMOVED && !options.confirmed)
      throw new Problem(
        'row_loss',
        `the file lacks ${removed} of the ${row_count} rows that the grid has, which would be removed`,
        {
          hint: 'If that is right, add --yes, or leave out --delete-missing.',
        },
      )
    const { rows_added: appended, rows_changed: updated } = counts
    const change = { rows: ingested.rows, rows_before: row_count, columns, updated, appended, removed }
    return new Planned('rows.append', fid, change)
  }
  if (missing.length > 0)
    warn(`columns missing from the file are filled with nulls: ${missing.slice(0, 10).join(', ')}`)
  return new Planned('rows.append', fid, { rows: ingested.rows, rows_before: row_count, columns })
}

/** Compares a file with a grid by a key: what an append would do. */
function byKey(context: Context, client: Client, fid: string, file: string, options: ReadingOptions) {
  return async (key: string[], columns: string[]): Promise<GridDiff> => {
    const made = await gridOfFile(context, file, options)
    return diffWithFile(context, { client, fid }, made, { key, columns, limit: 0 })
  }
}

/** Standard input, unless it is empty. */
async function pipedInput(): Promise<Input | undefined> {
  const input = await openInput('-')
  const { peek } = await import('../../ingest/index.ts')
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

/** The media type of an input: as given, by its extension, or by its first character. */
async function typed(
  input: Input,
  told: keyof typeof formats | undefined,
): Promise<{ type: string; input: Input }> {
  if (told) return { type: formats[told], input }
  const named = formatByName(input.name)
  if (named === 'ndjson' || named === 'tsv') return { type: formats[named], input }
  if (named === 'csv' || named === 'text') return { type: formats.csv, input }
  const { peek } = await import('../../ingest/index.ts')
  const { head, whole } = await peek(input.open(), 64)
  const isJson = /^\ufeff?\s*[[{]/.test(head.toString('utf8'))
  const again = input.repeatable ? input : { ...input, open: () => whole }
  return { type: isJson ? formats.ndjson : formats.csv, input: again }
}
