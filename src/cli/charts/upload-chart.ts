// Creates or updates the chart of an uploaded grid.
import { replaceGeneratedParts } from '../../charts/change/apply-options.ts'
import { readSpec } from '../../charts/change/read-spec.ts'
import type { Figure } from '../../charts/figure/figure.ts'
import { setTheme } from '../../charts/figure/themes.ts'
import type { ChartOptions } from '../../charts/spec/options.ts'
import { AUTO, CHART_TYPES, type ChartType } from '../../charts/spec/types.ts'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import type { conflictRules } from '../../contract/headers.ts'
import type { FileMeta, GridMeta } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import { createPlot } from './create.ts'
import { applyDefaultTheme } from './default-theme.ts'
import { loadTheme } from './themes.ts'
import { changeFigure, loadFigure } from './update-figure.ts'

type Grid = Pick<GridMeta, 'fid' | 'filename' | 'parent' | 'referencers' | 'cols'>

interface ChartUploadOptions extends Pick<ChartOptions, 'theme'> {
  public?: boolean
  onConflict?: (typeof conflictRules)[number]
}

/** Maximum number of plots that are searched for the chart of a grid. */
const MAX_SEARCHED_PLOTS = 20

/**
 * Creates the chart of a grid, next to it. With `replace` and `append`, an existing chart keeps link and
 * design, and gets the columns, type and title of the options.
 */
export async function createOrUpdateChart(
  context: Context,
  grid: Grid,
  type: ChartType,
  figure: Figure,
  { public: isPublic, onConflict, theme, ...chartOptions }: ChartUploadOptions & ChartOptions,
) {
  const destination = { parent: grid.parent, world_readable: isPublic === true }
  const filename = chartNameOf(grid, type)
  const compileFigure = async (): Promise<string> =>
    JSON.stringify(await applyDefaultTheme(context, figure, { theme }))
  if (onConflict !== 'replace' && onConflict !== 'append')
    return createPlot(context, await compileFigure(), { ...destination, filename, on_conflict: onConflict })
  const replace = { ...destination, filename, on_conflict: 'replace' } as const
  const client = await context.client()
  const existing = await findChart(client, grid, type)
  if (!existing) return createPlot(context, await compileFigure(), replace)
  const isUpToDate = existing.filename === filename && (existing.world_readable || isPublic !== true)
  const updated = await changeFigure(
    client,
    existing.fid,
    async (current) => {
      const next = await replaceGeneratedParts(current, grid, figure, chartOptions)
      return theme === undefined ? next : setTheme(next, loadTheme(theme))
    },
    isUpToDate ? undefined : { filename, world_readable: isPublic || undefined },
  )
  return { ...updated, warnings: [] }
}

/** Returns type and options of the chart that an upload updates, merged with the options of the upload. */
export async function resolveChartOptions(
  client: Client,
  grid: Grid,
  requestedType: ChartType | typeof AUTO,
  { onConflict, ...options }: ChartUploadOptions & ChartOptions,
): Promise<{ type: ChartType | typeof AUTO; options: ChartOptions }> {
  const requested = { type: requestedType, options }
  if (onConflict !== 'replace' && onConflict !== 'append') return requested
  const existing = await findChart(client, grid, requestedType)
  if (!existing) return requested
  try {
    const { figure } = await loadFigure(client, existing.fid)
    const { spec, options: storedOptions } = readSpec(figure, grid)
    const { type } = spec
    if (requestedType !== AUTO && requestedType !== type) return requested
    const specified = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    // The theme is part of the stored chart, so it is not applied again.
    return { type, options: { ...storedOptions, theme: undefined, ...specified } }
  } catch (error) {
    // The figure was not created from options.
    if (error instanceof Problem && error.code === 'usage') return requested
    throw error
  }
}

/**
 * Finds the chart that an earlier upload created for a grid: of this type, or the only one of another type.
 */
async function findChart(
  client: Client,
  grid: Grid,
  type: ChartType | typeof AUTO,
): Promise<FileMeta | undefined> {
  const exact =
    type === AUTO ? undefined : await lookupOrUndefined(client, chartNameOf(grid, type), grid.parent)
  if (exact) return exact.filetype === 'plot' ? exact : undefined
  const names = new Set(CHART_TYPES.map((chartType) => chartNameOf(grid, chartType)))
  const candidates: FileMeta[] = []
  for (const fid of grid.referencers.slice(0, MAX_SEARCHED_PLOTS)) {
    const file = await undefinedIfNotFound(client.call('files.get', { fid: String(fid) }))
    if (file && names.has(file.filename) && file.parent === grid.parent && !file.deleted)
      candidates.push(file)
  }
  return candidates.length === 1 ? candidates[0] : undefined
}

function chartNameOf({ filename }: Pick<Grid, 'filename'>, type: ChartType): string {
  return `${filename} ${type}`
}
