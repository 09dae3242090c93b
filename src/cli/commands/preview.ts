// `gridline preview`: shows a plot or grid in the terminal.
import { type Client, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { filetypeLabel } from '../../contract/resources/index.ts'
import { isFigureFile, readFigure, withLocalFileHint } from '../charts/figures.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { otherOutput } from '../core/output-schema.ts'
import { isLocalDataFile, loadLocalGrid } from '../files/local-data.ts'
import { assertNoReadingOptions, localOptions } from '../files/parse-options.ts'
import { type ChartFigure, drawChart } from '../output/chart.ts'
import { hasColor } from '../output/color.ts'
import { formatFittedTable } from '../output/fit-table.ts'
import { sparkline } from '../output/terminal-image.ts'

/** Maximum number of summarized rows. */
const MAX_SUMMARIZED_ROWS = 100_000
/** Number of rows to print. */
const PREVIEW_ROWS = 5
const SPARKLINE_CHARACTERS = 24

export const command = defineCommand({
  output: otherOutput('nothing; the output is a picture'),
  arguments: '<file>',
  completion: [['file', 'local']],
  examples: ['gridline preview "Sales 2024"', 'gridline preview figure.json', 'gridline preview sales.csv'],
  options: localOptions,
  async run(context, [file], options) {
    if (await isFigureFile(file)) return { text: await formatChart(context, (await readFigure(file)).text) }
    if (await isLocalDataFile(file)) {
      const { client, fid } = await loadLocalGrid(context, file, options)
      return { text: await formatGrid(context, client, fid) }
    }
    assertNoReadingOptions(options)
    const client = await context.clientFor(file)
    const fid = await resolveFid(client, file).catch((error) => {
      throw withLocalFileHint(error, file)
    })
    const { filetype } = await client.call('files.get', { fid })
    if (filetype === 'grid') return { text: await formatGrid(context, client, fid) }
    if (filetype !== 'plot' || !parseFid(fid))
      throw new Problem(
        'usage',
        `${file} is a ${filetypeLabel(filetype)}; only plots and grids have a preview`,
      )
    const response = await client.response('plots.content', { fid, query: { inline_data: true } })
    return { text: await formatChart(context, await response.text()) }
  },
})

/** Draws a figure as text. */
function formatChart(context: Context, figure: string): Promise<string> {
  return drawChart(JSON.parse(figure) as ChartFigure, context.environment, process.stdout)
}

/** Formats the first rows of a grid, and a summary line per numeric column. */
async function formatGrid(context: Context, client: Client, fid: string): Promise<string> {
  const meta: GridMeta = await client.call('grids.get', { fid })
  const response = await client.response('grids.content', {
    fid,
    query: { format: 'json', head: MAX_SUMMARIZED_ROWS },
  })
  const { cols } = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
  const { dropOptionalColumns, formatTable } = await import('../output/table.ts')
  const names = meta.cols.map(({ name }) => name)
  const color = hasColor(process.stdout, context.environment)
  const isNumber = new Set(meta.cols.filter(({ type }) => type === 'number').map(({ name }) => name))
  const rows = Array.from({ length: Math.min(PREVIEW_ROWS, meta.row_count) }, (_, row) =>
    names.map((name) => formatCellValue(cols[name].data[row])),
  )
  const numeric = names.map((name) => isNumber.has(name))
  const width = process.stdout.columns || 80
  const fittedRows = formatFittedTable({ names, numeric, rows }, width, color)
  const parts = [
    `${meta.filename}: ${formatCount(meta.row_count, 'row')}, ${formatCount(names.length, 'column')}\n\n`,
    fittedRows.text,
  ]
  if (fittedRows.columnCount < names.length) {
    const more = names.length - fittedRows.columnCount
    parts.push(`… and ${more} more ${more === 1 ? 'column' : 'columns'}\n`)
  }
  const numbers = names.filter((name) => isNumber.has(name))
  if (numbers.length > 0) {
    const summary = numbers.map((name) => {
      const values = cols[name].data.filter((value): value is number => typeof value === 'number')
      const nulls = cols[name].data.length - values.length
      const sum = values.reduce((total, value) => total + value, 0)
      return [
        name,
        formatExact(values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)),
        formatRounded(values.length === 0 ? Number.NaN : sum / values.length),
        formatExact(values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)),
        String(nulls),
        sparkline(values, SPARKLINE_CHARACTERS),
      ]
    })
    const titles = ['COLUMN', 'MIN', 'MEAN', 'MAX', 'NULL', '']
    const aligned = titles.map((title, k) => ({
      field: title,
      title,
      align: k > 0 && k < 5 ? ('right' as const) : undefined,
      isOptional: k === 2 || k > 3 ? (true as const) : undefined,
    }))
    const { view, cells } = dropOptionalColumns({ columns: aligned }, summary, width)
    parts.push('\n', formatTable(false, view, cells, color, width))
    if (meta.row_count > MAX_SUMMARIZED_ROWS)
      parts.push(`The summary covers the first ${MAX_SUMMARIZED_ROWS} rows.\n`)
  }
  return parts.join('')
}

/** Formats a cell. */
function formatCellValue(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Formats a number exactly; empty if not finite. */
function formatExact(value: number): string {
  return Number.isFinite(value) ? String(value) : ''
}

/** Formats a number with at most six digits; `~` marks a rounded one. */
function formatRounded(value: number): string {
  if (!Number.isFinite(value)) return ''
  const short = Number(value.toPrecision(6))
  return `${short === value ? '' : '~'}${short}`
}
