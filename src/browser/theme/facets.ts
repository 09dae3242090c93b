// Layout of facets.
import { COLORS } from '../../charts/figure/colors.ts'
import { listOf } from '../../charts/figure/lists.ts'
import {
  type Attributes,
  type Draft,
  edgePixelsOf,
  isNarrow,
  shortenDistinct,
  shortenText,
  type View,
} from './arrangement.ts'
import { swapAxes } from './bars.ts'
import { escapeText } from './labels.ts'
import { annotate, FACET_TITLE, listOfAnnotations } from './titles.ts'

/** Heights of the title and the ticks of a facet, in pixels. */
const TITLE_PIXELS = 24
const TICKS_PIXELS = 26
/** Minimum height of a row of facets with its title, in pixels. */
const MIN_FACET_PIXELS = 130
/** Width of the row name beside a row of facets, in pixels. */
const ROW_NAME_PIXELS = 24
/** Space between two facets, in pixels: holds half of a tick label, more of short ones (years, days). */
const GAP_PIXELS = 32
const SHORT_TICKS_GAP_PIXELS = 48

/** Arranges facets in rows that fit, each with its title above it. */
export function arrangeFacets(draft: Draft): void {
  const { layout, view, above } = draft
  const titles = listOfAnnotations(layout).filter(({ name }) => name === FACET_TITLE)
  if (titles.length === 0) return
  above.axis = TITLE_PIXELS
  const count = titles.length
  const narrow = isNarrow(view)
  const { columns = [], rows = [] }: { columns?: string[]; rows?: string[] } = layout.meta.facets ?? {}
  const labels = turnLabeledFacets(draft)
  // Facets of two columns form a matrix if it fits.
  const isMatrix =
    columns.length > 0 &&
    columns.length * rows.length === count &&
    (!narrow || (columns.length <= 2 && labels.length === 0))
  const wideColumns = count <= 3 ? count : Math.ceil(Math.sqrt(count))
  const defaultColumns = narrow ? (count > 4 && labels.length === 0 ? 2 : 1) : wideColumns
  const columnCount = isMatrix ? columns.length : defaultColumns
  if (isMatrix) draft.right += ROW_NAME_PIXELS
  const rowCount = Math.ceil(count / columnCount)
  const facetHeight = Math.max(MIN_FACET_PIXELS, labels.length * ROW_PIXELS + TITLE_PIXELS)
  draft.height = above.title + above.legend + above.axis + draft.below + rowCount * facetHeight + 50
  const width = view.width - 2 * edgePixelsOf(view) - 40
  const height = Math.max(120, view.height - above.title - above.legend - above.axis - 50)
  const gap = hasShortTicks(layout.xaxis ?? {}) ? SHORT_TICKS_GAP_PIXELS : GAP_PIXELS
  const gaps = {
    x: columnCount > 1 ? gap / width : 0,
    y: rowCount > 1 ? Math.min(0.5 / rowCount, (TITLE_PIXELS + 12) / height) : 0,
  }
  const ticked = rowCount > 1 && count % columnCount !== 0 ? TICKS_PIXELS / height : 0
  const [widthShare, heightShare] = [
    (1 - gaps.x * (columnCount - 1)) / columnCount,
    (1 - (gaps.y + ticked) * (rowCount - 1)) / rowCount,
  ]
  unifySeriesStyle(draft)
  const facetWidth = widthShare * width
  const titleTexts = titles.map(({ text }) => String(text))
  const names = shortenDistinct(titleTexts, facetWidth)
  for (const [k, title] of titles.entries()) {
    const [column, row] = [k % columnCount, Math.floor(k / columnCount)]
    const left = column * (widthShare + gaps.x)
    const bottom = 1 - row * (heightShare + gaps.y + ticked) - heightShare
    const suffix = k === 0 ? '' : String(k + 1)
    const isLowest = k + columnCount >= count
    layout[`xaxis${suffix}`] = withHorizontalLabels(
      placeAxis(layout[`xaxis${suffix}`], [left, left + widthShare], isLowest, narrow),
      facetWidth,
    )
    const up = placeAxis(layout[`yaxis${suffix}`], [bottom, bottom + heightShare], column === 0, narrow)
    layout[`yaxis${suffix}`] = {
      ...up,
      ...(labels.length > 0 && createLabelAxis(labels, view, (heightShare * height) / labels.length)),
    }
    Object.assign(title, {
      text: !isMatrix ? names[k] : row > 0 ? '' : shortenText(escapeText(columns[column]), facetWidth),
      x: left,
      xanchor: 'left',
      y: bottom + heightShare,
    })
    if (isMatrix && column === columnCount - 1)
      annotate(layout, {
        ...{ name: 'gridline-facet-row', text: shortenText(escapeText(rows[row]), heightShare * height) },
        ...{ textangle: 90, xref: 'paper', yref: 'paper', x: 1, xanchor: 'left' },
        ...{ y: bottom + heightShare / 2, yanchor: 'middle' },
      })
  }
}

