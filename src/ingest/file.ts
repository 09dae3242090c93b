// Reads any data file: detects its format and passes it to the reader of that format.

import { Problem } from '../contract/errors.ts'
import { gridNameOf, removeCompressionExtension } from '../contract/formats.ts'
import type { Limits } from '../contract/limits.ts'
import { formatList } from '../contract/message-texts.ts'
import { type Bytes, peek, toByteStream } from '../json/index.ts'
import type { ArchiveEntry } from './archive/archive.ts'
import { decompress, UnpackMeter } from './archive/unpack.ts'
import { isDataFile, isDocumentationFile } from './data-file-name.ts'
import { ingestDelimited } from './delimited/delimited.ts'
import { hasBlankRows, MAX_SPLIT_BYTES, splitTables, type TablePart } from './delimited/several-tables.ts'
import { detectKind, type Kind, readerByName } from './detect/file-kind.ts'
import type { DelimitedOptions } from './values/dialect.ts'
import type { IngestResult, SliceSink } from './values/table.ts'
import { badFile, Warnings } from './values/warnings.ts'
import type { readXlsxSheets } from './workbook/xlsx.ts'

/** A parsed table of a file. */
export interface ParsedTable<S> {
  /** Folders and name inside an archive or workbook; empty if the file is a single table. */
  path: string[]
  ingested: IngestResult
  sink: S
}

export interface FileOptions extends DelimitedOptions {
  /** File name. Its extension decides the format if the first bytes do not. */
  fileName?: string
  limits: Limits
  /** User who reads the file. Users share the slots of the columnar decoder fairly. */
  who?: string
  /** Number of archives around this file. */
  depth?: number
  /** Counts the unpacked bytes of the whole upload. */
  meter?: UnpackMeter
}

/** Maximum number of nested archives. */
const MAX_ARCHIVE_DEPTH = 4

/**
 * Parses a data file: delimited text, JSON, NDJSON, Parquet, Arrow, a workbook, or an archive of those.
 * `open` creates the sink of each table. A single table has an empty path.
 */
export async function ingestFile<S extends SliceSink>(
  input: Bytes,
  options: FileOptions,
  open: () => S,
): Promise<{ tables: ParsedTable<S>[]; warnings: string[] }> {
  const source = options.source ?? 'input'
  const meter = options.meter ?? new UnpackMeter(source, options.limits)
  const arriving = options.meter ? input : meter.countReceived(input)
  const { head, whole } = await peek(decompress(arriving, source, options.limits, meter), 1024)
  const kind = requireSupportedKind(head, source, options)
  const reading: ReadContext<S> = {
    source,
    options: { ...options, meter },
    open,
    warnings: new Warnings(),
    tables: [],
  }
  const isTextByName = readerByName(options.fileName) === 'delimited'
  if (kind === 'lines' && isTextByName) reading.warnings.note('read as NDJSON: each line is a JSON object')
  if (kind === 'json' && isTextByName) reading.warnings.note('read as JSON')
  await readers[kind](reading, whole, kind)
  const { tables, warnings } = reading
  if (tables.length === 0)
    throw badFile(
      source,
      'the archive contains no data file',
      'Supported files are CSV, TSV, JSON, NDJSON, XLSX, ODS, Parquet and Arrow.',
    )
  // A single table needs no path, even in an archive.
  if (tables.length === 1) tables[0].path = []
  return { tables, warnings: warnings.list() }
}

/** Detects the format of a file. Throws `bad_data` for unsupported formats, options and nesting. */
function requireSupportedKind(head: Buffer, source: string, options: FileOptions): Kind {
  if (head.toString('latin1', 0, 4) === 'PARE')
    throw badFile(source, 'this is an encrypted Parquet file', 'Write it without encryption.')
  const kind = detectKind(head, options.fileName)
  // Streams of Arrow before 0.15 have no signature.
  if (kind === 'delimited' && readerByName(options.fileName) === 'arrow' && head.includes(0))
    throw badFile(
      source,
      'this is not an Arrow file, or it was written by Arrow before 0.15',
      'Write it again with a current version of Arrow.',
    )
  if (kind === 'delimited' && /\.json5$/i.test(removeCompressionExtension(options.fileName ?? '')))
    throw badFile(source, 'this is JSON5, which is not supported', 'Convert it to JSON.')
  if (kind !== 'zip' && kind !== 'tar' && (options.sheet ?? options.range) !== undefined)
    throw badFile(source, 'this is not a workbook: it has no sheets', 'Leave out --sheet and --range.')
  const { depth = 0 } = options
  if (depth > MAX_ARCHIVE_DEPTH)
    throw badFile(
      source,
      `archives are nested ${depth} deep; the limit is ${MAX_ARCHIVE_DEPTH}`,
      'Unpack them first.',
    )
  return kind
}

