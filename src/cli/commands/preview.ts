import { resolve } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid } from '../../contract/fid.ts'
import type { GridMeta } from '../../contract/resources.ts'
import type { Context } from '../context.ts'
import { defineCommand } from '../define.ts'
import { aboutLocalFile, isFigureFile, readFigure } from '../figures.ts'
import { type ChartFigure, chartText } from '../output/chart.ts'
import { hasColor } from '../output/color.ts'
import { sparkline } from '../output/picture.ts'
import { filetypeName } from '../output/view.ts'

/** Rows of a grid that are summarized. */
const ROWS = 100_000
/** Rows that are shown. */
const SHOWN = 5
const SPARKLINE = 24

export const command = defineCommand({
  arguments: '<file>',
  localFiles: true,
  completes: ['file'],
  examples: ['gridline preview "Sales 2024"', 'gridline preview figure.json', 'gridline preview sales'],
  async run(context, [file]) {
    if (isFigureFile(file)) return { text: await chart(context, (await readFigure(file)).text) }
    const client = await context.clientFor(file)
    const fid = await resolve(client, file).catch((error) => {
      throw aboutLocalFile(error, file)
    })
    const { filetype } = await client.call('files.get', { fid })
    if (filetype === 'grid') return { text: await gridText(context, fid) }
    if (filetype !== 'plot' || !parseFid(fid))
      throw new Problem(
        'usage',
        `${file} is a ${filetypeName(filetype)}; only plots and grids have a preview`,
      )
    const response = await client.response('plots.content', { fid, query: { inline_data: true } })
    return { text: await chart(context, await response.text()) }
  },
})

function chart(context: Context, figure: string): Promise<string> {
  return chartText(JSON.parse(figure) as ChartFigure, context.environment)
}

/** The first rows of a grid, and a line about each column of numbers. */
async function gridText(context: Context, fid: string): Promise<string> {
  const client = await context.client()
  const meta: GridMeta = await client.call('grids.get', { fid })
  const response = await client.response('grids.content', { fid, query: { format: 'json', head: ROWS } })
  const { cols } = (await response.json()) as { cols: Record<string, { data: unknown[] }> }
  const { table } = await import('../output/table.ts')
  const every = meta.cols.map(({ name }) => name)
  const color = hasColor(process.stdout, context.environment)
  const cells = (name: string): string[] => cols[name].data.slice(0, SHOWN).map(textOf)
  const names = fitting(every, cells, process.stdout.columns || 80)
  const rows = Array.from({ length: Math.min(SHOWN, meta.row_count) }, (_, row) =>
    names.map((name) => cells(name)[row] ?? ''),
  )
  const isNumber = new Set(meta.cols.filter(({ type }) => type === 'number').map(({ name }) => name))
  const view = {
    columns: names.map((name) => ({
      field: name,
      title: name,
      align: isNumber.has(name) ? ('right' as const) : undefined,
    })),
  }
  const parts = [
    `${meta.filename}: ${meta.row_count} rows, ${every.length} columns\n\n`,
    table(false, view, rows, color),
  ]
  if (names.length < every.length) parts.push(`… and ${every.length - names.length} more columns\n`)
  const numbers = every.filter((name) => isNumber.has(name))
  if (numbers.length > 0) {
    const summary = numbers.map((name) => {
      const values = cols[name].data.filter((value): value is number => typeof value === 'number')
      const nulls = cols[name].data.length - values.length
      const sum = values.reduce((total, value) => total + value, 0)
      return [
        name,
        shortNumber(values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)),
        shortNumber(values.length === 0 ? Number.NaN : sum / values.length),
        shortNumber(values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)),
        String(nulls),
        sparkline(values, SPARKLINE),
      ]
    })
    const titles = ['COLUMN', 'MIN', 'MEAN', 'MAX', 'NULL', '']
    const aligned = titles.map((title, k) => ({
      field: title,
      title,
      align: k > 0 && k < 5 ? ('right' as const) : undefined,
    }))
    parts.push('\n', table(false, { columns: aligned }, summary, color))
    if (meta.row_count > ROWS) parts.push(`The summary is of the first ${ROWS} rows.\n`)
  }
  return parts.join('')
}

/** The longest text of a cell that is shown. */
const WIDEST = 40

/** The first columns that fit into the terminal next to each other; at least one. */
function fitting(names: readonly string[], cells: (name: string) => string[], width: number): string[] {
  let left = width
  const fit = names.findIndex((name, k) => {
    left -= Math.max(name.length, ...cells(name).map(({ length }) => length)) + 2
    return k > 0 && left < -2
  })
  return fit < 0 ? [...names] : names.slice(0, fit)
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= WIDEST ? text : `${text.slice(0, WIDEST - 1)}…`
}

function shortNumber(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(6))) : ''
}
