// Reads and sets the colors of series.
import type { Attributes } from './figure.ts'

/** Returns the attribute that holds the color of a trace: `line` for lines, `marker` for bars and points. */
export function colorAttributeOf({ type = 'scatter', mode = 'lines' }: Attributes): 'line' | 'marker' {
  return type === 'scatter' && String(mode).includes('lines') ? 'line' : 'marker'
}

/** Returns a trace with the color of `before`, the same trace as another type. */
export function copyColor(trace: Attributes, before: Attributes): Attributes {
  const [from, to] = [colorAttributeOf(before), colorAttributeOf(trace)]
  const color = before[from]?.color
  if (from === to || typeof color !== 'string' || trace[to]?.color !== undefined) return trace
  const { color: _, ...rest } = trace[from] ?? {}
  const next = { ...trace, [from]: rest, [to]: { ...trace[to], color } }
  if (Object.keys(rest).length === 0) delete next[from]
  return next
}

/** Returns the positions of the group-by transforms of `--by`. The data holds the names of these series. */
export function findGroupings(data: readonly Attributes[]): { trace: number; transform: number }[] {
  return data.flatMap(({ transforms }, trace) => {
    const transform = Array.isArray(transforms)
      ? transforms.findIndex(
          (candidate) =>
            candidate.type === 'groupby' &&
            !candidate.facet &&
            !candidate.animate &&
            candidate.hue === undefined,
        )
      : -1
    return transform < 0 ? [] : [{ trace, transform }]
  })
}

/** Returns the styles of a group-by transform with the color of one series replaced. */
export function replaceStyle(styles: unknown, name: string, color: string): Attributes[] {
  const otherStyles = Array.isArray(styles) ? styles.filter(({ target }) => target !== name) : []
  return [...otherStyles, { target: name, value: { line: { color }, marker: { color } } }]
}
