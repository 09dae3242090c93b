// Metrics of background jobs.
import type { Metric } from '../core/metrics.ts'
import type { Jobs } from './jobs.ts'

/** Returns the metrics of background jobs. */
export function jobMetrics({ stats }: Jobs): Metric[] {
  return [
    {
      name: 'gridline_jobs_total',
      type: 'counter',
      help: 'Background jobs that this server has run, by kind and outcome.',
      read: () =>
        [...stats.ended].flatMap(([kind, counts]) =>
          Object.entries(counts).map(
            ([outcome, count]) => [`kind="${kind}",outcome="${outcome}"`, count] as const,
          ),
        ),
    },
    {
      name: 'gridline_jobs_running',
      type: 'gauge',
      help: 'Jobs that this server is running.',
      read: () => stats.running,
    },
    {
      name: 'gridline_jobs_due',
      type: 'gauge',
      help: 'Jobs that were due but not started at the last poll.',
      read: () => stats.backlog.jobs,
    },
    {
      name: 'gridline_jobs_overdue_seconds',
      type: 'gauge',
      help: 'Time since the oldest of these jobs was due.',
      read: () => {
        const { since } = stats.backlog
        return since === null ? 0 : Math.max(0, (Date.now() - since) / 1000)
      },
    },
  ]
}
