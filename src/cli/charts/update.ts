import { type Client, lookupIfThere } from '../../client/index.ts'
import { ifFound, Problem } from '../../contract/errors.ts'
import type { conflictRules } from '../../contract/headers.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { createPlot, figureBody } from './create.ts'
import { type Figure, isSameFigure, merged } from './merge.ts'
import { type ChartType, chartTypes } from './options.ts'

type Grid = Pick<GridMeta, 'fid' | 'filename' | 'parent' | 'referencers' | 'cols'>

interface Options {
  public?: boolean
  onConflict?: (typeof conflictRules)[number]
}

/** How often a chart is read and changed, if others change it at the same time. */
const MOST_ATTEMPTS = 5
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
  for (let attempt = 1; ; attempt++) {
    try {
      return await updateChart(client, existing, grid, figure, { filename, isPublic: isPublic === true })
    } catch (error) {
      // Somebody else has changed the figure since it was read: their change stays, and ours is made again.
      if (!(error instanceof Problem) || error.code !== 'version_mismatch' || attempt === MOST_ATTEMPTS)
        throw error
    }
  }
}

async function updateChart(
  client: Client,
  existing: FileMeta,
  grid: Grid,
  figure: object,
  { filename, isPublic }: { filename: string; isPublic: boolean },
) {
  const response = await client.response('plots.content', { fid: existing.fid })
  const stored = await response.text()
  const current: Partial<Figure> = JSON.parse(stored)
  const before: Figure = { ...current, data: current.data ?? [], layout: current.layout ?? {} }
  const after = merged(before, JSON.parse(JSON.stringify(figure)), grid)
  const isSame = isSameFigure(before, after)
  const { fid } = existing
  if (isSame && existing.filename === filename && (existing.world_readable || !isPublic))
    return { ...(await client.call('plots.get', { fid })), action: 'unchanged', warnings: [] }
  const changes = { filename, world_readable: isPublic || undefined }
  const body = figureBody(isSame ? stored : JSON.stringify(after), changes)
  const plainHeaders = response.headers.etag === undefined ? undefined : { 'if-match': response.headers.etag }
  const file = await client.call('plots.update', { fid, body, plainHeaders })
  return { ...file, action: 'replaced', warnings: [] }
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
