// Decoder process of Parquet and Arrow files, since hostile files may exhaust time or memory.
import { readArrow } from './arrow.ts'
import type { ColumnarJob, ColumnarMessage } from './decoder-messages.ts'
import type { LossCounts, ToJson } from './json-values.ts'
import { openParquet } from './parquet.ts'
import { RefusedFile, type Table } from './table.ts'

/** A batch of values ends at the first limit reached. */
const MAX_BATCH_ROWS = 65_536
const MAX_BATCH_BYTES = 4 * 1024 * 1024
/** Maximum number of batches sent but not yet taken. */
const MAX_UNTAKEN_BATCHES = 4

const job = JSON.parse(process.argv[2]) as ColumnarJob
let untakenBatches = 0
let wake: (() => void) | undefined
process.on('message', () => {
  untakenBatches--
  wake?.()
})

function send(message: ColumnarMessage): void {
  process.send!(message, () => {})
}

process.on('disconnect', () => process.exit())

/** Reader of each format. */
const READER_BY_FORMAT: Record<ColumnarJob['format'], (job: ColumnarJob) => Table | Promise<Table>> = {
  parquet: openParquet,
  arrow: readArrow,
}

/** Decodes the file and sends its values. */
async function decodeFile(): Promise<void> {
  const table = await READER_BY_FORMAT[job.format](job)
  send({ columns: table.columns.map(({ name, type }) => ({ name, type })), rows: table.rows })
  const losses = table.columns.map((): LossCounts => ({ infinite: 0 }))
  for await (const { column, values } of table.values()) {
    for (let from = 0; from < values.length; ) {
      const { text, rows } = writeBatch(values, from, table.columns[column].toJson, losses[column])
      from += rows
      while (untakenBatches >= MAX_UNTAKEN_BATCHES)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      untakenBatches++
      send({ column, rows, text })
    }
  }
  const warnings = table.columns.flatMap(({ name }, k) => [
    ...(losses[k].infinite > 0
      ? [`column ${name}: ${losses[k].infinite} values that are not finite (NaN, Infinity) are null`]
      : []),
  ])
  send({ end: true, warnings })
}

/** Returns the comma-separated JSON of a batch of values from `from` on. */
function writeBatch(
  values: ArrayLike<unknown>,
  from: number,
  toJson: ToJson,
  losses: LossCounts,
): { text: Uint8Array; rows: number } {
  const parts: string[] = []
  let size = 0
  for (let k = from; k < values.length && parts.length < MAX_BATCH_ROWS && size < MAX_BATCH_BYTES; k++) {
    const part = toJson(values[k], losses)
    parts.push(part)
    size += part.length
  }
  return { text: new TextEncoder().encode(parts.join(',')), rows: parts.length }
}

decodeFile().catch((error: unknown) => {
  if (error instanceof RefusedFile) send({ refused: error.message, hint: error.hint })
  // Messages of the libraries do not help users.
  else
    send({
      refused: 'the file is damaged, or has columns of an unsupported type',
      hint: 'Write it again with a current version of its program, or as CSV.',
    })
})
