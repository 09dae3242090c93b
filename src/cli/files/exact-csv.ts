// Grids as CSV that a server reads as the same grid again.
import type { HeadersOf } from '../../contract/operations/index.ts'
import type { ColumnMeta, GridMeta } from '../../contract/resources/index.ts'

/** Returns the headers with which a server reads all values of a grid as they are. `columns`: with their stored types. */
export function exactCsvHeaders(
  columns: readonly Pick<ColumnMeta, 'name' | 'type'>[],
): HeadersOf<'grids.upload'> {
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, typeForUpload(type)]))
  return {
    Columns: encodeURIComponent(JSON.stringify(types)),
    'As-Written': true,
    Header: true,
    Delimiter: 'comma',
    Encoding: 'utf-8',
    Quote: '%22',
    'Null-Text': ',',
  }
}

/** Returns the type by which a column is read again. A column without values is text. */
export function typeForUpload(type: ColumnMeta['type']): ColumnMeta['type'] {
  return type === 'empty' ? 'text' : type
}

/** Thrown at what a reader of CSV would change. */
export class InexactCsv extends Error {}

/** A number such as 1E400, which readers of CSV take for text. */
const LARGE_EXPONENT = /[eE][+-]?\d{3}/
const MAX_EXPONENT_BYTES = 5

/** Passes on CSV. Throws `InexactCsv` at a row without values, at NUL, which readers leave out, and at large exponents. */
export async function* checkCsv(csv: AsyncIterable<Uint8Array>, columns: number): AsyncGenerator<Uint8Array> {
  const line = Buffer.from(`\n${','.repeat(columns - 1)}\n`)
  let end = Buffer.alloc(0)
  for await (const chunk of csv) {
    const text = Buffer.concat([end, chunk])
    if (text.includes(line) || chunk.includes(0) || LARGE_EXPONENT.test(text.toString('latin1')))
      throw new InexactCsv()
    end = text.subarray(Math.max(0, text.length - Math.max(line.length - 1, MAX_EXPONENT_BYTES)))
    yield chunk
  }
}

/** Maximum size of the types of columns, which an import sends in a header, in bytes. */
const MAX_TYPES_BYTES = 40_000

/** Returns whether CSV keeps the values of a grid and their types, if no row is empty. */
export function fitsCsv({ cols, row_count }: GridMeta): boolean {
  const types = encodeURIComponent(JSON.stringify(cols.map(({ name, type }) => [name, type])))
  // Readers of CSV cut blanks around names.
  const fits = ({ name, type }: ColumnMeta): boolean =>
    type !== 'json' && /^[^\s\0](.*\S)?$/s.test(name) && !name.startsWith('\ufeff')
  // In a file with one column, a missing value at the end is an empty text.
  return (
    (cols.length > 1 || (cols.length === 1 && row_count === 0)) &&
    cols.every(fits) &&
    types.length < MAX_TYPES_BYTES
  )
}
