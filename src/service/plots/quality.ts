/** Facts about a figure that are stored beside it: how complete it is, and its title. */
import type { RawJson } from '../../json/index.ts'
import type { FigureFacts } from '../store/aggregates/plots.ts'
import { readText } from './scan.ts'

/**
 * Rates a plot from 0 to 5, for `min_quality` and `max_quality`. One point each for a title, an axis title,
 * names of all traces (or a single trace), data, and a legend or annotation.
 */
function rateQuality(figure: RawJson, hasData: boolean): number {
  const layout = figure.get('layout')
  let traces = 0
  let named = 0
  for (const trace of figure.get('data')?.items() ?? []) {
    traces++
    if (trace.get('name')) named++
  }
  const hasLegend = layout?.get('showlegend')?.toValue() !== false
  const points = [
    hasTitle(layout),
    hasAnyTitle(listAxes(layout)),
    traces > 0 && (traces === 1 || named === traces),
    hasData,
    (traces > 1 && hasLegend) || layout?.get('annotations')?.items().next().done === false,
  ]
  return points.filter(Boolean).length
}

/** Yields the axes of a layout, including those of scenes and polar subplots. */
function* listAxes(layout: RawJson | undefined): Generator<RawJson> {
  for (const [name, value] of layout?.members() ?? []) {
    if (/^[xy]axis\d*$/.test(name)) yield value
    if (/^(?:scene|polar)\d*$/.test(name)) for (const [, axis] of value.members()) yield axis
  }
}

function hasAnyTitle(elements: Iterable<RawJson>): boolean {
  for (const element of elements) if (hasTitle(element)) return true
  return false
}

/** Maximum number of characters of a stored title. */
const MAX_TITLE_CHARACTERS = 500

/** Returns the facts about a figure that lists and searches use. */
export function describeFigure(figure: RawJson, hasData: boolean): FigureFacts {
  const title = readTitle(figure.get('layout'))
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('\0', '')
    .trim()
  return {
    quality: rateQuality(figure, hasData),
    title: title === '' ? null : title.slice(0, MAX_TITLE_CHARACTERS).toWellFormed(),
  }
}

function hasTitle(element: RawJson | undefined): boolean {
  return readTitle(element).trim() !== ''
}

/** Returns the title of a layout or an axis; empty without one. */
function readTitle(element: RawJson | undefined): string {
  const title = element?.get('title')
  return readText(title?.kind === 'object' ? title.get('text') : title) ?? ''
}
