/** Boards: pages of charts, tables, numbers and text. The API calls them dashboards. See docs/boards.md. */
import { PERIODS } from '../row-options.ts'
import * as s from '../schema.ts'
import { FILETYPES, META_FIELDS, SHARE_ITEMS } from './files.ts'
import { CREATABLE_FIELDS, NEW_IDLOCAL } from './shared.ts'

/** Part of a board. Exactly one of `plot`, `table`, `number` and `text` is set. */
export const BoardItem = s.object({
  title: s.optional(s.string()),
  width: s.optional(s.number({ description: 'Width relative to the other items of the row. Default: 1.' })),
  plot: s.optional(s.string({ description: 'Fid of a plot.' })),
  table: s.optional(s.string({ description: 'Fid of a grid, whose first rows are shown.' })),
  number: s.optional(s.string({ description: 'Fid of a grid, of which `value` is shown.' })),
  text: s.optional(s.string({ description: 'Markdown. HTML in it is shown as text.' })),
  value: s.optional(s.string({ description: 'A function and a column, such as sum:amount; or count.' })),
  change: s.optional(s.boolean({ description: 'Also the change of the number since the version before.' })),
  spark: s.optional(
    s.string({ description: 'Column by which a small line shows how the number developed.' }),
  ),
  per: s.optional(s.enumOf(PERIODS, { description: 'With spark: period of dates.' })),
  unit: s.optional(s.string({ description: 'Text after the number.' })),
  decimals: s.optional(s.integer({ description: 'Decimals of the number, 0 to 10. Default: up to 2.' })),
  where: s.optional(s.string({ description: 'Condition for the rows of a table or number.' })),
  sort: s.optional(s.string({ description: 'Order of the rows of a table.' })),
  columns: s.optional(s.array(s.string(), { description: 'Columns of a table. Default: all.' })),
  limit: s.optional(s.integer({ description: 'Rows of a table. Default: 10; at most 200.' })),
  share_key: s.optional(s.string({ description: 'Share key with which the plot is shown.' })),
})
export type BoardItem = s.Static<typeof BoardItem>

export const BoardRow = s.object({
  height: s.optional(s.integer({ description: 'Height of its charts, in pixels. Default: 400.' })),
  items: s.array(BoardItem),
})
export type BoardRow = s.Static<typeof BoardRow>

/** Column by whose values readers of a board can filter all of its items. */
export const BoardFilter = s.object({
  column: s.string(),
  title: s.optional(s.string({ description: 'Label of the filter. Default: the column.' })),
  default: s.optional(s.string({ description: 'Value at first. Default: all values.' })),
})
export type BoardFilter = s.Static<typeof BoardFilter>

/** Content of a board made by Gridline: `settings.board`. */
export const Board = s.object({
  source: s.optional(s.string({ description: 'The file that the board was made from.' })),
  filters: s.optional(s.array(BoardFilter)),
  rows: s.array(BoardRow),
})
export type Board = s.Static<typeof Board>

/** Content of a dashboard, as clients send it: an object, or the same as JSON text. */
export const DashboardContent = s.object({
  version: s.optional(s.integer()),
  settings: s.optional(s.record(s.anything())),
  layout: s.optional(s.nullable(s.record(s.anything()))),
})

const CONTENT = s.union(s.string({ description: 'The content as JSON text.' }), s.record(s.anything()))

export const DashboardCreate = s.object({ ...CREATABLE_FIELDS, content: CONTENT, idlocal: NEW_IDLOCAL })
export const DashboardUpdate = s.object({
  ...CREATABLE_FIELDS,
  content: s.optional(CONTENT),
  share_items: s.optional(s.boolean({ description: SHARE_ITEMS })),
})

export const DashboardMeta = s.object({
  ...META_FIELDS,
  content: s.string({ description: 'JSON with `layout`, `version` 2 and `settings`.' }),
  private_items: s.optional(
    s.array(s.object({ fid: s.string(), filename: s.string(), filetype: s.enumOf(FILETYPES) }), {
      description: 'Files of its items that not everybody may see. Only the owner sees it.',
    }),
  ),
})
export type DashboardMeta = s.Static<typeof DashboardMeta>
