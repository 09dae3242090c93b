// Colors of series: by column, by order, or grey beside a highlighted series.

import { COLORS, DARK_COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import type { Attributes, Draft } from './arrangement.ts'
import { colorwayOf, DIVERGING_COLORS, interpolateColor } from './colors.ts'
import { escapeText } from './labels.ts'

/** Colors of the first, middle and last of ordered groups, with a contrast of at least 3 : 1. */
const ORDERED_COLORS = {
  light: ['#2a9f80', '#2f6fd6', '#3d1066'],
  dark: ['#7f8cf2', '#3fc1b0', '#f2e27a'],
} as const
/** Groups with a natural order: years, classes, sizes. */
const STARTS_WITH_NUMBER = /^\s*(?:[<>≤≥+-]\s*)?\d/
/** Minimum number of ordered groups for a color scale; two groups use normal colors. */
const MIN_ORDERED_GROUPS = 3
/** Color of series that are not highlighted. */
const UNHIGHLIGHTED_COLORS = { light: '#c3c8ce', dark: '#565d66' } as const
/** Suffix of the name of a trend, and the name of the series of all other groups. */
const TREND_SUFFIX = / \((?:trend|mean of \d+)\)$/
const OTHER_GROUPS_NAME = /^other \(\d+\)/

/** Colors series, unless the figure does, and bands like their lines. */
export function colorSeries(draft: Draft): void {
  chooseColors(draft)
  const { data } = draft
  const colorway = colorwayOf(draft)
  for (const [k, trace] of data.entries()) {
    if (trace.meta?.isBand !== true) continue
    const at = data.findIndex(
      ({ name, xaxis, meta }) => meta?.isBand !== true && name === trace.name && xaxis === trace.xaxis,
    )
    const color = data[at]?.line?.color ?? colorway[Math.max(0, at) % colorway.length]
    data[k] = { ...trace, line: { ...trace.line, color, width: 0 }, fillcolor: `${color}33` }
  }
}

/** Colors series by highlight, order or column. */
function chooseColors(draft: Draft): void {
  const { data, layout, view } = draft
  const highlight = new Set([...listOf(layout.meta.highlight)].map((name) => escapeText(String(name))))
  const keys = data.map(seriesNameOf)
  const series = [...new Set(keys)].filter((key) => !OTHER_GROUPS_NAME.test(key))
  const colorway = colorwayOf(draft)
  if (highlight.size > 0) {
    // With several columns, the series of a group are named `group (column)`.
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
    Math.max(series.length, ...data.map(({ meta }) => meta?.places ?? 0)) >= MIN_ORDERED_GROUPS &&
    series.every((key) => STARTS_WITH_NUMBER.test(key))
  if (layout.meta.isCentered === true && !data.some(({ stackgroup }) => stackgroup !== undefined)) {
    const parts = DIVERGING_COLORS.filter((_, k) => k !== 0 && k !== DIVERGING_COLORS.length - 1)
    for (const [k, trace] of data.entries())
      if (!hasChosenColor(trace))
        data[k] = setColor(trace, interpolateColor(parts, k / Math.max(1, data.length - 1)))
    return
  }
  if (!isOrdered && !data.some(({ meta }) => meta?.hue !== undefined)) return
  const colorOf = (
    key: string,
    { place = series.indexOf(key), places = series.length }: Attributes,
  ): string =>
    isOrdered
      ? interpolateColor(ORDERED_COLORS[view.scheme], place / (places - 1))
      : colorway[series.indexOf(key) % colorway.length]
  for (const [k, trace] of data.entries())
    if (series.includes(keys[k]) && !hasChosenColor(trace))
      data[k] = setColor(trace, colorOf(keys[k], trace.meta ?? {}))
}

/** Returns the series name of a trace, without the suffix of a trend. */
function seriesNameOf({ meta, legendgroup, name }: Attributes): string {
  const key = meta?.hue ?? (legendgroup || name)
  return String(key ?? '').replace(TREND_SUFFIX, '')
}

/** Returns whether the figure sets a color; the server only uses the default palette. */
function hasChosenColor({ line, marker }: Attributes): boolean {
  const colors = [line?.color, marker?.color].filter((color) => color !== undefined)
  return colors.some((color) => !COLORS.includes(color) && !DARK_COLORS.includes(color))
}

function setColor(trace: Attributes, color: string): Attributes {
  const isLine = /^scatter/.test(trace.type ?? 'scatter')
  return { ...trace, ...(isLine && { line: { ...trace.line, color } }), marker: { ...trace.marker, color } }
}

/** Draws the other series in grey, behind and without a legend entry. */
function highlightSeries(draft: Draft, keys: readonly string[], names: ReadonlySet<string>): void {
  const colorway = colorwayOf(draft)
  const order = [...names].filter((name) => keys.includes(name))
  const colored = draft.data.map((trace, k) => {
    const at = order.indexOf(keys[k])
    if (at >= 0) return hasChosenColor(trace) ? trace : setColor(trace, colorway[at % colorway.length])
    return { ...setColor(trace, UNHIGHLIGHTED_COLORS[draft.view.scheme]), showlegend: false }
  })
  const isBehind = (_: Attributes, k: number): boolean => !names.has(keys[k])
  // Bars keep their order in a group.
  draft.data =
    draft.layout.sliders !== undefined || colored.every(({ type }) => type === 'bar')
      ? colored
      : [...colored.filter(isBehind), ...colored.filter((trace, k) => !isBehind(trace, k))]
}

/** Draws the bars or points of other labels in grey. Returns whether any label matched. */
function highlightLabels({ data, view }: Draft, names: ReadonlySet<string>): boolean {
  let hasMatch = false
  const [highlightColor] = view.scheme === 'dark' ? DARK_COLORS : COLORS
  for (const [k, trace] of data.entries()) {
    const labels = [...listOf(trace.labels ?? trace.x)]
    if (!labels.some((label) => names.has(String(label)))) continue
    hasMatch = true
    const colors = labels.map((label) =>
      names.has(String(label)) ? highlightColor : UNHIGHLIGHTED_COLORS[view.scheme],
    )
    data[k] = { ...trace, marker: { ...trace.marker, [trace.type === 'pie' ? 'colors' : 'color']: colors } }
  }
  return hasMatch
}
