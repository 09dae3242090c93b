/** Drafts: unpublished content of grids, and charts and boards for it. See docs/drafts.md. */
import * as s from '../schema.ts'

export const Draft = s.object({
  name: s.string(),
  fid: s.string(),
  filename: s.string(),
  filetype: s.string(),
  row_count: s.optional(s.integer({ description: 'Rows of a grid.' })),
  is_new: s.boolean({ description: 'Whether the file exists only as this draft.' }),
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
  filetype: s.enumOf(['plot', 'dashboard']),
  grid: s.optional(s.string({ description: 'The grid with the draft. Absent if the chart itself is one.' })),
  web_url: s.string({ description: 'Link that shows the chart with the draft.' }),
  before_url: s.nullable(
    s.string({
      description:
        'Image of the current chart or board, for anyone with the link, until the draft expires. Null if it is new.',
    }),
  ),
  after_url: s.string({ description: 'Image with the draft, with the same access.' }),
})
export type DraftChart = s.Static<typeof DraftChart>

export const DraftCharts = s.object({ charts: s.array(DraftChart) })
export const DraftsDeleted = s.object({ name: s.string(), deleted: s.integer() })
