import { Problem } from '../contract/errors.ts'
import { chartOf, flagOf } from './charts.ts'
import { optionsOf } from './chosen.ts'
import { completedFrom } from './make.ts'
import { type Figure, merged } from './merge.ts'
import type { ChartGrid, ChartOptions } from './options.ts'
import { dressed, type Theme } from './themes.ts'
import { type ChartType, isPie, takes, typedOptions } from './types.ts'
import type { ChartClient } from './values.ts'

/**
 * The figure with the chart that some options would make of its columns, and all else as it is. `theme`: another one.
 * Throws `usage` for figures that options do not make.
 */
export async function rechart(
  client: ChartClient,
  grid: ChartGrid,
  figure: Figure,
  type: ChartType | undefined,
  given: ChartOptions,
  theme: Theme | undefined,
  note: (text: string) => void,
): Promise<Figure> {
  const current = optionsOf(figure, grid)
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  const next = type ?? current.type
  const kept = supported(next, current.options)
  for (const name of typedOptions)
    if (current.options[name] !== undefined && kept[name] === undefined)
      note(`${flagOf(name)}: a ${next} has none, so it is left out`)
  const wanted = Object.fromEntries(
    Object.entries({ ...kept, ...Object.fromEntries(known) }).map(([key, value]) => [
      key,
      REMOVABLE.has(key) && /^(?:none)?$/.test(String(value)) ? undefined : value,
    ]),
  ) as ChartOptions
  // Without series, only bars and slices have largest ones.
  if (wanted.by === undefined && given.top === undefined && next !== 'bar' && !isPie(next)) delete wanted.top
  // Its columns are those of --y.
  if (WITHOUT_X.has(next) && given.x === undefined) delete wanted.x
  // A histogram counts values: those of the y axis, not the places they are at.
  const isNewHistogram = next === 'histogram' && current.type !== 'histogram'
  if (isNewHistogram && given.x === undefined && wanted.y !== undefined) delete wanted.x
  const wasHistogram = current.type === 'histogram' && next !== 'histogram'
  if (wasHistogram && given.y === undefined) {
    wanted.y = current.options.y || current.options.x
    wanted.x = given.x
  }
  const whole = wasHistogram ? (await completedFrom(client, grid, next, wanted)).options : wanted
  const made = await chartOf(client, grid, next, whole, note)
  const changed = merged(figure, JSON.parse(JSON.stringify(made)), grid, true)
  return theme === undefined ? changed : dressed(changed, theme)
}

/** Types that show columns of --y alone. */
const WITHOUT_X: ReadonlySet<ChartType> = new Set(['indicator', 'parallel', 'table'])

/** Options that `none`, or an empty text, removes. */
const REMOVABLE: ReadonlySet<string> = new Set([
  ...['by', 'facet', 'aggregate', 'where', 'sort', 'color', 'size', 'text', 'zone'],
  ...['stack', 'trend', 'error', 'y2', 'animate', 'subtitle', 'source', 'mark', 'band'],
])

/** The options of a chart that it can have as another type. */
function supported(type: ChartType, options: ChartOptions): ChartOptions {
  const kept = { ...options }
  for (const name of typedOptions) if (!takes(type, name)) delete kept[name]
  return kept
}

/** The id of the grid whose columns a figure shows. Throws `usage` if there is none, or several. */
export function gridIn({ data }: Figure): string {
  // Of a table, the names of its header and their alignment are kept in a grid of their own.
  const shown = data.map((trace) => (trace.type === 'table' ? { valuessrc: trace.cells?.valuessrc } : trace))
  const fids = new Set(
    [...JSON.stringify(shown).matchAll(/"\w+src":"([^":]+:\d+):[^"]*"/g)].map(([, fid]) => fid),
  )
  const [fid] = fids
  if (fid !== undefined && fids.size === 1) return fid
  throw new Problem('usage', `the figure shows columns of ${fids.size === 0 ? 'no grid' : 'several grids'}`, {
    hint: 'Change its attributes by their paths, such as layout.title.text=Sales.',
  })
}
