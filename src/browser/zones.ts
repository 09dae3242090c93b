// Converts times with a zone to UTC: plotly.js would drop the zone. See docs/formats.md#types.
import { isObject, isThemed } from '../charts/figure/figure.ts'

/** An ISO 8601 time with a zone. */
const TIME_WITH_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)$/i
/** Trace attributes with positions on an axis. */
const AXIS_ATTRIBUTES = ['x', 'y', 'z', 'base', 'open', 'high', 'low', 'close'] as const

interface FigureParts {
  data?: unknown
  layout?: unknown
  frames?: unknown
}

/**
 * Returns a chart with its times in UTC, except on axes of labels. Other arrays stay unchanged, and so do figures that were
 * made elsewhere: their ranges, shapes and notes are written for times without their zones.
 */
export function convertToUtc<T extends FigureParts>(figure: T): T {
  const layout = isObject(figure.layout) ? figure.layout : {}
  return isThemed(layout) ? convertParts(figure, layout) : figure
}

function convertParts<T extends FigureParts>(figure: T, layout: Record<string, unknown>): T {
  const { data, frames } = figure
  return {
    ...figure,
    ...(Array.isArray(data) && { data: data.map((trace) => convertTraceToUtc(trace, layout)) }),
    ...(Array.isArray(frames) && {
      frames: frames.map((frame) => (isObject(frame) ? convertParts(frame as FigureParts, layout) : frame)),
    }),
  }
}

function convertTraceToUtc(trace: unknown, layout: Record<string, unknown>): unknown {
  if (!isObject(trace)) return trace
  const changed: Record<string, unknown> = {}
  for (const name of AXIS_ATTRIBUTES) {
    const values = trace[name]
    if (!Array.isArray(values)) continue
    const axis = name === 'x' ? trace.xaxis : trace.yaxis
    const settings = layout[`${name === 'x' ? 'x' : 'y'}axis${/\d+$/.exec(String(axis ?? ''))?.[0] ?? ''}`]
    if (isObject(settings) && settings.type === 'category') continue
    // All values of a column have one type, so check the first.
    const first = values.find((value) => value !== null && value !== undefined)
    if (typeof first === 'string' && TIME_WITH_ZONE.test(first)) changed[name] = values.map(timeToUtc)
  }
  return Object.keys(changed).length > 0 ? { ...trace, ...changed } : trace
}

/** Converts a time with a zone to UTC; other values unchanged. */
function timeToUtc(value: unknown): unknown {
  if (typeof value !== 'string' || !TIME_WITH_ZONE.test(value)) return value
  const iso = value
    .replace(' ', 'T')
    .replace(/([+-]\d\d)$/, '$1:00')
    .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
    .toUpperCase()
  const time = Date.parse(iso)
  return Number.isNaN(time)
    ? value
    : new Date(time)
        .toISOString()
        .replace('T', ' ')
        .replace(/(?:\.000)?Z$/, '')
}
