// plotly template of the default theme.

import { COLORS, DARK_COLORS } from '../../charts/figure/colors.ts'
import { isObject } from '../../charts/figure/figure.ts'
import { type Attributes, FONT, TEXT_PIXELS } from './arrangement.ts'
import {
  createColorScale,
  DIVERGING_COLORS,
  SCHEME_COLORS,
  type Scheme,
  SEQUENTIAL_COLORS,
} from './colors.ts'

/** Trace types with a color scale. */
const COLOR_SCALE_TYPES = ['heatmap', 'contour', 'histogram2d', 'choropleth', 'surface', 'mesh3d']

/** Inputs of the template. */
interface TemplateOptions {
  /** Width of lines, in pixels. */
  lineWidth: number
  isNarrow: boolean
  /** Template of the figure, which overrides ours. */
  over: unknown
}

/** Returns the template of the theme. */
export function createTemplate(scheme: Scheme, options: TemplateOptions): Attributes {
  const sequential = createColorScale(SEQUENTIAL_COLORS)
  const defaults = {
    layout: createLayout(scheme, options.isNarrow, sequential),
    data: createTraces(scheme, options.lineWidth, sequential),
  }
  return isObject(options.over) ? mergeTemplates(defaults, options.over) : defaults
}

/** Returns the default layout. */
function createLayout(scheme: Scheme, isNarrow: boolean, sequential: unknown): Attributes {
  const { ground, text, soft, line } = SCHEME_COLORS[scheme]
  const colors = scheme === 'dark' ? DARK_COLORS : COLORS
  const axis = {
    automargin: true,
    zeroline: false,
    tickcolor: line,
    tickfont: { color: soft },
    title: { font: { color: soft, size: TEXT_PIXELS }, standoff: 8 },
  }
  const scene = {
    gridcolor: line,
    zerolinecolor: line,
    showbackground: false,
    tickfont: { color: soft },
    title: { font: { color: soft } },
  }
  return {
    paper_bgcolor: ground,
    plot_bgcolor: ground,
    font: { family: FONT, size: TEXT_PIXELS, color: text },
    colorway: colors,
    colorscale: { sequential, sequentialminus: sequential, diverging: createColorScale(DIVERGING_COLORS) },
    title: {
      x: 0,
      xref: 'container',
      xanchor: 'left',
      y: 1,
      yref: 'container',
      yanchor: 'top',
      font: { size: 18, weight: 600 },
      subtitle: { font: { size: 14, color: soft } },
    },
    xaxis: {
      ...axis,
      showgrid: false,
      showline: true,
      linecolor: soft,
      ticks: 'outside',
      gridcolor: line,
      // The last label extends into the margin.
      ticklabeloverflow: 'allow',
      ...(isNarrow && { nticks: 5, tickangle: 0 }),
    },
    yaxis: {
      ...axis,
      gridcolor: line,
      ticks: '',
      ticklabelstandoff: 6,
      // On narrow screens, numbers are on their grid lines to save width.
      ...(isNarrow && { ticklabelposition: 'inside top', ticklabelstandoff: 0, nticks: 6 }),
    },
    annotationdefaults: { font: { color: soft } },
    legend: { bgcolor: 'rgba(0,0,0,0)', font: { size: TEXT_PIXELS }, itemsizing: 'constant' },
    hoverlabel: { font: { family: FONT } },
    bargap: 0.2,
    treemapcolorway: colors,
    sunburstcolorway: colors,
    scene: { xaxis: scene, yaxis: scene, zaxis: scene, camera: { eye: { x: 1.5, y: 1.5, z: 0.9 } } },
  }
}

/** Returns the default traces by type. With more series than colors, the next ones are dashed, hatched, hollow or have other symbols. */
function createTraces(scheme: Scheme, lineWidth: number, sequential: unknown): Attributes {
  return {
    scatter: [
      ...repeatStyles(
        { line: { width: lineWidth } },
        { line: { width: lineWidth, dash: 'dash' }, marker: { symbol: 'diamond' } },
      ),
      ...COLORS.map(() => ({ line: { width: lineWidth, dash: 'dot' }, marker: { symbol: 'square' } })),
    ],
    box: repeatStyles({}, { fillcolor: TRANSPARENT, marker: { symbol: 'diamond' } }),
    violin: repeatStyles({}, { fillcolor: TRANSPARENT }),
    ...Object.fromEntries(COLOR_SCALE_TYPES.map((type) => [type, [{ colorscale: sequential }]])),
    bar: repeatStyles(
      { marker: { line: { width: 0 } } },
      { marker: { line: { width: 0 }, pattern: { shape: '/' } } },
    ),
    pie: [{ marker: { line: { color: SCHEME_COLORS[scheme].ground, width: 1 } } }],
  }
}

const TRANSPARENT = 'rgba(0,0,0,0)'

/** Returns one style for as many series as there are colors, and another for the next ones. */
function repeatStyles(first: Attributes, next: Attributes): Attributes[] {
  return [...COLORS.map(() => first), ...COLORS.map(() => next)]
}

/** Merges attributes deeply; `over` takes precedence, and replaces lists. */
export function mergeTemplates(under: Attributes, over: Attributes): Attributes {
  const merged: Attributes = { ...under }
  for (const [key, value] of Object.entries(over))
    merged[key] = isObject(value) && isObject(under[key]) ? mergeTemplates(under[key], value) : value
  return merged
}
