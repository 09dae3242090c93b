/** Drafts of grids. See docs/drafts.md. */
import * as s from '../schema.ts'

export const Draft = s.object({
  name: s.string(),
  fid: s.string(),
  filename: s.string(),
  row_count: s.integer(),
  is_new: s.boolean({ description: 'Whether the grid is new and exists only as this draft.' }),
  made_at: s.string({ format: 'date-time' }),
  made_by: s.nullable(s.string()),
  expires_at: s.string({ format: 'date-time' }),
  web_url: s.string({ description: 'Link that shows the draft.' }),
})
export type Draft = s.Static<typeof Draft>

export const Drafts = s.object({ drafts: s.array(Draft) })
export const DraftChart = s.object({
  fid: s.string(),
  filename: s.string(),
  grid: s.string({ description: 'The grid with the draft.' }),
  web_url: s.string({ description: 'Link that shows the chart with the draft.' }),
  before_url: s.string({
    description: 'Image of the current chart, for anyone with the link, until the draft expires.',
  }),
  after_url: s.string({ description: 'Image with the draft, with the same access.' }),
})
export type DraftChart = s.Static<typeof DraftChart>

export const DraftCharts = s.object({ charts: s.array(DraftChart) })
export const DraftsDeleted = s.object({ name: s.string(), deleted: s.integer() })
