// Starts the decoder process of Parquet and Arrow files, with limits.
import type { ChildProcess } from 'node:child_process'
import { buildPath } from '../../contract/build-path.ts'
import { Problem } from '../../contract/errors.ts'
import type { Limits } from '../../contract/limits.ts'
import { readResidentBytes } from '../../contract/resident-memory.ts'
import { excerpt } from '../../json/index.ts'
import { tooMuchUnpackedError } from '../archive/archive.ts'
import type { SpooledFile } from '../archive/spool.ts'
import { bombError, isBomb } from '../archive/unpack.ts'
import { ColumnKernel } from '../kernel/columns.ts'
import { type ColumnType, createEmptyDialect } from '../values/dialect.ts'
import { keyPositionsOf } from '../values/slice-ends.ts'
import type { IngestResult, SliceSink } from '../values/table.ts'
import { IsoTexts } from '../values/text-type.ts'
import { badFile } from '../values/warnings.ts'
import { AlignedSlices } from './align-slices.ts'
import type { ColumnarFormat, ColumnarJob, ColumnarMessage } from './decoder-messages.ts'

/** Maximum number of decoders at once. Further files wait; users take turns. */
const MAX_DECODERS = 2
/** Maximum time that a file waits for a decoder. */
const MAX_WAIT_MS = 60_000
/** Maximum size of a decoder's V8 heap. */
const MAX_HEAP_MB = 1024
/** Maximum resident memory of a decoder. */
const MAX_MEMORY_BYTES = 2 * 1024 * 1024 * 1024
/** Maximum time until the first values. */
const FIRST_VALUES_TIMEOUT_MS = 20_000
/** Maximum time between later values. */
const NEXT_VALUES_TIMEOUT_MS = 60_000
/** Interval of the checks of time and memory. */
const CHECK_INTERVAL_MS = 200

/** A waiting file, and its user. */
interface WaitingFile {
  who: string
  begin: () => void
}

/** Number of running decoders by user. */
const runningByUser = new Map<string, number>()
const queue: WaitingFile[] = []

function countRunning(): number {
  return [...runningByUser.values()].reduce((sum, userCount) => sum + userCount, 0)
}

/** Waits for a slot. Throws `overloaded` after `MAX_WAIT_MS`. */
function acquireSlot(who: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const waiting: WaitingFile = {
      who,
      begin() {
        clearTimeout(timer)
        resolve()
      },
    }
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(waiting), 1)
      reject(new Problem('overloaded', 'too many Parquet and Arrow files are being decoded'))
    }, MAX_WAIT_MS)
    queue.push(waiting)
    startWaiting()
  })
}

/** Frees a slot. */
function releaseSlot(who: string): void {
  const left = (runningByUser.get(who) ?? 1) - 1
  if (left > 0) runningByUser.set(who, left)
  else runningByUser.delete(who)
  startWaiting()
}

/** Starts waiting files, first those of users without a running decoder. One user never gets all slots. */
function startWaiting(): void {
  while (queue.length > 0 && countRunning() < MAX_DECODERS) {
    const fair = queue.findIndex(({ who }) => !runningByUser.has(who))
    const isLast = countRunning() === MAX_DECODERS - 1
    if (fair < 0 && isLast && runningByUser.size > 0) return
    const [next] = queue.splice(Math.max(0, fair), 1)
    runningByUser.set(next.who, (runningByUser.get(next.who) ?? 0) + 1)
    next.begin()
  }
}

interface ColumnarOptions {
  limits: Limits
  source: string
  sink: SliceSink
  who?: string
  keys?: readonly string[]
}

/** Decodes a Parquet or Arrow file into slices, in a child process with limited time and memory. */
export async function ingestColumnar(
  format: ColumnarFormat,
  { handle, size }: SpooledFile,
  { limits, source, sink, who = '', keys }: ColumnarOptions,
): Promise<IngestResult> {
  await acquireSlot(who)
  let child: ChildProcess | undefined
  try {
    const { fork } = process.getBuiltinModule('node:child_process')
    const job: ColumnarJob = {
      format,
      size,
      columns: limits.columns,
      // Each value has at least five bytes with its comma.
      rows: Math.floor(limits.unpacked_bytes / 5),
      ratio: limits.compression_ratio,
    }
    child = fork(buildPath('columnar-worker.js'), [JSON.stringify(job)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc', handle.fd],
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      env: {},
    })
    return await ingestMessages(receiveMessages(child, source), { limits, source, sink, keys }, size, child)
  } finally {
    child?.removeAllListeners()
    child?.on('error', () => {})
    child?.kill('SIGKILL')
    releaseSlot(who)
  }
}

