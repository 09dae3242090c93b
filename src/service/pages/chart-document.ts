/** The document of a chart alone, which runs in an opaque origin. */
import { escapeHtml } from '../../contract/html.ts'
import { choosePlotlyBuild } from '../core/plotly-builds.ts'
import { assetPathOf } from './assets.ts'
import { type ColorScheme, renderData } from './html.ts'

const DARK_STYLE = 'html, body { background: #16181d; color: #d7dae0 } a { color: #8bf }'
const DARK_STYLES: Record<ColorScheme, string> = {
  light: '',
  dark: DARK_STYLE,
  auto: `@media (prefers-color-scheme: dark) { ${DARK_STYLE} }`,
}

interface ChartDocument {
  title: string
  /** Description for people who cannot see it, until it is drawn. */
  description: string
  scheme: ColorScheme
  /** Types of its traces as they are stored; undefined if it can have any. */
  traceTypes?: readonly string[]
  /** HTML below the chart. */
  link?: string
  /** Data of the script, by name. Without it, the surrounding page sends what to draw. */
  data?: Readonly<Record<string, string>>
}

/** Returns the HTML before and after the figure, which is JSON text without `<`. */
export function renderChartDocument({
  title,
  description,
  scheme,
  traceTypes,
  link = '',
  data = {},
}: ChartDocument): [head: string, tail: string] {
  const build = traceTypes ? choosePlotlyBuild(traceTypes) : { name: 'plotly.js' }
  const types = build.types ? { types: build.types.join(' '), plotly: assetPathOf('plotly.js') } : {}
  const attributes = renderData({ ...types, ...data })
  return [
    `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="${scheme === 'auto' ? 'light dark' : scheme}">
<title>${escapeHtml(title)}</title>
<style>
html, body { margin: 0; height: 100%; background: #fff }
body { display: flex; flex-direction: column; font: 15px/1.5 system-ui, sans-serif; color: #222 }
#chart { flex: 1; min-height: 0 }
#status { margin: 1rem; position: absolute }
.link { margin: 0; padding: .2rem .6rem; font-size: 13px }
${DARK_STYLES[scheme]}
</style>
<p id="status" role="status">Drawing the chart…</p>
<div id="chart" role="img" aria-label="${escapeHtml(description)}"></div>${link}
<script type="application/json" id="figure">`,
    `</script>
<script src="${assetPathOf(build.name)}"></script>
<script src="${assetPathOf('chart.js')}" data-geo="${assetPathOf('plotly-geo.js')}" data-more="${assetPathOf('more.js')}" data-scheme="${scheme}"${attributes}></script>
</html>
`,
  ]
}
