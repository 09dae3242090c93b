// Theme of price, waterfall and other single-trace types.
import { listOf } from '../../charts/figure/lists.ts'
import { stepAbove } from '../../charts/figure/steps.ts'
import { GROUNDS } from './colors.ts'
import { type Attributes, type Draft, isNarrow, shortened, shortenedApart } from './draft.ts'
import { localeIn } from './numbers.ts'
import { fitTable } from './tables.ts'

/** Colors of rising and falling prices and amounts, and of totals. */
const RISING = '#25a269'
const FALLING = '#d40039'
const TOTAL = '#2f6fd6'
/** Height of the names of parallel axes, and the space beside the outer axes, in pixels. */
const NAMES_PIXELS = 44
const BESIDE_PIXELS = 44
const NARROW_BESIDE_PIXELS = 50
/** Space below the axes, on narrow screens also for the color bar, in pixels. */
const BELOW_PIXELS = 48
const NARROW_BELOW_PIXELS = 100

/** Height of a sankey node with its name, in pixels, and the number of nodes up to which gaps are wider. */
const NODE_PIXELS = 18
const FEW_NODES = 15
/** Maximum share of the width for the name of a node. */
const NODE_SHARE = 0.36
/** Height of the margins of a scatter matrix, in pixels. */
const AROUND_MATRIX_PIXELS = 130

/** Returns the value labels of a waterfall: plotly.js writes the sum where nothing is added. */
function amounts({ y }: Attributes): Attributes {
  const templates = [...listOf(y)].map((value) => (Number(value) ? '%{delta}' : value === 0 ? '0' : ''))
  return { textinfo: undefined, texttemplate: templates }
}

/** Returns ticks of a parallel axis with large numbers: plotly.js would show their markup as text. */
function largeTicks({ values, tickvals }: Attributes, { meta }: Attributes): Attributes {
  const numbers = [...listOf(values)].filter((value): value is number => typeof value === 'number')
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  if (tickvals !== undefined || !(Math.max(-least, most) >= 1e5)) return {}
  const step = stepAbove((most - least) / 6 || most)
  const ticks = Array.from({ length: 8 }, (_, k) => Math.ceil(least / step + k) * step).filter(
    (tick) => tick <= most,
  )
  const format = new Intl.NumberFormat(localeIn(meta), { notation: 'compact', maximumSignificantDigits: 4 })
  return { tickvals: ticks, ticktext: ticks.map((tick) => format.format(tick)) }
}

/** Removes weekends from an axis of prices if no price is on a weekend. */
function leaveOutWeekends({ layout }: Draft, { x }: Attributes): void {
  const days = [...listOf(x)].map((value) =>
    typeof value === 'string' ? new Date(Date.parse(value)).getUTCDay() : 0,
  )
  const isWeekday = days.every((day) => day > 0 && day < 6)
  if (isWeekday && days.length > 5 && layout.xaxis?.type === 'date')
    layout.xaxis = { rangebreaks: [{ bounds: ['sat', 'mon'] }], ...layout.xaxis }
}

/** Applies colors, margins and names that only single types need. */
export function arrangeParts(draft: Draft): void {
  const { data, view, above } = draft
  const { line, text, ground } = GROUNDS[view.scheme]
  for (const [k, trace] of data.entries()) {
    if (trace.type === 'candlestick' || trace.type === 'ohlc')
      data[k] = {
        increasing: { line: { color: RISING } },
        decreasing: { line: { color: FALLING } },
        ...trace,
      }
    if (trace.type === 'candlestick' || trace.type === 'ohlc') leaveOutWeekends(draft, trace)
    if (trace.type === 'waterfall')
      data[k] = {
        increasing: { marker: { color: RISING } },
        decreasing: { marker: { color: FALLING } },
        totals: { marker: { color: TOTAL } },
        connector: { line: { color: line, width: 1 } },
        ...trace,
        ...(trace.textinfo === 'delta' && amounts(trace)),
      }
    if (trace.type === 'parcoords') {
      const beside = isNarrow(view) ? NARROW_BESIDE_PIXELS : BESIDE_PIXELS
      above.axis = NAMES_PIXELS
      const hasScale = isNarrow(view) && listOf(trace.line?.color).length > 0
      draft.layout.margin = { b: hasScale ? NARROW_BELOW_PIXELS : BELOW_PIXELS, ...draft.layout.margin }
      draft.left = beside
      draft.right = Math.max(draft.right, beside)
      const maxWidth = (view.width - 2 * beside) / Math.max(1, (trace.dimensions?.length ?? 1) - 1) - 8
      const dimensions = (trace.dimensions ?? []).map((dimension: { label?: unknown }) => ({
        ...dimension,
        ...largeTicks(dimension, draft.layout),
        label: shortened(String(dimension.label ?? ''), maxWidth),
      }))
      data[k] = { ...trace, dimensions }
    }
    if (trace.type === 'sankey') {
      const { source, target } = trace.link ?? {}
      const nodes = Math.max(...[source, target].map((list) => new Set(listOf(list)).size))
      draft.needed = Math.max(draft.needed, nodes * NODE_PIXELS + AROUND_MATRIX_PIXELS)
      const names = [...listOf(trace.node?.label)].map(String)
      const label = shortenedApart(names, view.width * NODE_SHARE)
      data[k] = {
        // The name of the lowest node extends above the node.
        domain: { y: [0.05, 1] },
        ...trace,
        node: { pad: nodes > FEW_NODES ? 8 : 16, ...trace.node, label },
      }
    }
    if (trace.type === 'splom') {
      // Row names are vertical.
      const dimensions: Attributes[] = Array.isArray(trace.dimensions) ? trace.dimensions : []
      const rows = Math.max(1, dimensions.length - 1)
      const maxHeight = (view.height - AROUND_MATRIX_PIXELS) / rows - 8
      const texts = shortenedApart(
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
