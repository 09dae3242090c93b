import { Problem } from '../../contract/errors.ts'
import { chartOf, figureOf } from '../compile/compile.ts'
import { type Attributes, type Figure, tracesOf } from '../figure/figure.ts'
import { dressed, type Theme } from '../figure/themes.ts'
import { completedFrom } from '../make.ts'
import type { ChartClient } from '../normalize/values.ts'
import { type ChartGrid, type ChartOptions, flagOf, withoutNone } from '../spec/options.ts'
import type { Spec } from '../spec/spec.ts'
import { type ChartType, hasTrait, takes, typedOptions } from '../spec/types.ts'
import { spoken } from '../spec/words.ts'
import { merged } from './merge.ts'
import { upright } from './older.ts'
import { specOf } from './stored.ts'

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
  const { spec, options: present } = specOf(figure, grid)
  const current = { type: spec.type, options: present }
  const known = Object.entries(given).filter(([, value]) => value !== undefined)
  const next = type ?? current.type
  const kept = supported(next, current.options)
  for (const name of typedOptions)
    if (current.options[name] !== undefined && kept[name] === undefined)
      note(`${flagOf(name)}: a ${next} has none, so it is left out`)
  const wanted = withoutNone({ ...kept, ...Object.fromEntries(known) })
  // Without series, only bars and slices have largest ones.
  if (wanted.by === undefined && given.top === undefined && next !== 'bar' && !hasTrait(next, 'slices'))
    delete wanted.top
  // Its columns are those of --y.
  if (hasTrait(next, 'no x') && next !== current.type && given.x === undefined) delete wanted.x
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
  const changed = await reworked(figure, grid, made, Object.fromEntries(known))
  return theme === undefined ? changed : dressed(changed, theme)
}

/** A figure with the chart `made` in the place of the one that it is. `given`: the options that are named. */
export async function reworked(
  figure: Figure,
  grid: ChartGrid,
  made: Figure,
  given: ChartOptions,
): Promise<Figure> {
  const spec = specIn(figure, grid)
  const base = spec && (await figureOf(grid.fid, spec).catch(unmade))
  const current = upright(figure, grid.fid)
  const names = [...grid.cols, ...(spec?.columns ?? [])].flatMap(({ name }) => [name, spoken(name)])
  return merged(
    current,
    base ? plain(base) : outlineOf(current, grid.fid),
    plain(made),
    grid.fid,
    given,
    new Set(names),
  )
}

/** The spec of a figure; undefined if it is not a chart of the grid. */
function specIn(figure: Figure, grid: ChartGrid): Spec | undefined {
  try {
    return specOf(figure, grid).spec
  } catch (error) {
    return unmade(error)
  }
}

/** Options that today's rules refuse make no chart. */
function unmade(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error
  return undefined
}

function plain(figure: Figure): Figure {
  return JSON.parse(JSON.stringify(figure))
}

/** Of a figure that no options make: the columns of its traces, and what makes each one type of chart. */
function outlineOf(figure: Figure, fid: string): Figure {
  const data = tracesOf(figure, fid).map(
    (trace): Attributes => Object.fromEntries(Object.entries(trace).filter(([key]) => OUTLINE.has(key))),
  )
  return { data, layout: {} }
}

const OUTLINE: ReadonlySet<string> = new Set([
  ...['xsrc', 'ysrc', 'zsrc', 'labelssrc', 'valuessrc', 'locationssrc'],
  ...['type', 'mode', 'fill', 'stackgroup', 'transforms'],
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
