import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import type { ConflictRule } from '../../contract/headers.ts'
import type { UploadAction } from '../../contract/resources.ts'
import {
  badData,
  type DelimitedOptions,
  type GivenType,
  givenDelimiter,
  givenTypes,
  type Ingested,
  ingestDelimited,
  ingestFile,
  isSparse,
  numbersAsText,
  type Slice,
} from '../../ingest/index.ts'
import type { Bytes } from '../../json/index.ts'
import { admit } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import type { Service as CoreService } from '../core/context.ts'
import { checkMatch } from '../core/etag.ts'
import { checkFilename, freeName, makeFolders, nameTaken, placeOf } from '../files/names.ts'
import { decodeTypes, encodeTypes, fits } from '../store/column-types.ts'
import type { FileRow } from '../store/files.ts'
import type { ColumnRow, SliceRef } from '../store/grids.ts'
import type { ColumnType } from '../store/schema.ts'
import { type AppendStore, appendRows, RowTexts } from './append.ts'
import { commitSlices } from './append-slices.ts'
import { filling, restructure, tooRagged } from './compact.ts'
import { columnsAre } from './content.ts'
import { addColumns, addGrid, type NewColumn } from './create.ts'
import { asText, SliceWriter, type StoredSlice } from './slices.ts'
import { nouns, typeChange } from './types.ts'
import { combine, rowsOfColumns, type Values } from './values.ts'

/** The service with the queue of appends. */
export type GridService = CoreService & AppendStore


/** A table whose values are stored and which is part of no grid yet. */
export interface Table {
  rows: number
  columns: NewColumn[]
  warnings: string[]
  /** Columns come by position, not by name. */
  nameless: boolean
  /** The values themselves, by column, of a table too small to be worth storing yet. */
  small?: readonly Values[]
}

/** What the headers say of how a text is to be read. */
export function readingOptions(
  service: GridService,
  { headers, fileName }: Pick<Call, 'headers' | 'fileName'>,
): DelimitedOptions {
  const { Delimiter, Encoding, Header } = headers as {
    Delimiter?: string
    Encoding?: string
    Header?: boolean
  }
  const tsv = /\.(tsv|tab)(\.gz)?$/i.test(fileName ?? '')
  return {
    source: fileName ?? 'the upload',
    delimiter:
      Delimiter === undefined ? (tsv ? '\t' : undefined) : givenDelimiter(decoded(Delimiter, 'Delimiter')),
    encoding: Encoding,
    header: Header,
    types: columnTypes(headers.Columns as string | undefined),
    nullText:
      headers['Null-Text'] === undefined ? undefined : decoded(headers['Null-Text'] as string, 'Null-Text'),
    maxRecordBytes: service.limits.record_bytes,
    maxColumns: service.limits.columns,
  }
}

function decoded(text: string, field: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Problem('invalid_request', `${field}: not percent-encoded text`, { field })
  }
}

function columnTypes(header: string | undefined): Map<string, GivenType> | undefined {
  if (header === undefined) return undefined
  try {
    const types = new Map(Object.entries(JSON.parse(decoded(header, 'Columns')) as Record<string, GivenType>))
    if ([...types.values()].every((type) => givenTypes.includes(type))) return types
  } catch {
    // Falls through to the refusal.
  }
  throw new Problem(
    'invalid_request',
    'Columns: must be a JSON object of column names to number, text or boolean',
    { field: 'Columns' },
  )
}

/** Reads a delimited text into stored slices. Nothing names them yet: a fault leaves nothing behind. */
export async function storeTable(
  service: GridService,
  bytes: Bytes,
  options: DelimitedOptions,
  keepSmall = false,
): Promise<Table> {
  const writer = new SliceWriter(service.store.blobs)
  let found: Ingested
  try {
    found = await ingestDelimited(bytes, options, writer)
  } catch (error) {
    await writer.settle().catch(() => {})
    throw error
  }
  const small = keepSmall ? writer.small?.map(valuesOf) : undefined
  if (!small) await writer.finish((column) => found.columns[column].type === 'text')
  const columns = small
    ? found.columns.map(
        ({ name, type, seen }): NewColumn => ({ name, type, rows: found.rows, slices: [], seen }),
      )
    : columnsFrom(found, writer)
  return {
    rows: found.rows,
    columns,
    warnings: found.warnings,
    nameless: options.header === false,
    small,
  }
}

