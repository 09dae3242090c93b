/** Parses files into columns of JSON text. Independent of the service: the CLI uses it for previews. */

export { numbersAsText, type SliceEncoding as Form } from './column.ts'
export { ingestDelimited } from './delimited.ts'
export {
  type ColumnType,
  type DelimitedOptions,
  type Dialect,
  type FirstValue,
  type GivenType,
  givenTypes,
} from './dialect.ts'
export { encodingNamed } from './encoding.ts'
export { type FileOptions, type FoundTable, ingestFile } from './file.ts'
export { isSparse } from './gaps.ts'
export { givenDelimiter, givenStyle } from './given.ts'
export { isDataFile } from './name.ts'
export { type JsonLine, jsonLines } from './ndjson.ts'
export { peek } from './peek.ts'
export type { ColumnFound, Ingested, Slice, SliceSink } from './table.ts'
export { unpacked } from './unpack.ts'
export { badData } from './warnings.ts'
