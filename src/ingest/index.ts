// Parses files into columns of JSON. Independent of the service: the command line uses it for previews.

export { unpacked } from './archive/unpack.ts'
export { ingestDelimited } from './delimited/delimited.ts'
export { isSparse } from './delimited/gaps.ts'
export { givenDelimiter, givenStyle } from './detect/given.ts'
export { type FileOptions, type FoundTable, ingestFile } from './file.ts'
export { isDataFile } from './name.ts'
export { type JsonLine, jsonLines } from './records/ndjson.ts'
export { encodingNamed } from './text/encoding.ts'
export { peek } from './text/peek.ts'
export { type Bounds, boundsOf, boundsTogether } from './values/bounds.ts'
export { numbersAsText, type SliceEncoding as Form } from './values/column.ts'
export {
  type ColumnType,
  type DelimitedOptions,
  type Dialect,
  type FirstValue,
  type GivenType,
  givenTypes,
} from './values/dialect.ts'
export { endsAmong, SliceEnds } from './values/slice-ends.ts'
export type { ColumnFound, Ingested, Slice, SliceSink } from './values/table.ts'
export { type Rewrite, rewritten } from './values/text-type.ts'
export { badData } from './values/warnings.ts'