/** Tables of one file, with where they stand in it; a single one has no path. */
export interface Tables {
  tables: { path: string[]; table: Table }[]
  warnings: string[]
}

/** Reads a file of any kind into stored slices. Nothing names them yet. */
export async function storeTables(service: GridService, call: Call): Promise<Tables> {
  const { limits, store } = service
  const options = { ...readingOptions(service, call), fileName: call.fileName, limits }
  const writers: SliceWriter[] = []
  const open = (): SliceWriter => {
    writers.push(new SliceWriter(store.blobs))
    return writers[writers.length - 1]
  }
  try {
    const { tables, warnings } = await ingestFile(call.bytes, options, open)
    const stored: Tables['tables'] = []
    for (const { path, ingested, sink } of tables) {
      await sink.finish((column) => ingested.columns[column].type === 'text')
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
        },
      })
    }
    return { tables: stored, warnings }
  } catch (error) {
    for (const writer of writers) await writer.settle().catch(() => {})
    throw error
  }
}

function columnsFrom({ columns }: Ingested, writer: SliceWriter): NewColumn[] {
  return columns.map(({ name, type, seen }, k) => {
    const slices = writer.columns[k]
    return { name, type, rows: slices.reduce((sum, { rows }) => sum + rows, 0), slices, seen }
  })
}

/** Where an upload goes and what is done if the name is taken. */
export interface Target {
  filename: string
  parent?: number
  parent_path?: string
  world_readable: boolean
  onConflict: ConflictRule
  /** Of a URL import. */
  source_url?: string | null
  source_referer?: string | null
}

/** What an upload can do about a taken name. */
export const ON_CONFLICT = 'Choose another name, or replace or append to it (--on-conflict).'

/** What has the name can neither be replaced nor added to. */
export function notAGrid({ filename, filetype }: FileRow): Problem {
  const what = filetype === 'fold' ? 'folder' : filetype
  return nameTaken(filename, `It is a ${what}; only grids can be replaced or added to. Choose another name.`)
}

interface Written {
  idlocal: number
  action: UploadAction
  warnings: string[]
}

/** Makes what a file held a grid, or a folder of several. */
export async function placeAll(
  service: GridService,
  call: Call,
  stored: Tables,
  target: Target,
): Promise<Written> {
  const [{ table }] = stored.tables
  if (stored.tables.length > 1) return placeFolder(service, call, stored, target)
  return place(service, call, { ...table, warnings: [...stored.warnings, ...table.warnings] }, target)
}

/** Makes a stored table a grid, or part of one that has the name already. */
export async function place(service: GridService, call: Call, table: Table, target: Target): Promise<Written> {
  const owner = call.caller!.username
  const { limits, store } = service
  checkFilename(target.filename, limits)
  const write = call.writeKey(owner)
  const outcome = await store.write<Written | { existing: number }>(async (writers) => {
    const before = await writers.idempotency.find(write)
    if (before) return before.result as Written
    const parent = await placeOf(writers, owner, target, limits)
    const existing = await writers.files.named(owner, parent, target.filename)
    if (existing && target.onConflict === 'fail') throw nameTaken(target.filename, ON_CONFLICT)
    if (existing && target.onConflict !== 'rename') {
      if (existing.filetype !== 'grid') throw notAGrid(existing)
      return { existing: existing.idlocal }
    }
    const filename = existing
      ? await freeName(writers.files, owner, parent, target.filename)
      : target.filename
    const file = await writers.files.add({
      owner,
      filetype: 'grid',
      filename,
      parent,
      world_readable: target.world_readable ? 1 : 0,
      source_url: target.source_url ?? null,
      source_referer: target.source_referer ?? null,
    })
    await addGrid(writers, file, table.columns)
    const said = existing ? [renamed(target.filename, filename)] : []
    const result: Written = {
      idlocal: file.idlocal,
      action: 'created',
      warnings: [...table.warnings, ...said],
    }
    await writers.idempotency.record([{ write, result }])
    return result
  })
  if ('idlocal' in outcome) return outcome
  const fid = { owner, idlocal: outcome.existing }
  if (target.onConflict === 'replace') return replaceColumns(service, call, fid, table, target.world_readable)
  return { ...(await appendSlices(service, call, fid, table)), action: 'appended' }
}

