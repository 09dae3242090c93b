// Parses files into columns of JSON. Independent of the service: the command line uses it for previews.

export { decompress as unpacked } from './archive/unpack.ts'
export { isDataFile } from './data-file-name.ts'
export { ingestDelimited } from './delimited/delimited.ts'
export { isSparse } from './delimited/sparse.ts'
export { parseDelimiter as givenDelimiter, parseStyleOptions as givenStyle } from './detect/style-options.ts'
export { type FileOptions, ingestFile, type ParsedTable as FoundTable } from './file.ts'
export { type JsonLine, readJsonLines as jsonLines } from './records/ndjson.ts'
export { resolveEncoding as encodingNamed } from './text/encoding.ts'
export { peek } from './text/peek.ts'
export { type Bounds, boundsOf, mergeBounds as boundsTogether } from './values/bounds.ts'
export { quoteNumbers as numbersAsText, type SliceEncoding as Form } from './values/column.ts'
export {
  type ColumnType,
  type DelimitedOptions,
  type Dialect,
  type FirstValue,
  GIVEN_TYPES as givenTypes,
  type GivenType,
} from './values/dialect.ts'
export { findSliceEnds as endsAmong, SliceEnds } from './values/slice-ends.ts'
export type {
  IngestResult as Ingested,
  ParsedColumn as ColumnFound,
  Slice,
  SliceSink,
} from './values/table.ts'
export { convertTexts as rewritten, type Rewrite } from './values/text-type.ts'
export { badData } from './values/warnings.ts'
