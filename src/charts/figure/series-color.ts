// Reads and sets the colors of series.
import type { Attributes, Figure } from './figure.ts'

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
function replaceStyle(styles: unknown, name: string, color: string): Attributes[] {
  const otherStyles = Array.isArray(styles) ? styles.filter(({ target }) => target !== name) : []
  return [...otherStyles, { target: name, value: { line: { color }, marker: { color } } }]
}

/** Returns the figure with the changed colors of series. */
export function withChangedColors(figure: Figure, colors: ReadonlyMap<string, string>): Figure {
  if (colors.size === 0) return figure
  const grouped = new Set(findGroupings(figure.data).map(({ trace }) => trace))
  const data = figure.data.map((trace, k): Attributes => {
    const color = grouped.has(k) ? undefined : colors.get(trace.name)
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

/** Returns the colors of series, by name, that are chosen in a figure and not in `plain`, the same chart without them. */
export function listChosenColors({ data }: Figure, plain: Figure): Record<string, string> {
  const colors: Record<string, string> = {}
  const grouped = new Set(findGroupings(data).map(({ trace }) => trace))
  for (const [k, trace] of data.entries()) {
    const color = trace[colorAttributeOf(trace)]?.color
    const same = plain.data.find(({ name }) => name === trace.name)
    if (typeof color !== 'string' || typeof trace.name !== 'string' || grouped.has(k)) continue
    if (same?.[colorAttributeOf(same)]?.color !== color) colors[trace.name] = color
  }
  for (const { trace, transform } of findGroupings(data)) {
    const { styles } = data[trace].transforms[transform]
    const others = plain.data[trace]?.transforms?.[transform]?.styles
    for (const { target, value } of Array.isArray(styles) ? styles : [])
      if (typeof value?.marker?.color === 'string' && !listTargets(others).includes(target))
        colors[String(target)] = value.marker.color
  }
  return colors
}

function listTargets(styles: unknown): unknown[] {
  return Array.isArray(styles) ? styles.map(({ target }) => target) : []
}
