export {
  CompressionCodecs,
  ConvertedTypes,
  Encodings,
  FieldRepetitionTypes,
  ParquetTypes,
} from 'hyparquet/src/constants.js'
export { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
export { writePageHeader } from 'hyparquet-writer/src/datapage.js'
export { logicalType } from 'hyparquet-writer/src/metadata.js'
export { serializeTCompactProtocol as serialize } from 'hyparquet-writer/src/thrift.js'
export { unconvertStatistics } from 'hyparquet-writer/src/unconvert.js'
