// Parses JSON and NDJSON into columns.

import { Problem } from '../../contract/errors.ts'
import { defaultLimits, formatBytes } from '../../contract/limits.ts'
import { formatCount, formatList } from '../../contract/message-texts.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import {
  type Bytes,
  concatAsync,
  excerpt,
  findValueEnd,
  nextItem,
  parseJsonString,
  parseRawAsync,
  peek,
  RawJson,
  resumeStream,
  shouldYield,
  skipWhitespace,
  yieldToEventLoop,
} from '../../json/index.ts'
import { decodeToUtf8 } from '../text/decode.ts'
import { CLOSING_BRACKET } from '../values/characters.ts'
import { nameDistinctly } from '../values/column-names.ts'
import type { IngestResult, SliceSink } from '../values/table.ts'
import { badFile, Warnings } from '../values/warnings.ts'
import { readJsonArray } from './json-array.ts'
import { readJsonLines } from './ndjson.ts'
import { nameByPosition, PlainRecords } from './plain-records.ts'
import { type JsonOptions, type Member, RecordTable } from './record-table.ts'

/** Returns the properties of a GeoJSON feature. */
function propertiesOf(feature: RawJson, table: RecordTable): Iterable<Member> {
  const properties = feature.get('properties')
  return properties?.kind === 'object' ? table.membersOf(properties) : []
}

/** Yields the properties of a GeoJSON feature, then its other members. */
function* featureMembersOf(feature: RawJson, table: RecordTable): Generator<Member> {
  yield* propertiesOf(feature, table)
  for (const [name, cell] of feature.entries()) {
    const isShown = name === 'type' || (name === 'properties' && /^(object|null)$/.test(cell.kind))
    if (!isShown) yield [name, cell, `feature ${name}`]
  }
}

/** Parses NDJSON, one object or array per line, in constant memory. */
export async function ingestJsonLines(
  input: Bytes,
  options: JsonOptions,
  sink: SliceSink,
): Promise<IngestResult> {
  const table = new RecordTable(sink, options)
  const { source, encoding, limits } = options
  const warnings = new Warnings()
  const { head, whole } = await peek(input, MIN_KERNEL_BYTES)
  const plain = PlainRecords.open(table, options, head.length >= MIN_KERNEL_BYTES)
  const addPlain = plain && ((lines: Buffer) => plain.add(lines))
  try {
    for await (const { value } of readJsonLines(whole, { source, encoding, limits }, warnings, addPlain)) {
      if (value.kind === 'object') await table.addRecord(table.membersOf(value))
      else await table.addRecord(nameByPosition(value))
      plain?.learn(value)
    }
  } finally {
    plain?.release()
  }
  return table.finish(warnings)
}

/** Minimum size of a file that is read with a kernel, in bytes. */
const MIN_KERNEL_BYTES = 64 * 1024

/**
 * Parses a JSON document: records (`[{…}]`), rows (`[[…]]`), columns (`{"name": […]}`) or grid content of the
 * API (`{"cols": …}`).
 */
