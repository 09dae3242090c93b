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
import type { Bytes } from '../../../json/index.ts'
import { isColumnType } from '../../store/schema/column-types.ts'
import type { Store } from '../../store/store.ts'
import { type ColumnJson, toColumnJson } from '../column/column-json.ts'
import type { NewColumn } from '../column/layout.ts'
import { SliceWriter } from '../column/slices.ts'
import type { Snapshot, SnapshotColumn } from '../column/snapshot.ts'
import type { RowsJson } from '../column/tail.ts'
import type { GridService } from '../service.ts'
import { checkWarnings, type DataCall, parseReadingOptions } from './reading-options.ts'

/** A parsed table that is not part of a grid yet. */
export interface Table {
  rows: number
  columns: NewColumn[]
  warnings: string[]
  /** True if columns are matched by position, not by name. */
  isNameless: boolean
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

/** Parses a file of any format into stored slices, to which no rows refer yet. */
export async function storeTables(service: GridService, call: DataCall): Promise<FileTables> {
  const { limits, store } = service
  const who = call.caller?.username
  const options = { ...parseReadingOptions(service, call), fileName: call.fileName, limits, who }
  const writers: SliceWriter[] = []
  const open = (): SliceWriter => {
    writers.push(new SliceWriter(store.blobs, call.caller!.username))
    return writers[writers.length - 1]
  }
  try {
    const { tables, warnings } = await ingestFile(call.bytes, options, open)
    const stored: FileTables['tables'] = []
    for (const { path, ingested, sink } of tables) {
      await sink.finish(ingested.columns)
      stored.push({
        path,
        table: {
          rows: ingested.rows,
          columns: createColumns(ingested, sink),
          warnings:
            path.length > 0
              ? ingested.warnings.map((text) => `${path.join('/')}: ${text}`)
              : ingested.warnings,
          isNameless: options.header === false,
          lineOf: ingested.lineOf,
        },
      })
    }
    // Remove the slices of abandoned attempts to parse.
    for (const writer of writers)
      if (!tables.some(({ sink }) => sink === writer)) await writer.discard().catch(() => {})
    checkWarnings(call, [...warnings, ...stored.flatMap(({ table }) => table.warnings)])
    return { tables: stored, warnings }
  } catch (error) {
    for (const writer of writers) await writer.discard().catch(() => {})
    throw error
  }
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
export function createTableSnapshot({ blobs }: Store, table: Table): Snapshot {
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