/** Makes several stored tables grids in a folder of the upload's name. */
export async function placeFolder(
  service: GridService,
  call: Call,
  { tables, warnings }: Tables,
  target: Target,
): Promise<Written> {
  const owner = call.caller!.username
  const { limits, store } = service
  if (target.onConflict === 'replace' || target.onConflict === 'append')
    throw new Problem(
      'invalid_request',
      `${target.onConflict} goes with a single table; this file holds ${tables.length}`,
      {
        hint: 'Choose fail or rename.',
      },
    )
  return store.writeOnce(call.writeKey(owner), async (writers) => {
    const { files } = writers
    const parent = await placeOf(writers, owner, target, limits)
    const taken = await files.named(owner, parent, target.filename)
    if (taken && target.onConflict === 'fail') throw nameTaken(target.filename, 'Choose another name.')
    const filename = await freeName(files, owner, parent, target.filename)
    const world_readable = target.world_readable ? 1 : 0
    const folder = await files.add({ owner, filetype: 'fold', filename, parent, world_readable })
    const said = [...warnings]
    if (taken) said.push(renamed(target.filename, filename))
    for (const { path, table } of tables) {
      const names = path.map((name) => fittingName(name, limits.filename_length))
      const name = names.pop()!
      const inside = await makeFolders(writers, owner, folder.idlocal, names, limits)
      const file = await files.add({
        owner,
        filetype: 'grid',
        filename: await freeName(files, owner, inside, name),
        parent: inside,
        world_readable,
        source_url: target.source_url ?? null,
        source_referer: target.source_referer ?? null,
      })
      await addGrid(writers, file, table.columns)
      said.push(...table.warnings)
    }
    return { idlocal: folder.idlocal, action: 'created' as const, warnings: said }
  })
}

function renamed(wanted: string, filename: string): string {
  return `a file named '${wanted}' already exists; this one is named '${filename}'`
}

/** Names of tabs and files in archives hold what ours may not. */
function fittingName(name: string, most: number): string {
  const clean = name
    .toWellFormed()
    .replace(/[/\u0000-\u001f\u007f]/g, '_')
    .slice(0, most - 10)
    .trim()
  return clean === '' || clean === '.' || clean === '..' ? 'Untitled grid' : clean
}

/** Puts a table in the place of a grid's columns; fid, link and the uids of names that stay are kept. */
async function replaceColumns(
  service: GridService,
  call: Call,
  fid: Fid,
  table: Table,
  makePublic: boolean,
): Promise<Written> {
  return restructure(
    service,
    fid,
    async () => undefined,
    async (writers, _, { columns, slices }) => {
      const before = await writers.idempotency.find(call.writeKey(fid.owner))
      if (before) return before.result as Written
      const file = await writers.files.get(fid.owner, fid.idlocal)
      const found = await admit(writers, file, call, { access: 'write', filetype: 'grid' })
      checkMatch(found.file, call.ifMatch)
      const publish = makePublic && found.file.world_readable === 0
      const same = isSame(table.columns, columns, slices)
      const said = [...table.warnings]
      if (!same) {
        refuseLoss(call, found.file, table.columns, columns)
        said.push(...typesChanged(table.columns, columns))
        const uids = new Map(columns.map(({ name, uid }) => [name, uid]))
        await writers.grids.removeColumns(
          fid.owner,
          fid.idlocal,
          columns.map(({ uid }) => uid),
        )
        const kept = table.columns.map((column) => ({ ...column, uid: uids.get(column.name) }))
        await addColumns(writers, fid.owner, fid.idlocal, kept, new Set(), 0)
      }
      if (!same || publish)
        await writers.files.change(fid.owner, fid.idlocal, publish ? { world_readable: 1 } : {})
      const result: Written = {
        idlocal: fid.idlocal,
        action: same ? 'unchanged' : 'replaced',
        warnings: said,
      }
      await writers.idempotency.record([{ write: call.writeKey(fid.owner), result }])
      return result
    },
  )
}

