// Writes the metadata of a Parquet file in turns: those of 10,000 columns would hold the event loop for a third of a second.
import type { ColumnChunk, FileMetaData, RowGroup, SchemaElement } from 'hyparquet'
import { shouldYield, yieldToEventLoop } from '../../../../json/index.ts'

type Library = typeof import('../../../../vendor/parquet.ts')
type Writer = InstanceType<Library['ByteWriter']>

/** Metadata of a file. Their length is that of what is written. */
export type Footer = Omit<FileMetaData, 'metadata_length'>

/** First bytes of a field in Thrift's compact protocol: it follows the one before, and has this type. */
const NEXT_INT32 = 0x15
const NEXT_INT64 = 0x16
const NEXT_LIST = 0x19
/** Type of a list of structures, and the end of a structure. */
const STRUCTS = 12
const STOP = 0

/**
 * Appends metadata and their length, as `writeMetadata` of the library does at once. The fields are those of
 * https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
 */
export async function writeFooter(out: Writer, library: Library, footer: Footer): Promise<void> {
  const { serialize } = library
  const { version, schema, num_rows, row_groups, key_value_metadata, created_by } = footer
  const start = out.offset
  const columns = schema.slice(1)
  out.appendUint8(NEXT_INT32)
  out.appendZigZag(version)
  await writeList(out, schema, (element) => serialize(out, toElement(library, element)))
  out.appendUint8(NEXT_INT64)
  out.appendZigZag(num_rows)
  await writeList(out, row_groups, (group) => writeGroup(out, library, group, columns))
  // The fields 5 to 7 follow the field 4.
  const at = out.index
  serialize(out, {
    field_5: key_value_metadata?.map(({ key, value }) => ({ field_1: key, field_2: value })),
    field_6: created_by,
    field_7: columns.map(() => ({ field_1: {} })),
  })
  out.getBytes()[at] -= 4 << 4
  out.appendUint32(out.offset - start)
}

/** Appends a list of structures as the next field. */
async function writeList<T>(
  out: Writer,
  items: readonly T[],
  write: (item: T, k: number) => void | Promise<void>,
): Promise<void> {
  out.appendUint8(NEXT_LIST)
  if (items.length > 14) {
    out.appendUint8((15 << 4) | STRUCTS)
    out.appendVarInt(items.length)
  } else out.appendUint8((items.length << 4) | (items.length === 0 ? STOP : STRUCTS))
  for (const [k, item] of items.entries()) {
    await write(item, k)
    if (shouldYield()) await yieldToEventLoop()
  }
}

async function writeGroup(
  out: Writer,
  library: Library,
  { columns, total_byte_size, num_rows }: RowGroup,
  elements: readonly SchemaElement[],
): Promise<void> {
  await writeList(out, columns, (chunk, k) => library.serialize(out, toChunk(library, chunk, elements[k])))
  for (const number of [total_byte_size, num_rows]) {
    out.appendUint8(NEXT_INT64)
    out.appendZigZag(number)
  }
  out.appendUint8(STOP)
}

function toElement(
  { ParquetTypes, FieldRepetitionTypes, ConvertedTypes, logicalType }: Library,
  { type, repetition_type, name, num_children, converted_type, logical_type }: SchemaElement,
) {
  return {
    field_1: type && ParquetTypes.indexOf(type),
    field_3: repetition_type && FieldRepetitionTypes.indexOf(repetition_type),
    field_4: name,
    field_5: num_children,
    field_6: converted_type && ConvertedTypes.indexOf(converted_type),
    field_10: logicalType(logical_type),
  }
}

function toChunk(
  { ParquetTypes, Encodings, CompressionCodecs, unconvertStatistics }: Library,
  { file_offset, meta_data }: ColumnChunk,
  element: SchemaElement,
) {
  const facts = meta_data!
  return {
    field_2: file_offset,
    field_3: {
      field_1: ParquetTypes.indexOf(facts.type),
      field_2: facts.encodings.map((one) => Encodings.indexOf(one)),
      field_3: facts.path_in_schema,
      field_4: CompressionCodecs.indexOf(facts.codec),
      field_5: facts.num_values,
      field_6: facts.total_uncompressed_size,
      field_7: facts.total_compressed_size,
      field_9: facts.data_page_offset,
      field_12: facts.statistics && unconvertStatistics(facts.statistics, element),
    },
  }
}