/** State shared by the readers of a file. */
interface ReadContext<S> {
  source: string
  options: FileOptions
  open: () => S
  warnings: Warnings
  tables: ParsedTable<S>[]
}

type Reader = <S extends SliceSink>(reading: ReadContext<S>, whole: Bytes, kind: Kind) => Promise<void>

/** Reader of each format. */
const readers: Record<Kind, Reader> = {
  tar: readTar,
  zip: readZip,
  parquet: (reading, whole) => readColumnar(reading, whole, 'parquet'),
  arrow: (reading, whole) => readColumnar(reading, whole, 'arrow'),
  delimited: async ({ tables, options, open, warnings }, whole) => {
    tables.push(...(await readDelimited(whole, options, open, warnings)))
  },
  json: readRecords,
  lines: readRecords,
}

/** Reads a file in an archive. Skips files that are not data. */
async function readMember<S extends SliceSink>(reading: ReadContext<S>, member: ArchiveEntry): Promise<void> {
  const { source, options, open, warnings, tables } = reading
  const parts = member.path.split('/')
  const name = parts.pop()!
  if (name.startsWith('.') || parts[0] === '__MACOSX') return
  if (!isDataFile(name) || isDocumentationFile(name)) {
    warnings.note(`${member.path} was skipped: not a data file`)
    return
  }
  if (tables.length >= options.limits.archive_entries)
    throw badFile(
      source,
      `more than ${options.limits.archive_entries} data files (limit archive_entries)`,
      'Split it into several archives.',
    )
  const { depth = 0 } = options
  const inner = await ingestFile(
    await member.open(),
    { ...options, source: `${source}: ${member.path}`, fileName: name, depth: depth + 1 },
    open,
  )
  warnings.addAll(inner.warnings)
  for (const table of inner.tables)
    tables.push({ ...table, path: [...parts, gridNameOf(name), ...table.path] })
}

/**
 * Adds the tables of all data files in a tar archive to `reading.tables`, and notes files that are skipped.
 */
async function readTar<S extends SliceSink>(reading: ReadContext<S>, whole: Bytes): Promise<void> {
  const { readTarMembers } = await import('./archive/archive.ts')
  for await (const member of readTarMembers(whole, reading.options.limits, reading.source))
    await readMember(reading, member)
}

/** Reads a ZIP file: a workbook, or an archive of files. */
async function readZip<S extends SliceSink>(reading: ReadContext<S>, whole: Bytes): Promise<void> {
  const { source, options } = reading
  const { tooLargeArchiveError, listZipMembers } = await import('./archive/archive.ts')
  const { spoolToFile } = await import('./archive/spool.ts')
  const spooled = await spoolToFile(whole, options.limits.archive_bytes, () =>
    tooLargeArchiveError(source, options.limits),
  )
  try {
    const members = await listZipMembers(spooled, options.limits, source)
    const sheetsOf = await loadWorkbookReader(members)
    if (sheetsOf) {
      await readSheets(reading, sheetsOf(spooled, options.limits, source, reading.warnings, options))
      return
    }
    const unsupported = describeUnsupportedOffice(members.map(({ path }) => path))
    if (unsupported) throw badFile(source, unsupported, 'Save it as XLSX or CSV first.')
    for (const member of members) await readMember(reading, member)
  } finally {
    await spooled.close()
  }
}

/** Reads the sheets of a workbook. If there are several, skips those that cannot be read. */
async function readSheets<S extends SliceSink>(
  { source, options, open, warnings, tables }: ReadContext<S>,
  sheets: ReturnType<typeof readXlsxSheets>,
): Promise<void> {
  let failed: Problem | undefined
  for await (const sheet of sheets) {
    const where = sheet.oneOfSeveral ? `${source}, sheet ${sheet.name}` : source
    const written = { delimiter: ',', quote: '"', escape: '', encoding: 'utf-8' }
    const sheetName = sheet.oneOfSeveral ? sheet.name : undefined
    const reading = { ...options, source: where, ...written, width: sheet.width, sheetName }
    try {
      const sheetTables = await readDelimited(sheet.csv, reading, open, warnings)
      tables.push(...sheetTables.map((table) => ({ ...table, path: [sheet.name, ...table.path] })))
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'bad_data' || !sheet.oneOfSeveral) throw error
      failed ??= error
      warnings.note(`sheet ${sheet.name} was skipped: ${error.message}`)
    }
  }
  // If no sheet can be read, the first error says why.
  if (tables.length === 0 && failed) throw failed
}

