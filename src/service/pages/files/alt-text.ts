/** Describes charts in text. */
import type { RawJson } from '../../../json/index.ts'

/** Returns a sentence about a chart, for screen readers and link previews. */
export function describeChart(figure: RawJson, name: string): string {
  const layout = readMember(figure, 'layout')
  const title = titleOf(layout) ?? name
  const axes = ['xaxis', 'yaxis', 'zaxis'].flatMap((axis) => {
    const label = titleOf(readMember(layout, axis))
    return label === undefined ? [] : [`${axis[0]}: ${label}`]
  })
  const traces: string[] = []
  let count = 0
  const data = readMember(figure, 'data')
  if (data?.kind === 'array')
    for (const trace of data.items()) {
      count++
      if (count > 50 || trace.kind !== 'object') continue
      const type = traceNameOf(trace)
      if (!traces.includes(type)) traces.push(type)
    }
  const kinds = traces.length === 0 ? 'Chart' : `Chart (${traces.join(', ')})`
  const traceCount = count > 1 ? ` ${count} traces.` : ''
  return `${kinds}: ${title}.${axes.length > 0 ? ` Axes: ${axes.join('; ')}.` : ''}${traceCount}`
}

/** Returns title and subtitle of a chart, without markup. */
export function headingsOf(figure: RawJson): { title: string | undefined; subtitle: string | undefined } {
  const layout = readMember(figure, 'layout')
  const title = readMember(layout, 'title')
  const subtitle = readMember(title, 'subtitle')
  return { title: titleOf(layout), subtitle: removeMarkup(readText(readMember(subtitle, 'text'))) }
}

/** Returns the types of the traces of a chart, each once. */
export function listTraceTypes(figure: RawJson): string[] {
  const data = readMember(figure, 'data')
  if (data?.kind !== 'array') return []
  const types = new Set<string>()
  for (const trace of data.items()) if (trace.kind === 'object') types.add(traceTypeOf(trace))
  return [...types]
}

function traceTypeOf(trace: RawJson): string {
  return readText(trace.get('type')) ?? 'scatter'
}

/** Returns the type of a trace for readers: `line` for scatter traces with lines. */
function traceNameOf(trace: RawJson): string {
  const type = traceTypeOf(trace)
  return type === 'scatter' && /^lines/.test(readText(trace.get('mode')) ?? '') ? 'line' : type
}

function readMember(value: RawJson | undefined, name: string): RawJson | undefined {
  return value?.kind === 'object' ? value.get(name) : undefined
}

/** Returns the title of a layout or axis, without markup; undefined if it has none. */
function titleOf(value: RawJson | undefined): string | undefined {
  const title = readMember(value, 'title')
  return removeMarkup(readText(title?.kind === 'object' ? title.get('text') : title))
}

function removeMarkup(markup: string | undefined): string | undefined {
  return (
    markup
      ?.replace(/<[^<>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .replace(/&(lt|gt|amp);/g, (_, name: 'lt' | 'gt' | 'amp') => ({ lt: '<', gt: '>', amp: '&' })[name])
      .trim()
      .slice(0, 300) || undefined
  )
}

function readText(value: RawJson | undefined): string | undefined {
  return value?.kind === 'string' ? String(value.toValue()) : undefined
}