/** Columns that keep their names and hold something else than before. */
function typesChanged(table: readonly NewColumn[], columns: readonly ColumnRow[]): string[] {
  return table.flatMap(({ name, type }) => {
    const before = columns.find((column) => column.name === name)?.type ?? 'empty'
    if (before === type || before === 'empty' || type === 'empty') return []
    return [`column ${name} held ${nouns[before]} and now holds ${nouns[type]}`]
  })
}

/** Whether a table is byte for byte what the grid holds. */
function isSame(
  table: readonly NewColumn[],
  columns: readonly ColumnRow[],
  slices: ReadonlyMap<string, readonly SliceRef[]>,
): boolean {
  return (
    table.length === columns.length &&
    table.every(({ name, type, rows, slices: own }, k) => {
      const column = columns[k]
      const theirs = slices.get(column.uid) ?? []
      return (
        name === column.name &&
        type === column.type &&
        rows === column.rows &&
        own.length === theirs.length &&
        own.every(({ hash }, n) => hash === theirs[n].hash)
      )
    })
  )
}

/** Refuses to drop columns where the caller has not agreed to. */
function refuseLoss(
  { headers }: Call,
  file: FileRow,
  table: readonly NewColumn[],
  columns: readonly ColumnRow[],
): void {
  if (headers['Allow-Column-Loss'] !== false) return
  const names = new Set(table.map(({ name }) => name))
  const lost = columns.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  if (lost.length === 0) return
  const shown = lost.slice(0, 10).join(', ') + (lost.length > 10 ? ' …' : '')
  throw new Problem(
    'column_loss',
    `the file lacks ${lost.length === 1 ? 'a column' : `${lost.length} columns`} of '${file.filename}', which would be lost: ${shown}`,
    { field: 'columns', hint: 'Add --yes to replace the grid all the same.' },
  )
}

interface AppendedTable {
  idlocal: number
  rows_added: number
  row_count: number
  warnings: string[]
}

/**
 * Appends a table's rows, columns matched by name (by position where the table has no names). A few
 * rows go the way of single ones, into the tail; many become slices.
 */
export async function appendTable(
  service: GridService,
  call: Call,
  fid: Fid,
  table: Table,
): Promise<Omit<AppendedTable, 'idlocal'>> {
  if (!table.small) return appendSlices(service, call, fid, table)
  const columns = await columnsNow(service, fid)
  const warnings = [...table.warnings]
  const name = call.fileName ?? 'the upload'
  const matched = match(table, columns, name, warnings)
  if (table.rows === 0) {
    const { row_count } = await service.store.read(({ grids }) => grids.get(fid.owner, fid.idlocal))
    return { rows_added: 0, row_count, warnings }
  }
  const texts = matched.map((source, k) => {
    if (!source) return undefined
    checkType(call, name, source, columns[k], warnings)
    const values = table.small![table.columns.indexOf(source)]
    return typeIn(source, columns[k].type) === 'text' && values.type === 'number'
      ? numbersAsText(values.text)
      : values.text
  })
  const rows = rowsOfColumns(texts, table.rows)
  const gathered = new RowTexts()
  for (const row of rows) gathered.add(row)
  const append = {
    types: encodeTypes(matched.map((source, k) => (source ? typeIn(source, columns[k].type) : 'empty'))),
    mayChangeTypes: mayChangeTypes(call),
    fid,
    asker: call,
    write: call.writeKey(fid.owner),
    ifMatch: call.ifMatch,
    bodies: gathered.all(),
    width: columns.length,
    columns,
  }
  return { ...(await appendRows(service, append)), warnings }
}

function valuesOf({ rows, form, text }: Slice): Values {
  return { rows, type: form, text }
}

