/** Alerts on grids. See docs/alerts.md. */
import * as s from '../schema.ts'
import { Timestamp } from './shared.ts'

const condition = {
  when: s.optional(
    s.string({
      description:
        'A function of a column, compared with a number or a text: `max(temp) > 40`, `count(*) < 100`.',
    }),
  ),
  stale_seconds: s.optional(
    s.integer({ description: 'Fires if the content does not change for this time.' }),
  ),
  changed_percent: s.optional(
    s.number({ description: 'Fires if a write changes the number of rows, or `of`, by this much or more.' }),
  ),
  failed_checks: s.optional(s.boolean({ description: 'Fires if checks fail, or refuse a write.' })),
  where: s.optional(s.string({ description: 'With `when` or `of`: only rows for which this is true.' })),
  of: s.optional(s.string({ description: 'With `changed_percent`: the value that changes: `sum(amount)`.' })),
}

export const AlertCondition = s.object(condition)
export type AlertCondition = s.Static<typeof AlertCondition>

export const AlertCreate = s.object({
  ...condition,
  to: s.string({ description: 'Receiver of the messages: an e-mail address, or a URL.' }),
})

export const AlertUpdate = s.object({
  ...condition,
  to: s.optional(s.string({ description: 'Another receiver. A URL gets a new secret.' })),
})

const states = ['ok', 'firing', 'unknown'] as const

export const Alert = s.object({
  id: s.string(),
  fid: s.string({ description: 'The grid.' }),
  filename: s.string(),
  condition: s.string({ description: 'The condition in words.' }),
  to: s.string(),
  state: s.enumOf(states, {
    description: 'unknown: the condition cannot be evaluated, for the reason given.',
  }),
  reason: s.string(),
  since: Timestamp,
  secret: s.optional(
    s.string({
      description: 'Signs messages to a URL, as in Standard Webhooks. Returned once, when the URL is set.',
    }),
  ),
  error: s.nullable(s.string({ description: 'Why the last message could not be sent.' })),
  failing_since: s.nullable(Timestamp),
})
export type Alert = s.Static<typeof Alert>

export const Alerts = s.object({
  alerts: s.array(Alert, { description: 'By grid, then by time of creation.' }),
})

export const AlertTest = s.object({ sent: s.boolean(), to: s.string() })

/** Data of a message: a change of state. */
export interface AlertChange {
  alert: string
  fid: string
  state: (typeof states)[number]
  previous_state: (typeof states)[number]
  reason: string
  value: unknown
  /** Version of the grid. */
  version: number
  /** The condition that was judged, in words; missing in tests. */
  condition?: string
  /** Time of the change. */
  at: string
  /** Number of earlier changes of which nobody was told, because there were too many. */
  unsent: number
}
