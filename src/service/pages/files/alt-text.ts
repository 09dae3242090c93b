import type { RawJson } from '../../../json/index.ts'

/** A sentence that says what a chart shows, for screen readers and previews of links. */
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
  const several = count > 1 ? ` ${count} traces.` : ''
  return `${kinds}: ${title}.${axes.length > 0 ? ` Axes: ${axes.join('; ')}.` : ''}${several}`
}

/** Title and subtitle of a chart, without markup. */
export function headingOf(figure: RawJson): { title: string | undefined; subtitle: string | undefined } {
  const layout = member(figure, 'layout')
  const title = member(layout, 'title')
  const subtitle = member(title, 'subtitle')
  return { title: titleOf(layout), subtitle: plainOf(textOf(member(subtitle, 'text'))) }
}

/** The type of a trace, in the word for what it looks like. */
function typeOf(trace: RawJson): string {
  const type = textOf(trace.get('type')) ?? 'scatter'
  return type === 'scatter' && /^lines/.test(textOf(trace.get('mode')) ?? '') ? 'line' : type
}

function member(value: RawJson | undefined, name: string): RawJson | undefined {
  return value?.kind === 'object' ? value.get(name) : undefined
}

/** The title of a layout or an axis, without markup: a text, or an object with a text. */
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
