import { BAND, MARK } from '../../../charts/compile/marks.ts'
import { COLORS } from '../../../charts/figure/colors.ts'
import { escapedMarkup } from '../../../contract/markup.ts'
import { type Attributes, isObject } from './attributes.ts'

/** Small charts of one figure. */
export const MAX_FACETS = 36
/** The part of a cell that is not its plot: room for the title and the ticks. */
const GAP_ACROSS = 0.06
const GAP_DOWN = 0.14
/** Height of a row of small charts, in pixels. */
const ROW_PIXELS = 200
/** The default colors of traces in plotly.js, in order. */
const PLOTLY_COLORS = '#1f77b4 #ff7f0e #2ca02c #d62728 #9467bd #8c564b #e377c2 #7f7f7f #bcbd22 #17becf'.split(
  ' ',
)

/**
 * Puts the traces of each facet into a chart of its own, with the same scales. Series of one name have one color and one
 * entry of the legend. The facet of a trace is in `facets`; traces without one stay as they are.
 */
export function faceted(
  figure: Attributes,
  traces: readonly Attributes[],
  facets: ReadonlyMap<Attributes, readonly string[]>,
): Attributes {
  const { names, rows, columns } = chartsOf(facets)
  const layout: Attributes = isObject(figure.layout) ? figure.layout : {}
  const across = columns?.length ?? (names.length <= 3 ? names.length : Math.ceil(Math.sqrt(names.length)))
  const down = Math.ceil(names.length / across)
  const isOurs = isThemed(layout)
  const colors = colorsOf(layout)
  const series: string[] = []
  for (const trace of traces) {
    const facet = facets.get(trace)
    if (facet === undefined) continue
    const number = names.indexOf(titleOf(facet)) + 1
    trace.xaxis = number === 1 ? 'x' : `x${number}`
    trace.yaxis = number === 1 ? 'y' : `y${number}`
    const name = String(trace.name)
    const isNew = !series.includes(name)
    if (isNew) series.push(name)
    trace.legendgroup = name
    trace.showlegend = isNew && name !== ''
    const color = colors[series.indexOf(name) % colors.length]
    trace.marker = { color, ...(isObject(trace.marker) ? trace.marker : {}) }
    trace.line = { color, ...(isObject(trace.line) ? trace.line : {}) }
  }
  const axes: Attributes = {}
  const titles = names.map((text, k) => {
    const [column, row] = [k % across, Math.floor(k / across)]
    const x = domain(column, across, GAP_ACROSS)
    const y = domain(down - 1 - row, down, GAP_DOWN)
    const suffix = k === 0 ? '' : String(k + 1)
    const isLowest = k + across >= names.length
    axes[`xaxis${suffix}`] = axisOf(layout.xaxis, x, `y${suffix}`, k > 0 && 'x', isLowest)
    axes[`yaxis${suffix}`] = axisOf(layout.yaxis, y, `x${suffix}`, k > 0 && 'y', column === 0)
    return {
      name: 'gridline-facet',
      text: escapedMarkup(text),
      x: (x[0] + x[1]) / 2,
      y: y[1],
      xref: 'paper',
      yref: 'paper',
      xanchor: 'center',
      yanchor: 'bottom',
      showarrow: false,
      font: { size: 13 },
    }
  })
  const given: unknown[] = Array.isArray(layout.annotations) ? layout.annotations : []
  const height = layout.height ?? (down > 2 ? down * ROW_PIXELS + 150 : undefined)
  return {
    ...figure,
    layout: {
      ...layout,
      ...axes,
      ...(height !== undefined && { height }),
      ...(Array.isArray(layout.shapes) && { shapes: repeated(layout.shapes, names.length) }),
      // Our theme places the legend itself.
      ...(!isOurs && {
        legend: {
          orientation: 'h',
          x: 0,
          y: 1.08,
          yanchor: 'bottom',
          ...(isObject(layout.legend) ? layout.legend : {}),
        },
      }),
      showlegend: series.some((name) => name !== ''),
      ...(columns !== undefined && { meta: { ...layout.meta, facets: { rows, columns } } }),
      annotations: [...given, ...titles],
    },
  }
}

/** The title of a small chart: its column, and its row. */
function titleOf(facet: readonly string[]): string {
  return [...facet].reverse().join(', ')
}

interface Charts {
  /** The titles of small charts, in order. Of rows and columns there is one for each pair. */
  names: string[]
  rows?: string[]
  columns?: string[]
}

function chartsOf(facets: ReadonlyMap<unknown, readonly string[]>): Charts {
  const given = [...facets.values()]
  if (given.every(({ length }) => length === 1)) return { names: [...new Set(given.map(titleOf))] }
  const [rows, columns] = [0, 1].map((level) => [...new Set(given.map((names) => names[level]))])
  return { names: rows.flatMap((row) => columns.map((column) => titleOf([row, column]))), rows, columns }
}

/** How many small charts there are. */
export function countOf(facets: ReadonlyMap<unknown, readonly string[]>): number {
  return chartsOf(facets).names.length
}

/** Marks and bands, in each of the small charts; their labels in the first one alone, where there is room for one. */
function repeated(shapes: readonly unknown[], count: number): unknown[] {
  return shapes.flatMap((shape) => {
    if (!isObject(shape) || (shape.name !== MARK && shape.name !== BAND)) return [shape]
    return Array.from({ length: count }, (_, k) => {
      const suffix = k === 0 ? '' : String(k + 1)
      const place = (axis: 'x' | 'y'): string =>
        shape[`${axis}ref`] === 'paper' ? `${axis}${suffix} domain` : `${axis}${suffix}`
      const { label, ...rest } = shape
      return { ...rest, xref: place('x'), yref: place('y'), ...(k === 0 && label !== undefined && { label }) }
    })
  })
}

/** The colors of traces, in order. */
export function colorsOf(layout: Attributes): string[] {
  const own: unknown = layout.colorway ?? layout.template?.layout?.colorway
  return Array.isArray(own) && own.length > 0 ? own : isThemed(layout) ? COLORS : PLOTLY_COLORS
}

function isThemed({ meta }: Attributes): boolean {
  return isObject(meta) && typeof meta.theme === 'string'
}

function axisOf(
  given: unknown,
  place: [number, number],
  anchor: string,
  matches: string | false,
  isTitled: boolean,
): Attributes {
  const { title, ...rest }: Attributes = isObject(given) ? given : {}
  return {
    ...rest,
    domain: place,
    nticks: 4,
    anchor,
    ...(matches && { matches }),
    ...(isTitled ? title !== undefined && { title } : { showticklabels: false }),
  }
}

/** The part of the paper of one of `count` places, with gaps between them. */
function domain(place: number, count: number, gap: number): [number, number] {
  const size = (1 - gap * (count - 1)) / count
  const from = place * (size + gap)
  return [round(from), round(from + size)]
}

function round(share: number): number {
  return Math.round(share * 10_000) / 10_000
}
