import { reworked } from '../../charts/change/rechart.ts'
import { specOf } from '../../charts/change/stored.ts'
import type { Figure } from '../../charts/figure/figure.ts'
import { dressed } from '../../charts/figure/themes.ts'
import type { ChartOptions } from '../../charts/spec/options.ts'
import { AUTO, type ChartType, chartTypes } from '../../charts/spec/types.ts'
import { type Client, lookupIfThere } from '../../client/index.ts'
import { ifFound, Problem } from '../../contract/errors.ts'
import type { conflictRules } from '../../contract/headers.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { changeFigure, storedFigure } from './change.ts'
import { createPlot } from './create.ts'
import { themeNamed } from './themes.ts'
import { inUsualTheme } from './usual-theme.ts'

type Grid = Pick<GridMeta, 'fid' | 'filename' | 'parent' | 'referencers' | 'cols'>

interface Options extends Pick<ChartOptions, 'theme'> {
  public?: boolean
  onConflict?: (typeof conflictRules)[number]
}

/** Plots of a grid among which its chart is looked for. */
const MAX_PLOTS = 20

/**
 * Makes the chart of a grid, next to it. With `replace` and `append`, a chart that exists keeps its link and its design,
 * and gets the columns, type and title that the options name.
 */
export async function createOrUpdateChart(
  context: Context,
  grid: Grid,
  type: ChartType,
  figure: Figure,
  { public: isPublic, onConflict, theme, ...named }: Options & ChartOptions,
) {
  const place = { parent: grid.parent, world_readable: isPublic === true }
  const filename = nameOf(grid, type)
  const fresh = async (): Promise<string> => JSON.stringify(await inUsualTheme(context, figure, { theme }))
  if (onConflict !== 'replace' && onConflict !== 'append')
    return createPlot(context, await fresh(), { ...place, filename, on_conflict: onConflict })
  const replace = { ...place, filename, on_conflict: 'replace' } as const
  const client = await context.client()
  const existing = await chartOfGrid(client, grid, type)
  if (!existing) return createPlot(context, await fresh(), replace)
  const isThere = existing.filename === filename && (existing.world_readable || isPublic !== true)
  const changed = await changeFigure(
    client,
    existing.fid,
    async (current) => {
      const next = await reworked(current, grid, figure, named)
      return theme === undefined ? next : dressed(next, themeNamed(theme))
    },
    isThere ? undefined : { filename, world_readable: isPublic || undefined },
  )
  return { ...changed, warnings: [] }
}

/** The type and the options of the chart that an upload changes, with those that the upload names. */
export async function presentOptions(
  client: Client,
  grid: Grid,
  given: ChartType | typeof AUTO,
  { onConflict, ...options }: Options & ChartOptions,
): Promise<{ type: ChartType | typeof AUTO; options: ChartOptions }> {
  const none = { type: given, options }
  if (onConflict !== 'replace' && onConflict !== 'append') return none
  const existing = await chartOfGrid(client, grid, given)
  if (!existing) return none
  try {
    const { figure } = await storedFigure(client, existing.fid)
    const { spec, options: present } = specOf(figure, grid)
    const { type } = spec
    if (given !== AUTO && given !== type) return none
    const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    // The look is not made again: it is part of the chart.
    return { type, options: { ...present, theme: undefined, ...named } }
  } catch (error) {
    // A figure that options do not make.
    if (error instanceof Problem && error.code === 'usage') return none
    throw error
  }
}

/** The plot that an earlier upload made for a grid: of this type, or else the only one of another type. */
async function chartOfGrid(
  client: Client,
  grid: Grid,
  type: ChartType | typeof AUTO,
): Promise<FileMeta | undefined> {
  const exact = type === AUTO ? undefined : await lookupIfThere(client, nameOf(grid, type), grid.parent)
  if (exact) return exact.filetype === 'plot' ? exact : undefined
  const names = new Set(chartTypes.map((one) => nameOf(grid, one)))
  const found: FileMeta[] = []
  for (const fid of grid.referencers.slice(0, MAX_PLOTS)) {
    const file = await ifFound(client.call('files.get', { fid: String(fid) }))
    if (file && names.has(file.filename) && file.parent === grid.parent && !file.deleted) found.push(file)
  }
  return found.length === 1 ? found[0] : undefined
}

function nameOf({ filename }: Pick<Grid, 'filename'>, type: ChartType): string {
  return `${filename} ${type}`
}
