// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

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
