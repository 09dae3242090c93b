import { COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import { turn } from './bars.ts'
import {
  type Attributes,
  type Draft,
  edgeOf,
  isNarrow,
  shortened,
  shortenedApart,
  type View,
} from './draft.ts'
import { annotate, FACET, listOfAnnotations } from './headings.ts'
import { asWritten } from './labels.ts'

const TITLE_PIXELS = 24
const TICKS_PIXELS = 26
/** Height of a row of small charts with their titles, in pixels. */
const MIN_CHART_PIXELS = 130
/** Width of the name of a row, beside it, in pixels. */
const ROW_NAME_PIXELS = 24
/** Room between two small charts: half of the label of a tick stands in it. */
const GAP_PIXELS = 32
const SHORT_GAP_PIXELS = 48

/** Small charts side by side as far as there is room for them, each with its title above it. */
export function arrangeFacets(draft: Draft): void {
  const { layout, view, above } = draft
  const titles = listOfAnnotations(layout).filter(({ name }) => name === FACET)
  if (titles.length === 0) return
  above.axis = TITLE_PIXELS
  const count = titles.length
  const narrow = isNarrow(view)
  const { columns = [], rows = [] }: { columns?: string[]; rows?: string[] } = layout.meta.facets ?? {}
  const labels = turnedLabels(draft)
  const usual = narrow
    ? count > 4 && labels.length === 0
      ? 2
      : 1
    : count <= 3
      ? count
      : Math.ceil(Math.sqrt(count))
  // Small charts of rows and columns stay in them, as far as they have room.
  const isMatrix =
    columns.length > 0 &&
    columns.length * rows.length === count &&
    (!narrow || (columns.length <= 2 && labels.length === 0))
  const across = isMatrix ? columns.length : usual
  if (isMatrix) draft.right += ROW_NAME_PIXELS
  const down = Math.ceil(count / across)
  const room = Math.max(MIN_CHART_PIXELS, labels.length * ROW_PIXELS + TITLE_PIXELS)
  draft.needed = above.title + above.legend + above.axis + draft.below + down * room + 50
  const width = view.width - 2 * edgeOf(view) - 40
  const height = Math.max(120, view.height - above.title - above.legend - above.axis - 50)
  const gap = hasShortTicks(layout.xaxis ?? {}) ? SHORT_GAP_PIXELS : GAP_PIXELS
  const gaps = {
    x: across > 1 ? gap / width : 0,
    y: down > 1 ? Math.min(0.5 / down, (TITLE_PIXELS + 12) / height) : 0,
  }
  const ticked = down > 1 && count % across !== 0 ? TICKS_PIXELS / height : 0
  const [wide, high] = [(1 - gaps.x * (across - 1)) / across, (1 - (gaps.y + ticked) * (down - 1)) / down]
  lookAlike(draft)
  const names = shortenedApart(
    titles.map(({ text }) => String(text)),
    wide * width,
  )
  for (const [k, title] of titles.entries()) {
    const [column, row] = [k % across, Math.floor(k / across)]
    const left = column * (wide + gaps.x)
    const bottom = 1 - row * (high + gaps.y + ticked) - high
    const suffix = k === 0 ? '' : String(k + 1)
    const isLowest = k + across >= count
    layout[`xaxis${suffix}`] = withUprightLabels(
      placed(layout[`xaxis${suffix}`], [left, left + wide], isLowest, narrow),
      wide * width,
    )
    const up = placed(layout[`yaxis${suffix}`], [bottom, bottom + high], column === 0, narrow)
    layout[`yaxis${suffix}`] =
      labels.length === 0 ? up : { ...up, ...labelAxis(labels, view, (high * height) / labels.length) }
    Object.assign(title, {
      text: isMatrix ? (row > 0 ? '' : shortened(asWritten(columns[column]), wide * width)) : names[k],
      x: left,
      xanchor: 'left',
      y: bottom + high,
    })
    if (isMatrix && column === across - 1)
      annotate(layout, {
        ...{
          name: 'gridline-facet-row',
          text: shortened(asWritten(rows[row]), high * height),
          textangle: 90,
        },
        ...{ xref: 'paper', yref: 'paper', x: 1, xanchor: 'left', y: bottom + high / 2, yanchor: 'middle' },
      })
  }
}

/** Series have one look in all small charts, and an entry in the legend where they have points. */
function lookAlike({ data }: Draft): void {
  const series = [...new Set(data.map(({ legendgroup, name }) => String(legendgroup ?? name)))]
  const named = new Set<string>()
  for (const [k, trace] of data.entries()) {
    const key = String(trace.legendgroup ?? trace.name)
    const isAgain = series.indexOf(key) >= COLORS.length
    const isFirst =
      !named.has(key) && key !== '' && [trace.x, trace.y].every((list) => listOf(list).length > 0)
    if (isFirst) named.add(key)
    const look =
      trace.type === 'bar'
        ? { pattern: { shape: isAgain ? '/' : '' } }
        : { symbol: isAgain ? 'diamond' : 'circle' }
    data[k] = {
      ...trace,
      line: { dash: isAgain ? 'dash' : 'solid', ...trace.line },
      marker: { ...look, ...trace.marker },
      ...(trace.legendgroup !== undefined && { showlegend: isFirst }),
    }
  }
}

/** Turns small charts of labels, which have no room side by side. Returns the labels; none for other charts. */
function turnedLabels(draft: Draft): string[] {
  const { data, layout } = draft
  const isTurnable = ({ type, mode }: Attributes): boolean =>
    type === 'bar' || type === 'box' || ((type ?? 'scatter') === 'scatter' && mode === 'markers')
  if (layout.xaxis?.type !== 'category' || !data.every(isTurnable)) return []
  turn(draft)
  const labels = new Set<string>()
  for (const { y } of draft.data) for (const label of listOf(y)) labels.add(String(label))
  return [...labels]
}

/** The axis of labels of small charts: each has its label where there is room. */
function labelAxis(labels: readonly string[], view: View, pixels: number): Attributes {
  const texts = shortenedApart(labels, view.width * (isNarrow(view) ? NARROW_LABELS_SHARE : LABELS_SHARE))
  return {
    nticks: undefined,
    dtick: Math.ceil(MIN_ROW_PIXELS / pixels),
    ticklabelposition: 'outside',
    labelalias: Object.fromEntries(labels.map((label, k) => [label, texts[k]])),
  }
}

/** Height of the row of a label, and the least one in which each label stands, in pixels. */
const ROW_PIXELS = 18
const MIN_ROW_PIXELS = 14
/** Part of the width that labels beside small charts can have. */
const LABELS_SHARE = 0.2
const NARROW_LABELS_SHARE = 0.35

/** An axis whose labels stand upright, with as many of them as have room. */
function withUprightLabels(axis: Attributes, pixels: number): Attributes {
  return {
    ...axis,
    tickangle: 0,
    ...(axis.dtick === DAY_MS && { tickformat: '%b %-d' }),
    // Months of a wide chart are too many for a small one.
    ...(typeof axis.dtick === 'string' && { dtick: undefined, tick0: undefined }),
    ticklabeloverflow: hasShortTicks(axis) ? 'allow' : 'hide past domain',
    nticks: Math.max(2, Math.floor(pixels / (axis.type === 'date' ? DATE_PIXELS : NUMBER_PIXELS))),
  }
}

/** Whether the ticks of an axis are years or days, which have room between two charts. */
function hasShortTicks({ dtick, tickvals, tickformat }: Attributes): boolean {
  return dtick === DAY_MS || (Array.isArray(tickvals) && (tickformat === 'd' || tickvals.length < 7))
}

const DAY_MS = 86_400_000

/** Width of a tick with its label: a date, or a number, in pixels. */
const DATE_PIXELS = 75
const NUMBER_PIXELS = 45

function placed(axis: Attributes, domain: [number, number], isTicked: boolean, narrow: boolean): Attributes {
  const { title, ...rest } = axis
  return {
    ...rest,
    domain: domain.map((share) => Math.max(0, Math.min(1, share))),
    nticks: Math.min(axis.nticks ?? Number.POSITIVE_INFINITY, narrow ? 3 : 4),
    showticklabels: isTicked,
    title: { ...(typeof title === 'object' ? title : {}), text: '' },
  }
}
