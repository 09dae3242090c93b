import { Problem } from '../contract/errors.ts'
import { barFormat, unitParts } from './axes.ts'
import type { Chart } from './chart.ts'
import type { Attributes } from './figure.ts'
import { COMPASS } from './names.ts'
import { type ChartGrid, type ChartOptions, type Column, TOP_SERIES } from './options.ts'
import type { ChartType } from './types.ts'
import type { ChartValues } from './values.ts'
import { computedOf, spoken } from './words.ts'

/** The columns of a chart, by the options that name them. */
export interface Drawn {
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
  /** The columns of --band-of. */
  ends: readonly Column[]
  lat?: Column
  lon?: Column
}

/** The input of a maker of traces. */
export interface Parts {
  grid: ChartGrid
  chart: Chart
  values: ChartValues
  options: ChartOptions
  columns: Drawn
  /** What the service evaluates before a trace is drawn. */
  transforms: object[] | undefined
  /** A trace for each column of --y, with what all traces have. */
  each(make: (y: Column | undefined) => Attributes): Attributes[]
  /** The axis of a column: its title and type. */
  axis(column: Column | undefined): Attributes | undefined
  /** The axes as all charts have them. */
  layout: Attributes
  /** Settings of axes that options name. */
  settings: { x: Attributes; y: Attributes }
}

interface Made {
  data: Attributes[]
  layout: Attributes
}

type Maker = (parts: Parts) => Made | Promise<Made>

