// Decoder process of Parquet and Arrow files, since hostile files may exhaust time or memory.
import { readArrow } from './arrow.ts'
import type { ColumnarJob, ColumnarMessage } from './decoder-messages.ts'
import { type JsonBatch, JsonText } from './json-text.ts'
import { type LossCounts, toStringJson } from './json-values.ts'
import { openParquet } from './parquet.ts'
import { RefusedFile, type Table } from './table.ts'

/** Maximum size of the batches sent but not yet taken, except for the last one. */
const MAX_UNTAKEN_BYTES = 8 * 1024 * 1024

const job = JSON.parse(process.argv[2]) as ColumnarJob
/** Sizes of the batches sent but not yet taken, in bytes. */
const untaken: number[] = []
let wake: (() => void) | undefined
process.on('message', () => {
  untaken.shift()
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
  const columns = table.columns.map(({ name, type, isExact }) => ({ name, type, isExact }))
  send({ columns, rows: table.rows })
  const losses = table.columns.map((): LossCounts => ({ infinite: 0 }))
  const writers = table.columns.map(({ toJson }, k) => {
    const write = (value: unknown): string => toJson(value, losses[k])
    return toJson === toStringJson ? rememberJson(write) : write
  })
  const sendBatch = async (column: number, { rows, text }: JsonBatch): Promise<void> => {
    while (untaken.reduce((sum, size) => sum + size, 0) >= MAX_UNTAKEN_BYTES)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    untaken.push(text.length)
    send({ column, rows, text })
  }
  const out = new JsonText()
  for await (const batch of table.values(losses)) {
    const { column } = batch
    const batches = 'text' in batch ? [batch] : writeBatches(batch.values, writers[column], out)
    for (const each of batches) await sendBatch(column, each)
  }
  const warnings = table.columns.flatMap(({ name }, k) => [
    ...(losses[k].infinite > 0
      ? [`column ${name}: ${losses[k].infinite} values that are not finite (NaN, Infinity) are null`]
      : []),
  ])
  send({ end: true, warnings })
}

/** Maximum number and length of texts of a column whose JSON is remembered. */
const MAX_REMEMBERED = 4096
const MAX_REMEMBERED_CHARACTERS = 64
/** Number of texts that were not known after which no more are looked up. */
const MAX_UNKNOWN = 4 * MAX_REMEMBERED

/** Remembers the JSON of the first distinct short texts, as long as most are repeated. */
function rememberJson(toJson: (value: unknown) => string): (value: unknown) => string {
  const remembered = new Map<unknown, string>()
  let unknown = 0
  return (value) => {
    const known = unknown < MAX_UNKNOWN ? remembered.get(value) : undefined
    if (known !== undefined) return known
    const json = toJson(value)
    if (unknown < MAX_REMEMBERED && json.length <= MAX_REMEMBERED_CHARACTERS) remembered.set(value, json)
    if (++unknown === MAX_UNKNOWN) remembered.clear()
    return json
  }
}

/** Yields the JSON of values. A batch is valid until the next one. */
function* writeBatches(
  values: ArrayLike<unknown>,
  toJson: (value: unknown) => string,
  out: JsonText,
): Generator<JsonBatch> {
  for (let k = 0; k < values.length; k++) {
    out.addValue(toJson(values[k]))
    if (out.isFull) yield out.take()
  }
  if (out.rows > 0) yield out.take()
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
