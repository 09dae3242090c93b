// Reads Arrow IPC files and streams: refuses damaged ones, and gives rows their own dictionaries, not the last ones.

import { type Batch, type Column, type Table, Type, tableFromIPC } from '@uwdata/flechette'
import { checkBuffers, damagedError } from './arrow-checks.ts'

/** A message of a stream. `bytes`: the whole of it. */
interface Message {
  kind: number
  bytes: Uint8Array
  /** Of a dictionary. `isDelta`: its values follow those of the dictionary before. */
  id: bigint
  isDelta: boolean
}

/** Begin of an Arrow file, padded to eight bytes. */
const MAGIC = Buffer.from('ARROW1')
const MAGIC_BYTES = 8

const SCHEMA = 1
const DICTIONARY = 2
const RECORD_BATCH = 3
/** Begins a message, except in files from before 2019. */
const CONTINUATION = -1
/** Fields of the tables of messages and dictionaries (`Message.fbs` of the Arrow format). */
const FIELDS = { kind: 1, header: 2, bodyLength: 3, id: 0, data: 1, isDelta: 2 }

const OPTIONS = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true }

/** Reads an Arrow IPC file or stream. */
export function readTable(bytes: Uint8Array): Table {
  const ofFile = MAGIC.equals(bytes.subarray(0, MAGIC.length))
  const messages = listMessages(ofFile ? bytes.subarray(MAGIC_BYTES, findFooter(bytes)) : bytes)
  if (!(messages ? messages.every(isExpected) : ofFile)) throw damagedError()
  const table = ofFile ? tableFromIPC(bytes, OPTIONS) : readStream(bytes, messages!)
  // The footer of a file lists its batches.
  const batches = messages?.filter(({ kind }) => kind === RECORD_BATCH).length ?? 0
  const [column] = table.children
  if (column && column.data.length < batches) throw damagedError()
  checkBuffers(table)
  return table
}

/** Returns where the footer of a file begins. Its size is before the magic bytes at the end. */
function findFooter(bytes: Uint8Array): number {
  const sizeAt = bytes.length - MAGIC.length - 4
  return sizeAt < 0 ? 0 : sizeAt - Buffer.from(bytes.buffer, bytes.byteOffset).readInt32LE(sizeAt)
}

/** Returns whether a message is of a kind that tables have. Some files have their schema in the footer alone. */
function isExpected({ kind }: Message, k: number): boolean {
  return kind === DICTIONARY || kind === RECORD_BATCH || (kind === SCHEMA && k === 0)
}

/** Reads a stream, which may replace dictionaries. */
function readStream(bytes: Uint8Array, messages: readonly Message[]): Table {
  const known = new Set<bigint>()
  const replaced = new Set<Message>()
  for (const message of messages) {
    if (message.kind !== DICTIONARY) continue
    if (known.has(message.id) && !message.isDelta) replaced.add(message)
    known.add(message.id)
  }
  if (replaced.size === 0) return tableFromIPC(bytes, OPTIONS)
  // As if each dictionary added its values to those before: then each row finds its own.
  const added = messages.map((message) => (replaced.has(message) ? toDelta(message.bytes) : message.bytes))
  const table = tableFromIPC(added, OPTIONS)
  setDictionaries(table, listParts(messages))
  return table
}

/** Which messages of a dictionary have the values of a batch of rows: from `first` up to `end`, exclusive. */
interface DictionaryPart {
  first: number
  end: number
}

/** Lists the parts of all dictionaries, by id, for each batch of rows. */
function listParts(messages: readonly Message[]): ReadonlyMap<bigint, DictionaryPart>[] {
  const parts: ReadonlyMap<bigint, DictionaryPart>[] = []
  let current: ReadonlyMap<bigint, DictionaryPart> = new Map()
  for (const { kind, id, isDelta } of messages) {
    if (kind === DICTIONARY) {
      const { first, end } = current.get(id) ?? { first: 0, end: 0 }
      current = new Map(current).set(id, { first: isDelta ? first : end, end: end + 1 })
    } else if (kind !== SCHEMA) parts.push(current)
  }
  return parts
}

/** A batch with a dictionary. `cache`: the values that its keys stand for. */
interface EncodedBatch extends Batch<unknown> {
  dictionary: Column<unknown>
  cache: { slice(from: number, to: number): EncodedBatch['cache'] }
}

