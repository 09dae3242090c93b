// Values written at points and bars.
import { isStacked } from '../../charts/figure/bar-mode.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { type Attributes, type Draft, measureText } from './arrangement.ts'
import { localeOf } from './numbers.ts'

/** Width of the value at a point of a line, in pixels. */
const POINT_VALUE_PIXELS = 48

/** Reduces overlapping values at points to the first, last, lowest and highest. */
export function thinValues(draft: Draft): void {
  const { data, view } = draft
  for (const [k, trace] of data.entries()) {
    const { mode, texttemplate, y } = trace
    const values = [...listOf(y)]
    // Hide values that do not fit into their bar.
    if (trace.type === 'bar' && texttemplate !== undefined && isStacked(draft.layout)) {
      draft.layout.uniformtext ??= { mode: 'hide', minsize: 9 }
      data[k] = { ...trace, textposition: 'inside' }
    }
    const shortValues = VALUE_TEMPLATES.has(texttemplate)
      ? formatShortValues(values, draft.layout)
      : undefined
    if (shortValues) data[k] = { ...data[k], texttemplate: shortValues }
    if (typeof texttemplate !== 'string' || !String(mode).includes('text')) continue
    // Half of the last value extends beyond the plot.
    const last = shortValues?.at(-1) ?? (Number(values.at(-1)) || 0).toLocaleString('en')
    draft.right = Math.max(draft.right, measureText(last) / 2 + 4)
    if (values.length * POINT_VALUE_PIXELS <= view.width) continue
    const numbers = values.flatMap((value, at) => (typeof value === 'number' ? [{ value, at }] : []))
    const sorted = [...numbers].sort((a, b) => a.value - b.value)
    const visible = new Set([numbers[0], numbers.at(-1), sorted[0], sorted.at(-1)].map((point) => point?.at))
    const texts = values.map((_, at) => (visible.has(at) ? (shortValues?.[at] ?? texttemplate) : ''))
    data[k] = { ...trace, texttemplate: texts }
  }
}

/** Text templates that `--labels` creates. */
const VALUE_TEMPLATES: ReadonlySet<unknown> = new Set(['%{y}', '%{value}'])

/** Returns values in short form from a million up, as on the axis; undefined for other values or formats. */
function formatShortValues(values: readonly unknown[], { yaxis, meta }: Attributes): string[] | undefined {
  const isLarge = values.some((value) => typeof value === 'number' && Math.abs(value) >= 1e6)
  if (!isLarge || yaxis?.tickformat !== undefined) return undefined
  const format = new Intl.NumberFormat(localeOf(meta), { notation: 'compact', maximumSignificantDigits: 4 })
  const [before = '', after = ''] = [yaxis?.tickprefix, yaxis?.ticksuffix]
  return values.map((value) => (typeof value === 'number' ? `${before}${format.format(value)}${after}` : ''))
}
