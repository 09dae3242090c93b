// Applies changed options to a figure.
import { Problem } from '../../contract/errors.ts'
import { compileChart, compileSpec } from '../compile/compile.ts'
import { completeFromGrid } from '../create-chart.ts'
import { type Attributes, type Figure, listGridTraces } from '../figure/figure.ts'
import { setTheme, type Theme } from '../figure/themes.ts'
import type { ChartClient } from '../normalize/read-values.ts'
import { createUsageError } from '../spec/errors.ts'
import { type ChartGrid, type ChartOptions, dropEmptyOptions, flagOf } from '../spec/options.ts'
import type { Spec } from '../spec/spec.ts'
import { acceptsOption, type ChartType, hasTrait, TYPE_SPECIFIC_OPTIONS, withArticle } from '../spec/types.ts'
import { humanizeName } from '../spec/words.ts'
import { mergeFigures } from './merge-figures.ts'
import { ATTRIBUTES_HINT, convertHorizontal } from './read-options.ts'
import { readSpec } from './read-spec.ts'

/**
 * Changes the options, type and theme of a chart, and keeps its manual edits. Options that the new type does not
 * accept are removed. Undefined: type or theme stay. Throws `usage` for figures that are not charts of the grid.
 */
export async function applyOptions(
  client: ChartClient,
  grid: ChartGrid,
  figure: Figure,
  { type, options: input, theme }: { type?: ChartType; options: ChartOptions; theme?: Theme },
  note: (text: string) => void,
): Promise<Figure> {
  const { spec, options: storedOptions } = readSpec(figure, grid)
  const current = { type: spec.type, options: storedOptions }
  const changes = Object.entries(input).filter(([, value]) => value !== undefined)
  const next = type ?? current.type
  const accepted = filterAccepted(next, current.options)
  for (const name of TYPE_SPECIFIC_OPTIONS)
    if (current.options[name] !== undefined && accepted[name] === undefined)
      note(`${flagOf(name)}: ${withArticle(next)} does not accept it, so it is removed`)
  const options = dropEmptyOptions({ ...accepted, ...Object.fromEntries(changes) })
  // Without series, --top applies only to bars and slices.
  if (options.by === undefined && input.top === undefined && next !== 'bar' && !hasTrait(next, 'slices'))
    delete options.top
  // Such a type uses the columns of --y only.
  if (hasTrait(next, 'no x') && next !== current.type && input.x === undefined) delete options.x
  // A histogram counts the values of --y, not their positions on the x axis.
  const isNewHistogram = next === 'histogram' && current.type !== 'histogram'
  if (isNewHistogram && input.x === undefined && options.y !== undefined) delete options.x
  const wasHistogram = current.type === 'histogram' && next !== 'histogram'
  if (wasHistogram && input.y === undefined) {
    options.y = current.options.y || current.options.x
    options.x = input.x
  }
  const complete = wasHistogram ? (await completeFromGrid(client, grid, next, options)).options : options
  const generated = await compileChart(client, grid, next, complete, { note })
  const changed = await replaceGeneratedParts(figure, grid, generated, Object.fromEntries(changes))
  return theme === undefined ? changed : setTheme(changed, theme)
}

/** Replaces the generated parts of a figure by `generated`. `input`: the options that the user named. */
export async function replaceGeneratedParts(
  figure: Figure,
  grid: ChartGrid,
  generated: Figure,
  input: ChartOptions,
): Promise<Figure> {
  const spec = findSpec(figure, grid)
  const base = spec && (await compileSpec(grid.fid, spec).catch(ignoreProblem))
  const current = convertHorizontal(figure, grid.fid)
  const names = [...grid.cols, ...(spec?.columns ?? [])].flatMap(({ name }) => [name, humanizeName(name)])
  return mergeFigures(
    {
      current,
      base: base ? toPlainJson(base) : outlineOf(current, grid.fid),
      generated: toPlainJson(generated),
    },
    grid.fid,
    input,
    new Set(names),
  )
}

/** Returns the spec of a figure; undefined if it is not a chart of the grid. */
function findSpec(figure: Figure, grid: ChartGrid): Spec | undefined {
  try {
    return readSpec(figure, grid).spec
  } catch (error) {
    return ignoreProblem(error)
  }
}

/** Ignores the `Problem` of options that are no longer valid; throws other errors. */
function ignoreProblem(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error
  return undefined
}

function toPlainJson(figure: Figure): Figure {
  return JSON.parse(JSON.stringify(figure))
}

/** Returns the column references and types of traces, for a figure without valid options. */
function outlineOf(figure: Figure, fid: string): Figure {
  const data = listGridTraces(figure, fid).map(
    (trace): Attributes =>
      Object.fromEntries(Object.entries(trace).filter(([key]) => OUTLINE_ATTRIBUTES.has(key))),
  )
  return { data, layout: {} }
}

/** Attributes that refer to columns or determine the chart type. */
const OUTLINE_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['xsrc', 'ysrc', 'zsrc', 'labelssrc', 'valuessrc', 'locationssrc'],
  ...['type', 'mode', 'fill', 'stackgroup', 'transforms'],
])

/** Returns the options that a type accepts. */
function filterAccepted(type: ChartType, options: ChartOptions): ChartOptions {
  const accepted = { ...options }
  for (const name of TYPE_SPECIFIC_OPTIONS) if (!acceptsOption(type, name)) delete accepted[name]
  return accepted
}

/** Returns the id of the grid that a figure shows. Throws `usage` if there is none, or several. */
export function findGridId({ data }: Figure): string {
  // The header of a table is stored in another grid.
  const traces = data.map((trace) => (trace.type === 'table' ? { valuessrc: trace.cells?.valuessrc } : trace))
  const fids = new Set(
    [...JSON.stringify(traces).matchAll(/"\w+src":"([^":]+:\d+):[^"]*"/g)].map(([, fid]) => fid),
  )
  const [fid] = fids
  if (fid !== undefined && fids.size === 1) return fid
  throw createUsageError(
    `the figure shows columns of ${fids.size === 0 ? 'no grid' : 'several grids'}`,
    ATTRIBUTES_HINT,
  )
}