/** Draws each series alike in all facets, with one legend entry. */
function unifySeriesStyle({ data }: Draft): void {
  const series = [...new Set(data.map(({ legendgroup, name }) => String(legendgroup ?? name)))]
  const inLegend = new Set<string>()
  for (const [k, trace] of data.entries()) {
    const key = String(trace.legendgroup ?? trace.name)
    const repeatsColor = series.indexOf(key) >= COLORS.length
    const isFirst =
      !inLegend.has(key) && key !== '' && [trace.x, trace.y].every((list) => listOf(list).length > 0)
    if (isFirst) inLegend.add(key)
    const style =
      trace.type === 'bar'
        ? { pattern: { shape: repeatsColor ? '/' : '' } }
        : { symbol: repeatsColor ? 'diamond' : 'circle' }
    data[k] = {
      ...trace,
      line: { dash: repeatsColor ? 'dash' : 'solid', ...trace.line },
      marker: { ...style, ...trace.marker },
      ...(trace.legendgroup !== undefined && { showlegend: isFirst }),
    }
  }
}

/** Makes facets with labels horizontal. Returns the labels; none for other charts. */
function turnLabeledFacets(draft: Draft): string[] {
  const { data, layout } = draft
  const canTurn = ({ type, mode }: Attributes): boolean =>
    type === 'bar' || type === 'box' || ((type ?? 'scatter') === 'scatter' && mode === 'markers')
  if (layout.xaxis?.type !== 'category' || !data.every(canTurn)) return []
  swapAxes(draft)
  const labels = new Set<string>()
  for (const { y } of draft.data) for (const label of listOf(y)) labels.add(String(label))
  return [...labels]
}

/** Returns the attributes of an axis of labels: each has a tick if there is space. */
function createLabelAxis(labels: readonly string[], view: View, pixels: number): Attributes {
  const texts = shortenDistinct(labels, view.width * (isNarrow(view) ? NARROW_LABELS_SHARE : LABELS_SHARE))
  return {
    nticks: undefined,
    dtick: Math.ceil(MIN_ROW_PIXELS / pixels),
    ticklabelposition: 'outside',
    labelalias: Object.fromEntries(labels.map((label, k) => [label, texts[k]])),
  }
}

/** Preferred and minimum height of a label row, in pixels. */
const ROW_PIXELS = 18
const MIN_ROW_PIXELS = 14
/** Maximum share of the width for labels beside facets. */
const LABELS_SHARE = 0.2
const NARROW_LABELS_SHARE = 0.35

/** Returns an axis with horizontal labels, as many as fit. */
function withHorizontalLabels(axis: Attributes, pixels: number): Attributes {
  return {
    ...axis,
    tickangle: 0,
    ...(axis.dtick === DAY_MS && { tickformat: '%b %-d' }),
    // Month ticks of a wide chart are too many for a facet.
    ...(typeof axis.dtick === 'string' && { dtick: undefined, tick0: undefined }),
    ticklabeloverflow: hasShortTicks(axis) ? 'allow' : 'hide past domain',
    nticks: Math.max(2, Math.floor(pixels / (axis.type === 'date' ? DATE_PIXELS : NUMBER_PIXELS))),
  }
}

/** Returns whether ticks are years or days, whose labels overlap the gap between facets. */
function hasShortTicks({ dtick, tickvals, tickformat }: Attributes): boolean {
  return dtick === DAY_MS || (Array.isArray(tickvals) && (tickformat === 'd' || tickvals.length < 7))
}

const DAY_MS = 86_400_000

/** Width of a tick with its label, for dates and numbers, in pixels. */
const DATE_PIXELS = 75
const NUMBER_PIXELS = 45

/** Returns an axis in its domain, without a title. */
function placeAxis(
  axis: Attributes,
  domain: [number, number],
  isTicked: boolean,
  narrow: boolean,
): Attributes {
  const { title, ...rest } = axis
  return {
    ...rest,
    domain: domain.map((share) => Math.max(0, Math.min(1, share))),
    nticks: Math.min(axis.nticks ?? Number.POSITIVE_INFINITY, narrow ? 3 : 4),
    showticklabels: isTicked,
    title: { ...(typeof title === 'object' ? title : {}), text: '' },
  }
}
