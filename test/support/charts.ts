// Columns and minimal options for every chart type.
import type { ChartOptions, Column } from '../../src/charts/spec/options.ts'
import type { ChartType } from '../../src/charts/spec/types.ts'

/** Columns of a table that every type of chart can show. */
export const chartColumns = [
  { uid: 'day', name: 'day', type: 'date' },
  { uid: 'end', name: 'end', type: 'date' },
  { uid: 'city', name: 'city', type: 'text' },
  { uid: 'n', name: 'n', type: 'number' },
  { uid: 'm', name: 'm', type: 'number' },
  { uid: 'k', name: 'k', type: 'number' },
  { uid: 'l', name: 'l', type: 'number' },
] as Column[]

const least: Partial<Record<ChartType, ChartOptions>> = {
  ...{
    candlestick: { y: 'n,m,k,l' },
    ohlc: { y: 'n,m,k,l' },
    parallel: { x: undefined, y: 'n,m' },
    splom: { x: undefined, y: 'n,m' },
  },
  ...{
    range: { y: 'n,m' },
    dumbbell: { x: 'city', y: 'n,m' },
    pyramid: { x: 'city', y: 'n,m' },
    timeline: { x: 'city', y: 'day,end' },
  },
  ...{
    ecdf: { y: undefined, x: 'n' },
    density: { y: undefined, x: 'n' },
    histogram: { y: undefined, x: 'n' },
  },
  ...{
    heatmap: { x: 'city', y: 'day', color: 'n' },
    contour: { x: 'm', y: 'k', color: 'n' },
    hexbin: { x: 'm' },
  },
  ...{
    scatter3d: { x: 'm', z: 'k' },
    surface: { x: 'm', z: 'k' },
    map: { x: undefined, y: undefined, lat: 'n', lon: 'm', size: 'k' },
  },
  ...{
    bump: { by: 'city' },
    sankey: { x: 'city', to: 'day' },
    rose: { x: 'm' },
    indicator: { x: undefined },
    table: { x: undefined, y: 'city,n' },
  },
  ...{
    pie: { x: 'city' },
    donut: { x: 'city' },
    treemap: { x: 'city' },
    sunburst: { x: 'city' },
    funnel: { x: 'city' },
    radar: { x: 'city' },
  },
}

/** Minimal options of `chartColumns` with which a type can be drawn. */
export function leastOptions(type: ChartType): ChartOptions {
  return { x: 'day', y: 'n', ...least[type] }
}
