/** Collects the data that a figure does not show. */

import { formatCount } from '../../contract/message-texts.ts'
import { type Attributes, isObject } from '../figure/figure.ts'
import { describeMissingRows } from '../omitted.ts'
import { dropOtherTexts } from '../other-texts.ts'
import { humanizeName, pluralize } from '../spec/words.ts'
import type { Transform } from './attributes.ts'

/** Data that a figure does not show, for `layout.meta.notShown`. */
export class NotShown {
  private readonly texts = new Set<string>()
  private readonly unseen = new Map<string, { count: number; what: string }>()
  /** True for figures of Gridline, which list what they do not show. */
  private readonly isCounted: boolean

  constructor(layout: unknown, traces: Attributes[]) {
    this.isCounted = isObject(layout) && isObject(layout.meta) && layout.meta.spec !== undefined
    if (isObject(layout) && this.isCounted)
      for (const text of describeMissingRows({ data: traces, layout })) this.texts.add(text)
  }

  /** Returns traces without the texts that are counted. */
  drop(traces: readonly unknown[], layout: unknown): readonly unknown[] {
    if (!isObject(layout) || !this.isCounted) return traces
    return traces.map((trace) => (isObject(trace) ? dropOtherTexts(trace, layout) : trace))
  }

  /** Adds what transforms have not shown: [number, unit, reason]. */
  addUnseen(transforms: readonly Transform[]): void {
    for (const { unseen } of transforms) {
      if (!Array.isArray(unseen)) continue
      const [count, what, why] = unseen
      this.unseen.set(why, { count: count + (this.unseen.get(why)?.count ?? 0), what })
    }
  }

  /** Adds the points or groups that transforms have left out. */
  addLeft(transforms: readonly Transform[]): void {
    for (const { left, of } of transforms)
      if (typeof left === 'number' && left > 0)
        this.texts.add(formatMore(left, typeof of === 'string' ? humanizeName(of) : 'value'))
  }

  /** Adds the trend of a series without two points. */
  addMissingTrend(): void {
    this.addUnseen([{ unseen: [1, 'trend', 'of series with fewer than two points'] }])
  }

  /** Adds a moving mean of more points than its series has. */
  addEmptyMean(name: string): void {
    this.texts.add(`${name}, since there are fewer points`)
  }

  /** Returns the figure with the list in its metadata. */
  addTo(figure: Attributes): Attributes {
    for (const [why, { count, what }] of this.unseen)
      this.texts.add(`${formatCount(count, what)} ${why}`.trim())
    if (this.texts.size === 0 && !this.isCounted) return figure
    const layout: Attributes = isObject(figure.layout) ? figure.layout : {}
    const isCounted = this.isCounted && { isCounted: true }
    return {
      ...figure,
      layout: { ...layout, meta: { ...layout.meta, notShown: [...this.texts], ...isCounted } },
    }
  }
}

/** Formats `1 more city`, `2,300 more cities`. */
function formatMore(count: number, thing: string): string {
  return `${count.toLocaleString('en')} more ${count === 1 ? thing : pluralize(thing)}`
}