/** The traces of each type of chart. A type without a maker does not compile. */
export const makers: Record<ChartType, Maker> = {
  async scatter(parts) {
    const marker = await pointsOf(parts)
    return { data: parts.each(() => ({ type: 'scatter', mode: 'markers', marker })), layout: parts.layout }
  },
  line: lines,
  slope: (parts) => {
    const { data, layout } = lines(parts)
    return {
      data: data.map((trace) => ({ ...trace, mode: 'lines+markers' })),
      layout: { ...layout, xaxis: { ...layout.xaxis, type: 'category' } },
    }
  },
  bump({ each, layout, columns: { ys, by }, transforms = [] }) {
    if (ys.length !== 1 || !by)
      throw new Problem('usage', 'a bump ranks one column of --y among the series of --by')
    const data = each(() => ({ type: 'scatter', mode: 'lines+markers', marker: { size: 9 } }))
    return {
      data: data.map((trace) => ({ ...trace, transforms: ranked(transforms as Attributes[]) })),
      layout: { ...layout, yaxis: { title: { text: 'rank' }, autorange: 'reversed' } },
    }
  },
  step: (parts) => {
    const { data, layout } = lines(parts)
    return { data: data.map((trace) => ({ ...trace, line: { shape: 'hv' } })), layout }
  },
  area({ each, layout, columns, options: { stack } }) {
    const isStacked = stack === undefined ? columns.ys.length > 1 || columns.by : stack !== 'none'
    const style = isStacked
      ? { stackgroup: 'one', ...(stack === 'percent' && { groupnorm: 'percent' }) }
      : { fill: 'tozeroy' }
    return {
      data: each(() => ({ type: 'scatter', mode: 'lines', ...style })),
      layout: centered(percent(layout, stack), stack),
    }
  },
  async bar(parts) {
    const { each, layout, columns, options } = parts
    const { stack } = options
    const marker = await pointsOf(parts)
    const isSeveral = columns.ys.length > 1 || columns.by !== undefined
    const barmode =
      stack === undefined ? (isSeveral ? 'group' : undefined) : stack === 'none' ? 'group' : 'relative'
    return {
      data: each(() => ({ type: 'bar', marker })),
      layout: {
        ...centered(percent(layout, stack), stack),
        barmode,
        ...(stack === 'percent' && { barnorm: 'percent' }),
      },
    }
  },
  dot: ({ each, layout }) => ({
    data: each(() => ({ type: 'scatter', mode: 'markers', marker: { size: 11 } })),
    layout,
  }),
  lollipop: ({ each, layout }) => ({
    // From each point, a line of all its value: to zero.
    data: each(() => ({
      type: 'scatter',
      mode: 'markers',
      marker: { size: 11 },
      error_y: { type: 'percent', symmetric: false, value: 0, valueminus: 100, width: 0, thickness: 2 },
    })),
    layout,
  }),
  range: (parts) => {
    const [low, high] = endsOf('range', parts)
    return { data: [spanOf(parts, low, high, {})], layout: { ...parts.layout, showlegend: false } }
  },
  dumbbell: (parts) => {
    const ends = endsOf('dumbbell', parts)
    const points = parts.each(() => ({ type: 'scatter', mode: 'markers', marker: { size: 11 } }))
    const bar = { width: 0.06, marker: { color: '#a0a0a0' }, showlegend: false, hoverinfo: 'skip' }
    return { data: [spanOf(parts, ...ends, bar), ...points], layout: parts.layout }
  },
  timeline: (parts) => {
    const [start, end] = endsOf('timeline', parts)
    const { layout, axis, columns } = parts
    const isTime = ({ type }: Column): boolean => type === 'date' || type === 'datetime'
    // Years are numbers: both ends are, or both are dates.
    const kinds = [start, end].filter(({ type }) => type !== 'empty')
    if (!kinds.every(isTime) && !kinds.every(({ type }) => type === 'number'))
      throw new Problem(
        'usage',
        `--y ${start.name},${end.name}: a timeline is from dates to dates, or from years to years`,
      )
    const { title: _, ...dates } = { ...axis(end), ...axis(start) }
    const shown = {
      ...layout,
      ...(columns.by ? { showlegend: true } : { showlegend: false }),
      yaxis: { ...dates, ...parts.settings.y },
      barmode: 'overlay',
      meta: { ...layout.meta, horizontal: true },
    }
    return { data: [spanOf(parts, start, end, {})], layout: shown }
  },
  pyramid: (parts) => {
    const { each, layout, columns } = parts
    if (columns.ys.length !== (columns.by ? 1 : 2))
      throw new Problem('usage', 'a pyramid needs two columns with --y, one for each side, or one and --by')
    const [left, right] = each(() => ({ type: 'bar' }))
    const shape = { ...layout, barmode: 'relative', meta: { ...layout.meta, horizontal: true } }
    if (columns.by) {
      const sides = (left.transforms as Attributes[]).map((one) =>
        one.type === 'groupby' ? { ...one, sides: true } : one,
      )
      return { data: [{ ...left, hovertemplate: '%{y}: %{customdata}', transforms: sides }], layout: shape }
    }
    const hover = { hovertemplate: '%{y}: %{customdata}' }
    return {
      data: [{ ...left, ...hover, transforms: [...(left.transforms ?? []), { type: 'negate' }] }, right],
      layout: shape,
    }
  },
  box: ({ each, layout }) => ({ data: each(() => ({ type: 'box' })), layout }),
  violin: ({ each, layout }) => ({ data: each(() => ({ type: 'violin' })), layout }),
  strip: ({ each, layout }) => ({
    data: each(() => ({
      type: 'box',
      boxpoints: 'all',
      pointpos: 0,
      jitter: 0.7,
      fillcolor: 'rgba(0,0,0,0)',
      line: { width: 0 },
      hoveron: 'points',
      marker: { opacity: 0.6 },
    })),
    layout,
  }),
  ridgeline: ({ each, layout, settings }) => ({
    data: each(() => ({ type: 'violin', side: 'negative', points: false, width: 1.6, spanmode: 'hard' })),
    layout: {
      ...layout,
      yaxis: { ...layout.yaxis, ...settings.y },
      showlegend: false,
      meta: { ...layout.meta, horizontal: true },
    },
  }),
  ecdf: (parts) =>
    curves('an ecdf', parts, 'cumulate', {
      ...{ style: { line: { shape: 'hv' } } },
      yaxis: { title: { text: 'share of values' }, ticksuffix: '%', range: [0, 100] },
    }),
  density: (parts) =>
    curves('a density', parts, 'density', {
      ...{ style: { fill: 'tozeroy' }, yaxis: { title: { text: 'density' }, rangemode: 'tozero' } },
    }),
  hexbin: ({ each, layout, transforms }) => ({
    data: each(() => ({
      ...{
        type: 'scatter',
        mode: 'markers',
        marker: { showscale: true, colorbar: { title: { text: 'count' } } },
      },
    })).map((trace) => ({ ...trace, transforms: [...(transforms ?? []), { type: 'hexagons' }] })),
    layout,
  }),
  calendar({ chart, columns: { x, ys }, layout, options, transforms }) {
    if (x?.type !== 'date' && x?.type !== 'datetime' && x?.type !== 'empty')
      throw new Problem('usage', 'a calendar needs --x with a column of dates')
    const isTimes = x.type === 'datetime' && options.per === undefined && options.aggregate !== undefined
    if (isTimes) throw new Problem('usage', '--x has times: a cell is a day', { hint: 'Add --per day.' })
    const colorbar = { title: { text: layout.yaxis?.title?.text }, ...barFormat(options) }
    return {
      data: [
        {
          ...{ type: 'heatmap', name: ys[0]?.name, xsrc: chart.reference(x), zsrc: chart.reference(ys[0]) },
          ...{ xgap: 1, ygap: 1, colorbar, hovertemplate: '%{text}: %{z}<extra></extra>' },
          transforms: [...(transforms ?? []), { type: 'calendar' }],
        },
      ],
      layout: {
        ...layout,
        xaxis: { showgrid: false, range: [-0.5, 52.5] },
        yaxis: { type: 'category', autorange: 'reversed' },
      },
    }
  },
  sankey({ chart, columns: { x, to, ys }, layout, transforms }) {
    if (!x || !to) throw new Problem('usage', 'a sankey needs --x and --to: where its links begin and end')
    const link = {
      sourcesrc: chart.reference(x),
      targetsrc: chart.reference(to),
      valuesrc: chart.reference(ys[0]),
    }
    return {
      data: [{ type: 'sankey', link, transforms: [...(transforms ?? []), { type: 'links' }] }],
      layout: withoutAxes(layout),
    }
  },
  rose({ chart, columns: { x, ys, by }, layout, options: { aggregate }, transforms }) {
    if (!x) throw new Problem('usage', 'a rose needs --x: a column of directions, in degrees or as labels')
    // Without a function, rows are counted: in classes of the values, if there are some.
    const isClassed = ys.length > 0 && aggregate === undefined && by === undefined
    const func = aggregate === 'mean' ? 'avg' : (aggregate ?? (ys.length > 0 && by ? 'sum' : 'count'))
    const own = (transforms ?? []).filter((one) => (one as Attributes).type !== 'aggregate')
    const sum = { type: 'aggregate', groups: 'theta', aggregations: [{ target: 'r', func, empty: 'none' }] }
    const classes = { type: 'groupby', groupssrc: chart.reference(ys[0]), classes: 5, top: TOP_SERIES }
    const reference = isClassed ? undefined : chart.reference(ys[0])
    return {
      data: [
        {
          ...{
            type: 'barpolar',
            name: ys[0]?.name ?? 'count',
            thetasrc: chart.reference(x),
            rsrc: reference,
          },
          transforms: [{ type: 'sectors', of: x.name }, ...own, ...(isClassed ? [classes] : []), sum],
        },
      ],
      layout: {
        ...withoutAxes(layout),
        polar: {
          angularaxis: {
            ...{ direction: 'clockwise', rotation: 90, type: 'category' },
            ...(x.type === 'number' && { categoryorder: 'array', categoryarray: COMPASS }),
          },
          radialaxis: { rangemode: 'tozero', angle: 45, tickangle: 0, nticks: 4 },
          barmode: 'stack',
          bargap: 0.1,
        },
        ...((by || isClassed) && { showlegend: true }),
      },
    }
  },
  histogram({ chart, columns: { x, ys, by }, transforms, layout, axis, settings, options: { stack } }) {
    // One column makes a histogram, given as x or as y.
    const columns = x ? [x, ...ys] : ys
    const data = columns.map((column) => ({
      type: 'histogram',
      name: column.name,
      xsrc: chart.reference(column),
      ...(columns.length > 1 && !by && { opacity: 0.6 }),
      transforms: [...(transforms ?? []), { type: 'bins' }],
    }))
    // Categories are parts of one whole; different columns are not.
    const usual = by ? 'stack' : columns.length > 1 ? 'overlay' : undefined
    return {
      data,
      layout: {
        ...layout,
        xaxis: { ...(columns.length === 1 && axis(columns[0])), ...settings.x },
        yaxis: { title: { text: 'count' }, ...settings.y },
        barmode: stack === undefined ? usual : stack === 'none' ? 'overlay' : 'stack',
        ...(stack === 'percent' && { barnorm: 'percent' }),
      },
    }
  },
  histogram2d: ({ each, layout }) => ({
    data: each(() => ({ type: 'histogram2d', colorbar: { title: { text: 'count' } } })),
    layout,
  }),
  heatmap: (parts) => cells('heatmap', parts),
  contour: (parts) => cells('contour', parts),
  pie: (parts) => slices(parts),
  donut: (parts) => slices(parts, { hole: 0.55 }),
  treemap: (parts) => hierarchy('treemap', parts),
  sunburst: (parts) => hierarchy('sunburst', parts),
  funnel({ chart, each, layout, columns: { x, ys } }) {
    const { xaxis: _, yaxis: __, ...rest } = layout
    return {
      data: each((y) => ({
        type: 'funnel',
        orientation: 'h',
        xsrc: chart.reference(y),
        ysrc: chart.reference(x),
        textinfo: 'value',
      })),
      layout: { ...rest, yaxis: { type: 'category' }, ...(ys.length > 1 && { showlegend: true }) },
    }
  },
  waterfall: ({ each, layout }) => ({ data: each(() => ({ type: 'waterfall' })), layout }),
  candlestick: (parts) => prices('candlestick', parts),
  ohlc: (parts) => prices('ohlc', parts),
  async map(parts) {
    const { chart, columns, layout, transforms } = parts
    const { lat, lon, text, by } = columns
    const { xaxis: _, yaxis: __, ...rest } = layout
    const references = {
      latsrc: chart.reference(lat),
      lonsrc: chart.reference(lon),
      textsrc: chart.reference(text),
    }
    const trace = {
      type: 'scattergeo',
      mode: 'markers',
      name: lat?.name,
      ...references,
      marker: { opacity: 0.8, ...(await pointsOf(parts)) },
      transforms,
    }
    return { data: [trace], layout: { ...rest, geo: GEO, ...(by && { showlegend: true }) } }
  },
  async choropleth({ chart, columns: { x, ys, text }, layout, options, values, transforms }) {
    const { xaxis: _, yaxis: __, ...rest } = layout
    const places = x && (await values.places(x))
    return {
      data: [
        {
          type: 'choropleth',
          locationssrc: chart.reference(x),
          zsrc: chart.reference(ys[0]),
          textsrc: chart.reference(text),
          locationmode: places,
          colorbar: { title: { text: ys[0]?.name }, ...barFormat(options) },
          transforms,
        },
      ],
      layout: {
        ...rest,
        geo: places === 'USA-states' ? { ...GEO, scope: 'usa', projection: { type: 'albers usa' } } : GEO,
      },
    }
  },
  async scatter3d(parts) {
    const { chart, columns, layout, each } = parts
    const { x, ys, z } = columns
    const marker = { size: 4, ...(await pointsOf(parts)) }
    return {
      data: each(() => ({ type: 'scatter3d', mode: 'markers', zsrc: chart.reference(z), marker })),
      layout: { ...withoutAxes(layout), scene: sceneOf(x, ys[0], z) },
    }
  },
  surface({ grid, chart, columns: { x, ys, z }, layout, transforms }) {
    const plain = withoutAxes(layout)
    if (z) {
      const [zsrc, intensitysrc] = [chart.reference(z), chart.reference(z)]
      const references = { xsrc: chart.reference(x), ysrc: chart.reference(ys[0]), zsrc, intensitysrc }
      return {
        data: [{ type: 'mesh3d', ...references, colorbar: { title: { text: z.name } }, transforms }],
        layout: { ...plain, scene: sceneOf(x, ys[0], z) },
      }
    }
    if (ys.length < 2)
      throw new Problem('usage', 'a surface needs --x, --y and --z, or several columns with --y')
    return { data: [{ type: 'surface', zsrc: severalOf(grid, ys) }], layout: plain }
  },
  parallel({ chart, columns: { ys, color }, layout, transforms }) {
    if (ys.length < 2) throw new Problem('usage', 'parallel coordinates need several columns with --y')
    const dimensions = ys.map((column) => ({ label: column.name, valuessrc: chart.reference(column) }))
    const line = color && {
      colorsrc: chart.reference(color),
      showscale: true,
      colorbar: { title: { text: color.name } },
    }
    return {
      data: [
        { type: 'parcoords', dimensions, line, transforms: [...(transforms ?? []), { type: 'complete' }] },
      ],
      layout: withoutAxes(layout),
    }
  },
  async splom(parts) {
    const { chart, columns, layout, transforms } = parts
    if (columns.ys.length < 2) throw new Problem('usage', 'a splom needs several columns with --y')
    if (columns.ys.length > MOST_MATRIX)
      throw new Problem('usage', `a splom shows at most ${MOST_MATRIX} columns`, {
        hint: 'Choose some of them with --y.',
      })
    const dimensions = columns.ys.map((column) => ({
      label: column.name,
      valuessrc: chart.reference(column),
    }))
    const marker = { size: 4, ...(await pointsOf(parts)) }
    const trace = {
      ...{ type: 'splom', dimensions, marker, transforms },
      ...{ diagonal: { visible: columns.ys.length < 3 }, showupperhalf: false },
      textsrc: chart.reference(columns.text),
    }
    return { data: [trace], layout: { ...withoutAxes(layout), ...(columns.by && { showlegend: true }) } }
  },
  radar({ chart, columns: { x, ys, by }, layout, transforms, settings }) {
    const data = ys.map((column) => ({
      ...{ type: 'scatterpolar', mode: 'lines+markers', fill: 'toself', name: column.name },
      ...{ thetasrc: chart.reference(x), rsrc: chart.reference(column), transforms },
    }))
    const radialaxis = { rangemode: 'tozero', ...settings.y }
    return {
      data,
      layout: {
        ...withoutAxes(layout),
        polar: { radialaxis, angularaxis: { type: 'category', direction: 'clockwise' } },
        ...((ys.length > 1 || by) && { showlegend: true }),
      },
    }
  },
  table: ({ grid, columns: { ys }, layout, transforms }) => ({
    data: [
      {
        type: 'table',
        header: { values: ys.map(({ name }) => name), align: ys.map(alignmentOf) },
        cells: { valuessrc: severalOf(grid, ys), align: ys.map(alignmentOf), height: 26 },
        transforms: [...(transforms ?? []), { type: 'complete' }],
      },
    ],
    layout: withoutAxes(layout),
  }),
  indicator({ chart, columns: { ys }, layout, transforms, options: { aggregate, unit, formatY } }) {
    return {
      data: [
        {
          type: 'indicator',
          mode: 'number',
          customdatasrc: chart.reference(ys[0]),
          number: { valueformat: formatY ?? ',', ...unitParts(unit) },
          transforms: [
            ...(transforms ?? []),
            { type: 'number', func: aggregate === 'mean' ? 'avg' : (aggregate ?? 'last') },
          ],
        },
      ],
      layout: withoutAxes(layout),
    }
  },
}

