import { basename } from 'node:path'
import { limitsFrom } from '../../contract/limits.ts'
import type { DelimitedOptions, ingestFile } from '../../ingest/index.ts'
import { openInput } from './input.ts'

/** Bytes of a text file that are read to know its columns. */
const HEAD_BYTES = 1024 * 1024

type Tables = Awaited<ReturnType<typeof ingestFile>>['tables']

/**
 * The tables of a data file of this machine, read as an upload reads it. Of a long text, the beginning is read; of a file
 * of another type, all of it, and none if it is longer than `most` bytes. Throws what is wrong with the file.
 */
export async function tablesOf(
  file: string,
  reading: DelimitedOptions,
  environment: NodeJS.ProcessEnv,
  most = Number.POSITIVE_INFINITY,
): Promise<Tables> {
  const input = await openInput(file)
  const size = input.size ?? 0
  const isText = /\.(csv|tsv|tab|psv|txt|dat|ndjson|jsonl)$/i.test(file)
  if (!isText && size > most) return []
  const { ingestFile } = await import('../../ingest/index.ts')
  const bytes = isText && size > HEAD_BYTES ? firstLines(input.open()) : input.open()
  const options = { ...reading, fileName: basename(file), limits: limitsFrom(environment) }
  const { tables } = await ingestFile(bytes, options, () => ({ slice() {} }))
  // A row further down may decide whether the day or the month is first.
  if (isText && size > HEAD_BYTES)
    for (const { ingested } of tables)
      for (const column of ingested.columns) if (column.dateOrder === 'undecided') delete column.dateOrder
  return tables
}

/** The whole lines at the beginning of a text. */
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
