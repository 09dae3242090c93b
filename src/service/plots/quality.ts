import type { RawJson } from '../../ingest/index.ts'
import { sourcesIn } from './figure.ts'

/**
 * How well a plot explains itself, 0 to 5: a point each for a title, a title of an axis, names of all
 * traces (or a single one), shown data, and a legend, colour bar or annotation. Reference 4.2 has
 * min_quality and max_quality and leaves open what they measure.
 */
export function qualityOf(figure: RawJson): number {
  const members = figure.entries()
  const layout = (members.get('layout')?.value() ?? {}) as Record<string, unknown>
  const traces = members.get('data')?.kind === 'array' ? [...members.get('data')!.items()] : []
  const named = traces.every((trace) => trace.entries().has('name'))
  const axes = Object.entries(layout).filter(([name]) => /^[xy]axis\d*$|^scene\d*$|^polar\d*$/.test(name))
  const points = [
    titled(layout),
    axes.some(([, axis]) => titled(axis) || Object.values(Object(axis)).some(titled)),
    traces.length > 0 && (traces.length === 1 || named),
    sourcesIn(figure).length > 0,
    (traces.length > 1 && layout.showlegend !== false) ||
      (layout.annotations as unknown[] | undefined)?.length,
  ]
  return points.filter(Boolean).length
}

function titled(thing: unknown): boolean {
  const title = (Object(thing) as { title?: unknown }).title
  const text = typeof title === 'string' ? title : (Object(title) as { text?: unknown }).text
  return typeof text === 'string' && text.trim() !== ''
}
