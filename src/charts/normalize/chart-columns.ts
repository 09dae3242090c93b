// Resolves the columns of all chart options.

import type { ChartOptions, Column } from '../spec/options.ts'
import { parseColumnNames } from '../spec/parse-names.ts'
import { type ChartType, hasColumnAxes, hasTrait } from '../spec/types.ts'
import type { ChartColumnResolver } from './resolve-columns.ts'

/** Columns of a chart, by option. `bandEnds`: those of --band-of. */
export type ChartColumns = Awaited<ReturnType<typeof resolveChartColumns>>

/** Resolves the columns that options name. Throws `unknown_column` and `usage`. */
export async function resolveChartColumns(
  chart: ChartColumnResolver,
  type: ChartType,
  options: ChartOptions,
) {
  const { aggregate } = options
  const isAcross = chart.hasColumnNamesAxis(options)
  const x = isAcross ? undefined : chart.resolveColumn('--x', options.x)
  const isMap = hasColumnAxes(type, options)
  const isAxis = isMap || hasTrait(type, 'axis y')
  const isCount = aggregate === 'count' && !hasTrait(type, 'cells')
  const coordinate = async (flag: '--lat' | '--lon', name: string | undefined, pattern: RegExp) =>
    type === 'map' ? await chart.resolveNumber(flag, name ?? chart.findNameLike(flag, pattern)) : undefined
  const ys = sortYColumns(await chart.resolveYColumns(options.y, isAxis, isCount), options)
  return {
    ...(isAcross ? chart.meltColumns(ys) : { x, ys }),
    z: await chart.resolveNumber('--z', options.z),
    color: await chart.resolveNumber('--color', options.color),
    size: await chart.resolveNumber('--size', options.size),
    angle: await chart.resolveNumber('--angle', options.angle),
    error: await chart.resolveNumber('--error', options.error),
    text: chart.resolveColumn('--text', options.text),
    by: chart.resolveColumn('--by', options.by),
    facets: chart.resolveColumns('--facet', options.facet),
    symbol: chart.resolveColumn('--symbol', options.symbol),
    dash: chart.resolveColumn('--dash', options.dash),
    animate: chart.resolveColumn('--animate', options.animate),
    parent: chart.resolveColumn('--parent', options.parent),
    id: chart.resolveColumn('--id', options.id),
    to: chart.resolveColumn('--to', options.to),
    bandEnds: await chart.resolveNumbers('--band-of', options.bandOf),
    lat: await coordinate('--lat', options.lat, /^(lat|latitude)$/i),
    lon: await coordinate('--lon', options.lon, /^(lon|lng|long|longitude)$/i),
  }
}

/** Returns the columns of --y, in the order of --order if it names them. */
function sortYColumns(ys: Column[], { order, by }: ChartOptions): Column[] {
  const names = order === undefined || by !== undefined ? [] : parseColumnNames(order)
  const isNamed = ({ name }: Column): boolean => names.includes(name)
  if (!names.every((name) => ys.some((column) => column.name === name))) return ys
  const named = ys.filter(isNamed).sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
  return [...named, ...ys.filter((column) => !isNamed(column))]
}
