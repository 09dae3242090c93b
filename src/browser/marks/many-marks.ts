// Finds figures with many marks.
import type { Figure } from '../plotly.ts'

/** Minimum number of marks that are joined. */
export const MIN_MARKS = 500

/** Types of traces whose marks may be joined. */
export const JOINED_TYPES = ['scatter', 'bar'] as const
export type JoinedType = (typeof JOINED_TYPES)[number]

/** Returns whether a trace may have marks that are joined. */
export function hasManyMarks(trace: Record<string, unknown> | null, joined: JoinedType): boolean {
  const { type = 'scatter', mode, x, y } = trace ?? {}
  if (type !== joined || (type === 'scatter' && mode !== undefined && !String(mode).includes('markers')))
    return false
  return [x, y].some((list) => ((list as ArrayLike<unknown> | undefined)?.length ?? 0) >= MIN_MARKS)
}

/** Returns whether a figure may have marks that are joined. */
export function mayJoinMarks({ data }: Pick<Figure, 'data'>): boolean {
  return data.some((trace) => JOINED_TYPES.some((type) => hasManyMarks(trace, type)))
}
