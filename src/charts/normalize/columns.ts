// Resolves the columns of all chart options.
import { columnNames } from '../spec/column-names.ts'
import type { ChartOptions, Column } from '../spec/options.ts'
import { type ChartType, hasTrait, isCellMap } from '../spec/types.ts'
import type { Chart } from './chart.ts'

/** Columns of a chart, by option. */
export interface ChartColumns {
  x?: Column
  ys: readonly Column[]
  z?: Column
  color?: Column
  size?: Column
  angle?: Column
  text?: Column
  by?: Column
  facets: readonly Column[]
  symbol?: Column
  dash?: Column
  animate?: Column
  error?: Column
  parent?: Column
  id?: Column
  to?: Column
  /** Columns of --band-of. */
  ends: readonly Column[]
  lat?: Column
  lon?: Column
}

/** Resolves the columns that options name. Throws `unknown_column` and `usage`. */
export async function columnsOf(chart: Chart, type: ChartType, options: ChartOptions): Promise<ChartColumns> {
  const { aggregate } = options
  const isAcross = chart.isAcross(options)
  const x = isAcross ? undefined : chart.column('--x', options.x)
  const isMap = isCellMap(type, options)
  const isAxis = isMap || hasTrait(type, 'axis y')
  const isCount = aggregate === 'count' && !hasTrait(type, 'cells')
  const coordinate = async (flag: '--lat' | '--lon', name: string | undefined, pattern: RegExp) =>
    type === 'map' ? await chart.number(flag, name ?? chart.nameLike(flag, pattern)) : undefined
  const ys = inOrder(await chart.yColumns(options.y, isAxis, isCount), options)
  return {
    ...(isAcross ? chart.across(ys) : { x, ys }),
    z: await chart.number('--z', options.z),
    color: await chart.number('--color', options.color),
    size: await chart.number('--size', options.size),
    angle: await chart.number('--angle', options.angle),
    error: await chart.number('--error', options.error),
    text: chart.column('--text', options.text),
    by: chart.column('--by', options.by),
    facets: chart.columns('--facet', options.facet),
    symbol: chart.column('--symbol', options.symbol),
    dash: chart.column('--dash', options.dash),
    animate: chart.column('--animate', options.animate),
    parent: chart.column('--parent', options.parent),
    id: chart.column('--id', options.id),
    to: chart.column('--to', options.to),
    ends: await chart.numbers('--band-of', options.bandOf),
    lat: await coordinate('--lat', options.lat, /^(lat|latitude)$/i),
    lon: await coordinate('--lon', options.lon, /^(lon|lng|long|longitude)$/i),
  }
}

/** Returns the columns of --y, in the order of --order if it names them. */
function inOrder(ys: Column[], { order, by }: ChartOptions): Column[] {
  const names = order === undefined || by !== undefined ? [] : columnNames(order)
  const isNamed = ({ name }: Column): boolean => names.includes(name)
  if (!names.every((name) => ys.some((column) => column.name === name))) return ys
  const named = ys.filter(isNamed).sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
  return [...named, ...ys.filter((column) => !isNamed(column))]
}
