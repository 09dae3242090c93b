/// <reference lib="dom" />
// Color fields of the edit form: one for each series of a chart.
import { COLORS } from '../charts/figure/colors.ts'
import type { Figure } from '../charts/figure/figure.ts'
import { colorAttributeOf, findGroupings, replaceStyle } from '../charts/figure/series-color.ts'
import { findElement, loadJson } from './api.ts'

/** A chart whose series have colors. */
interface ColoredChart {
  figure: Figure
  /** Names of the series of `--by`, from the data. */
  seriesNames?: string[]
}

/** Creates a color field for each series. */
export function fillColorFields(chart: ColoredChart): void {
  const series = listSeries(chart).map(({ name, color }) => createColorField(name, color))
  findElement('#edit-colors', HTMLElement).replaceChildren(...series)
}

/** Returns the named series of a chart with their colors. */
function listSeries({ figure, seriesNames = [] }: ColoredChart): { name: string; color: string }[] {
  const { data } = figure
  const defaultColorOf = createDefaultColors(figure)
  const traceSeries = data.flatMap((trace, index) => {
    if (typeof trace.name !== 'string' || Array.isArray(trace.transforms)) return []
    return [
      { name: trace.name, color: hexColorOf(trace[colorAttributeOf(trace)]?.color) ?? defaultColorOf(index) },
    ]
  })
  const [grouping] = findGroupings(data)
  if (!grouping) return traceSeries
  const styles = data[grouping.trace].transforms[grouping.transform].styles ?? []
  const colorOf = (name: string): unknown =>
    // biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
    styles.find(({ target }: any) => target === name)?.value?.marker?.color
  return seriesNames.map((name, k) => ({ name, color: hexColorOf(colorOf(name)) ?? defaultColorOf(k) }))
}

/** Returns a color that a color field accepts (#rrggbb); undefined for others. */
function hexColorOf(color: unknown): string | undefined {
  return typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined
}

/** Maximum number of color fields; more series are hard to tell apart. */
const MAX_COLOR_FIELDS = 12

/** Loads the names of the series of `--by`. */
export async function loadSeriesNames({ data }: Figure, content: string): Promise<string[]> {
  if (findGroupings(data).length === 0) return []
  const figure: Figure = await loadJson(`${content}?inline_data=true`)
  return [...new Set(figure.data.map(({ name }) => String(name ?? '')))].slice(0, MAX_COLOR_FIELDS)
}

/** Returns a function that returns the default color of a trace. */
function createDefaultColors({ layout }: Figure): (index: number) => string {
  const colorway: unknown = layout.template?.layout?.colorway
  const colors: readonly string[] = Array.isArray(colorway) && colorway.length > 0 ? colorway : COLORS
  return (index) => colors[index % colors.length]
}

function createColorField(name: string, color: string): HTMLElement {
  const label = document.createElement('label')
  const input = document.createElement('input')
  Object.assign(input, { type: 'color', name: `color ${name}`, value: color })
  input.dataset.before = input.value
  label.append(input, ` ${name}`)
  return label
}

/** Returns the changed colors, by series. */
export function readChangedColors(): Map<string, string> {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('#edit-colors input')]
  return new Map(
    inputs
      .filter((input) => input.value !== input.dataset.before)
      .map((input) => [input.name.slice('color '.length), input.value]),
  )
}

/** Returns the figure with the changed colors of series. */
export function withChangedColors(figure: Figure, colors: ReadonlyMap<string, string>): Figure {
  const data = figure.data.map((trace) => {
    const color = Array.isArray(trace.transforms) ? undefined : colors.get(trace.name)
    const key = colorAttributeOf(trace)
    return color === undefined ? trace : { ...trace, [key]: { ...trace[key], color } }
  })
  for (const { trace, transform } of findGroupings(data)) {
    const transforms = [...data[trace].transforms]
    for (const [name, color] of colors)
      transforms[transform] = {
        ...transforms[transform],
        styles: replaceStyle(transforms[transform].styles, name, color),
      }
    data[trace] = { ...data[trace], transforms }
  }
  return { ...figure, data }
}
