/// <reference lib="dom" />
// Colors of the series of a chart.
import { COLORS } from '../../charts/figure/colors.ts'
import type { Figure } from '../../charts/figure/figure.ts'
import { colorAttributeOf, findGroupings } from '../../charts/figure/series-color.ts'

/** Maximum number of color fields; more series are hard to tell apart. */
const MAX_COLORED_SERIES = 12

/** A series and its color, as #rrggbb. */
export interface ColoredSeries {
  name: string
  color: string
}

/** Returns the named series of a chart with their colors. `drawn`: the figure with its data, split by series. */
export function listSeries(figure: Figure, drawn: Figure): ColoredSeries[] {
  const defaultColorOf = createDefaultColors(figure)
  const named = drawn.data.flatMap(({ name, meta }, index) =>
    typeof name === 'string' && name !== '' && meta?.isBand !== true ? [{ name, index }] : [],
  )
  const seen = new Set<string>()
  const series = named.flatMap(({ name, index }) => {
    if (seen.has(name)) return []
    seen.add(name)
    const trace = drawn.data[index]
    const color = hexColorOf(trace[colorAttributeOf(trace)]?.color) ?? hexColorOf(trace.marker?.color)
    return [{ name, color: color ?? defaultColorOf(index) }]
  })
  return series.length > 1 || findGroupings(figure.data).length > 0 ? series.slice(0, MAX_COLORED_SERIES) : []
}

/** Returns a color that a color field accepts (#rrggbb); undefined for others. */
function hexColorOf(color: unknown): string | undefined {
  return typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) ? color.toLowerCase() : undefined
}

/** Returns a function that returns the default color of a trace. */
function createDefaultColors({ layout }: Figure): (index: number) => string {
  const colorway: unknown = layout.template?.layout?.colorway
  const colors: readonly string[] = Array.isArray(colorway) && colorway.length > 0 ? colorway : COLORS
  return (index) => colors[index % colors.length]
}