const GEO = {
  fitbounds: 'locations',
  projection: { type: 'natural earth' },
  showland: true,
  showcountries: true,
  showcoastlines: false,
  showframe: false,
}

/** Transforms with the ranks of what is drawn: after columns have become rows. */
function ranked(transforms: readonly Attributes[]): Attributes[] {
  const isMelt = ({ type }: Attributes): boolean => type === 'melt'
  return [...transforms.filter(isMelt), { type: 'rank' }, ...transforms.filter((one) => !isMelt(one))]
}

function lines({ each, layout, chart, columns: { x, ys, ends }, transforms = [] }: Parts): Made {
  const data = each(() => ({ type: 'scatter', mode: 'lines' }))
  if (ends.length === 0) return { data, layout }
  if (ends.length !== 2 || ys.length !== 1)
    throw new Problem('usage', '--band-of needs two columns, low and high, and one column of --y')
  const references = { ysrc: chart.reference(ends[1]), customdatasrc: chart.reference(ends[0]) }
  // What is computed of a line is computed of its band.
  const own = (transforms as Attributes[])
    .filter(({ type }) => type !== 'trend')
    .map((one) =>
      one.type === 'aggregate'
        ? { ...one, aggregations: [...one.aggregations, { ...one.aggregations[0], target: 'customdata' }] }
        : one,
    )
  const band = {
    ...{
      type: 'scatter',
      mode: 'lines',
      fill: 'toself',
      line: { width: 0 },
      hoverinfo: 'skip',
      showlegend: false,
    },
    ...{ name: ys[0].name, meta: { isBand: true }, xsrc: chart.reference(x), ...references },
    transforms: [...own, { type: 'band' }],
  }
  return { data: [...data, band], layout }
}