/** Reads Parquet or Arrow, from a temporary file since they need random access. */
async function readColumnar<S extends SliceSink>(
  reading: ReadContext<S>,
  whole: Bytes,
  format: 'parquet' | 'arrow',
): Promise<void> {
  const { source, options, open, tables } = reading
  noteIgnoredTypes(reading)
  const [{ tooLargeArchiveError }, { spoolToFile }, { ingestColumnar }] = await Promise.all([
    import('./archive/archive.ts'),
    import('./archive/spool.ts'),
    import('./columnar/decoder.ts'),
  ])
  const { limits, who } = options
  const spooled = await spoolToFile(whole, limits.archive_bytes, () => tooLargeArchiveError(source, limits))
  try {
    const sink = open()
    const { keys } = options
    const ingested = await ingestColumnar(format, spooled, { limits, source, sink, who, keys })
    tables.push({ path: [], ingested, sink })
  } finally {
    await spooled.close()
  }
}

/** Warns that requested column types are ignored: the file defines its own. */
function noteIgnoredTypes({ options, warnings, source }: ReadContext<unknown>): void {
  const names = [...(options.types?.keys() ?? [])].map(String)
  if (names.length > 0)
    warnings.note(
      `${source}: the type of ${formatList(names)} is not changed: the format defines types; texts in ISO 8601 are dates`,
    )
}

async function readRecords<S extends SliceSink>(
  reading: ReadContext<S>,
  whole: Bytes,
  kind: Kind,
): Promise<void> {
  const { options, open, tables } = reading
  noteIgnoredTypes(reading)
  const { ingestJson, ingestJsonLines } = await import('./records/records.ts')
  const sink = open()
  const read = kind === 'lines' ? ingestJsonLines : ingestJson
  tables.push({ path: [], ingested: await read(whole, options, sink), sink })
}

/** Reads delimited text. A short text can hold several tables, one below the other. */
async function readDelimited<S extends SliceSink>(
  bytes: Bytes,
  options: FileOptions,
  open: () => S,
  warnings: Warnings,
): Promise<ParsedTable<S>[]> {
  const { head, whole } = await peek(bytes, MAX_SPLIT_BYTES + 1)
  const sink = open()
  let single: ParsedTable<S>[] | undefined
  let failed: unknown
  try {
    const ingested = await ingestDelimited(whole, options, sink)
    single = [{ path: [], ingested, sink }]
    if (head.length > MAX_SPLIT_BYTES) return single
    const isPatchy = ingested.warnings.some((text) => text.startsWith('rows with fewer'))
    // Options that place the table mean a single one.
    const isPlaced = options.header === false || options.skip !== undefined
    if (!isPatchy && (isPlaced || !hasBlankRows(head))) return single
  } catch (error) {
    if (head.length > MAX_SPLIT_BYTES) throw error
    failed = error
  }
  // Rows that do not fit may be another table.
  const parts = await splitTables(head, options)
  if (parts.length === 1) {
    if (!single) throw failed
    return single
  }
  const tables: ParsedTable<S>[] = []
  try {
    for (const part of parts) tables.push(await readPart(part, parts, options, open()))
  } catch (error) {
    // The error of reading one table has the line numbers of the file.
    throw failed ?? error
  }
  const lines = parts.map(({ line }) => line).join(', ')
  warnings.note(`${parts.length} tables found, in lines ${lines}; each becomes a separate grid`)
  return tables
}

/** Reads one of several tables. Its name is its title, if no other table has the same. */
async function readPart<S extends SliceSink>(
  part: TablePart,
  parts: readonly TablePart[],
  options: FileOptions,
  sink: S,
): Promise<ParsedTable<S>> {
  const { bytes, title } = part
  const name = `table ${parts.indexOf(part) + 1}`
  const source = `${options.source ?? 'input'}, ${name}`
  const isUnique = parts.every((sibling) => sibling === part || sibling.title !== title)
  return {
    path: [title !== undefined && isUnique ? title : name],
    ingested: await ingestDelimited(toByteStream(bytes), { ...options, encoding: 'utf-8', source }, sink),
    sink,
  }
}

/** Loads the reader of a workbook, by the file names in its archive; undefined for other archives. */
async function loadWorkbookReader(
  members: readonly { path: string }[],
): Promise<typeof readXlsxSheets | undefined> {
  const has = (name: string): boolean =>
    members.some(({ path }) => path.replaceAll('\\', '/').toLowerCase() === name.toLowerCase())
  // The main part of a workbook can have any name.
  const isSheets = members.some(({ path }) => /(^|[/\\])worksheets[/\\]/i.test(path))
  if (has('xl/workbook.xml') || (has('[Content_Types].xml') && isSheets && !has('xl/workbook.bin')))
    return (await import('./workbook/xlsx.ts')).readXlsxSheets
  if (has('content.xml') && has('META-INF/manifest.xml'))
    return (await import('./workbook/ods.ts')).readOdsSheets
  return undefined
}

/** Returns the error message for unsupported office documents; undefined for other archives. */
function describeUnsupportedOffice(paths: readonly string[]): string | undefined {
  if (paths.includes('xl/workbook.bin')) return 'this is a binary workbook (XLSB)'
  return paths.includes('word/document.xml') ? 'this is a text document (DOCX), not a table' : undefined
}
