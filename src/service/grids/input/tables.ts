// Parses data files into tables of stored slices.

import {
  type DelimitedOptions,
  decompress,
  type IngestResult,
  ingestDelimited,
  ingestFile,
  type ParsedColumn,
  type Slice,
} from '../../../ingest/index.ts'
import { type Bytes, WorkBudget } from '../../../json/index.ts'
import { isColumnType } from '../../store/schema/column-types.ts'
import type { Store } from '../../store/store.ts'
import { type ColumnJson, toColumnJson } from '../column/column-json.ts'
import type { NewColumn } from '../column/layout.ts'
import { SliceWriter } from '../column/slices.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import type { RowsJson } from '../column/tail.ts'
import type { TableBuilder } from '../reshape/table-builder.ts'
import type { GridService } from '../service.ts'
import type { KnownColumn, LikeColumns } from './like-columns.ts'
import {
  checkWarnings,
  type DataCall,
  parseReadingOptions,
  parseUnpivot,
  type UnpivotHeaders,
} from './reading-options.ts'

/** A parsed table that is not part of a grid yet. */
export interface Table {
  rows: number
  columns: NewColumn[]
  warnings: string[]
  /** Warnings if it has updated rows of a grid by key. */
  updateWarnings?: string[]
  /** True if columns are matched by position, not by name. */
  isNameless: boolean
  /** Columns of the grid to which a nameless table was matched by name; undefined if only positions tell. */
  matched?: readonly KnownColumn[]
  /** Columns of the grid like which its cells were read. */
  readLike?: readonly KnownColumn[]
  /** Returns the line of the file for a row; undefined for files without lines. */
  lineOf?: (row: number) => number
  /** Values by column of a small table, which has no stored slices. */
  small?: readonly ColumnJson[]
  /** Rows of a JSON body. */
  json?: readonly RowsJson[]
}

/**
 * Parses delimited text into stored slices, to which no rows refer yet. With `keepSmall`, a small table is
 * kept in memory instead (`Table.small`). Throws `bad_data`.
 */
export async function storeTable(
  service: GridService,
  owner: string,
  bytes: Bytes,
  options: DelimitedOptions,
  keepSmall = false,
): Promise<Table> {
  const writer = new SliceWriter(service.store.blobs, owner)
  let ingested: IngestResult
  try {
    ingested = await ingestDelimited(
      decompress(bytes, options.source ?? 'the upload', service.limits),
      { ...options, limits: service.limits },
      writer,
    )
  } catch (error) {
    await writer.discard().catch(() => {})
    throw error
  }
  const small = keepSmall
    ? writer.smallSlices && valuesByColumn(writer.smallSlices, ingested.columns)
    : undefined
  if (!small) await writer.finish(ingested.columns)
  const columns = small
    ? ingested.columns.map(
        (column): NewColumn => ({ ...columnTypeOf(column), rows: ingested.rows, slices: [] }),
      )
    : createColumns(ingested, writer)
  return {
    rows: ingested.rows,
    columns,
    warnings: ingested.warnings,
    isNameless: options.header === false,
    lineOf: ingested.lineOf,
    small,
  }
}

/** Tables of one file, with their paths inside it. The path of a single table is empty. */
export interface FileTables {
  tables: { path: string[]; table: Table }[]
  warnings: string[]
}

/**
 * Parses a file of any format into stored slices, to which no rows refer yet. `known`: about the target grid, like whose
 * columns cells are read.
 */
