import { listOf } from '../../charts/figure/lists.ts'
import { stepAbove } from '../../charts/figure/steps.ts'
import { GROUNDS } from './colors.ts'
import { type Attributes, type Draft, isNarrow, shortened, shortenedApart } from './draft.ts'
import { localeIn } from './numbers.ts'
import { fitTable } from './tables.ts'

/** Colors of rising and of falling prices and amounts. */
const RISING = '#25a269'
const FALLING = '#d40039'
const TOTAL = '#2f6fd6'
/** Height of the names of parallel axes, and the room beside the outer ones, in pixels. */
const NAMES_PIXELS = 44
const BESIDE_PIXELS = 44
const NARROW_BESIDE_PIXELS = 50
/** Room for the ends of the axes, and on a phone for the scale of colors below them, in pixels. */
const BELOW_PIXELS = 48
const NARROW_BELOW_PIXELS = 100

/** Height of a node of a sankey with its name, in pixels, and nodes that have more room between them. */
const NODE_PIXELS = 18
const FEW_NODES = 15
/** Part of the width that the name of a node can have. */
const NODE_SHARE = 0.36
/** Height above and below a scatter matrix, in pixels. */
const AROUND_MATRIX_PIXELS = 130

/** The values of a waterfall, of which plotly.js writes the sum where nothing is added. */
function amounts({ y }: Attributes): Attributes {
  const shown = [...listOf(y)].map((value) => (Number(value) ? '%{delta}' : value === 0 ? '0' : ''))
  return { textinfo: undefined, texttemplate: shown }
}

/** Ticks of a parallel axis of large numbers, which plotly.js writes with markup that it does not read. */
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

/** Weekends without prices are no holes. */
function leaveOutWeekends({ layout }: Draft, { x }: Attributes): void {
  const days = [...listOf(x)].map((value) =>
    typeof value === 'string' ? new Date(Date.parse(value)).getUTCDay() : 0,
  )
  const isWeekday = days.every((day) => day > 0 && day < 6)
  if (isWeekday && days.length > 5 && layout.xaxis?.type === 'date')
    layout.xaxis = { rangebreaks: [{ bounds: ['sat', 'mon'] }], ...layout.xaxis }
}

/** What only some types have: colors of rising and falling, room for the names of parallel axes, cells of tables. */
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
      const most = (view.width - 2 * beside) / Math.max(1, (trace.dimensions?.length ?? 1) - 1) - 8
      const dimensions = (trace.dimensions ?? []).map((one: { label?: unknown }) => ({
        ...one,
        ...largeTicks(one, draft.layout),
        label: shortened(String(one.label ?? ''), most),
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
        // The name of the lowest node is higher than the node.
        domain: { y: [0.05, 1] },
        ...trace,
        node: { pad: nodes > FEW_NODES ? 8 : 16, ...trace.node, label },
      }
    }
    if (trace.type === 'splom') {
      // The name of a row stands upright beside it.
      const given: Attributes[] = Array.isArray(trace.dimensions) ? trace.dimensions : []
      const rows = Math.max(1, given.length - 1)
      const most = (view.height - AROUND_MATRIX_PIXELS) / rows - 8
      const texts = shortenedApart(
        given.map(({ label }) => String(label ?? '')),
        most,
      )
      data[k] = { ...trace, dimensions: given.map((one, n) => ({ ...one, label: texts[n] })) }
      // On a phone, ticks of small panels have no room.
      if (isNarrow(view))
        for (const n of given.keys())
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
