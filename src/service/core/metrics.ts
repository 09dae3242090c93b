import { version } from '../../contract/version.ts'

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Timing {
  buckets: number[]
  sum: number
  count: number
}

/** Prometheus counters of this process. Labels are operations and statuses, never users or files. */
export class Metrics {
  private readonly requests = new Map<string, number>()
  private readonly timings = new Map<string, Timing>()
  private underWay = 0
  private load: () => { running: number; waiting: number } = () => ({ running: 0, waiting: 0 })

  /** Sets the source of the numbers of running and waiting requests. */
  watch(load: () => { running: number; waiting: number }): void {
    this.load = load
  }

  begin(): void {
    this.underWay++
  }

  end(operation: string, status: number, seconds: number): void {
    this.underWay--
    const key = `operation="${operation}",status="${status}"`
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1)
    let timing = this.timings.get(operation)
    if (!timing) {
      timing = { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 }
      this.timings.set(operation, timing)
    }
    timing.sum += seconds
    timing.count++
    for (let k = BUCKETS.length - 1; k >= 0 && seconds <= BUCKETS[k]; k--) timing.buckets[k]++
  }

  /** The text exposition format, version 0.0.4. */
  text(): string {
    const lines = [
      ...head('gridline_info', 'gauge', 'Version of the running server.'),
      `gridline_info{version="${version}",node="${process.version}"} 1`,
      ...head('gridline_requests_total', 'counter', 'Requests answered, by operation and status.'),
      ...[...this.requests].map(([labels, count]) => `gridline_requests_total{${labels}} ${count}`),
      ...head('gridline_requests_under_way', 'gauge', 'Requests in progress.'),
      `gridline_requests_under_way ${this.underWay}`,
      ...head('gridline_requests_running', 'gauge', 'Requests being processed.'),
      `gridline_requests_running ${this.load().running}`,
      ...head('gridline_requests_waiting', 'gauge', 'Requests waiting in the queue.'),
      `gridline_requests_waiting ${this.load().waiting}`,
      ...head('gridline_request_seconds', 'histogram', 'Time to the first byte of the response.'),
    ]
    for (const [operation, { buckets, sum, count }] of this.timings) {
      for (const [k, bound] of BUCKETS.entries())
        lines.push(`gridline_request_seconds_bucket{operation="${operation}",le="${bound}"} ${buckets[k]}`)
      lines.push(
        `gridline_request_seconds_bucket{operation="${operation}",le="+Inf"} ${count}`,
        `gridline_request_seconds_sum{operation="${operation}"} ${sum}`,
        `gridline_request_seconds_count{operation="${operation}"} ${count}`,
      )
    }
    const { rss, heapUsed } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    lines.push(
      ...head('process_resident_memory_bytes', 'gauge', 'Resident memory of the process.'),
      `process_resident_memory_bytes ${rss}`,
      ...head('nodejs_heap_size_used_bytes', 'gauge', 'JavaScript heap in use.'),
      `nodejs_heap_size_used_bytes ${heapUsed}`,
      ...head('process_cpu_seconds_total', 'counter', 'CPU time used.'),
      `process_cpu_seconds_total ${(user + system) / 1e6}`,
      ...head('process_start_time_seconds', 'gauge', 'Start time of the process.'),
      `process_start_time_seconds ${Math.round(Date.now() / 1000 - process.uptime())}`,
    )
    return `${lines.join('\n')}\n`
  }
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}
