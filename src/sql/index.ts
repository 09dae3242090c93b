// Runs queries in DuckDB: each in a child process with limits of time and memory.
import type { ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import { buildPath } from '../contract/build-path.ts'
import { type ErrorCode, Problem } from '../contract/errors.ts'
import { formatBytes, type Limits } from '../contract/limits.ts'
import { readResidentBytes } from '../contract/resident-memory.ts'
import { findDuckDb } from './find-duckdb.ts'
import type {
  QueryMessage,
  QueryNames,
  QuerySettings,
  QueryTables,
  QueryText,
  ResultColumn,
} from './messages.ts'

export { DUCKDB_PACKAGE, findDuckDb } from './find-duckdb.ts'
export type {
  ColumnStorage,
  EmptyTable,
  QueryNames,
  QueryParameter,
  QueryTables,
  ResultColumn,
  StoredTable,
  TableColumn,
  TableName,
} from './messages.ts'

/** Limits of a query. */
export interface QueryLimits {
  seconds: number
  memoryBytes: number
  /** Maximum size of the result, as JSON. */
  resultBytes: number
}

/** Returns the limits of queries, of all limits. */
export function queryLimitsOf(limits: Limits): QueryLimits {
  const { query_seconds, query_memory_bytes, query_result_bytes } = limits
  return { seconds: query_seconds, memoryBytes: query_memory_bytes, resultBytes: query_result_bytes }
}

export interface Query extends QueryText {
  /** Folder of temporary files of this query alone. */
  folder: string
  /** Opens the tables that the query names. `isAfresh`: each as one new file, since others could not be read. */
  openTables(names: QueryNames, isAfresh: boolean): Promise<QueryTables>
  /** Returns whether nobody waits for the result any more. */
  isAborted?: () => boolean
}

/** Result of a query, in memory. */
export interface QueryResult {
  columns: ResultColumn[]
  rows: number
  /** Comma-separated JSON of the values, by column. */
  texts: Buffer[]
}

/** Interval between checks of memory, in ms. */
const CHECK_MS = 25
/** Fraction of the memory limit that DuckDB may use. The process and uncounted allocations of DuckDB use the rest. */
const DUCKDB_SHARE = 0.6
/** Maximum size of temporary files, relative to the memory. */
const TEMPORARY_SHARE = 4
/** Maximum time in which the tables of a query are loaded, in seconds. */
const LOAD_SECONDS = 60
/** Priority of a query process: other work goes first. */
const NICE = 10

/**
 * Runs a query. Throws `invalid_query`, `too_large` beyond its limits, and `no_duckdb`. The process
 * is killed at its limit: those of DuckDB do not hold for every operation.
 */
export async function runQuery(query: Query, limits: QueryLimits): Promise<QueryResult> {
  const result = (await tryQuery(query, limits, false)) ?? (await tryQuery(query, limits, true))
  if (!result) throw new Problem('internal', 'DuckDB cannot read a table that it has written')
  return result
}

/** Runs a query; undefined if its tables must be opened afresh. */
async function tryQuery(
  query: Query,
  limits: QueryLimits,
  isAfresh: boolean,
): Promise<QueryResult | undefined> {
  const process_ = new QueryProcess(query.folder, limits, query.isAborted)
  try {
    const { sql, parameters, isRepeatable } = query
    process_.send({ sql, parameters, isRepeatable } satisfies QueryText)
    const named = await process_.receive()
    if (!('tables' in named)) throw unexpectedError()
    // Meanwhile the service copies tables, and limits their size.
    process_.pauseClock()
    const tables = await query.openTables(named, isAfresh)
    process_.startClock(LOAD_SECONDS)
    process_.send(tables)
    const loaded = await process_.receive()
    if (!('isLoaded' in loaded)) throw unexpectedError()
    process_.pauseClock()
    if (!loaded.isLoaded) return undefined
    process_.startClock()
    return await readResult(process_, limits)
  } finally {
    process_.kill()
  }
}

/** Reads the result; undefined if the query reads a column that a file lacks. */
async function readResult(
  process_: QueryProcess,
  { resultBytes }: QueryLimits,
): Promise<QueryResult | undefined> {
  let columns: ResultColumn[] = []
  let parts: Uint8Array[][] = []
  let rows = 0
  let bytes = 0
  for (;;) {
    const message = await process_.receive()
    if ('columns' in message) {
      columns = message.columns
      parts = columns.map(() => [])
    } else if ('rows' in message) {
      rows += message.rows
      for (const [k, text] of message.texts.entries()) {
        parts[k].push(text)
        bytes += text.length
      }
      if (bytes > resultBytes)
        throw new Problem(
          'too_large',
          `the result is larger than ${formatBytes(resultBytes)} (limit query_result_bytes)`,
          { hint: 'Select fewer columns, aggregate, or add LIMIT.' },
        )
    } else if ('types' in message) {
      const { types } = message
      return {
        columns: columns.map(({ name }, k) => ({ name, type: types[k] })),
        rows,
        // Without the last comma.
        texts: parts.map((texts) => Buffer.concat(texts).subarray(0, -1)),
      }
    } else if ('isLoaded' in message) return undefined
    else throw unexpectedError()
  }
}

/** A child process that runs one query. */
class QueryProcess {
  private readonly child: ChildProcess
  private readonly received: QueryMessage[] = []
  private failure: Problem | undefined
  private wake: (() => void) | undefined
  private readonly watch: NodeJS.Timeout
  private clock: NodeJS.Timeout | undefined

  constructor(
    folder: string,
    private readonly limits: QueryLimits,
    isAborted: (() => boolean) | undefined,
  ) {
    const { memoryBytes } = limits
    const settings: QuerySettings = {
      bindings: findDuckDb(),
      folder,
      memoryBytes: Math.floor(memoryBytes * DUCKDB_SHARE),
      temporaryBytes: memoryBytes * TEMPORARY_SHARE,
    }
    const { fork } = process.getBuiltinModule('node:child_process')
    this.child = fork(buildPath('query-process.js'), [JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
      execArgv: [],
      // DuckDB's library writes times in the time zone of the process.
      env: { TZ: 'UTC' },
      cwd: folder,
    })
    lowerPriority(this.child.pid)
    this.child.on('message', (message: QueryMessage) => {
      if (!('refused' in message)) this.received.push(message)
      else if (message.code === 'too_large') this.failForMemory()
      else this.fail(message.code, message.refused)
      this.wake?.()
    })
    this.child.on('error', (error) =>
      this.fail('internal', `the query process cannot be started: ${error.message}`),
    )
    this.child.on('exit', () =>
      this.fail('too_large', 'the query needs too much memory, or DuckDB has failed'),
    )
    this.watch = setInterval(() => {
      if (isAborted?.()) this.fail('aborted', 'nobody waits for the result')
      if (readResidentBytes(this.child.pid) > memoryBytes) this.failForMemory()
    }, CHECK_MS)
    this.startClock()
  }

  /** Starts the time limit. */
  startClock(seconds = this.limits.seconds): void {
    this.clock = setTimeout(
      () =>
        this.fail(
          'too_large',
          `the query takes longer than ${seconds} seconds${seconds === this.limits.seconds ? ' (limit query_seconds)' : ': its grids are too large'}`,
          'Read fewer rows, or aggregate before joining.',
        ),
      seconds * 1000,
    )
  }

  pauseClock(): void {
    clearTimeout(this.clock)
  }

  send(message: QueryText | QueryTables): void {
    this.child.send(message, () => {})
  }

  /** Returns the next message. Throws if the process has failed. */
  async receive(): Promise<QueryMessage> {
    for (;;) {
      const message = this.received.shift()
      if (message) return message
      if (this.failure) throw this.failure
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  private failForMemory(): void {
    this.fail(
      'too_large',
      `the query needs more than ${formatBytes(this.limits.memoryBytes)} of memory (limit query_memory_bytes)`,
      'Read fewer columns or rows, or aggregate before joining.',
    )
  }

  private fail(code: ErrorCode, why: string, hint?: string): void {
    this.failure ??= new Problem(code, why, { hint })
    this.child.kill('SIGKILL')
    this.wake?.()
  }

  kill(): void {
    clearInterval(this.watch)
    clearTimeout(this.clock)
    this.child.removeAllListeners()
    this.child.on('error', () => {})
    this.child.kill('SIGKILL')
  }
}

function unexpectedError(): Problem {
  return new Problem('internal', 'the query process sent an unexpected message')
}

/** Lowers the priority of a process, where that is possible. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, NICE)
  } catch {
    // It has ended, or the system has no priorities.
  }
}
