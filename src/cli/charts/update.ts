import { type Client, lookupIfThere } from '../../client/index.ts'
import { ifFound } from '../../contract/errors.ts'
import type { conflictRules } from '../../contract/headers.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { changeFigure } from './change.ts'
import { createPlot } from './create.ts'
import { merged } from './merge.ts'
import { type ChartType, chartTypes } from './types.ts'

type Grid = Pick<GridMeta, 'fid' | 'filename' | 'parent' | 'referencers' | 'cols'>

interface Options {
  public?: boolean
  onConflict?: (typeof conflictRules)[number]
}

/** Plots of a grid among which its chart is looked for. */
const MOST_PLOTS = 20

/**
 * Makes the chart of a grid, next to it. With `replace` and `append`, a chart that exists keeps its link and its design,
 * and gets the columns, type and title that the options name.
 */
export async function createOrUpdateChart(
  context: Context,
  grid: Grid,
  type: ChartType,
  figure: object,
  { public: isPublic, onConflict }: Options,
) {
  const place = { parent: grid.parent, world_readable: isPublic === true }
  const filename = nameOf(grid, type)
  if (onConflict !== 'replace' && onConflict !== 'append')
    return createPlot(context, JSON.stringify(figure), { ...place, filename, on_conflict: onConflict })
  const replace = { ...place, filename, on_conflict: 'replace' } as const
  const client = await context.client()
  const existing = await chartOfGrid(client, grid, type)
  if (!existing) return createPlot(context, JSON.stringify(figure), replace)
  const isThere = existing.filename === filename && (existing.world_readable || isPublic !== true)
  const changed = await changeFigure(
    client,
    existing.fid,
    (current) => merged(current, JSON.parse(JSON.stringify(figure)), grid),
    isThere ? undefined : { filename, world_readable: isPublic || undefined },
  )
  return { ...changed, warnings: [] }
}

/** The plot that an earlier upload made for a grid: of this type, or else the only one of another type. */
async function chartOfGrid(client: Client, grid: Grid, type: ChartType): Promise<FileMeta | undefined> {
  const exact = await lookupIfThere(client, nameOf(grid, type), grid.parent)
  if (exact) return exact.filetype === 'plot' ? exact : undefined
  const names = new Set(chartTypes.map((one) => nameOf(grid, one)))
  const found: FileMeta[] = []
  for (const fid of grid.referencers.slice(0, MOST_PLOTS)) {
    const file = await ifFound(client.call('files.get', { fid: String(fid) }))
    if (file && names.has(file.filename) && file.parent === grid.parent && !file.deleted) found.push(file)
  }
  return found.length === 1 ? found[0] : undefined
}

function nameOf({ filename }: Pick<Grid, 'filename'>, type: ChartType): string {
  return `${filename} ${type}`
}
