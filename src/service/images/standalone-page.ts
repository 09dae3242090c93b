/** Writes a chart as one HTML file that loads nothing: figure with data, picture, and the code that draws it. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildPath } from '../../contract/build-path.ts'
import { escapeHtml } from '../../contract/html.ts'
import { type PageFacts, renderAbout, sealPage } from '../../contract/standalone.ts'
import { createChartPolicy } from '../core/chart-policy.ts'
import { choosePlotlyBuild } from '../core/plotly-builds.ts'

const readAsset = (name: string): string => readFileSync(join(buildPath('assets'), name), 'utf8')

interface Figure {
  data?: { type?: unknown }[]
  layout?: Record<string, unknown>
}

/** Returns the text that a script gives to `JSON.parse`. A pattern with as many steps could exhaust the stack. */
function readParsedText(script: string): string {
  const begin = script.indexOf('JSON.parse("') + 'JSON.parse('.length
  let end = begin + 1
  while (script[end] !== '"') end += script[end] === '\\' ? 2 : 1
  return JSON.parse(script.slice(begin, end + 1)) as string
}

/** Returns the outlines that the maps of a figure need, as a script; undefined without maps. */
function outlinesFor({ data = [], layout = {} }: Figure): string | undefined {
  const isMap = data.some((trace) => trace?.type === 'scattergeo' || trace?.type === 'choropleth')
  const maps = Object.entries(layout).filter(([name]) => /^geo\d*$/.test(name))
  if (!isMap && maps.length === 0) return undefined
  const all = JSON.parse(readParsedText(readAsset('plotly-geo.js'))) as Record<string, unknown>
  const names = new Set(
    [undefined, ...maps.map(([, map]) => map)].map((map) => {
      const { scope, resolution } = (typeof map === 'object' && map !== null ? map : {}) as Record<
        string,
        unknown
      >
      const part = typeof scope === 'string' ? scope.replace(/ /g, '-') : 'world'
      return `${part}_${Number(resolution) === 50 ? '50m' : '110m'}`
    }),
  )
  const needed = Object.fromEntries([...names].filter((name) => name in all).map((name) => [name, all[name]]))
  return `window.PlotlyGeoAssets={topojson:${JSON.stringify(needed)}}`
}

/** Code that is the text of a script element, and its SHA-256 in base64. */
interface InlineScript {
  code: string
  hash: string
}

/** Converts code to the text of a script element: it cannot close it. */
function toInlineScript(text: string): InlineScript {
  const code = text.replace(/\/\/# sourceMappingURL=.*$/gm, '').replace(/<(?=\/script|!--)/gi, '\\x3c')
  return { code, hash: createHash('sha256').update(code).digest('base64') }
}

/** Scripts of the build that were used: converting them takes longer than all else. */
const inlineAssets = new Map<string, InlineScript>()

function inlineAsset(name: string): InlineScript {
  const known = inlineAssets.get(name) ?? toInlineScript(readAsset(name))
  inlineAssets.set(name, known)
  return known
}

/** Replaces the random part of the ids in a picture of plotly.js. */
function withFixedIds(svg: string): string {
  const [, uid] = /\bid="(?:clip|legend|defs-|topdefs-)([0-9a-f]{6})/.exec(svg) ?? []
  return uid === undefined ? svg : svg.replaceAll(uid, '000000')
}

const STYLE = `html, body { margin: 0; height: 100%; background: #fff }
body { display: flex; flex-direction: column; font: 15px/1.5 system-ui, sans-serif; color: #222 }
#chart { flex: 1; min-height: 0 }
#status { margin: 1rem; position: absolute }
#picture { position: absolute; inset: 0 0 2rem; margin: auto; max-width: 100%; max-height: calc(100% - 2rem) }
#chart[data-drawn="true"] ~ #picture { display: none }
#about { margin: 0; padding: .3rem .8rem; font-size: 13px; color: #5b6575 }
@media print { #chart, #status { display: none } #chart[data-drawn="true"] ~ #picture { display: block }
  #picture { position: static; max-height: none } }`

/** Returns the title of a figure, without markup. */
function titleOf({ layout = {} }: Figure): string {
  const { title } = layout
  const text = typeof title === 'object' && title !== null && 'text' in title ? title.text : title
  return typeof text === 'string' ? text.replace(/<[^<>]*>/g, ' ').trim() || 'Chart' : 'Chart'
}

/**
 * Writes the page of a figure, given as JSON text that plotly.js can draw. `svg`: its picture, for readers without
 * JavaScript and on paper. The same chart gives the same bytes.
 */
export function writeStandalonePage(
  figure: Uint8Array,
  svg: Uint8Array | undefined,
  facts: Partial<PageFacts>,
): Buffer {
  const text = Buffer.from(figure).toString('utf8')
  const parsed = JSON.parse(text) as Figure
  const title = facts.title ?? titleOf(parsed)
  const types = (parsed.data ?? []).map((trace) => (typeof trace?.type === 'string' ? trace.type : 'scatter'))
  const outlines = outlinesFor(parsed)
  const scripts = [
    ...(outlines === undefined ? [] : [toInlineScript(outlines)]),
    ...[choosePlotlyBuild(types).name, 'more.js', 'chart.js'].map(inlineAsset),
  ]
  const hashes = scripts.map(({ hash }) => `'sha256-${hash}'`)
  const picture = svg
    ? `<img id="picture" alt="${escapeHtml(title)}" src="data:image/svg+xml;base64,${Buffer.from(withFixedIds(Buffer.from(svg).toString('utf8'))).toString('base64')}">`
    : ''
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${createChartPolicy({ scripts: hashes.join(' ') })}">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
${STYLE}
</style>
<p id="status" role="status" hidden></p>
<div id="chart" role="img" aria-label="${escapeHtml(title)}"></div>
${picture}
${renderAbout({ ...facts, title })}
<script type="application/json" id="figure">${text.replaceAll('<', '\\u003c')}</script>
${scripts.map(({ code }) => `<script>${code}</script>`).join('\n')}
</html>
`
  return sealPage(page)
}
