import { isStacked } from '../../charts/figure/barmode.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, widthOf } from './draft.ts'
import { localeIn } from './numbers.ts'

/** Width of the value at a point of a line, in pixels. */
const POINT_VALUE_PIXELS = 48

/** Values at points: where they would cover each other, the first, the last, the least and the highest. */
export function thinValues(draft: Draft): void {
  const { data, view } = draft
  for (const [k, trace] of data.entries()) {
    const { mode, texttemplate, y } = trace
    const values = [...listOf(y)]
    // A value that has no room in its part of a bar is not written: nobody reads it.
    if (trace.type === 'bar' && texttemplate !== undefined && isStacked(draft.layout)) {
      draft.layout.uniformtext ??= { mode: 'hide', minsize: 9 }
      data[k] = { ...trace, textposition: 'inside' }
    }
    const shown = VALUE_TEMPLATES.has(texttemplate) ? shortTexts(values, draft.layout) : undefined
    if (shown) data[k] = { ...data[k], texttemplate: shown }
    if (typeof texttemplate !== 'string' || !String(mode).includes('text')) continue
    // Half of the value at the last point stands beside the plot.
    const last = shown?.at(-1) ?? (Number(values.at(-1)) || 0).toLocaleString('en')
    draft.right = Math.max(draft.right, widthOf(last) / 2 + 4)
    if (values.length * POINT_VALUE_PIXELS <= view.width) continue
    const known = values.flatMap((value, at) => (typeof value === 'number' ? [{ value, at }] : []))
    const by = [...known].sort((a, b) => a.value - b.value)
    const kept = new Set([known[0], known.at(-1), by[0], by.at(-1)].map((one) => one?.at))
    const texts = values.map((_, at) => (kept.has(at) ? (shown?.[at] ?? texttemplate) : ''))
    data[k] = { ...trace, texttemplate: texts }
  }
}

/** Templates of values as `--labels` writes them. */
const VALUE_TEMPLATES: ReadonlySet<unknown> = new Set(['%{y}', '%{value}'])

/** Values from a million on, as an axis writes them, in short; undefined for others, and with a format of their own. */
function shortTexts(values: readonly unknown[], { yaxis, meta }: Attributes): string[] | undefined {
  const isLarge = values.some((value) => typeof value === 'number' && Math.abs(value) >= 1e6)
  if (!isLarge || yaxis?.tickformat !== undefined) return undefined
  const format = new Intl.NumberFormat(localeIn(meta), { notation: 'compact', maximumSignificantDigits: 4 })
  const [before = '', after = ''] = [yaxis?.tickprefix, yaxis?.ticksuffix]
  return values.map((value) => (typeof value === 'number' ? `${before}${format.format(value)}${after}` : ''))
}
