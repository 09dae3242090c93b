// Parses files into columns of JSON. Independent of the service: the command line uses it for previews.

import type { listZipMembers as listMembers } from './archive/archive.ts'

export { decompress } from './archive/unpack.ts'
export { isDataFile } from './data-file-name.ts'
export { ingestDelimited } from './delimited/delimited.ts'
export { parseDelimiter, parseStyleOptions } from './detect/style-options.ts'
export { type FileOptions, ingestFile, type ParsedTable } from './file.ts'
export { type JsonLine, readJsonLines } from './records/ndjson.ts'
export { resolveEncoding } from './text/encoding.ts'
export {
  type ColumnType,
  type DelimitedOptions,
  type Dialect,
  type FirstValue,
  GIVEN_TYPES,
  type GivenType,
} from './values/dialect.ts'
export { suggestCommaOptions } from './values/number.ts'
export type {
  IngestResult,
  ParsedColumn,
  Slice,
  SliceSink,
} from './values/table.ts'
export { badData } from './values/warnings.ts'

/** Lists the files of a ZIP archive. Imports the reader on first use. */
export const listZipMembers: typeof listMembers = async (...archive) => {
  const { listZipMembers: list } = await import('./archive/archive.ts')
  return list(...archive)
}
