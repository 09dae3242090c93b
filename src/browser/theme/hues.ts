// Colors of series: those of a column that tells them apart, those of an order, and grey beside what is highlighted.

import { COLORS, DARK_COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { colorsOf, DIVERGING, mixed } from './colors.ts'
import type { Attributes, Draft } from './draft.ts'
import { asWritten } from './labels.ts'

/** Colors of the first, the middle and the last of groups that have an order. All have a contrast of 3 : 1. */
const ORDERED = {
  light: ['#2a9f80', '#2f6fd6', '#3d1066'],
  dark: ['#7f8cf2', '#3fc1b0', '#f2e27a'],
} as const
/** Groups that begin with a number: years, classes, sizes. */
const NUMBERED = /^\s*[<>≤≥+-]?\s*\d/
/** Ordered groups, at least, for colors of one scale: two have colors of their own. */
const MIN_ORDERED = 3
const BESIDE = { light: '#c3c8ce', dark: '#565d66' } as const
/** The end of the name of a trend, and the name of what stands for all other groups. */
const OF_TREND = / \((?:trend|mean of \d+)\)$/
const OTHERS = /^other \(\d+\)/

/** Gives series their colors, unless somebody has chosen them, and bands those of their lines. */
export function colorSeries(draft: Draft): void {
  chooseColors(draft)
  const { data } = draft
  const usual = colorsOf(draft)
  for (const [k, trace] of data.entries()) {
    if (trace.meta?.isBand !== true) continue
    const at = data.findIndex(
      ({ name, xaxis, meta }) => meta?.isBand !== true && name === trace.name && xaxis === trace.xaxis,
    )
    const color = data[at]?.line?.color ?? usual[Math.max(0, at) % usual.length]
    data[k] = { ...trace, line: { ...trace.line, color, width: 0 }, fillcolor: `${color}33` }
  }
}

function chooseColors(draft: Draft): void {
  const { data, layout, view } = draft
  const highlight = new Set([...listOf(layout.meta.highlight)].map((name) => asWritten(String(name))))
  const keys = data.map(keyOf)
  const series = [...new Set(keys)].filter((key) => !OTHERS.test(key))
  const usual = colorsOf(draft)
  if (highlight.size > 0) {
    // Of several columns, the series of a group are named `group (column)`.
    const isNamed = (key: string): boolean =>
      highlight.has(key) || highlight.has(key.replace(/ \([^()]*\)$/, ''))
    if (series.some(isNamed)) highlightSeries(draft, keys, new Set(series.filter(isNamed)))
    else if (!highlightLabels(draft, highlight))
      draft.remarks.push(`No series is ${[...highlight].join(' or ')}`)
    return
  }
  const isOrdered =
    (layout.meta.spec?.options?.by !== undefined || layout.meta.chart === 'rose') &&
    layout.template === undefined &&
    series.length >= MIN_ORDERED &&
    series.every((key) => NUMBERED.test(key))
  if (layout.meta.isCentered === true && !data.some(({ stackgroup }) => stackgroup !== undefined)) {
    const parts = DIVERGING.filter((_, k) => k !== 0 && k !== DIVERGING.length - 1)
    for (const [k, trace] of data.entries())
      if (!hasOwnColor(trace)) data[k] = withColor(trace, mixed(parts, k / Math.max(1, data.length - 1)))
    return
  }
  if (!isOrdered && !data.some(({ meta }) => meta?.hue !== undefined)) return
  const colorOf = (key: string): string => {
    const at = series.indexOf(key)
    return isOrdered ? mixed(ORDERED[view.scheme], at / (series.length - 1)) : usual[at % usual.length]
  }
  for (const [k, trace] of data.entries())
    if (series.includes(keys[k]) && !hasOwnColor(trace)) data[k] = withColor(trace, colorOf(keys[k]))
}

/** The name of the series of a trace, without that of its trend. */
function keyOf({ meta, legendgroup, name }: Attributes): string {
  const key = meta?.hue ?? (legendgroup || name)
  return String(key ?? '').replace(OF_TREND, '')
}

/** Whether a color was chosen: those that the service gives are of the palette. */
function hasOwnColor({ line, marker }: Attributes): boolean {
  const colors = [line?.color, marker?.color].filter((color) => color !== undefined)
  return colors.some((color) => !COLORS.includes(color) && !DARK_COLORS.includes(color))
}

function withColor(trace: Attributes, color: string): Attributes {
  const isLine = /^scatter/.test(trace.type ?? 'scatter')
  return {
    ...trace,
    ...(isLine && { line: { ...trace.line, color } }),
    marker: { ...trace.marker, color },
  }
}

/** The others are grey, behind, and have no name: the pointer shows it. */
function highlightSeries(draft: Draft, keys: readonly string[], names: ReadonlySet<string>): void {
  const usual = colorsOf(draft)
  const order = [...names].filter((name) => keys.includes(name))
  const colored = draft.data.map((trace, k) => {
    const at = order.indexOf(keys[k])
    if (at >= 0) return hasOwnColor(trace) ? trace : withColor(trace, usual[at % usual.length])
    return { ...withColor(trace, BESIDE[draft.view.scheme]), showlegend: false }
  })
  const isBehind = (_: Attributes, k: number): boolean => !names.has(keys[k])
  // Bars keep their places in a group.
  draft.data =
    draft.layout.sliders !== undefined || colored.every(({ type }) => type === 'bar')
      ? colored
      : [...colored.filter(isBehind), ...colored.filter((trace, k) => !isBehind(trace, k))]
}

/** Of one series, the bars or points of some labels keep their color. Returns whether there are some. */
function highlightLabels({ data, view }: Draft, names: ReadonlySet<string>): boolean {
  let isFound = false
  const [own] = view.scheme === 'dark' ? DARK_COLORS : COLORS
  for (const [k, trace] of data.entries()) {
    const labels = [...listOf(trace.labels ?? trace.x)]
    if (!labels.some((label) => names.has(String(label)))) continue
    isFound = true
    const colors = labels.map((label) => (names.has(String(label)) ? own : BESIDE[view.scheme]))
    data[k] = { ...trace, marker: { ...trace.marker, [trace.type === 'pie' ? 'colors' : 'color']: colors } }
  }
  return isFound
}