/** Curves of the values of columns, which a transform computes. */
function curves(
  what: string,
  { chart, columns: { x, ys, by }, transforms, layout, axis, settings }: Parts,
  type: string,
  { style, yaxis }: { style: Attributes; yaxis: Attributes },
): Made {
  const columns = x ? [x, ...ys] : ys
  if (columns.length === 0) throw new Problem('usage', `${what} needs a column of numbers with --x`)
  return {
    data: columns.map((column) => ({
      ...{ type: 'scatter', mode: 'lines', ...style, name: column.name, xsrc: chart.reference(column) },
      transforms: [...(transforms ?? []), { type }],
    })),
    layout: {
      ...layout,
      xaxis: { ...(columns.length === 1 && axis(columns[0])), ...settings.x },
      yaxis,
      ...((columns.length > 1 || by) && { showlegend: true }),
    },
  }
}

/** Radius of the smallest point that a column sizes, in pixels. */
const LEAST_RADIUS_PIXELS = 2

/** Colors and sizes of points that columns set; undefined if none does. */
async function pointsOf({
  chart,
  values,
  columns: { color, size, angle },
}: Parts): Promise<Attributes | undefined> {
  if (!color && !size && !angle) return undefined
  return {
    ...(angle && { symbol: 'arrow', anglesrc: chart.reference(angle), ...(!size && { size: 12 }) }),
    colorsrc: chart.reference(color),
    ...(color && { showscale: true, colorbar: { title: { text: color.name } } }),
    sizesrc: chart.reference(size),
    ...(size && { sizemode: 'area', sizeref: await values.sizeRef(size), sizemin: LEAST_RADIUS_PIXELS }),
  }
}

