// Prometheus metrics: counts requests, and formats all metrics as text.
import { version } from '../../contract/version.ts'

/** Upper bounds of the duration histogram, in seconds. */
const BUCKET_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface Timing {
  buckets: number[]
  sum: number
  count: number
}

/** Metric of the text exposition format. */
export interface Metric {
  name: string
  type: 'gauge' | 'counter'
  help: string
  /** Returns the current value, or one value per label set, such as `state="idle"`. */
  read(): number | readonly (readonly [labels: string, value: number])[]
}

/** Prometheus metrics of this process. Labels are operations and statuses, never users or files. */
export class Metrics {
  private readonly requests = new Map<string, number>()
  private readonly timings = new Map<string, Timing>()
  private readonly metrics: Metric[] = [
    {
      name: 'gridline_info',
      type: 'gauge',
      help: 'Version of the running server.',
      read: () => [[`version="${version}",node="${process.version}"`, 1]],
    },
    {
      name: 'gridline_requests_total',
      type: 'counter',
      help: 'Requests answered, by operation and status.',
      read: () => [...this.requests],
    },
    {
      name: 'gridline_requests_under_way',
      type: 'gauge',
      help: 'Requests in progress.',
      read: () => this.underWay,
    },
  ]
  private underWay = 0

  /** Adds metrics. Their values are read at every scrape. */
  add(...measures: Metric[]): void {
    this.metrics.push(...measures)
  }

  beginRequest(): void {
    this.underWay++
  }

  /** Counts a finished request. `seconds`: time to the first byte of the response. */
  endRequest(operation: string, status: number, seconds: number): void {
    this.underWay--
    const key = `operation="${operation}",status="${status}"`
    this.requests.set(key, (this.requests.get(key) ?? 0) + 1)
    let timing = this.timings.get(operation)
    if (!timing) {
      timing = { buckets: BUCKET_SECONDS.map(() => 0), sum: 0, count: 0 }
      this.timings.set(operation, timing)
    }
    timing.sum += seconds
    timing.count++
    for (let k = BUCKET_SECONDS.length - 1; k >= 0 && seconds <= BUCKET_SECONDS[k]; k--) timing.buckets[k]++
  }

  /** Returns all metrics in the text exposition format, version 0.0.4. */
  formatText(): string {
    const lines: string[] = []
    for (const { name, type, help, read } of this.metrics) {
      const values = read()
      if (typeof values === 'number') lines.push(...formatHeader(name, type, help), `${name} ${values}`)
      else if (values.length > 0) {
        lines.push(...formatHeader(name, type, help))
        for (const [labels, value] of values) lines.push(`${name}{${labels}} ${value}`)
      }
    }
    if (this.timings.size > 0)
      lines.push(
        ...formatHeader('gridline_request_seconds', 'histogram', 'Time to the first byte of the response.'),
      )
    for (const [operation, { buckets, sum, count }] of this.timings) {
      for (const [k, bound] of BUCKET_SECONDS.entries())
        lines.push(`gridline_request_seconds_bucket{operation="${operation}",le="${bound}"} ${buckets[k]}`)
      lines.push(
        `gridline_request_seconds_bucket{operation="${operation}",le="+Inf"} ${count}`,
        `gridline_request_seconds_sum{operation="${operation}"} ${sum}`,
        `gridline_request_seconds_count{operation="${operation}"} ${count}`,
      )
    }
    return `${lines.join('\n')}\n`
  }
}

function formatHeader(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}
