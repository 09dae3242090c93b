import type { RawJson } from '../../json/index.ts'

/**
 * Quality of a plot, 0 to 5. One point each for: a title, an axis title, names for all traces (or a single
 * trace), data, and a legend, color bar or annotation. Used by `min_quality` and `max_quality`.
 */
export function qualityOf(figure: RawJson, hasData: boolean): number {
  const layout = figure.get('layout')
  let traces = 0
  let named = 0
  for (const trace of figure.get('data')?.items() ?? []) {
    traces++
    if (trace.get('name')) named++
  }
  const legend = layout?.get('showlegend')?.value() !== false
  const points = [
    titled(layout),
    anyTitled(axesOf(layout)),
    traces > 0 && (traces === 1 || named === traces),
    hasData,
    (traces > 1 && legend) || layout?.get('annotations')?.items().next().done === false,
  ]
  return points.filter(Boolean).length
}

/** Axes of the layout, including those of scenes and polar subplots. */
function* axesOf(layout: RawJson | undefined): Generator<RawJson> {
  for (const [name, value] of layout?.members() ?? []) {
    if (/^[xy]axis\d*$/.test(name)) yield value
    if (/^(?:scene|polar)\d*$/.test(name)) for (const [, axis] of value.members()) yield axis
  }
}

function anyTitled(things: Iterable<RawJson>): boolean {
  for (const thing of things) if (titled(thing)) return true
  return false
}

function titled(thing: RawJson | undefined): boolean {
  const title = thing?.get('title')
  const text = title?.kind === 'object' ? title.get('text') : title
  return text?.kind === 'string' && (text.value() as string).trim() !== ''
}