/** Appends a stored table: its slices follow those of the grid. */
async function appendSlices(service: GridService, call: Call, fid: Fid, table: Table): Promise<AppendedTable> {
  const { store } = service
  return restructure(
    service,
    fid,
    async ({ columns, grid }) => {
      const warnings = [...table.warnings]
      const matched = match(table, columns, call.fileName ?? 'the upload', warnings)
      const given = matched.filter((source) => source !== undefined).length
      if (isSparse(table.rows, columns.length, table.rows * given))
        throw tooRagged(table.rows, columns.length)
      const parts = []
      for (const [k, column] of columns.entries()) {
        const fill = grid.row_count - column.rows
        const filled = fill > 0 ? await filling(store, '""', fill) : []
        const source = matched[k]
        const more = source
          ? await fitting(service, call, source, column, warnings)
          : await filling(store, 'null', table.rows)
        const type = combine(
          fill > 0 ? combine(column.type, 'text') : column.type,
          source ? typeIn(source, column.type) : 'empty',
        )
        parts.push({ column, slices: [...filled, ...more], rows: grid.row_count + table.rows, type })
      }
      return { parts, warnings }
    },
    (writers, { parts, warnings }, layout) =>
      commitSlices(
        writers,
        { fid, asker: call, write: call.writeKey(fid.owner), ifMatch: call.ifMatch },
        layout,
        parts,
        {
          idlocal: fid.idlocal,
          rows_added: table.rows,
          row_count: layout.grid.row_count + table.rows,
          warnings,
        },
      ),
  )
}

/** For each column of the grid the one of the table that goes there. */
function match(
  table: Table,
  columns: readonly { name: string }[],
  source: string,
  warnings: string[],
): (NewColumn | undefined)[] {
  if (table.nameless) {
    if (table.columns.length === columns.length) return table.columns
    throw badData(
      source,
      { line: 1 },
      `${table.columns.length} cells; the grid has ${columns.length} columns`,
      'Give every column a cell, or a header that says which columns are meant.',
    )
  }
  const names = new Set(columns.map(({ name }) => name))
  const unknown = table.columns.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  if (unknown.length > 0) {
    throw new Problem(
      'unknown_column',
      `${source}: the grid has no column ${unknown
        .slice(0, 5)
        .map((name) => JSON.stringify(name))
        .join(', ')}`,
      {
        hint: unknown.every((name) => /^column_\d+$/.test(name))
          ? `If the first line is data, give --no-header. ${columnsAre(columns)}`
          : columnsAre(columns),
      },
    )
  }
  const missing = columns
    .filter(({ name }) => !table.columns.some((column) => column.name === name))
    .map(({ name }) => name)
  if (missing.length > 0)
    warnings.push(`not in the file, filled with nulls: ${missing.slice(0, 10).join(', ')}`)
  return columns.map(({ name }) => table.columns.find((column) => column.name === name))
}

/** Numbers that come into a column of text are text; text that comes among numbers stays text, with a warning. */
async function fitting(
  service: GridService,
  call: Call,
  source: NewColumn,
  target: { name: string; type: ColumnType },
  warnings: string[],
): Promise<SliceRef[]> {
  const type = typeIn(source, target.type)
  checkType(call, call.fileName ?? 'the upload', source, target, warnings)
  if (type === 'text' && source.type === 'number') {
    return Promise.all((source.slices as StoredSlice[]).map((slice) => asText(service.store.blobs, slice)))
  }
  return source.slices
}

/** Values that do not fit the type of their column are refused, or taken with a warning where that was asked for. */
function checkType(
  call: Call,
  name: string,
  source: NewColumn,
  target: { name: string; type: ColumnType },
  warnings: string[],
): void {
  const type = typeIn(source, target.type)
  if (fits(type, target.type)) return
  if (mayChangeTypes(call)) {
    warnings.push(`column ${target.name} held ${nouns[target.type]} and now holds ${nouns[type]} as well`)
    return
  }
  const first = source.seen?.find((value) => !fits(value.type, target.type))
  throw typeChange(
    first ? `${name}, ${first.where}` : name,
    target.name,
    first ? first.text : nouns[type],
    target.type,
  )
}

/** Rows of files change the type of a column only where that was asked for. */
function mayChangeTypes({ headers }: Pick<Call, 'headers'>): boolean {
  return headers['Allow-Type-Change'] === true
}

/** Columns with their types, those of rows in the tail included. */
export async function columnsNow(service: GridService, { owner, idlocal }: Fid): Promise<ColumnRow[]> {
  return service.store.read(async ({ grids }) => {
    const types = decodeTypes((await grids.get(owner, idlocal)).types)
    return (await grids.columns(owner, idlocal)).map((column, k) => ({ ...column, type: types[k] }))
  })
}

function typeIn(source: NewColumn, target: string): NewColumn['type'] {
  return target === 'text' && source.type === 'number' ? 'text' : source.type
}
