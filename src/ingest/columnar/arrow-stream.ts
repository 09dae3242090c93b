// Splits Arrow IPC streams where a dictionary is replaced: the library reads all dictionaries before the rows.

/** A message of a stream. `bytes`: the whole of it. */
interface Message {
  kind: number
  bytes: Uint8Array
  /** Of a dictionary. `isDelta`: its values follow those of the dictionary before. */
  id: bigint
  isDelta: boolean
}

const SCHEMA = 1
const DICTIONARY = 2
/** Begins a message, except in files from before 2019. */
const CONTINUATION = -1
/** Fields of the tables of messages and dictionaries (`Message.fbs` of the Arrow format). */
const FIELDS = { kind: 1, header: 2, bodyLength: 3, id: 0, isDelta: 2 }

/**
 * Splits a stream into parts whose dictionaries stay the same but for added values. Each part is a stream, as a list of
 * messages. A file, and a damaged stream, is one part.
 */
export function splitStream(bytes: Uint8Array): (Uint8Array | Uint8Array[])[] {
  const messages = listMessages(bytes)
  if (!messages) return [bytes]
  const parts: Uint8Array[][] = []
  const schema: Uint8Array[] = []
  const dictionaries = new Map<bigint, Uint8Array[]>()
  let records: Uint8Array[] = []
  const endPart = (): void => {
    if (records.length > 0 || parts.length === 0)
      parts.push([...schema, ...[...dictionaries.values()].flat(), ...records])
    records = []
  }
  for (const { kind, bytes: message, id, isDelta } of messages) {
    if (kind === SCHEMA) schema.push(message)
    else if (kind !== DICTIONARY) records.push(message)
    else if (isDelta && dictionaries.has(id)) dictionaries.get(id)!.push(message)
    else {
      if (dictionaries.has(id)) endPart()
      dictionaries.set(id, [message])
    }
  }
  endPart()
  return parts.length === 1 ? [bytes] : parts
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
      const kind = message(FIELDS.kind, (offset) => view.getUint8(offset)) ?? 0
      const header = message(FIELDS.header, (offset) => tableAt(view, offset))
      const bodyLength = Number(message(FIELDS.bodyLength, (offset) => view.getBigInt64(offset, true)) ?? 0n)
      at += length + bodyLength
      if (length < 0 || bodyLength < 0 || at > bytes.length) return undefined
      messages.push({
        kind,
        bytes: bytes.subarray(start, at),
        id: header?.(FIELDS.id, (offset) => view.getBigInt64(offset, true)) ?? 0n,
        isDelta: header?.(FIELDS.isDelta, (offset) => view.getUint8(offset) !== 0) ?? false,
      })
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  return messages
}

/** Returns a reader of the fields of the FlatBuffers table to which the offset at `at` leads. */
function tableAt(view: DataView, at: number) {
  const table = at + view.getUint32(at, true)
  const fields = table - view.getInt32(table, true)
  const size = view.getUint16(fields, true)
  return <T>(field: number, read: (offset: number) => T): T | undefined => {
    const place = 4 + 2 * field
    const offset = place < size ? view.getUint16(fields + place, true) : 0
    return offset === 0 ? undefined : read(table + offset)
  }
}
