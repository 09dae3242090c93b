import {
  type ColumnFound,
  type DelimitedOptions,
  type Ingested,
  ingestDelimited,
  ingestFile,
  type Slice,
  unpacked,
} from '../../../ingest/index.ts'
import type { Bytes } from '../../../json/index.ts'
import { isColumnType } from '../../store/schema/column-types.ts'
import type { Store } from '../../store/store.ts'
import type { Snapshot, SnapshotColumn } from '../column/content.ts'
import type { NewColumn } from '../column/layout.ts'
import { SliceWriter } from '../column/slices.ts'
import type { RowText } from '../column/tail.ts'
import { type ColumnType, type Values, valuesOf } from '../column/values.ts'
import type { GridService } from '../service.ts'
import { type DataCall, readingOptions, refuseWarnings } from './reading-options.ts'

/** A table whose values are stored, but that is not part of a grid yet. */
export interface Table {
  rows: number
  columns: NewColumn[]
  warnings: string[]
  /** Whether columns are matched by position, not by name. */
  nameless: boolean
  /** The line of the file that a row is in, if it has lines. */
  lineOf?: (row: number) => number
  /** Values by column, for a small table that is not stored yet. */
  small?: readonly Values[]
  /** The rows of a JSON body, which have no names, lines or order of dates. */
  json?: readonly RowText[]
}

/** Parses delimited text into stored slices. Nothing refers to them yet, so an error leaves no trace. */
export async function storeTable(
  service: GridService,
  owner: string,
  bytes: Bytes,
  options: DelimitedOptions,
  keepSmall = false,
): Promise<Table> {
  const writer = new SliceWriter(service.store.blobs, owner)
  let found: Ingested
  try {
    found = await ingestDelimited(
      unpacked(bytes, options.source ?? 'the upload', service.limits),
      { ...options, limits: service.limits },
      writer,
    )
  } catch (error) {
    await writer.settle().catch(() => {})
    throw error
  }
  const small = keepSmall ? writer.small && valuesByColumn(writer.small, found.columns) : undefined
  if (!small) await writer.finish(found.columns)
  const columns = small
    ? found.columns.map((column): NewColumn => ({ ...typed(column), rows: found.rows, slices: [] }))
    : columnsFrom(found, writer)
  return {
    rows: found.rows,
    columns,
    warnings: found.warnings,
    nameless: options.header === false,
    lineOf: found.lineOf,
    small,
  }
}

/** The tables of one file with their paths inside it. The path of a single table is empty. */
export interface Tables {
  tables: { path: string[]; table: Table }[]
  warnings: string[]
}

/** Parses a file of any format into stored slices. Nothing refers to them yet. */
export async function storeTables(service: GridService, call: DataCall): Promise<Tables> {
  const { limits, store } = service
  const who = call.caller?.username
  const options = { ...readingOptions(service, call), fileName: call.fileName, limits, who }
  const writers: SliceWriter[] = []
  const open = (): SliceWriter => {
    writers.push(new SliceWriter(store.blobs, call.caller!.username))
    return writers[writers.length - 1]
  }
  try {
    const { tables, warnings } = await ingestFile(call.bytes, options, open)
    const stored: Tables['tables'] = []
    for (const { path, ingested, sink } of tables) {
      await sink.finish(ingested.columns)
      stored.push({
        path,
        table: {
          rows: ingested.rows,
          columns: columnsFrom(ingested, sink),
          warnings:
            path.length > 0
              ? ingested.warnings.map((text) => `${path.join('/')}: ${text}`)
              : ingested.warnings,
          nameless: options.header === false,
          lineOf: ingested.lineOf,
        },
      })
    }
    // A reading that was given up for a better one.
    for (const writer of writers)
      if (!tables.some(({ sink }) => sink === writer)) await writer.settle().catch(() => {})
    refuseWarnings(call, [...warnings, ...stored.flatMap(({ table }) => table.warnings)])
    return { tables: stored, warnings }
  } catch (error) {
    for (const writer of writers) await writer.settle().catch(() => {})
    throw error
  }
}

/** The values of a small table, in column order: slices may come in another one. */
function valuesByColumn(slices: readonly Slice[], columns: readonly ColumnFound[]): Values[] {
  const inOrder = [...slices].sort((a, b) => a.column - b.column)
  return inOrder.map((slice) => valuesOf(slice, columns[slice.column]))
}

function columnsFrom({ columns }: Ingested, writer: SliceWriter): NewColumn[] {
  return columns.map((column, k) => {
    const slices = writer.columns[k]
    return { ...typed(column), rows: slices.reduce((sum, { rows }) => sum + rows, 0), slices }
  })
}

/** The name and type of a column, with what is known beside the type. */
function typed({ name, type, dateOrder, seen }: ColumnFound): Pick<NewColumn, 'name' | 'type' | 'seen'> {
  const order = dateOrder && (`${type}-${dateOrder}` as ColumnType)
  return { name, type: order !== undefined && isColumnType(order) ? order : type, seen }
}

/** A table that is not part of a grid yet, to be read. */
export function snapshotOfTable({ blobs }: Store, table: Table): Snapshot {
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
