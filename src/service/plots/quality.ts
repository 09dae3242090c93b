import type { RawJson } from '../../json/index.ts'

/**
 * How well a plot explains itself, 0 to 5: a point each for a title, a title of an axis, names of all
 * traces (or a single one), shown data, and a legend, colour bar or annotation. Reference 4.2 has
 * min_quality and max_quality and leaves open what they measure.
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

/** Axes of the layout, those of its scenes too. */
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
