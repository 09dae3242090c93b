/** A process that decodes a columnar file: what it is given may take long, or more memory than there is. */
import { arrowTable } from './arrow.ts'
import type { ColumnarJob, ColumnarMessage } from './messages.ts'
import { parquetTable } from './parquet.ts'
import { Refused, type Table } from './table.ts'
import type { Lost, ToText } from './values.ts'

/** A run of values ends at the first limit reached. */
const RUN_ROWS = 65_536
const RUN_BYTES = 4 * 1024 * 1024
/** Runs that were sent and not taken. */
const MAX_WAITING = 4

const job = JSON.parse(process.argv[2]) as ColumnarJob
let waiting = 0
let wake: (() => void) | undefined
process.on('message', () => {
  waiting--
  wake?.()
})

function send(message: ColumnarMessage): void {
  process.send!(message, () => {})
}

process.on('disconnect', () => process.exit())

/** What decodes each format. One without a decoder does not compile. */
const tables: Record<ColumnarJob['format'], (job: ColumnarJob) => Table | Promise<Table>> = {
  parquet: parquetTable,
  arrow: arrowTable,
}

async function run(): Promise<void> {
  const table = await tables[job.format](job)
  send({ columns: table.columns.map(({ name, type }) => ({ name, type })), rows: table.rows })
  const lost = table.columns.map((): Lost => ({ infinite: 0 }))
  for await (const { column, values } of table.values()) {
    for (let from = 0; from < values.length; ) {
      const { text, rows } = textOf(values, from, table.columns[column].toText, lost[column])
      from += rows
      while (waiting >= MAX_WAITING)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      waiting++
      send({ column, rows, text })
    }
  }
  const warnings = table.columns.flatMap(({ name }, k) => [
    ...(lost[k].infinite > 0
      ? [`column ${name}: ${lost[k].infinite} values that are not finite (NaN, Infinity) are null`]
      : []),
  ])
  send({ end: true, warnings })
}

/** Returns the JSON text of values from `from` on, separated by commas. */
function textOf(
  values: ArrayLike<unknown>,
  from: number,
  toText: ToText,
  lost: Lost,
): { text: Uint8Array; rows: number } {
  const parts: string[] = []
  let size = 0
  for (let k = from; k < values.length && parts.length < RUN_ROWS && size < RUN_BYTES; k++) {
    const part = toText(values[k], lost)
    parts.push(part)
    size += part.length
  }
  return { text: new TextEncoder().encode(parts.join(',')), rows: parts.length }
}

run().catch((error: unknown) => {
  if (error instanceof Refused) send({ refused: error.message, hint: error.hint })
  // Messages of the libraries are about their own code.
  else
    send({
      refused: 'the file is damaged, or holds columns of a kind that is not supported',
      hint: 'Write it again with a current version of its program, or as CSV.',
    })
})
