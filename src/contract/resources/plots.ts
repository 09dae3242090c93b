/** Plots, figures and images. See docs/api.md#plots. */
import { imageFormats } from '../formats.ts'
import * as s from '../schema.ts'
import { UserSummary } from './accounts.ts'
import { META_FIELDS, WRITABLE_FIELDS } from './files.ts'
import { CREATABLE_FIELDS, NEW_IDLOCAL } from './shared.ts'

/** Figure of plotly.js. See docs/api.md#plots. */
export const Figure = s.object({
  data: s.optional(s.array(s.record(s.anything()))),
  layout: s.optional(s.record(s.anything())),
  frames: s.optional(s.array(s.anything())),
})

export const PlotMeta = s.object({
  ...META_FIELDS,
  version: s.integer({ description: 'The version of the figure, from 1.' }),
  figure: s.optional(s.nullable(Figure)),
  quality: s.integer({
    description:
      '0 to 5: one point each for a title, an axis title, trace names, visible data, and a legend or annotation.',
  }),
  refresh_interval: s.nullable(s.integer()),
  organize_view_url: s.string(),
  autosize: s.boolean(),
  caption: s.string(),
  height: s.nullable(s.anything()),
  width: s.nullable(s.anything()),
  user: s.optional(UserSummary),
  source_fid: s.optional(s.nullable(s.string())),
  missing: s.optional(
    s.nullable(
      s.string({
        description: 'Data of the plot that no longer exists, such as a column. Only on request.',
      }),
    ),
  ),
})
export type PlotMeta = s.Static<typeof PlotMeta>

/** Page of plots. See docs/api.md#paging. */
export const PlotPage = s.object({
  results: s.array(PlotMeta),
  next: s.nullable(s.string()),
  previous: s.nullable(s.string()),
})
export type PlotPage = s.Static<typeof PlotPage>

export const PlotCreate = s.object({
  figure: Figure,
  raw_data: s.optional(
    s.enumOf(['refuse', 'grid'], {
      description:
        'grid: move the data arrays of the figure into a grid. refuse: return 400. Default: refuse.',
    }),
  ),
  on_conflict: s.optional(
    s.enumOf(['fail', 'rename', 'replace'], {
      description:
        'What to do if the name is taken: `fail` (409; the default), `rename` (to `chart (1)`), `replace` (replaces the figure of that plot, which keeps its fid, link and access).',
    }),
  ),
  ...CREATABLE_FIELDS,
  idlocal: NEW_IDLOCAL,
  source_fid: s.optional(s.nullable(s.string())),
})

export const PlotCreated = s.object({
  file: PlotMeta,
  action: s.optional(
    s.enumOf(['created', 'replaced', 'unchanged'], {
      description: 'unchanged: the plot already has exactly this figure.',
    }),
  ),
  warnings: s.array(s.string()),
  grid_fid: s.optional(s.nullable(s.string({ description: 'The grid that contains the data arrays.' }))),
})
export type PlotCreated = s.Static<typeof PlotCreated>

export const PlotUpdate = s.object({
  ...WRITABLE_FIELDS,
  figure: s.optional(Figure),
  raw_data: PlotCreate.properties.raw_data,
})

const size = (description: string) => s.optional(s.nullable(s.number({ description })))

export const ImageCreate = s.object({
  figure: Figure,
  format: s.optional(s.enumOf(imageFormats, { description: 'Default: png.' })),
  width: size('In CSS pixels. Default: the width in the layout, or 700.'),
  height: size('In CSS pixels. Default: the height in the layout, or 500.'),
  scale: size('Pixels per CSS pixel. Default: 1.'),
  theme: s.optional(
    s.enumOf(['light', 'dark'], {
      description: 'Colors of charts in the theme of Gridline. Default: light.',
    }),
  ),
  encoded: s.optional(
    s.boolean({ description: 'If true, return a JSON object whose field `image` is the image in base64.' }),
  ),
})