export async function ingestJson(input: Bytes, options: JsonOptions, sink: SliceSink): Promise<IngestResult> {
  const warnings = new Warnings()
  const source = options.source ?? 'input'
  const parts: Uint8Array[] = []
  let size = 0
  const { limits = defaultLimits } = options
  const most = limits.json_body_bytes
  const text = decodeToUtf8(input, options.encoding, source, warnings, true)[Symbol.asyncIterator]()
  for (;;) {
    const { value: part, done } = await text.next()
    if (done) break
    parts.push(part)
    size += part.length
    if (size <= most) continue
    if (!/^\s*\[\s*\{/.test(Buffer.concat(parts.slice(0, 1024)).toString('latin1', 0, 1024)))
      throw badFile(
        source,
        `a JSON document of more than ${formatBytes(most)} that is not an array of records (limit json_body_bytes)`,
        'Use NDJSON, with one JSON object per line, which has no such limit.',
      )
    const table = new RecordTable(sink, options)
    const plain = PlainRecords.open(table, options, true)
    try {
      const records = readJsonArray(resumeStream(parts, text), source, limits, plain)
      for await (const record of records) await table.addRecord(table.membersOf(record))
    } finally {
      plain?.release()
    }
    return table.finish(warnings)
  }
  let json: RawJson
  try {
    json = await parseRawAsync(await concatAsync(parts), source, limits)
  } catch (error) {
    throw error instanceof Problem ? new Problem('bad_data', error.message) : error
  }
  const table = new RecordTable(sink, options)
  if (json.kind === 'array') await readItems(json, table, options)
  else if (json.kind === 'object') await readMembers(json, table, options, warnings)
  else throw badFile(source, 'neither an object nor an array', SHAPES_HINT)
  return table.finish(warnings)
}

/** Returns the features of a GeoJSON collection; undefined for other objects. */
function findFeatures(members: ReadonlyMap<string, RawJson>): RawJson | undefined {
  const type = members.get('type')
  const features = members.get('features')
  return type?.kind === 'string' && type.toValue() === 'FeatureCollection' && features?.kind === 'array'
    ? features
    : undefined
}

const SHAPES_HINT = 'Give [{"a": 1, "b": 2}, …], {"a": [1, …], "b": [2, …]}, or rows as arrays.'

/**
 * Adds the items of an array: records, rows or single values. `membersOf` returns the cells of a record, by default its
 * members. `names`: column names of rows; by default the first row may have them.
 */
async function readItems(
  json: RawJson,
  table: RecordTable,
  options: JsonOptions,
  membersOf?: (record: RawJson) => Iterable<Member>,
  names?: string[],
): Promise<void> {
  const isLarge = json.end - json.start >= MIN_KERNEL_BYTES
  const plain = membersOf ? undefined : PlainRecords.open(table, options, isLarge)
  try {
    await new ItemReader(json, table, options, names).read(
      membersOf ?? ((record) => table.membersOf(record)),
      plain,
    )
  } finally {
    plain?.release()
  }
}

/** Adds the items of an array to a table. */
class ItemReader {
  /** Kind of the first item, and number of items so far. */
  private kind: RawJson['kind'] | undefined
  private count = 0
  private readonly source: string
  private readonly maxColumns: number

  constructor(
    private readonly json: RawJson,
    private readonly table: RecordTable,
    { source = 'input', limits = defaultLimits }: JsonOptions,
    /** Names of the cells of rows. */
    private names: string[] | undefined,
  ) {
    this.source = source
    this.maxColumns = limits.columns
  }

  async read(
    membersOf: (record: RawJson) => Iterable<Member>,
    plain: PlainRecords | undefined,
  ): Promise<void> {
    const { buf, start, end, limits } = this.json
    for (let at = skipWhitespace(buf, start + 1); buf[at] !== CLOSING_BRACKET; ) {
      const item = new RawJson(buf, at, findValueEnd(buf, at), limits)
      at = nextItem(buf, item.end)
      this.count++
      this.kind ??= item.kind
      if (item.kind === 'object' && this.kind === 'object') await this.table.addRecord(membersOf(item))
      else await this.addOther(item)
      if (!plain || plain.hasGivenUp || !(item.kind === 'object' || item.kind === 'array')) continue
      const separator = buf.subarray(item.end, at)
      const { rows, bytes } = await plain.take(item, separator, buf.subarray(at, end), this.names)
      this.count += rows
      // More blanks can follow than after the example.
      at = skipWhitespace(buf, at + bytes)
    }
  }

  /** Adds an item that is no record. Throws `bad_data` for a kind that does not fit to the first. */
  private async addOther(item: RawJson): Promise<void> {
    const { kind, source, count } = this
    if (item.kind === 'null' && kind === 'object') return
    if (item.kind === 'array' && kind === 'array') await this.addRow(item)
    else if (kind !== 'object' && kind !== 'array' && item.kind !== 'object' && item.kind !== 'array')
      await this.table.addRecord([['value', item]])
    else throw badFile(source, `item ${count} has another type than the items before it`, SHAPES_HINT)
  }

  private async addRow(row: RawJson): Promise<void> {
    const { table, source, count } = this
    const cells = readCells(row, this.maxColumns, source)
    if (count === 1 && !this.names) {
      this.names = headerNamesOf(cells)
      for (const name of this.names ?? []) table.getOrAddColumn(name)
      if (this.names) return
    }
    const { names } = this
    if (names && cells.length > names.length)
      throw badFile(source, `row ${count} has ${cells.length} values; there are ${names.length} names`)
    await table.addRecord(nameByPosition(row, names))
  }
}

/** Returns the cells of a row. Throws `bad_data` if there are more than `most`. */
function readCells(row: RawJson, most: number, source: string): RawJson[] {
  const cells: RawJson[] = []
  for (const cell of row.items()) {
    cells.push(cell)
    if (cells.length > most) throw badFile(source, `more than ${most} columns (limit columns)`)
  }
  return cells
}

/**
 * Returns the first row as column names, if its cells are distinct non-empty strings; otherwise undefined.
 */
function headerNamesOf(cells: readonly RawJson[]): string[] | undefined {
  if (cells.length === 0 || cells.some(({ kind }) => kind !== 'string')) return undefined
  const names = cells.map(({ bytes }) => parseJsonString(bytes.toString('utf8')))
  return new Set(names).size === names.length && names.every((name) => name.trim() !== '') ? names : undefined
}

/** Returns whether an object is a plotly.js figure: a list of traces and a layout. */
function isFigure(members: ReadonlyMap<string, RawJson>): boolean {
  const traces = members.get('data')
  if (traces?.kind !== 'array' || members.get('layout')?.kind !== 'object') return false
  const trace: RawJson | undefined = traces.items().next().value
  return trace === undefined || trace.kind === 'object'
}

/** Counts the items of an array; stops above `most`. */
function countItems(array: RawJson, most: number): number {
  let count = 0
  for (const _ of array.items()) if (++count > most) break
  return count
}

/**
 * Returns the names and rows of a table that pandas has split: `{"columns": ["a", …], "index": […], "data": [[1, …], …]}`;
 * undefined for other objects. Throws `bad_data` if the rows have another number of values than there are columns.
 */
async function findSplitTable(
  members: ReadonlyMap<string, RawJson>,
  { source = 'input', limits = defaultLimits }: JsonOptions,
  warnings: Warnings,
): Promise<{ names: string[]; rows: RawJson } | undefined> {
  const [columns, rows] = [members.get('columns'), members.get('data')]
  const hasOtherMembers = [...members.keys()].some((name) => !/^(?:columns|index|data)$/.test(name))
  if (hasOtherMembers || !columns || !rows) return undefined
  const first: RawJson | undefined = rows.items().next().value
  if (first && first.kind !== 'array') return undefined
  const width = first && countItems(first, limits.columns)
  if (first && width !== countItems(columns, limits.columns)) {
    // Two columns with these names.
    if ((await lengthOf(columns)) === (await lengthOf(rows))) return undefined
    throw badFile(
      source,
      `row 1 of data has ${formatCount(width!, 'value')}, which is not the number of columns`,
    )
  }
  const names = readCells(columns, limits.columns, source).map(nameOf)
  return { names: nameDistinctly(names, warnings), rows }
}

/** Returns the name that a value gives to a column; those of several levels are joined. */
function nameOf(cell: RawJson): string {
  if (cell.kind === 'array')
    return Array.from(cell.items(), nameOf)
      .filter((name) => name !== '')
      .join('.')
  if (cell.kind === 'null') return ''
  const text = cell.bytes.toString('utf8')
  return cell.kind === 'string' ? parseJsonString(text) : text
}

/** Returns whether an array is 0, 1, 2 …; true without one. */
async function areRowNumbers(array: RawJson | undefined): Promise<boolean> {
  let row = 0
  for (const item of array?.items() ?? []) {
    if (item.toValue() !== row++) return false
    if (row % 256 === 0 && shouldYield()) await yieldToEventLoop()
  }
  return true
}

async function lengthOf(array: RawJson): Promise<number> {
  let length = 0
  for (const _ of array.items()) if (++length % 256 === 0 && shouldYield()) await yieldToEventLoop()
  return length
}

/** Throws `bad_data` for arrays of different lengths of which one has records: they are no columns of one table. */
async function assertOneTable(arrays: readonly [string, RawJson][], source: string): Promise<void> {
  const records = arrays.find(([, array]) => array.items().next().value?.kind === 'object')
  if (!records) return
  const lengths = new Set<number>()
  for (const [, array] of arrays) lengths.add(await lengthOf(array))
  if (lengths.size === 1) return
  const names = formatList(
    arrays.map(([name]) => excerpt(name)),
    5,
  )
  const [name] = records
  throw badFile(
    source,
    `${names} have different lengths, so they are no columns of one table`,
    `Choose one. For example: jq ${quoteShellWord(`.[${JSON.stringify(name)}]`)} FILE | gridline upload - --name ${quoteShellWord(name)}`,
  )
}

/** Adds an object: grid content of the API, GeoJSON, one array of records, or arrays as columns. */
async function readMembers(
  json: RawJson,
  table: RecordTable,
  options: JsonOptions,
  warnings: Warnings,
): Promise<void> {
  const { source = 'input' } = options
  const members = table.membersOf(await json.indexMembers())
  const cols = await members.get('cols')?.indexMembers()
  if (cols?.kind === 'object') {
    const dataArrays: [string, RawJson][] = []
    for (const [name, column] of table.membersOf(cols)) {
      const data = column.kind === 'object' ? column.entries().get('data') : undefined
      if (data?.kind !== 'array') throw badFile(source, `column ${excerpt(name)} has no data`, SHAPES_HINT)
      dataArrays.push([name, data])
    }
    await table.addCompleteColumns(dataArrays)
    return
  }
  if (isFigure(members))
    throw badFile(
      source,
      'this is a figure, not a table',
      'To create a plot from it: gridline plot create. From many files: gridline import',
    )
  const cells = members.get('cells') ?? members.get('worksheets')
  if (members.has('nbformat') && cells?.kind === 'array')
    throw badFile(
      source,
      'this is a notebook, not a table',
      'To import its charts: gridline import. Write its tables to files, for example with df.to_csv("table.csv").',
    )
  const features = findFeatures(members)
  if (features) {
    const ignored = [...members.keys()].filter((name) => name !== 'type' && name !== 'features')
    if (ignored.length > 0)
      warnings.note(`only features was read: the other members are not a table (${formatList(ignored, 10)})`)
    // Adds all property columns first, so that the geometry is the last column.
    for (const feature of features.items()) {
      table.addColumns(propertiesOf(feature, table))
      if (shouldYield()) await yieldToEventLoop()
    }
    await readItems(features, table, options, (feature) => featureMembersOf(feature, table))
    return
  }
  const arrays = [...members].filter(([, member]) => member.kind === 'array')
  const [only] = arrays
  const first: RawJson | undefined = only?.[1].items().next().value
  if (arrays.length === 1 && first?.kind === 'object' && members.size >= 1) {
    if (members.size > 1) warnings.note(`only ${only[0]} was read: the other members are not a table`)
    await readItems(only[1], table, options)
    return
  }
  if (arrays.length === 0 || arrays.length < members.size)
    throw badFile(source, 'an object whose members are not all arrays', SHAPES_HINT)
  const split = await findSplitTable(members, options, warnings)
  if (split) {
    for (const name of split.names) table.getOrAddColumn(name)
    if (!(await areRowNumbers(members.get('index'))))
      warnings.note('index was not read: the columns and their data are the table')
    await readItems(split.rows, table, options, undefined, split.names)
    return
  }
  await assertOneTable(arrays, source)
  await table.addCompleteColumns(arrays)
}
