// Charts of uploaded files.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { formatArguments } from '../../charts/spec/options.ts'
import type { AUTO, ChartType } from '../../charts/spec/types.ts'
import { lookupOrUndefined } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import { assertChart, createThemedChart } from '../charts/charts.ts'
import { createOrUpdateChart, resolveChartOptions } from '../charts/upload-chart.ts'
import type { Context } from '../core/context.ts'
import { readTables } from '../files/local-columns.ts'
import { loadLocalGrid } from '../files/local-data.ts'
import { toParseOptions } from '../files/parse-options.ts'
import { resolveDestination, sentNameOf } from './destination.ts'
import { isAddress, type LocalFile } from './expand.ts'
import type { UploadOptions } from './options.ts'
import type { UploadedGrid } from './result.ts'

/** Maximum size of a file whose chart is tried before it is sent, in bytes: reading it twice takes longer than it is worth. */
const MAX_TRIED_BYTES = 4 * 1024 * 1024

/**
 * Throws what the chart would be refused with, before anything is sent: a file with several tables, a column that does
 * not exist or holds no numbers, several rows for one bar. Of a long text, the beginning is read; the whole file is
 * checked once it is a grid.
 */
export async function refuseChart(
  context: Context,
  local: LocalFile,
  type: ChartType | typeof AUTO,
  options: UploadOptions,
): Promise<void> {
  const { file } = local
  if (file === '-' || isAddress(file)) return
  const tables = await readTables(file, toParseOptions(options, file), context.environment).catch((error) => {
    // What is wrong with the file is said by the upload.
    if (error instanceof Problem) return undefined
    throw error
  })
  if (!tables) return
  if (tables.length > 1) {
    const names = tables.slice(0, 10).map(({ path }) => path.join('/'))
    throw new Problem('usage', `--plot: ${file} contains ${tables.length} tables: ${names.join(', ')}`, {
      hint: 'Choose a sheet with --sheet NAME, or upload it without --plot and use: gridline plot create --grid',
    })
  }
  // Appended rows need not have all columns of the grid.
  if (options.onConflict === 'append') return
  const name = gridNameOf(sentNameOf(file, options.name) ?? basename(file))
  await assertChart(name, tables[0].ingested.columns, type, options)
  // Of a chart that exists, other options stay: what it shows is known with its grid.
  const { path, parent } = await resolveDestination(await context.client(), options, local)
  const isLong = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_TRIED_BYTES
  if (isLong || (await lookupOrUndefined(await context.client(), path, parent))) return
  const read = await loadLocalGrid(context, file, options, {}, true).catch((error) => {
    if (error instanceof Problem) return undefined
    throw error
  })
  if (read)
    await createThemedChart(
      read.client,
      await read.client.call('grids.get', { fid: read.fid }),
      type,
      options,
      () => {},
    )
}

/**
 * Creates the chart of an uploaded grid next to it, and shows it in a terminal. If the name of the grid may be
 * taken, an existing chart is updated: it keeps what the options do not name. Throws `usage` for a file with
 * several tables. Other errors say that the grid is uploaded.
 */
export async function createUploadChart(
  context: Context,
  grid: UploadedGrid,
  given: ChartType | typeof AUTO,
  options: UploadOptions,
): Promise<object> {
  if (grid.filetype !== 'grid')
    throw new Problem(
      'usage',
      `--plot: the file contains several tables; they are in the folder ${grid.filename}`,
      {
        hint: 'Make a chart of one of them with: gridline plot create --grid',
      },
    )
  const client = await context.client()
  const note = (text: string): void => context.messages.note(text)
  const before = await resolveChartOptions(client, grid, given, options)
  const charted = async () => {
    const { type, figure } = await createThemedChart(client, grid, before.type, before.options, note)
    return createOrUpdateChart(context, grid, type, figure, options)
  }
  const plot = await charted().catch((error) => {
    if (!(error instanceof Problem)) throw error
    const { code, message, hint } = error
    const { fid, action = 'created' } = grid
    const command = ['gridline plot create --grid', fid, '--type', given, ...formatArguments(options)].join(
      ' ',
    )
    throw new Problem(code, `the grid is uploaded (${fid}, ${action}), but there is no chart: ${message}`, {
      hint: `${hint ? `${hint.replace(/[.?]?$/, (end) => end || '.')} ` : ''}To make the chart: ${command}`,
    })
  })
  if (process.stdout.isTTY && !context.messages.isSilent) await showChart(context, plot.fid)
  return {
    ...plot,
    grid_fid: grid.fid,
    grid_action: grid.action ?? 'created',
    row_count: grid.row_count,
    warnings: [...grid.warnings, ...plot.warnings],
  }
}

/** Shows a chart in the terminal. Without Chromium, there is only its link. */
async function showChart(context: Context, fid: string): Promise<void> {
  const client = await context.client()
  const response = await client.response('plots.content', { fid, query: { inline_data: true } })
  const { drawChart } = await import('../output/chart.ts')
  const figure = JSON.parse(await response.text())
  const text = await drawChart(figure, context.environment, process.stderr).catch(() => undefined)
  if (text !== undefined) context.messages.picture(text)
}