/** Yields the messages of a decoder until its end. Throws `bad_data` if it fails or exceeds its limits. */
async function* receiveMessages(worker: ChildProcess, source: string): AsyncGenerator<ColumnarMessage> {
  const received: ColumnarMessage[] = []
  let failed: Problem | undefined
  let wake: (() => void) | undefined
  const fail = (why: string): void => {
    failed ??= badFile(source, why, 'Write it again with smaller row groups, or as CSV.')
    wake?.()
  }
  worker.on('message', (message: ColumnarMessage) => {
    received.push(message)
    wake?.()
  })
  worker.on('error', (error: Error) => fail(`the file cannot be decoded: ${excerpt(error.message, 120)}`))
  worker.on('exit', () => fail('the file cannot be decoded: it is damaged, or needs too much memory'))
  let silent = 0
  let isFirst = true
  const watch = setInterval(() => {
    silent += CHECK_INTERVAL_MS
    if (readResidentBytes(worker.pid) > MAX_MEMORY_BYTES) fail('decoding the file needs too much memory')
    if (silent > (isFirst ? FIRST_VALUES_TIMEOUT_MS : NEXT_VALUES_TIMEOUT_MS))
      fail('decoding the file takes too long')
  }, CHECK_INTERVAL_MS)
  try {
    for (;;) {
      silent = 0
      const message = received.shift()
      if (message) {
        isFirst &&= !('text' in message)
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

/** Passes received values to the sink. Throws `bad_data` if the file exceeds the limits or is damaged. */
async function ingestMessages(
  messages: AsyncGenerator<ColumnarMessage>,
  { limits, source, sink, keys }: ColumnarOptions,
  size: number,
  child: ChildProcess,
): Promise<IngestResult> {
  let columns: { name: string; type: ColumnType }[] = []
  let counts: number[] = []
  let texts: (IsoTexts | undefined)[] = []
  let slices = new AlignedSlices(sink, 0)
  let rows = 0
  let bytes = 0
  for await (const message of messages) {
    if ('refused' in message) throw badFile(source, message.refused, message.hint)
    if ('columns' in message) {
      const names = makeUniqueNames(message.columns, limits, source)
      columns = message.columns.map(({ type }, k) => ({ name: names[k], type }))
      rows = message.rows
      counts = columns.map(() => 0)
      texts = message.columns.map(({ type, isExact }) =>
        type === 'text' && !isExact ? new IsoTexts() : undefined,
      )
      if (columns.length === 0) throw badFile(source, 'no columns')
      sink.begin?.(names)
      slices = new AlignedSlices(sink, names.length, keyPositionsOf(names, keys))
    } else if ('text' in message) {
      const { column, text } = message
      counts[column] += message.rows
      bytes += text.length
      if (counts[column] > rows) throw damagedError(source)
      if (bytes > limits.unpacked_bytes) throw tooMuchUnpackedError(source, limits)
      if (isBomb(bytes, size, limits)) throw bombError(source, limits)
      texts[column]?.add(text, () => ColumnKernel.scanMoments(text))
      await slices.add(column, message.rows, Buffer.from(text.buffer, text.byteOffset, text.byteLength))
      child.send('taken', () => {})
    } else {
      if (counts.some((count) => count !== rows)) throw damagedError(source)
      await slices.end()
      const names = columns.map(({ name }) => name)
      const typed = columns.map(({ name, type }, k) => ({ name, type: texts[k]?.type ?? type }))
      return { rows, columns: typed, dialect: createEmptyDialect(names), warnings: message.warnings }
    }
  }
  throw damagedError(source)
}

function damagedError(source: string): Problem {
  return badFile(source, 'the file is damaged: its columns have different numbers of rows')
}

/** Returns unique, non-empty column names. Throws `bad_data` for invalid ones. */
function makeUniqueNames(columns: readonly { name: unknown }[], limits: Limits, source: string): string[] {
  const used = new Set<string>()
  return columns.map(({ name }, k) => {
    if (typeof name !== 'string' || !name.isWellFormed() || name.includes('\0'))
      throw badFile(source, `the name of column ${k + 1} is not valid text`)
    if (name.length > limits.column_name_length)
      throw badFile(
        source,
        `a column name of ${name.length} characters; the limit is ${limits.column_name_length} (column_name_length)`,
      )
    const base = name.trim() === '' ? `column_${k + 1}` : name
    let unique = base
    for (let n = 2; used.has(unique); n++) unique = `${base} (${n})`
    used.add(unique)
    return unique
  })
}
