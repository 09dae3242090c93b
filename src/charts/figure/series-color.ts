import type { Attributes } from './figure.ts'

/** Where a trace has its color: lines in `line`, bars and points in `marker`. */
export function colorKey({ type = 'scatter', mode = 'lines' }: Attributes): 'line' | 'marker' {
  return type === 'scatter' && String(mode).includes('lines') ? 'line' : 'marker'
}

/** A trace with the color of what it was before as another type. */
export function withColorOf(trace: Attributes, before: Attributes): Attributes {
  const [from, to] = [colorKey(before), colorKey(trace)]
  const color = before[from]?.color
  if (from === to || typeof color !== 'string' || trace[to]?.color !== undefined) return trace
  const { color: _, ...rest } = trace[from] ?? {}
  const next = { ...trace, [from]: rest, [to]: { ...trace[to], color } }
  if (Object.keys(rest).length === 0) delete next[from]
  return next
}

/** Where the transforms are that make series of the values of a column: the names of these series are in the data. */
export function groupingsIn(data: readonly Attributes[]): { trace: number; transform: number }[] {
  return data.flatMap(({ transforms }, trace) => {
    const transform = Array.isArray(transforms)
      ? transforms.findIndex(
          (one) => one.type === 'groupby' && !one.facet && !one.animate && one.hue === undefined,
        )
      : -1
    return transform < 0 ? [] : [{ trace, transform }]
  })
}

/** The styles of such a transform, with the color of a series. */
export function withStyle(styles: unknown, name: string, color: string): Attributes[] {
  const others = Array.isArray(styles) ? styles.filter(({ target }) => target !== name) : []
  return [...others, { target: name, value: { line: { color }, marker: { color } } }]
}
