// `gridline preview`: shows a plot or grid in the terminal.
import { type Client, resolve } from '../../client/index.ts'
import { counted } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import type { GridMeta } from '../../contract/resources/index.ts'
import { filetypeName } from '../../contract/resources/index.ts'
import { aboutLocalFile, isFigureFile, readFigure } from '../charts/figures.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { other } from '../core/prints.ts'
import { gridOfFile, isDataFileHere } from '../files/local-data.ts'
import { localOptions, refuseReadingOptions } from '../files/parse-options.ts'
import { type ChartFigure, chartText } from '../output/chart.ts'
import { hasColor } from '../output/color.ts'
import { fittedTable } from '../output/fitted.ts'
import { sparkline } from '../output/picture.ts'

/** Maximum number of summarized rows. */
const MAX_ROWS = 100_000
/** Number of rows to print. */
const SHOWN_ROWS = 5
const SPARKLINE_CHARACTERS = 24

export const command = defineCommand({
  prints: other('nothing; the output is a picture'),
  arguments: '<file>',
  completes: [['file', 'local']],
  examples: ['gridline preview "Sales 2024"', 'gridline preview figure.json', 'gridline preview sales.csv'],
  options: localOptions,
  async run(context, [file], options) {
    if (await isFigureFile(file)) return { text: await chart(context, (await readFigure(file)).text) }
    if (await isDataFileHere(file)) {
      const { client, fid } = await gridOfFile(context, file, options)
      return { text: await gridText(context, client, fid) }
    }
    refuseReadingOptions(options)
    const client = await context.clientFor(file)
    const fid = await resolve(client, file).catch((error) => {
      throw aboutLocalFile(error, file)
    })
    const { filetype } = await client.call('files.get', { fid })
    if (filetype === 'grid') return { text: await gridText(context, client, fid) }
    if (filetype !== 'plot' || !parseFid(fid))
      throw new Problem(
        'usage',
        `${file} is a ${filetypeName(filetype)}; only plots and grids have a preview`,
      )
    const response = await client.response('plots.content', { fid, query: { inline_data: true } })
    return { text: await chart(context, await response.text()) }
  },
})

/** Draws a figure as text. */
function chart(context: Context, figure: string): Promise<string> {
  return chartText(JSON.parse(figure) as ChartFigure, context.environment, process.stdout)
}

/** Formats the first rows of a grid, and a summary line per numeric column. */
async function gridText(context: Context, client: Client, fid: string): Promise<string> {
  const meta: GridMeta = await client.call('grids.get', { fid })
  const response = await client.response('grids.content', { fid, query: { format: 'json', head: MAX_ROWS } })
  const { cols } = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
  const { narrowed, table } = await import('../output/table.ts')
  const names = meta.cols.map(({ name }) => name)
  const color = hasColor(process.stdout, context.environment)
  const isNumber = new Set(meta.cols.filter(({ type }) => type === 'number').map(({ name }) => name))
  const rows = Array.from({ length: Math.min(SHOWN_ROWS, meta.row_count) }, (_, row) =>
    names.map((name) => textOf(cols[name].data[row])),
  )
  const numeric = names.map((name) => isNumber.has(name))
  const width = process.stdout.columns || 80
  const fittedRows = fittedTable({ names: names, numeric, rows }, width, color)
  const parts = [
    `${meta.filename}: ${counted(meta.row_count, 'row')}, ${counted(names.length, 'column')}\n\n`,
    fittedRows.text,
  ]
  if (fittedRows.shown < names.length) {
    const more = names.length - fittedRows.shown
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
        exact(values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)),
        shortNumber(values.length === 0 ? Number.NaN : sum / values.length),
        exact(values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)),
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
    const { view, cells } = narrowed({ columns: aligned }, summary, width)
    parts.push('\n', table(false, view, cells, color, width))
    if (meta.row_count > MAX_ROWS) parts.push(`The summary covers the first ${MAX_ROWS} rows.\n`)
  }
  return parts.join('')
}

/** Formats a cell. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Formats a number exactly; empty if not finite. */
function exact(value: number): string {
  return Number.isFinite(value) ? String(value) : ''
}

/** Formats a number with at most six digits; `~` marks a rounded one. */
function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return ''
  const short = Number(value.toPrecision(6))
  return `${short === value ? '' : '~'}${short}`
}
