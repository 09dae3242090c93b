import { type Attributes, type Draft, edgeOf, isNarrow, shortened } from './draft.ts'
import { FACET, listOfAnnotations } from './headings.ts'

const TITLE_PIXELS = 24
const TICKS_PIXELS = 26
/** Height of a row of small charts with their titles, in pixels. */
const LEAST_CHART_PIXELS = 130
/** Room between two small charts: half of the label of a tick stands in it. */
const GAP_PIXELS = 32

/** Small charts side by side as far as there is room for them, each with its title above it. */
export function arrangeFacets(draft: Draft): void {
  const { layout, view, above } = draft
  const titles = listOfAnnotations(layout).filter(({ name }) => name === FACET)
  if (titles.length === 0) return
  above.axis = TITLE_PIXELS
  const count = titles.length
  const narrow = isNarrow(view)
  const across = narrow ? (count > 4 ? 2 : 1) : count <= 3 ? count : Math.ceil(Math.sqrt(count))
  const down = Math.ceil(count / across)
  draft.needed = above.title + above.legend + above.axis + draft.below + down * LEAST_CHART_PIXELS + 50
  const width = view.width - 2 * edgeOf(view) - 40
  const height = Math.max(120, view.height - above.title - above.legend - above.axis - 50)
  const gaps = {
    x: across > 1 ? GAP_PIXELS / width : 0,
    y: down > 1 ? Math.min(0.5 / down, (TITLE_PIXELS + 12) / height) : 0,
  }
  const ticked = down > 1 && count % across !== 0 ? TICKS_PIXELS / height : 0
  const [wide, high] = [(1 - gaps.x * (across - 1)) / across, (1 - (gaps.y + ticked) * (down - 1)) / down]
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
    layout[`yaxis${suffix}`] = placed(layout[`yaxis${suffix}`], [bottom, bottom + high], column === 0, narrow)
    Object.assign(title, {
      text: shortened(String(title.text), wide * width),
      x: left,
      xanchor: 'left',
      y: bottom + high,
    })
  }
}

/** An axis whose labels stand upright, with as many of them as have room. */
function withUprightLabels(axis: Attributes, pixels: number): Attributes {
  return {
    ...axis,
    tickangle: 0,
    ticklabeloverflow: 'hide past domain',
    nticks: Math.max(2, Math.floor(pixels / (axis.type === 'date' ? DATE_PIXELS : NUMBER_PIXELS))),
  }
}

/** Width of a tick with its label: a date, or a number, in pixels. */
const DATE_PIXELS = 75
const NUMBER_PIXELS = 45

function placed(axis: Attributes, domain: [number, number], isTicked: boolean, narrow: boolean): Attributes {
  const { title, ...rest } = axis
  return {
    ...rest,
    domain: domain.map((share) => Math.max(0, Math.min(1, share))),
    nticks: narrow ? 3 : 4,
    showticklabels: isTicked,
    title: { ...(typeof title === 'object' ? title : {}), text: '' },
  }
}
