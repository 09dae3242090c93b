// Says in words how a chart or a board differs from before, for reviews.
import { isDeepStrictEqual } from 'node:util'
import type { Figure } from '../../charts/figure/figure.ts'
import { flagOf, OPTION_NAMES } from '../../charts/spec/options.ts'
import { formatCount, formatList } from '../../contract/message-texts.ts'
import type { Board } from '../../contract/resources/index.ts'
import { excerpt } from '../../json/index.ts'

/**
 * Returns the type and the options of a chart that differ: `type: line → bar, by: removed, title: Warm (new)`.
 * Undefined without any.
 */
export function describeChartChange(before: Figure, after: Figure): string | undefined {
  const [was, is] = [before, after].map(readOptions)
  const parts = ['type', ...OPTION_NAMES].flatMap((name) => {
    const [from, to] = [was[name], is[name]].map(formatValue)
    return from === to ? [] : `${flagOf(name).slice(2)}: ${formatStep(from, to)}`
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
  return value === true ? 'on' : excerpt([value].flat().map(String).join(', '))
}

function formatStep(from: string | undefined, to: string | undefined): string {
  if (from === undefined) return `${to} (new)`
  return to === undefined ? 'removed' : `${from} → ${to}`
}

/** Returns how many items of a board differ: `2 items changed, 1 item removed`. Undefined if none does. */
export function describeBoardChange(before: Board, after: Board): string | undefined {
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
  if (!isDeepStrictEqual(before.filters, after.filters)) parts.push('filters changed')
  return parts.length === 0 ? undefined : formatList(parts)
}