/** Series around a middle, where they are drawn: see `theme/centers.ts`. */
function centered(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'center' ? { ...layout, meta: { ...layout.meta, isCentered: true } } : layout
}

/** The y axis of parts of 100. */
function percent(layout: Attributes, stack: ChartOptions['stack']): Attributes {
  return stack === 'percent' ? { ...layout, yaxis: { ticksuffix: '%', ...layout.yaxis } } : layout
}

function cells(
  type: 'heatmap' | 'contour',
  { grid, chart, columns: { x, ys, color }, each, layout, axis, transforms, options }: Parts,
): Made {
  const { aggregate } = options
  if (color || aggregate === 'count') {
    const what =
      aggregate === undefined ? spoken(color!.name) : computedOf(aggregate, color ? spoken(color.name) : '')
    const colorbar = { title: { text: what }, ...barFormat({ unit: options.unit }) }
    return { data: each(() => ({ type, zsrc: chart.reference(color), colorbar })).slice(0, 1), layout }
  }
  if (transforms)
    throw new Problem('usage', `a ${type} of several columns shows all rows, in their order`, {
      hint: 'Give the values of its cells with --color COLUMN to choose, sort or aggregate rows.',
    })
  if (ys.length < 2)
    throw new Problem('usage', `a ${type} needs the values of its cells`, {
      hint: 'Give them with --color COLUMN, or give several columns with --y.',
    })
  // Each y column is a column of the map; x labels its rows.
  const ticks = { tickmode: 'array', tickvals: ys.map((_, k) => k), ticktext: ys.map(({ name }) => name) }
  return {
    data: [{ type, zsrc: severalOf(grid, ys), ysrc: chart.reference(x) }],
    layout: { ...layout, xaxis: ticks, yaxis: { ...axis(x), autorange: 'reversed' } },
  }
}

