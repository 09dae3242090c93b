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
export const DraftsDeleted = s.object({ name: s.string(), deleted: s.integer() })
