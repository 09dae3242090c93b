/** Drafts of grids. See docs/drafts.md. */
import * as s from '../schema.ts'

export const Draft = s.object({
  name: s.string(),
  fid: s.string(),
  filename: s.string(),
  row_count: s.integer(),
  is_new: s.boolean({ description: 'Whether there is no grid yet: the draft is one of its own.' }),
  made_at: s.string({ format: 'date-time' }),
  made_by: s.nullable(s.string()),
  expires_at: s.string({ format: 'date-time' }),
  web_url: s.string({ description: 'Shows the draft.' }),
})
export type Draft = s.Static<typeof Draft>

export const Drafts = s.object({ drafts: s.array(Draft) })
export const DraftChart = s.object({
  fid: s.string(),
  filename: s.string(),
  grid: s.string({ description: 'The grid that has the draft.' }),
  web_url: s.string({ description: 'Shows the chart with the draft.' }),
  before_url: s.string({
    description: 'The image as it is now, for anyone with the link, until the draft expires.',
  }),
  after_url: s.string({ description: 'The image with the draft, likewise.' }),
})
export type DraftChart = s.Static<typeof DraftChart>

export const DraftCharts = s.object({ charts: s.array(DraftChart) })
export const DraftsDeleted = s.object({ name: s.string(), deleted: s.integer() })