export async function storeTables(
  service: GridService,
  call: DataCall,
  known: LikeColumns = {},
  readLike?: readonly KnownColumn[],
): Promise<FileTables> {
  const { limits, store } = service
  const who = call.caller?.username
  const options = { ...parseReadingOptions(service, call), ...known, fileName: call.fileName, limits, who }
  const writers: SliceWriter[] = []
  const open = (): SliceWriter => {
    writers.push(new SliceWriter(store.blobs, call.caller!.username))
    return writers[writers.length - 1]
  }
  try {
    const { tables, warnings } = await ingestFile(call.bytes, options, open)
    const stored: FileTables['tables'] = []
    const unpivoting = parseUnpivot(call)
    for (const { path, ingested, sink } of tables) {
      await sink.finish(ingested.columns)
      const read = { rows: ingested.rows, columns: createColumns(ingested, sink) }
      stored.push({
        path,
        table: {
          ...(unpivoting ? await unpivotTable(service, read, unpivoting, open()) : read),
          warnings:
            path.length > 0
              ? ingested.warnings.map((text) => `${path.join('/')}: ${text}`)
              : ingested.warnings,
          isNameless: options.header === false,
          readLike,
          // The lines of rows are others after a change of columns to rows.
          lineOf: unpivoting ? undefined : ingested.lineOf,
        },
      })
    }
    // Remove the slices of abandoned attempts to parse, and of tables whose columns became rows.
    const used = new Set(stored.flatMap(({ table }) => table.columns.map(({ slices }) => slices)))
    for (const writer of writers)
      if (!writer.columns.some((slices) => used.has(slices))) await writer.discard().catch(() => {})
    checkWarnings(call, [...warnings, ...stored.flatMap(({ table }) => table.warnings)])
    return { tables: stored, warnings }
  } catch (error) {
    for (const writer of writers) await writer.discard().catch(() => {})
    throw error
  }
}

/** Stores a table with columns as rows, which its parsed slices hold as columns. */
async function unpivotTable(
  { store, limits }: GridService,
  { rows, columns }: Pick<Table, 'rows' | 'columns'>,
  { unpivot: text, into }: UnpivotHeaders,
  writer: SliceWriter,
): Promise<Pick<Table, 'rows' | 'columns'>> {
  const [{ parseColumnNames }, { unpivot }] = await Promise.all([
    import('../../../charts/spec/parse-names.ts'),
    import('../reshape/unpivot.ts'),
  ])
  const names = parseColumnNames(
    text,
    columns.map(({ name }) => name),
  )
  const unpivoted = new Set(names)
  const table = createTableSnapshot(store, { rows, columns })
  let total = 0
  const flush = async (builder: TableBuilder): Promise<void> => {
    const { rows: count } = builder
    total += count
    for (const [column, values] of builder.take().entries())
      if (count > 0) await writer.slice({ column, rows: count, form: 'text', text: values })
  }
  const spec = { columns: names, into }
  const work = new WorkBudget(limits)
  writer.begin([...columns.map(({ name }) => name).filter((name) => !unpivoted.has(name)), ...into])
  const builder = await unpivot(table, spec, { maxBytes: Number.POSITIVE_INFINITY, work, flush })
  await flush(builder)
  const built = builder.columns.map(({ name, type }, k) => ({
    name,
    type,
    rows: total,
    slices: writer.columns[k],
  }))
  // Values have the form of their type already.
  await writer.finish(built.map(({ name }) => ({ name, type: 'empty' })))
  return { rows: total, columns: built }
}

/** Returns the values of a small table in column order. Slices can be in another order. */
function valuesByColumn(slices: readonly Slice[], columns: readonly ParsedColumn[]): ColumnJson[] {
  const inOrder = [...slices].sort((a, b) => a.column - b.column)
  return inOrder.map((slice) => toColumnJson(slice, columns[slice.column]))
}

/** Combines parsed columns with their stored slices. */
function createColumns({ columns }: IngestResult, writer: SliceWriter): NewColumn[] {
  return columns.map((column, k) => {
    const slices = writer.columns[k]
    return { ...columnTypeOf(column), rows: slices.reduce((sum, { rows }) => sum + rows, 0), slices }
  })
}

/** Returns name, type with the date order, and first values of a parsed column. */
function columnTypeOf({
  name,
  type,
  dateOrder,
  seen,
}: ParsedColumn): Pick<NewColumn, 'name' | 'type' | 'seen'> {
  const ordered = `${type}-${dateOrder}`
  return { name, type: isColumnType(ordered) ? ordered : type, seen }
}

/** Creates a snapshot to read a table that is not part of a grid yet. */
export function createTableSnapshot(
  { blobs }: Store,
  table: Pick<Table, 'columns' | 'rows' | 'small'>,
): Snapshot {
  const columns = table.columns.map(
    ({ name, type, rows, slices }, order): SnapshotColumn => ({
      name,
      uid: '',
      order,
      type,
      rows,
      slices,
      tail: table.small?.[order]?.text ?? Buffer.alloc(0),
    }),
  )
  return { blobs, columns, rows: table.rows }
}
