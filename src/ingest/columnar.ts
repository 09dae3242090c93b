import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Problem } from '../contract/errors.ts'
import type { Limits } from '../contract/limits.ts'
import { excerpt } from '../json/index.ts'
import type { ColumnarFormat, ColumnarJob, ColumnarMessage } from './columnar/messages.ts'
import { noDialect } from './dialect.ts'
import type { Spooled } from './spool.ts'
import type { Ingested, SliceSink } from './table.ts'
import { badData } from './warnings.ts'

/** Files that are decoded at once; others wait. */
const AT_ONCE = 2
/** Memory of one decoder, and the time in which it must give the next values. */
const MEMORY_MB = 2048
const PATIENCE_MS = 60_000

let running = 0
const queue: (() => void)[] = []

/** Decodes a Parquet or Arrow file into the slices of a sink. */
export async function ingestColumnar(
  format: ColumnarFormat,
  { handle, size }: Spooled,
  { limits, source, sink }: { limits: Limits; source: string; sink: SliceSink },
): Promise<Ingested> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => queue.push(resolve))
  running++
  const job: ColumnarJob = {
    format,
    fd: handle.fd,
    size,
    columns: limits.columns,
    ratio: limits.compression_ratio,
  }
  const worker = new Worker(builtWorker(), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  try {
    return await received(messagesOf(worker, source), sink, source, worker)
  } finally {
    await worker.terminate()
    running--
    queue.shift()?.()
  }
}

function builtWorker(): string {
  const folder = import.meta.url.endsWith('.ts') ? '../../dist/' : './'
  return fileURLToPath(new URL(`${folder}columnar-worker.js`, import.meta.url))
}

/** What a worker sends, until its end. Throws if it fails, or is silent for too long. */
async function* messagesOf(worker: Worker, source: string): AsyncGenerator<ColumnarMessage> {
  const received: ColumnarMessage[] = []
  let failed: Problem | undefined
  let wake: (() => void) | undefined
  const fail = (why: string): void => {
    failed ??= badData(source, {}, why, 'Write it again with smaller row groups, or as CSV.')
    wake?.()
  }
  worker.on('message', (message: ColumnarMessage) => {
    received.push(message)
    wake?.()
  })
  worker.on('error', (error: NodeJS.ErrnoException) =>
    fail(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? 'decoding the file takes too much memory'
        : `the file cannot be decoded: ${excerpt(error.message, 120)}`,
    ),
  )
  worker.on('exit', () => fail('the file cannot be decoded'))
  for (;;) {
    const message = received.shift()
    if (message) {
      yield message
      if ('end' in message || 'refused' in message) return
      continue
    }
    if (failed) throw failed
    const timer = setTimeout(() => fail('decoding the file takes too long'), PATIENCE_MS)
    await new Promise<void>((resolve) => {
      wake = resolve
    })
    clearTimeout(timer)
  }
}

async function received(
  messages: AsyncGenerator<ColumnarMessage>,
  sink: SliceSink,
  source: string,
  worker: Worker,
): Promise<Ingested> {
  let columns: { name: string; type: Ingested['columns'][number]['type'] }[] = []
  let counts: number[] = []
  let rows = 0
  for await (const message of messages) {
    if ('refused' in message) throw badData(source, {}, message.refused, message.hint)
    if ('columns' in message) {
      columns = message.columns.map(({ name, type }, k) => ({
        name: name.trim() === '' ? `column_${k + 1}` : name,
        type,
      }))
      rows = message.rows
      counts = columns.map(() => 0)
      sink.begin?.(columns.map(({ name }) => name))
      if (columns.length === 0) throw badData(source, {}, 'no columns')
    } else if ('text' in message) {
      const { column, text } = message
      counts[column] += message.rows
      await sink.slice({
        column,
        rows: message.rows,
        form: 'text',
        text: Buffer.from(text.buffer, text.byteOffset, text.byteLength),
      })
      worker.postMessage('taken')
    } else {
      if (counts.some((count) => count !== rows))
        throw badData(source, {}, 'the file is damaged: its columns have different numbers of rows')
      return {
        rows,
        columns,
        dialect: noDialect(columns.map(({ name }) => name)),
        warnings: message.warnings,
      }
    }
  }
  throw badData(source, {}, 'the file cannot be decoded')
}
