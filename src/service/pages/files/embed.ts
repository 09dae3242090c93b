import { type Fid, webUrl } from '../../../contract/fid.ts'
import type { Bytes } from '../../../json/index.ts'
import type { Principal } from '../../access/access.ts'
import { openFigure } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live.ts'
import { type Answer, html } from '../answer.ts'
import { assetPath } from '../assets.ts'
import { accessQuery, type ColorScheme, schemeIn, text } from '../html.ts'
import { described } from './alt-text.ts'
import { reading } from './downloads.ts'
import { chartToken } from './live-chart.ts'

/**
 * The policy of an embedded chart. A figure is hostile input: it is drawn in an opaque origin, which has no cookies,
 * without inline scripts and `eval`. It may connect to its own data only.
 */
const policyOf = (own: string): string =>
  [
    'sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    `connect-src ${own}.events ${own}.state ${own}.live`,
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')

const DARK_STYLE = 'html, body { background: #16181d; color: #d7dae0 } a { color: #8bf }'
const DARK: Record<ColorScheme, string> = {
  light: '',
  dark: DARK_STYLE,
  auto: `@media (prefers-color-scheme: dark) { ${DARK_STYLE} }`,
}

/** The chart alone, for frames of other pages. */
export async function embed(
  service: LiveService,
  principal: Principal,
  fid: Fid,
  query: URLSearchParams,
): Promise<Answer> {
  const live = await openFigure(service, { ...reading(principal, fid), filetype: 'plot' })
  const { file } = live
  const modebar = query.get('modebar') === 'false' ? 'false' : ''
  const scheme = schemeIn(query)
  const key = accessQuery(principal)
  const link =
    query.get('link') === 'true'
      ? `<p class="link"><a href="${text(webUrl(service.url, fid) + (key && `?${key}`))}" target="_blank" rel="noopener">${text(file.filename)}</a></p>`
      : ''
  const own = webUrl(service.url, fid).slice(0, -1)
  // On its own page, a chart is told of changes. Of many charts on another page, each asks now and then: browsers
  // open few connections to one server.
  const follow = query.get('live') === 'events' ? 'events' : 'state'
  const token = await chartToken(service, principal, fid)
  const head = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="${scheme === 'auto' ? 'light dark' : scheme}">
<title>${text(file.filename)}</title>
<style>
html, body { margin: 0; height: 100%; background: #fff }
body { display: flex; flex-direction: column; font: 15px/1.5 system-ui, sans-serif; color: #222 }
#chart { flex: 1; min-height: 0 }
#status { margin: 1rem; position: absolute }
.link { margin: 0; padding: .2rem .6rem; font-size: 13px }
${DARK[scheme]}
</style>
<p id="status" role="status">Drawing the chart…</p>
<div id="chart" role="img" aria-label="${text(described(live.figure, file.filename))}"></div>${link}
<script type="application/json" id="figure">`
  const tail = `</script>
<script src="${assetPath('plotly.js')}"></script>
<script src="${assetPath('chart.js')}" data-geo="${assetPath('plotly-geo.js')}" data-more="${assetPath('more.js')}" data-scheme="${scheme}" data-modebar="${modebar}" data-live="${follow}" data-state="${live.state}" data-own="${text(own)}" data-watch="${token}"></script>
</html>
`
  return html(around(head, withoutTags(await service.live.drawnOf(live)), tail), {
    headers: { 'content-security-policy': policyOf(own) },
    viewed: fid,
  })
}

async function* around(head: string, body: Bytes, tail: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head)
  yield* body
  yield Buffer.from(tail)
}

/** JSON without `<`, so that it cannot end the script element that holds it. */
async function* withoutTags(json: Bytes): AsyncGenerator<Uint8Array> {
  for await (const chunk of json) {
    if (!chunk.includes(0x3c)) yield chunk
    else yield Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll('<', '\\u003c'), 'latin1')
  }
}
