// Ticks of logarithmic axes.
import type { Attributes, Draft } from './arrangement.ts'
import { localeOf, measureNumbers } from './numbers.ts'

/** Sets the ticks of logarithmic axes that reach a million. */
export function formatLogAxes({ data, layout }: Draft): void {
  for (const key of Object.keys(layout)) {
    const axis: Attributes = layout[key] ?? {}
    if (!/^[xy]axis\d*$/.test(key) || axis.type !== 'log' || axis.dtick !== 1 || axis.tickvals !== undefined)
      continue
    const largest = measureNumbers(data, key)
    if (largest && largest.values >= 1e6)
      layout[key] = { ...axis, dtick: undefined, ...createLogTicks(largest.values, largest.least, layout) }
  }
}

/** Returns ticks at powers of ten. plotly.js writes millions with all zeros. */
function createLogTicks(values: number, least: number, { meta }: Attributes): Attributes {
  const [from, to] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(values))]
  const stride = Math.ceil((to - from) / MAX_TICKS)
  const powers = Array.from({ length: to - from + 1 }, (_, k) => from + k).filter(
    (power) => power % stride === 0,
  )
  const locale = localeOf(meta)
  const text = (power: number): string =>
    power < 6
      ? (10 ** power).toLocaleString(locale, { maximumSignificantDigits: 1 })
      : (10 ** power).toLocaleString(locale, {
          notation: 'compact',
          compactDisplay: locale.startsWith('en') ? 'long' : 'short',
        })
  return { tickmode: 'array', tickvals: powers.map((power) => 10 ** power), ticktext: powers.map(text) }
}

/** Maximum number of ticks. */
const MAX_TICKS = 9