function slices({ chart, columns: { x, ys, text }, layout, options, transforms }: Parts, style = {}): Made {
  return {
    data: [
      {
        type: 'pie',
        ...style,
        labelssrc: chart.reference(x),
        valuessrc: chart.reference(ys[0]),
        ...(options.sort !== undefined && { sort: false }),
        textsrc: chart.reference(text),
        transforms,
      },
    ],
    layout: withoutAxes(layout),
  }
}

function hierarchy(
  type: 'treemap' | 'sunburst',
  { chart, columns: { x, ys, text, parent, id }, layout, transforms }: Parts,
): Made {
  if (!x) throw new Problem('usage', `a ${type} needs --x: the column that names its parts`)
  return {
    data: [
      {
        type,
        labelssrc: chart.reference(x),
        parentssrc: chart.reference(parent),
        idssrc: chart.reference(id),
        valuessrc: chart.reference(ys[0]),
        textsrc: chart.reference(text),
        branchvalues: 'total',
        transforms: [...(transforms ?? []), { type: 'tree' }],
      },
    ],
    layout: withoutAxes(layout),
  }
}

/** Columns of a scatter matrix: each is drawn with each. */
const MOST_MATRIX = 12

/** The two columns that a bar is between. */
function endsOf(type: ChartType, { columns: { ys } }: Parts): [Column, Column] {
  const [low, high] = ys
  if (ys.length !== 2) throw new Problem('usage', `a ${type} needs two columns with --y: from,to`)
  return [low, high]
}

