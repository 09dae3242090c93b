// Metrics of the database, the blob stores and the process.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { Limits } from '../../contract/limits.ts'
import type { Store } from '../store/store.ts'
import type { Metric } from './metrics.ts'

/** Returns the metrics of the database. */
export function databaseMetrics({ engine: { name: kind, stats } }: Store, limits: Limits): Metric[] {
  const counter = (name: string, help: string, read: Metric['read']): Metric => ({
    name: `gridline_database_${name}`,
    type: 'counter',
    help,
    read,
  })
  const gauge = (name: string, help: string, read: Metric['read']): Metric => ({
    name: `gridline_database_${name}`,
    type: 'gauge',
    help,
    read,
  })
  return [
    gauge('connections', 'Connections to the database.', () => {
      const { open, idle } = stats.connections()
      return [
        ['state="busy"', open - idle],
        ['state="idle"', idle],
      ]
    }),
    ...(kind === 'postgres'
      ? [
          gauge(
            'connections_limit',
            'Maximum connections of this server (limit database_connections).',
            () => limits.database_connections,
          ),
        ]
      : []),
    gauge(
      'connections_awaited',
      'Transactions that wait for a connection.',
      () => stats.connections().waiting,
    ),
    counter('statements_total', 'Statements, except BEGIN, COMMIT and ROLLBACK.', () => stats.statements),
    counter('transactions_total', 'Transactions, excluding retries.', () => [
      ['kind="read"', stats.reads],
      ['kind="write"', stats.writes],
    ]),
    counter('rollbacks_total', 'Transactions that were rolled back.', () => stats.rollbacks),
    counter('retries_total', 'Retries of transactions.', () => [
      ['reason="conflict"', stats.conflicts],
      ['reason="connection"', stats.reconnects],
    ]),
    counter(
      'lock_wait_seconds_total',
      'Time that writes waited for other writes of the same owner.',
      () => stats.lockSeconds,
    ),
  ]
}

/** Returns the metrics of blobs: stored sizes, and requests to stores outside the database. */
export function blobMetrics({ locations }: Store): Metric[] {
  const { stats } = locations
  const perOperation = (
    read: (counts: { done: number; failed: number; seconds: number }) => number,
  ): [string, number][] =>
    [...stats.operations].map(([name, counts]) => [`operation="${name}"`, read(counts)])
  const perPlace = (read: (size: { objects: number; bytes: number }) => number): [string, number][] =>
    locations.sizes.map((size) => [
      `place="${size.place.replace(/[\\"\n]/g, '').split('?', 1)[0]}"`,
      read(size),
    ])
  return [
    {
      name: 'gridline_blob_requests_total',
      type: 'counter',
      help: 'Requests to blob stores outside the database, by outcome.',
      read: () =>
        [...stats.operations].flatMap(([name, { done, failed }]) => [
          [`operation="${name}",outcome="done"`, done] as const,
          [`operation="${name}",outcome="failed"`, failed] as const,
        ]),
    },
    {
      name: 'gridline_blob_seconds_total',
      type: 'counter',
      help: 'Total duration of requests to blob stores.',
      read: () => perOperation(({ seconds }) => seconds),
    },
    {
      name: 'gridline_blob_bytes_total',
      type: 'counter',
      help: 'Bytes written to and read from blob stores.',
      read: () => [
        ['operation="put"', stats.bytesPut],
        ['operation="get"', stats.bytesGot],
      ],
    },
    {
      name: 'gridline_stored_bytes',
      type: 'gauge',
      help: 'Compressed bytes of all owners at the last sweep, by place: row and sql are in the database.',
      read: () => perPlace(({ bytes }) => bytes),
    },
    {
      name: 'gridline_stored_objects',
      type: 'gauge',
      help: 'Objects of all owners at the last sweep, by place.',
      read: () => perPlace(({ objects }) => objects),
    },
  ]
}

/** Returns the metrics of the process, with the names that Prometheus clients use. */
export function processMetrics(): Metric[] {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  let previous = performance.eventLoopUtilization()
  const gauge = (name: string, help: string, read: () => number): Metric => ({
    name,
    type: 'gauge',
    help,
    read,
  })
  const seconds = (ns: number): number => (Number.isFinite(ns) ? Math.max(0, ns) / 1e9 : 0)
  return [
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', () =>
      process.memoryUsage.rss(),
    ),
    gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed),
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'CPU time used.',
      read: () => {
        const { user, system } = process.cpuUsage()
        return (user + system) / 1e6
      },
    },
    gauge('process_start_time_seconds', 'Start time of the process.', () =>
      Math.round(Date.now() / 1000 - process.uptime()),
    ),
    gauge('nodejs_eventloop_lag_p50_seconds', 'Delay of the event loop since the last scrape, median.', () =>
      seconds(delay.percentile(50)),
    ),
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      'Delay of the event loop since the last scrape, 99th percentile.',
      () => seconds(delay.percentile(99)),
    ),
    gauge(
      'nodejs_eventloop_lag_max_seconds',
      'Longest delay of the event loop since the last scrape.',
      () => {
        const longest = seconds(delay.max)
        delay.reset()
        return longest
      },
    ),
    gauge(
      'nodejs_eventloop_utilization',
      'Share of the time since the last scrape that was not idle.',
      () => {
        const now = performance.eventLoopUtilization()
        const { utilization } = performance.eventLoopUtilization(now, previous)
        previous = now
        return utilization
      },
    ),
  ]
}
