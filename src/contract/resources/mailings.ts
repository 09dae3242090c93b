/** Charts and boards that are sent by e-mail. See docs/send.md. */
import * as s from '../schema.ts'
import { Timestamp } from './shared.ts'

const to = s.array(s.string(), { description: 'E-mail addresses of the receivers: at most 10.' })

const filter = s.optional(s.array(s.string(), { description: 'For boards: values of filters: `city=Oslo`.' }))

export const MailingSend = s.object({ to, filter })

export const MailingCreate = s.object({
  to,
  every: s.string({
    description: '`day`, `weekday`, `month`, or days of the week: `monday`, `monday,thursday`.',
  }),
  at: s.optional(s.string({ description: 'Time of day: `07:00` (default).' })),
  on: s.optional(
    s.integer({
      description: 'With `month`: day of the month, 1 (default) to 31; the last day of shorter months.',
    }),
  ),
  zone: s.optional(s.string({ description: 'Time zone: `Europe/Oslo`. Default: UTC.' })),
  filter,
})

export const Mailing = s.object({
  id: s.string(),
  fid: s.string({ description: 'The chart or board.' }),
  filename: s.string(),
  to: s.array(s.string()),
  filter: s.array(s.string()),
  schedule: s.string({ description: 'When it is sent, in words.' }),
  zone: s.string({ description: 'Time zone of the schedule.' }),
  next_at: Timestamp,
  sent_at: s.nullable(Timestamp),
  error: s.nullable(s.string({ description: 'Why it was not sent last time.' })),
  failing_since: s.nullable(Timestamp),
})
export type Mailing = s.Static<typeof Mailing>

export const Mailings = s.object({ mailings: s.array(Mailing, { description: 'By time of creation.' }) })

export const MailingSent = s.object({ fid: s.string(), to: s.array(s.string()) })