/** Bars from one column to another. */
function spanOf(
  { chart, columns: { x, text }, transforms }: Parts,
  low: Column,
  high: Column,
  style: Attributes,
): Attributes {
  return {
    ...{ type: 'bar', name: `${low.name} to ${high.name}`, xsrc: chart.reference(x) },
    ...{ basesrc: chart.reference(low), ysrc: chart.reference(high), textsrc: chart.reference(text) },
    ...style,
    transforms: [...(transforms ?? []), { type: 'span' }],
  }
}

/** Names of the four columns of prices, in the order of --y. */
const PRICES = ['open', 'high', 'low', 'close'] as const

function prices(
  type: 'candlestick' | 'ohlc',
  { chart, columns: { x, ys, text }, layout, transforms }: Parts,
): Made {
  if (ys.length !== PRICES.length)
    throw new Problem('usage', `a ${type} chart needs four columns with --y: open,high,low,close`)
  const references = Object.fromEntries(PRICES.map((name, k) => [`${name}src`, chart.reference(ys[k])]))
  return {
    data: [
      {
        type,
        xsrc: chart.reference(x),
        ...references,
        textsrc: chart.reference(text),
        showlegend: false,
        transforms,
      },
    ],
    layout: {
      ...withoutAxes(layout),
      xaxis: { ...layout.xaxis, rangeslider: { visible: false } },
      yaxis: layout.yaxis,
    },
  }
}

function withoutAxes({ xaxis: _, yaxis: __, showlegend: ___, ...rest }: Attributes): Attributes {
  return rest
}

function sceneOf(x: Column | undefined, y: Column | undefined, z: Column | undefined): Attributes {
  const titled = (column: Column | undefined) => column && { title: { text: column.name } }
  return { xaxis: titled(x), yaxis: titled(y), zaxis: titled(z) }
}

/** The reference to several columns. */
function severalOf({ fid }: ChartGrid, columns: readonly Column[]): string {
  return `${fid}:${columns.map(({ uid }) => uid).join(',')}`
}

function alignmentOf({ type }: Column): string {
  return type === 'number' ? 'right' : 'left'
}
