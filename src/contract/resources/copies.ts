/** Copies of files. See docs/api.md#copies. */
import * as s from '../schema.ts'
import { FileMeta } from './files.ts'
import { GridMeta } from './grids.ts'
import { PlotMeta } from './plots.ts'

export const FileCopy = s.object({
  deep_copy: s.optional(s.boolean({ description: 'For plots: also copy the data.' })),
  make_public: s.optional(s.boolean({ description: 'Whether anyone can read the copy.' })),
})

export const FileCopied = s.object({
  files: s.array(s.union(GridMeta, PlotMeta, FileMeta)),
  new_fid: s.string(),
  warnings: s.array(s.string()),
})
export type FileCopied = s.Static<typeof FileCopied>
