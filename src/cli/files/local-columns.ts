// Reads the columns of a local file from its first bytes.
import { basename } from 'node:path'
import { readLimits } from '../../contract/limits.ts'
import type { DelimitedOptions, ingestFile } from '../../ingest/index.ts'
import { openInput } from './input.ts'

/** Number of bytes of a text file that are read. */
const HEAD_BYTES = 1024 * 1024

type Tables = Awaited<ReturnType<typeof ingestFile>>['tables']

/**
 * Reads the tables of a local file. Of a long text file, only the beginning; other files completely, or not
 * at all above `maxBytes`. Throws errors of the file.
 */
export async function readTables(
  file: string,
  reading: DelimitedOptions,
  environment: NodeJS.ProcessEnv,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<Tables> {
  const input = await openInput(file)
  const size = input.size ?? 0
  const isText = /\.(csv|tsv|tab|psv|txt|dat|ndjson|jsonl)$/i.test(file)
  if (!isText && size > maxBytes) return []
  const { ingestFile } = await import('../../ingest/index.ts')
  const bytes = isText && size > HEAD_BYTES ? firstLines(input.open()) : input.open()
  const options = { ...reading, fileName: basename(file), limits: readLimits(environment) }
  const { tables } = await ingestFile(bytes, options, () => ({ slice() {} }))
  // A later row can decide between day-first and month-first dates.
  if (isText && size > HEAD_BYTES)
    for (const { ingested } of tables)
      for (const column of ingested.columns) if (column.dateOrder === 'undecided') delete column.dateOrder
  return tables
}

/** Yields the complete lines within the first bytes of a text. */
async function* firstLines(text: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of text) {
    size += chunk.length
    if (size < HEAD_BYTES) yield chunk
    else {
      yield chunk.subarray(0, chunk.lastIndexOf(0x0a) + 1)
      return
    }
  }
}