/** Sets the dictionary values of each batch of rows to those that were sent last before it. */
function setDictionaries(table: Table, parts: readonly ReadonlyMap<bigint, DictionaryPart>[]): void {
  /** Values of parts, by id and first and last message. */
  const known = new Map<string, EncodedBatch['cache']>()
  /** Number of values before each message, and of all, by dictionary. */
  const counted = new Map<Column<unknown>, number[]>()
  const startsOf = (dictionary: Column<unknown>): number[] => {
    let starts = counted.get(dictionary)
    if (!starts) {
      starts = [0]
      for (const { length } of dictionary.data) starts.push(starts[starts.length - 1] + length)
      counted.set(dictionary, starts)
    }
    return starts
  }
  const visit = (batch: Batch<unknown>, own: ReadonlyMap<bigint, DictionaryPart>): void => {
    const { type } = batch
    if (type.typeId !== Type.Dictionary) {
      for (const child of batch.children ?? []) visit(child, own)
      return
    }
    const { first, end } = own.get(BigInt(type.id)) ?? { first: 0, end: 0 }
    const name = `${type.id} ${first} ${end}`
    const encoded = batch as EncodedBatch
    let values = known.get(name)
    if (!values) {
      const starts = startsOf(encoded.dictionary)
      values = encoded.cache.slice(starts[first], starts[end])
      known.set(name, values)
    }
    encoded.cache = values
  }
  for (const column of table.children)
    for (const [k, batch] of column.data.entries()) visit(batch, parts[k] ?? new Map())
}

/** Lists the messages of a stream; undefined if it is damaged, or a file. */
function listMessages(bytes: Uint8Array): Message[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const messages: Message[] = []
  try {
    for (let at = 0; at + 4 <= bytes.length; ) {
      const start = at
      if (view.getInt32(at, true) === CONTINUATION) at += 4
      const length = view.getInt32(at, true)
      at += 4
      if (length === 0) break
      const message = tableAt(view, at)
      const kind = message(FIELDS.kind)
      const header = message(FIELDS.header)
      const dictionary = header === undefined ? undefined : tableAt(view, header)
      const [id, isDelta] = [dictionary?.(FIELDS.id), dictionary?.(FIELDS.isDelta)]
      const body = message(FIELDS.bodyLength)
      const bodyLength = body === undefined ? 0 : Number(view.getBigInt64(body, true))
      at += length + bodyLength
      if (length < 0 || bodyLength < 0 || at > bytes.length) return undefined
      messages.push({
        kind: kind === undefined ? 0 : view.getUint8(kind),
        bytes: bytes.subarray(start, at),
        id: id === undefined ? 0n : view.getBigInt64(id, true),
        isDelta: isDelta !== undefined && view.getUint8(isDelta) !== 0,
      })
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  return messages
}

/** Returns a function from a field to its address, in the FlatBuffers table to which the offset at `at` leads. */
function tableAt(view: DataView, at: number): (field: number) => number | undefined {
  const table = at + view.getInt32(at, true)
  const fields = table - view.getInt32(table, true)
  const size = view.getUint16(fields, true)
  return (field) => {
    const place = 4 + 2 * field
    const offset = place < size ? view.getUint16(fields + place, true) : 0
    return offset === 0 ? undefined : table + offset
  }
}

/** Sizes of the parts of a table with the fields of a dictionary, in bytes: field offsets, padded, and the fields. */
const OFFSETS_BYTES = 16
const TABLE_BYTES = 24

/** Returns the message of a dictionary, whose values are added to those before. */
function toDelta(message: Uint8Array): Uint8Array {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const start = view.getInt32(0, true) === CONTINUATION ? 8 : 4
  const length = view.getInt32(start - 4, true)
  const header = tableAt(view, start)(FIELDS.header)!
  const dictionary = tableAt(view, header)
  const [id, data] = [dictionary(FIELDS.id), dictionary(FIELDS.data)!]
  // Another table after the metadata, to which the header leads instead.
  const offsets = (length + 7) & ~7
  const newLength = offsets + OFFSETS_BYTES + TABLE_BYTES
  const changed = new Uint8Array(8 + newLength + message.length - start - length)
  changed.set(message.subarray(start, start + length), 8)
  changed.set(message.subarray(start + length), 8 + newLength)
  const out = new DataView(changed.buffer)
  out.setInt32(0, CONTINUATION, true)
  out.setInt32(4, newLength, true)
  const table = 8 + offsets + OFFSETS_BYTES
  const sizes = [10, TABLE_BYTES, 8, 4, 16]
  for (const [k, size] of sizes.entries()) out.setUint16(8 + offsets + 2 * k, size, true)
  out.setInt32(table, OFFSETS_BYTES, true)
  out.setInt32(table + 4, data + view.getInt32(data, true) - start + 8 - (table + 4), true)
  out.setBigInt64(table + 8, id === undefined ? 0n : view.getBigInt64(id, true), true)
  out.setUint8(table + 16, 1)
  const place = header - start + 8
  out.setInt32(place, table - place, true)
  return changed
}
