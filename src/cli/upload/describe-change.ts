// Says in words how a chart or a board differs from before, for reviews.
import type { Figure } from '../../charts/figure/figure.ts'
import { type ChartOptions, flagOf, OPTION_NAMES } from '../../charts/spec/options.ts'
import { formatCount, formatList } from '../../contract/message-texts.ts'
import type { Board } from '../../contract/resources/index.ts'

/** Maximum length of a value in the text, in characters. */
const MAX_VALUE_CHARACTERS = 60

/** Returns in words how the figure of a chart, or a board, differs. Undefined if it shows the same. */
export function describeChange(
  before: Figure | Board,
  after: Figure | Board | undefined,
): string | undefined {
  if ('data' in before && after && 'data' in after) return describeChartChange(before, after)
  if ('rows' in before && after && 'rows' in after) return describeBoardChange(before, after)
  return undefined
}

/** Returns the type and the options of a chart that differ: `type: bar → line, title: added`. Undefined without any. */
function describeChartChange(before: Figure, after: Figure): string | undefined {
  const [was, is] = [before, after].map(readOptions)
  const parts = ['type', ...OPTION_NAMES].flatMap((name) => {
    const [from, to] = [was[name], is[name]].map(formatValue)
    if (from === to) return []
    const label = name === 'type' ? name : flagOf(name as keyof ChartOptions).slice(2)
    return `${label}: ${from === undefined ? `${to} (new)` : to === undefined ? 'removed' : `${from} → ${to}`}`
  })
  return parts.length === 0 ? undefined : parts.join(', ')
}

/** Returns type and options of a chart as the figure has them. */
function readOptions({ layout }: Figure): Record<string, unknown> {
  const { type, options } = (layout.meta?.spec ?? {}) as { type?: unknown; options?: object }
  return { ...options, type }
}

function formatValue(value: unknown): string | undefined {
  if (value === undefined || value === null || value === false) return undefined
  const text = value === true ? 'on' : [value].flat().map(String).join(', ')
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text
}

/** Returns how many items of a board differ: `2 items added, 1 removed`. Undefined if it shows the same. */
function describeBoardChange(before: Board, after: Board): string | undefined {
  const [was, is] = [before, after].map(({ rows }) => {
    // A draft of a chart has another id.
    return rows.flatMap(({ items }) =>
      items.map((item) => JSON.stringify({ ...item, plot: item.plot && true })),
    )
  })
  const added = is.filter((item) => !was.includes(item)).length
  const removed = was.filter((item) => !is.includes(item)).length
  const changed = Math.min(added, removed)
  const counts = { changed, added: added - changed, removed: removed - changed }
  const parts = Object.entries(counts).flatMap(([what, count]) =>
    count === 0 ? [] : `${formatCount(count, 'item')} ${what}`,
  )
  if (JSON.stringify(before.filters ?? []) !== JSON.stringify(after.filters ?? []))
    parts.push('filters changed')
  return parts.length === 0 ? undefined : formatList(parts)
}
