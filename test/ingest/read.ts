// Reads delimited text in a test.
import { defaultLimits } from '../../src/contract/limits.ts'
import { type DelimitedOptions, decompress, ingestDelimited } from '../../src/ingest/index.ts'
import { convertTexts, quoteNumbers } from '../../src/ingest/slices.ts'

/** Reads a text: names, types, rows as values, warnings. `pieces`: size of chunks, in bytes. */
export async function read(text: string | Uint8Array, options: DelimitedOptions = {}, pieces = 64 * 1024) {
  const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text)
  const input = (async function* () {
    for (let k = 0; k < bytes.length; k += pieces) yield bytes.subarray(k, k + pieces)
  })()
  const slices: { column: number; form: string; text: Buffer }[] = []
  const found = await ingestDelimited(
    decompress(input, 'test.csv', options.limits ?? defaultLimits),
    { source: 'test.csv', ...options },
    {
      slice(slice) {
        slices.push(slice)
      },
    },
  )
  const columns = found.columns.map(({ type, rewrite }, k) =>
    slices
      .filter(({ column }) => column === k)
      .flatMap(({ form, text: part }) =>
        JSON.parse(
          `[${rewrite ? convertTexts(part, rewrite) : type === 'text' && form === 'number' ? quoteNumbers(part) : part}]`,
        ),
      ),
  )
  const rows = Array.from({ length: found.rows }, (_, r) => columns.map((column) => column[r]))
  return {
    ...found,
    names: found.columns.map(({ name }) => name),
    types: found.columns.map(({ type }) => type),
    rows,
    count: found.rows,
    slices,
  }
}
