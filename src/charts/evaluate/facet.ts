/** Arranges groups of traces as small charts with shared axes. */

import { escapeMarkup } from '../../contract/plotly-markup.ts'
import { COLORS } from '../figure/colors.ts'
import { type Attributes, isObject, isThemed } from '../figure/figure.ts'
import { BAND_NAME, MARK_NAME } from '../figure/shared-names.ts'

/** Maximum number of small charts in one figure. */
export const MAX_FACETS = 36
/** Gaps between small charts for titles and ticks, as fractions of the figure. */
const COLUMN_GAP = 0.06
const ROW_GAP = 0.14
/** Height of a row of small charts, in pixels. */
const ROW_PIXELS = 200
/** The default colors of traces in plotly.js, in order. */
const PLOTLY_COLORS = '#1f77b4 #ff7f0e #2ca02c #d62728 #9467bd #8c564b #e377c2 #7f7f7f #bcbd22 #17becf'.split(
  ' ',
)

/**
 * Puts the traces of each facet into a small chart, all with the same scales. Series with the same name share
 * a color and a legend entry. `facets` maps traces to their facet; others are unchanged.
 */
export function arrangeFacets(
  figure: Attributes,
  traces: readonly Attributes[],
  facets: ReadonlyMap<Attributes, readonly string[]>,
): Attributes {
  const { charts, rows, columns } = listFacets(facets)
  const layout: Attributes = isObject(figure.layout) ? figure.layout : {}
  const columnCount =
    columns?.length ?? (charts.length <= 3 ? charts.length : Math.ceil(Math.sqrt(charts.length)))
  const rowCount = Math.ceil(charts.length / columnCount)
  const series = placeTraces(traces, facets, charts, colorwayOf(layout))
  const axes: Attributes = {}
  const titles = charts.map((facet, k) => {
    const [column, row] = [k % columnCount, Math.floor(k / columnCount)]
    const x = cellDomainOf(column, columnCount, COLUMN_GAP)
    const y = cellDomainOf(rowCount - 1 - row, rowCount, ROW_GAP)
    const suffix = k === 0 ? '' : String(k + 1)
    const isLowest = k + columnCount >= charts.length
    axes[`xaxis${suffix}`] = createFacetAxis(layout.xaxis, x, `y${suffix}`, k > 0 && 'x', isLowest)
    axes[`yaxis${suffix}`] = createFacetAxis(layout.yaxis, y, `x${suffix}`, k > 0 && 'y', column === 0)
    return createFacetTitle(facetTitleOf(facet), x, y)
  })
  const annotations: unknown[] = Array.isArray(layout.annotations) ? layout.annotations : []
  const height = layout.height ?? (rowCount > 2 ? rowCount * ROW_PIXELS + 150 : undefined)
  return {
    ...figure,
    layout: {
      ...layout,
      ...axes,
      ...(height !== undefined && { height }),
      ...(Array.isArray(layout.shapes) && { shapes: repeatShapes(layout.shapes, charts.length) }),
      // Gridline's theme places the legend itself.
      ...(!isThemed(layout) && {
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
      annotations: [...annotations, ...titles],
    },
  }
}

/**
 * Assigns the axes of their small chart to traces, in place, and one color per series. Returns the names of
 * the series.
 */
function placeTraces(
  traces: readonly Attributes[],
  facets: ReadonlyMap<Attributes, readonly string[]>,
  charts: readonly (readonly string[])[],
  colors: readonly string[],
): string[] {
  const series: string[] = []
  const numbers = new Map(charts.map((facet, k) => [keyOf(facet), k + 1]))
  for (const trace of traces) {
    const facet = facets.get(trace)
    if (facet === undefined) continue
    const number = numbers.get(keyOf(facet))
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
  return series
}

/** Creates the title of a small chart above its domain. */
function createFacetTitle(text: string, x: [number, number], y: [number, number]): Attributes {
  return {
    name: 'gridline-facet',
    text: escapeMarkup(text),
    x: (x[0] + x[1]) / 2,
    y: y[1],
    xref: 'paper',
    yref: 'paper',
    xanchor: 'center',
    yanchor: 'bottom',
    showarrow: false,
    font: { size: 13 },
  }
}

/** Returns the title of a small chart: `column, row`. */
function facetTitleOf(facet: readonly string[]): string {
  return [...facet].reverse().join(', ')
}

/** Identifies a facet: titles of two facets may be the same. */
function keyOf(facet: readonly string[]): string {
  return JSON.stringify(facet)
}

interface Facets {
  /** Facets of the small charts, in order. With rows and columns, one per pair. */
  charts: (readonly string[])[]
  rows?: string[]
  columns?: string[]
}

/** Lists the small charts of one or two levels of facets. */
function listFacets(facets: ReadonlyMap<unknown, readonly string[]>): Facets {
  const all = [...facets.values()]
  if (all.every(({ length }) => length === 1))
    return { charts: [...new Map(all.map((facet) => [keyOf(facet), facet])).values()] }
  const [rows, columns] = [0, 1].map((level) => [...new Set(all.map((names) => names[level]))])
  return { charts: rows.flatMap((row) => columns.map((column) => [row, column])), rows, columns }
}

/** Returns the number of small charts. */
export function countFacets(facets: ReadonlyMap<unknown, readonly string[]>): number {
  return listFacets(facets).charts.length
}

/** Repeats reference lines and bands in each small chart. Only the first has room for their labels. */
function repeatShapes(shapes: readonly unknown[], count: number): unknown[] {
  return shapes.flatMap((shape) => {
    if (!isObject(shape) || (shape.name !== MARK_NAME && shape.name !== BAND_NAME)) return [shape]
    return Array.from({ length: count }, (_, k) => {
      const suffix = k === 0 ? '' : String(k + 1)
      const axisRef = (axis: 'x' | 'y'): string =>
        shape[`${axis}ref`] === 'paper' ? `${axis}${suffix} domain` : `${axis}${suffix}`
      const { label, ...rest } = shape
      return {
        ...rest,
        xref: axisRef('x'),
        yref: axisRef('y'),
        ...(k === 0 && label !== undefined && { label }),
      }
    })
  })
}

/** Returns the colorway of the figure, its theme, or plotly.js. */
export function colorwayOf(layout: Attributes): string[] {
  const colorway: unknown = layout.colorway ?? layout.template?.layout?.colorway
  return Array.isArray(colorway) && colorway.length > 0 ? colorway : isThemed(layout) ? COLORS : PLOTLY_COLORS
}

/** Creates an axis of a small chart from the axis of the figure. */
function createFacetAxis(
  original: unknown,
  domainRange: [number, number],
  anchor: string,
  matches: string | false,
  isTitled: boolean,
): Attributes {
  const { title, ...rest }: Attributes = isObject(original) ? original : {}
  return {
    ...rest,
    domain: domainRange,
    nticks: 4,
    anchor,
    ...(matches && { matches }),
    ...(isTitled ? title !== undefined && { title } : { showticklabels: false }),
  }
}

/** Returns the domain of one of `count` cells, with gaps between them. */
function cellDomainOf(index: number, count: number, gap: number): [number, number] {
  const size = (1 - gap * (count - 1)) / count
  const from = index * (size + gap)
  return [roundFraction(from), roundFraction(from + size)]
}

function roundFraction(share: number): number {
  return Math.round(share * 10_000) / 10_000
}
