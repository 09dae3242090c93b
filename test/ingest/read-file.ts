// Reads a data file of any format in a test.
import { readLimits } from '../../src/contract/limits.ts'
import { type FileOptions, ingestFile, type Slice } from '../../src/ingest/index.ts'
import { quoteNumbers } from '../../src/ingest/slices.ts'

/** Reads a file: path, names, types, rows and warnings of each table. `pieces`: size of chunks, in bytes. */
export async function readFile(bytes: Uint8Array, options: Partial<FileOptions> = {}, pieces = 64 * 1024) {
  const input = (async function* () {
    for (let k = 0; k < bytes.length; k += pieces) yield bytes.subarray(k, k + pieces)
  })()
  const { tables, warnings } = await ingestFile(input, { limits: readLimits(), ...options }, () => {
    const slices: Slice[] = []
    return { slices, slice: (one: Slice) => void slices.push(one) }
  })
  return tables.map(({ path, ingested, sink }) => {
    const { columns, rows } = ingested
    const values = columns.map((_, k) =>
      sink.slices
        .filter(({ column }) => column === k)
        .flatMap(({ form, text }) =>
          JSON.parse(`[${columns[k].type === 'text' && form === 'number' ? quoteNumbers(text) : text}]`),
        ),
    )
    return {
      path,
      names: columns.map(({ name }) => name),
      types: columns.map(({ type }) => type),
      /** JSON text of each value, by column, of columns that are stored as written. */
      get literals() {
        return columns.map((_, k) =>
          sink.slices
            .filter(({ column }) => column === k)
            .flatMap(({ text }) => text.toString().match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? []),
        )
      },
      warnings: [...warnings, ...ingested.warnings],
      rows: Array.from({ length: rows }, (_, r) => values.map((column) => column[r])),
    }
  })
}
