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

/** Returns a trace with the colors, margins and names that its type needs. */
type Arranger = (draft: Draft, trace: Attributes) => Attributes

const arrangePrices: Arranger = ({ layout }, trace) => {
  const days = [...listOf(trace.x)].map((value) =>
    typeof value === 'string' ? new Date(Date.parse(value)).getUTCDay() : 0,
  )
  // Remove weekends from the axis if no price is on a weekend.
  const isWeekday = days.every((day) => day > 0 && day < 6)
  if (isWeekday && days.length > 5 && layout.xaxis?.type === 'date')
    layout.xaxis = { rangebreaks: [{ bounds: ['sat', 'mon'] }], ...layout.xaxis }
  return {
    increasing: { line: { color: RISING_COLOR } },
    decreasing: { line: { color: FALLING_COLOR } },
    ...trace,
  }
}

const arrangeWaterfall: Arranger = ({ view }, trace) => ({
  increasing: { marker: { color: RISING_COLOR } },
  decreasing: { marker: { color: FALLING_COLOR } },
  totals: { marker: { color: TOTAL_COLOR } },
  connector: { line: { color: SCHEME_COLORS[view.scheme].line, width: 1 } },
  ...trace,
  // plotly.js would write the sum where nothing is added.
  ...(trace.textinfo === 'delta' && {
    textinfo: undefined,
    texttemplate: [...listOf(trace.y)].map((y) => (Number(y) ? '%{delta}' : y === 0 ? '0' : '')),
  }),
})

const arrangeParallelAxes: Arranger = (draft, trace) => {
  const { view, layout } = draft
  const beside = isNarrow(view) ? NARROW_BESIDE_PIXELS : BESIDE_PIXELS
  draft.above.axis = AXIS_NAMES_PIXELS
  const hasScale = isNarrow(view) && listOf(trace.line?.color).length > 0
  layout.margin = { b: hasScale ? NARROW_BELOW_PIXELS : BELOW_PIXELS, ...layout.margin }
  draft.left = beside
  draft.right = Math.max(draft.right, beside)
  const dimensions: Attributes[] = trace.dimensions ?? []
  const maxWidth = (view.width - 2 * beside) / Math.max(1, dimensions.length - 1) - 8
  return {
    ...trace,
    dimensions: dimensions.map((dimension) => ({
      ...dimension,
      ...createLargeTicks(dimension, layout),
      label: shortenText(String(dimension.label ?? ''), maxWidth),
    })),
  }
}

const arrangeSankey: Arranger = (draft, trace) => {
  const { source, target } = trace.link ?? {}
  const nodes = Math.max(...[source, target].map((list) => new Set(listOf(list)).size))
  draft.height = Math.max(draft.height, nodes * NODE_PIXELS + MATRIX_MARGIN_PIXELS)
  const names = [...listOf(trace.node?.label)].map(String)
  const label = shortenDistinct(names, draft.view.width * MAX_NODE_NAME_SHARE)
  return {
    // The name of the lowest node extends above the node.
    domain: { y: [0.05, 1] },
    ...trace,
    node: { pad: nodes > WIDE_GAPS_THRESHOLD_NODES ? 8 : 16, ...trace.node, label },
  }
}

const arrangeMatrix: Arranger = ({ view, layout }, trace) => {
  // Row names are vertical.
  const dimensions: Attributes[] = Array.isArray(trace.dimensions) ? trace.dimensions : []
  const rows = Math.max(1, dimensions.length - 1)
  const texts = shortenDistinct(
    dimensions.map(({ label }) => String(label ?? '')),
    (view.height - MATRIX_MARGIN_PIXELS) / rows - 8,
  )
  // Small panels of narrow screens fit few ticks.
  if (isNarrow(view))
    for (const n of dimensions.keys())
      for (const letter of ['x', 'y']) {
        const key = `${letter}axis${n === 0 ? '' : n + 1}`
        layout[key] = { nticks: 3, tickangle: 0, ...layout[key] }
      }
  return { ...trace, dimensions: dimensions.map((dimension, n) => ({ ...dimension, label: texts[n] })) }
}

const arrangeTable: Arranger = (draft, trace) => {
  const { line, text, ground } = SCHEME_COLORS[draft.view.scheme]
  const { header, cells, ...table } = fitTable(draft, trace)
  const border = { line: { color: line } }
  return {
    ...table,
    header: { ...border, fill: { color: line }, font: { color: text, weight: 600 }, ...header },
    cells: { ...border, fill: { color: ground }, font: { color: text }, ...cells },
  }
}

const ARRANGERS = new Map<unknown, Arranger>([
  ['candlestick', arrangePrices],
  ['ohlc', arrangePrices],
  ['waterfall', arrangeWaterfall],
  ['parcoords', arrangeParallelAxes],
  ['sankey', arrangeSankey],
  ['splom', arrangeMatrix],
  ['table', arrangeTable],
])

/** Applies colors, margins and names that only single types need. */
export function arrangeSingleTypes(draft: Draft): void {
  const { data } = draft
  for (const [k, trace] of data.entries()) data[k] = ARRANGERS.get(trace.type)?.(draft, trace) ?? trace
}
