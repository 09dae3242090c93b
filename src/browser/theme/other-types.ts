// Theme of price, waterfall and other single-trace types.
import { listOf } from '../../charts/figure/lists.ts'
import { roundUpToStep } from '../../charts/figure/steps.ts'
import { type Attributes, type Draft, isNarrow, shortenDistinct, shortenText } from './arrangement.ts'
import { SCHEME_COLORS } from './colors.ts'
import { localeOf } from './numbers.ts'
import { fitTable } from './tables.ts'

/** Colors of rising and falling prices and amounts, and of totals. */
const RISING_COLOR = '#25a269'
const FALLING_COLOR = '#d40039'
const TOTAL_COLOR = '#2f6fd6'
/** Height of the names of parallel axes, and the space beside the outer axes, in pixels. */
const AXIS_NAMES_PIXELS = 44
const BESIDE_PIXELS = 44
const NARROW_BESIDE_PIXELS = 50
/** Space below the axes, on narrow screens also for the color bar, in pixels. */
const BELOW_PIXELS = 48
const NARROW_BELOW_PIXELS = 100

/** Height of a sankey node with its name, in pixels, and the number of nodes up to which gaps are wider. */
const NODE_PIXELS = 18
const WIDE_GAPS_THRESHOLD_NODES = 15
/** Maximum share of the width for the name of a node. */
const MAX_NODE_NAME_SHARE = 0.36
/** Height of the margins of a scatter matrix, in pixels. */
const MATRIX_MARGIN_PIXELS = 130

/** Returns the value labels of a waterfall: plotly.js writes the sum where nothing is added. */
function createAmountLabels({ y }: Attributes): Attributes {
  const templates = [...listOf(y)].map((value) => (Number(value) ? '%{delta}' : value === 0 ? '0' : ''))
  return { textinfo: undefined, texttemplate: templates }
}

/** Returns ticks of a parallel axis with large numbers: plotly.js would show their markup as text. */
function createLargeTicks({ values, tickvals }: Attributes, { meta }: Attributes): Attributes {
  const numbers = [...listOf(values)].filter((value): value is number => typeof value === 'number')
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  if (tickvals !== undefined || !(Math.max(-least, most) >= 1e5)) return {}
  const step = roundUpToStep((most - least) / 6 || most)
  const ticks = Array.from({ length: 8 }, (_, k) => Math.ceil(least / step + k) * step).filter(
    (tick) => tick <= most,
  )
  const format = new Intl.NumberFormat(localeOf(meta), { notation: 'compact', maximumSignificantDigits: 4 })
  return { tickvals: ticks, ticktext: ticks.map((tick) => format.format(tick)) }
}

/** Removes weekends from an axis of prices if no price is on a weekend. */
function removeWeekends({ layout }: Draft, { x }: Attributes): void {
  const days = [...listOf(x)].map((value) =>
    typeof value === 'string' ? new Date(Date.parse(value)).getUTCDay() : 0,
  )
  const isWeekday = days.every((day) => day > 0 && day < 6)
  if (isWeekday && days.length > 5 && layout.xaxis?.type === 'date')
    layout.xaxis = { rangebreaks: [{ bounds: ['sat', 'mon'] }], ...layout.xaxis }
}

/** Applies colors, margins and names that only single types need. */
export function arrangeSingleTypes(draft: Draft): void {
  const { data, view, above } = draft
  const { line, text, ground } = SCHEME_COLORS[view.scheme]
  for (const [k, trace] of data.entries()) {
    if (trace.type === 'candlestick' || trace.type === 'ohlc')
      data[k] = {
        increasing: { line: { color: RISING_COLOR } },
        decreasing: { line: { color: FALLING_COLOR } },
        ...trace,
      }
    if (trace.type === 'candlestick' || trace.type === 'ohlc') removeWeekends(draft, trace)
    if (trace.type === 'waterfall')
      data[k] = {
        increasing: { marker: { color: RISING_COLOR } },
        decreasing: { marker: { color: FALLING_COLOR } },
        totals: { marker: { color: TOTAL_COLOR } },
        connector: { line: { color: line, width: 1 } },
        ...trace,
        ...(trace.textinfo === 'delta' && createAmountLabels(trace)),
      }
    if (trace.type === 'parcoords') {
      const beside = isNarrow(view) ? NARROW_BESIDE_PIXELS : BESIDE_PIXELS
      above.axis = AXIS_NAMES_PIXELS
      const hasScale = isNarrow(view) && listOf(trace.line?.color).length > 0
      draft.layout.margin = { b: hasScale ? NARROW_BELOW_PIXELS : BELOW_PIXELS, ...draft.layout.margin }
      draft.left = beside
      draft.right = Math.max(draft.right, beside)
      const maxWidth = (view.width - 2 * beside) / Math.max(1, (trace.dimensions?.length ?? 1) - 1) - 8
      const dimensions = (trace.dimensions ?? []).map((dimension: { label?: unknown }) => ({
        ...dimension,
        ...createLargeTicks(dimension, draft.layout),
        label: shortenText(String(dimension.label ?? ''), maxWidth),
      }))
      data[k] = { ...trace, dimensions }
    }
    if (trace.type === 'sankey') {
      const { source, target } = trace.link ?? {}
      const nodes = Math.max(...[source, target].map((list) => new Set(listOf(list)).size))
      draft.height = Math.max(draft.height, nodes * NODE_PIXELS + MATRIX_MARGIN_PIXELS)
      const names = [...listOf(trace.node?.label)].map(String)
      const label = shortenDistinct(names, view.width * MAX_NODE_NAME_SHARE)
      data[k] = {
        // The name of the lowest node extends above the node.
        domain: { y: [0.05, 1] },
        ...trace,
        node: { pad: nodes > WIDE_GAPS_THRESHOLD_NODES ? 8 : 16, ...trace.node, label },
      }
    }
    if (trace.type === 'splom') {
      // Row names are vertical.
      const dimensions: Attributes[] = Array.isArray(trace.dimensions) ? trace.dimensions : []
      const rows = Math.max(1, dimensions.length - 1)
      const maxHeight = (view.height - MATRIX_MARGIN_PIXELS) / rows - 8
      const texts = shortenDistinct(
        dimensions.map(({ label }) => String(label ?? '')),
        maxHeight,
      )
      data[k] = {
        ...trace,
        dimensions: dimensions.map((dimension, n) => ({ ...dimension, label: texts[n] })),
      }
      // Small panels of narrow screens fit few ticks.
      if (isNarrow(view))
        for (const n of dimensions.keys())
          for (const letter of ['x', 'y']) {
            const key = `${letter}axis${n === 0 ? '' : n + 1}`
            draft.layout[key] = { nticks: 3, tickangle: 0, ...draft.layout[key] }
          }
    }
    if (trace.type === 'table') {
      const table = fitTable(draft, trace)
      data[k] = {
        ...table,
        header: {
          line: { color: line },
          fill: { color: line },
          font: { color: text, weight: 600 },
          ...table.header,
        },
        cells: { line: { color: line }, fill: { color: ground }, font: { color: text }, ...table.cells },
      }
    }
  }
}
