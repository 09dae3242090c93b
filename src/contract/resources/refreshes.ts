/** Refreshes of grids from URLs. See docs/refresh.md. */
import * as s from '../schema.ts'
import { Timestamp } from './shared.ts'

export const RefreshSet = s.object({
  url: s.optional(
    s.string({
      description:
        'Address of a data file: http or https. Default: the current one, with its reading headers.',
    }),
  ),
  every: s.optional(
    s.integer({
      description: 'Seconds between two requests: from 60 to 31,622,400. Default: the current interval.',
      minimum: 60,
    }),
  ),
})

export const Refresh = s.object({
  fid: s.string(),
  filename: s.string(),
  url: s.nullable(s.string({ description: 'null: a derived grid.' })),
  every: s.nullable(s.integer()),
  state: s.enumOf(['current', 'pending', 'stale'], {
    description:
      'current: the content matched the source at `refreshed_at`. pending: a refresh follows. stale: the last refresh failed, and the content stays.',
  }),
  refreshed_at: Timestamp,
  next_at: s.nullable(Timestamp),
  stale_since: s.nullable(Timestamp),
  error: s.nullable(s.object({ code: s.string(), detail: s.string(), hint: s.optional(s.string()) })),
})
export type Refresh = s.Static<typeof Refresh>

export const Refreshes = s.object({ refreshes: s.array(Refresh, { description: 'By id.' }) })
