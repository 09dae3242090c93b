import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { built } from '../contract/built.ts'
import type { Problem } from '../contract/errors.ts'
import type { Limits } from '../contract/limits.ts'
import { excerpt } from '../json/index.ts'
import { tooMuchUnpacked } from './archive.ts'
import type { ColumnarFormat, ColumnarJob, ColumnarMessage } from './columnar/messages.ts'
import { type ColumnType, noDialect } from './dialect.ts'
import type { Spooled } from './spool.ts'
import type { Ingested, SliceSink } from './table.ts'
import { bomb, isBomb } from './unpack.ts'
import { badData } from './warnings.ts'

/** Files that are decoded at once; others wait. */
const AT_ONCE = 2
/** Memory of one decoder, and the time in which it must give the next values. */
const HEAP_MB = 1024
const MEMORY_BYTES = 2 * 1024 * 1024 * 1024
const PATIENCE_MS = 60_000
const CHECK_MS = 200

let running = 0
const queue: (() => void)[] = []

/** Decodes a Parquet or Arrow file into the slices of a sink, in a process of its own, which may fail. */
export async function ingestColumnar(
  format: ColumnarFormat,
  { handle, size }: Spooled,
  { limits, source, sink }: { limits: Limits; source: string; sink: SliceSink },
): Promise<Ingested> {
  if (running < AT_ONCE) running++
  else await new Promise<void>((resolve) => queue.push(resolve))
  let child: ChildProcess | undefined
  try {
    const { fork } = process.getBuiltinModule('node:child_process')
    const job: ColumnarJob = { format, size, columns: limits.columns, ratio: limits.compression_ratio }
    child = fork(built('columnar-worker.js'), [JSON.stringify(job)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', handle.fd],
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${HEAP_MB}`],
      env: {},
    })
    return await received(messagesOf(child, source), { limits, source, sink }, size, child)
  } finally {
    child?.removeAllListeners()
    child?.on('error', () => {})
    child?.kill('SIGKILL')
    // The next one takes the place.
    const next = queue.shift()
    if (next) next()
    else running--
  }
}

/** The memory that a process has in use, in bytes; 0 where the system does not say. */
function residentBytes(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096
  } catch {
    return 0
  }
}

/** What a decoder sends, until its end. Throws if it fails, or is silent for too long. */
async function* messagesOf(worker: ChildProcess, source: string): AsyncGenerator<ColumnarMessage> {
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
  worker.on('error', (error: Error) => fail(`the file cannot be decoded: ${excerpt(error.message, 120)}`))
  worker.on('exit', () => fail('the file cannot be decoded: it is damaged, or needs too much memory'))
  let silent = 0
  const watch = setInterval(() => {
    silent += CHECK_MS
    if (residentBytes(worker.pid) > MEMORY_BYTES) fail('decoding the file needs too much memory')
    if (silent > PATIENCE_MS) fail('decoding the file takes too long')
  }, CHECK_MS)
  try {
    for (;;) {
      silent = 0
      const message = received.shift()
      if (message) {
        yield message
        if ('end' in message || 'refused' in message) return
        continue
      }
      if (failed) throw failed
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    clearInterval(watch)
  }
}

async function received(
  messages: AsyncGenerator<ColumnarMessage>,
  { limits, source, sink }: { limits: Limits; source: string; sink: SliceSink },
  size: number,
  child: ChildProcess,
): Promise<Ingested> {
  let columns: { name: string; type: ColumnType }[] = []
  let counts: number[] = []
  let rows = 0
  let bytes = 0
  for await (const message of messages) {
    if ('refused' in message) throw badData(source, {}, message.refused, message.hint)
    if ('columns' in message) {
      const names = namesOf(message.columns, limits, source)
      columns = message.columns.map(({ type }, k) => ({ name: names[k], type }))
      rows = message.rows
      counts = columns.map(() => 0)
      if (columns.length === 0) throw badData(source, {}, 'no columns')
      sink.begin?.(names)
    } else if ('text' in message) {
      const { column, text } = message
      counts[column] += message.rows
      bytes += text.length
      if (counts[column] > rows) throw damaged(source)
      if (bytes > limits.unpacked_bytes) throw tooMuchUnpacked(source, limits)
      if (isBomb(bytes, size, limits)) throw bomb(source, limits)
      await sink.slice({
        column,
        rows: message.rows,
        form: 'text',
        text: Buffer.from(text.buffer, text.byteOffset, text.byteLength),
      })
      child.send('taken', () => {})
    } else {
      if (counts.some((count) => count !== rows)) throw damaged(source)
      const names = columns.map(({ name }) => name)
      return { rows, columns, dialect: noDialect(names), warnings: message.warnings }
    }
  }
  throw damaged(source)
}

function damaged(source: string): Problem {
  return badData(source, {}, 'the file is damaged: its columns have different numbers of rows')
}

/** The names of columns: not empty, unique and valid, as in all grids. */
function namesOf(columns: readonly { name: unknown }[], limits: Limits, source: string): string[] {
  const used = new Set<string>()
  return columns.map(({ name }, k) => {
    if (typeof name !== 'string' || !name.isWellFormed() || name.includes('\0'))
      throw badData(source, {}, `the name of column ${k + 1} is not valid text`)
    if (name.length > limits.column_name_length)
      throw badData(
        source,
        {},
        `a column name of ${name.length} characters; the limit is ${limits.column_name_length} (column_name_length)`,
      )
    const base = name.trim() === '' ? `column_${k + 1}` : name
    let unique = base
    for (let n = 2; used.has(unique); n++) unique = `${base} (${n})`
    used.add(unique)
    return unique
  })
}
