/** Describes charts in text. */
import type { RawJson } from '../../../json/index.ts'

/** Returns a sentence about a chart, for screen readers and link previews. */
export function described(figure: RawJson, name: string): string {
  const layout = member(figure, 'layout')
  const title = titleOf(layout) ?? name
  const axes = ['xaxis', 'yaxis', 'zaxis'].flatMap((axis) => {
    const label = titleOf(member(layout, axis))
    return label === undefined ? [] : [`${axis[0]}: ${label}`]
  })
  const traces: string[] = []
  let count = 0
  const data = member(figure, 'data')
  if (data?.kind === 'array')
    for (const trace of data.items()) {
      count++
      if (count > 50 || trace.kind !== 'object') continue
      const type = typeOf(trace)
      if (!traces.includes(type)) traces.push(type)
    }
  const kinds = traces.length === 0 ? 'Chart' : `Chart (${traces.join(', ')})`
  const traceCount = count > 1 ? ` ${count} traces.` : ''
  return `${kinds}: ${title}.${axes.length > 0 ? ` Axes: ${axes.join('; ')}.` : ''}${traceCount}`
}

/** Returns title and subtitle of a chart, without markup. */
export function headingOf(figure: RawJson): { title: string | undefined; subtitle: string | undefined } {
  const layout = member(figure, 'layout')
  const title = member(layout, 'title')
  const subtitle = member(title, 'subtitle')
  return { title: titleOf(layout), subtitle: plainOf(textOf(member(subtitle, 'text'))) }
}

/** Returns the type of a trace: `line` for scatter traces with lines. */
function typeOf(trace: RawJson): string {
  const type = textOf(trace.get('type')) ?? 'scatter'
  return type === 'scatter' && /^lines/.test(textOf(trace.get('mode')) ?? '') ? 'line' : type
}

function member(value: RawJson | undefined, name: string): RawJson | undefined {
  return value?.kind === 'object' ? value.get(name) : undefined
}

/** Returns the title of a layout or axis, without markup; undefined if it has none. */
function titleOf(value: RawJson | undefined): string | undefined {
  const title = member(value, 'title')
  return plainOf(textOf(title?.kind === 'object' ? title.get('text') : title))
}

function plainOf(markup: string | undefined): string | undefined {
  return (
    markup
      ?.replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .replace(/&(lt|gt|amp);/g, (_, name: 'lt' | 'gt' | 'amp') => ({ lt: '<', gt: '>', amp: '&' })[name])
      .trim()
      .slice(0, 300) || undefined
  )
}

function textOf(value: RawJson | undefined): string | undefined {
  return value?.kind === 'string' ? (value.value() as string) : undefined
}
