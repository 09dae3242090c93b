import { Problem } from '../../contract/errors.ts'
import { sortText } from '../../query/index.ts'
import { axisOptions } from './axes.ts'
import { type Figure, typeOf } from './merge.ts'
import { type ChartGrid, type ChartOptions, type ChartType, chartTypes, TOP_SERIES } from './options.ts'

// biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
type Attributes = Record<string, any>

/** The options with which a chart of the columns of a grid would be made again. Throws `usage` for other figures. */
export function optionsOf(
  { data, layout }: Figure,
  grid: ChartGrid,
): { type: ChartType; options: ChartOptions } {
  const ours = data.filter((trace) => JSON.stringify(trace).includes(`"${grid.fid}:`))
  const [first] = ours
  const type = first && typeOf(first)
  const isChart = (chartTypes as readonly unknown[]).includes(type)
  if (
    !first ||
    !isChart ||
    ours.some((trace) => typeOf(trace) !== type) ||
    String(first.zsrc ?? '').includes(',')
  )
    throw new Problem('usage', 'this figure is not a chart of the columns of one grid', {
      hint: 'Change its attributes by their paths, such as layout.title.text=Sales.',
    })
  const name = (source: unknown): string | undefined => {
    const [, , uid] = String(source ?? '').split(':')
    return grid.cols.find((column) => column.uid === uid)?.name
  }
  const names = (key: string): string =>
    ours
      .map((trace) => name(trace[key]))
      .filter((one) => one !== undefined)
      .map((one) => (/[",]/.test(one) ? `"${one.replaceAll('"', '""')}"` : one))
      .join(',')
  const isPie = type === 'pie'
  const isHistogram = type === 'histogram'
  const x = name(isPie ? first.labelssrc : isHistogram && ours.length > 1 ? undefined : first.xsrc)
  const y = isPie ? name(first.valuessrc) : isHistogram && ours.length > 1 ? names('xsrc') : names('ysrc')
  const transforms: Attributes[] = Array.isArray(first.transforms) ? first.transforms : []
  const of = (kind: string, more: (one: Attributes) => boolean = () => true) =>
    transforms.find((one) => one.type === kind && more(one))
  const by = of('groupby', ({ facet }) => facet !== true)
  const func = of('aggregate')?.aggregations?.[0]?.func ?? of('cells')?.func
  const rows = of('rows')
  const orders = transforms.filter((one) => one.type === 'order')
  const order = orders.toReversed().map(({ target, descending }) =>
    sortText({
      name: (target === 'x' || target === 'labels' ? x : y) ?? '',
      descending: descending === true,
    }),
  )
  const title = typeof layout.title === 'string' ? layout.title : layout.title?.text
  const isDefault = title !== undefined && title === layout.meta?.title
  const options: ChartOptions = {
    x,
    y: y === '' ? undefined : y,
    color: name(first.marker?.colorsrc ?? first.zsrc),
    size: name(first.marker?.sizesrc),
    text: name(first.textsrc),
    by: name(by?.groupssrc),
    facet: name(of('groupby', ({ facet }) => facet === true)?.groupssrc),
    aggregate: func === 'avg' ? 'mean' : func,
    per: of('per')?.unit,
    zone: of('zone')?.zone,
    top: by ? (by.top === undefined || by.top === TOP_SERIES ? undefined : by.top - 1) : of('top')?.count,
    where: rows?.where,
    sort: rows?.sort ?? (order.length > 0 ? order.join(',') : undefined),
    ...axisOptions(layout.xaxis, layout.yaxis),
    title: isDefault ? undefined : (title ?? 'none'),
  }
  return { type: type as ChartType, options }
}
