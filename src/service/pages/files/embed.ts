/** Page of an embedded chart. */

import { type Fid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { Bytes } from '../../../json/index.ts'
import type { Principal } from '../../access/access.ts'
import { CHART_SANDBOX, createChartPolicy } from '../../core/chart-policy.ts'
import { openFigure } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live-plots.ts'
import { createPage, type PageAnswer } from '../answer.ts'
import { assetPathOf } from '../assets.ts'
import { accessQueryOf, type ColorScheme, readColorScheme } from '../html.ts'
import { describeChart } from './alt-text.ts'
import { createReadRequest } from './downloads.ts'
import { createChartToken } from './live-updates.ts'

/** Returns the content security policy of an embedded chart: it can connect only to its own data. */
const createEmbedPolicy = (dataUrl: string): string =>
  createChartPolicy({
    sandbox: CHART_SANDBOX,
    others: [`connect-src ${dataUrl}.events ${dataUrl}.state ${dataUrl}.live`],
  })

const DARK_STYLE = 'html, body { background: #16181d; color: #d7dae0 } a { color: #8bf }'
const DARK_STYLES: Record<ColorScheme, string> = {
  light: '',
  dark: DARK_STYLE,
  auto: `@media (prefers-color-scheme: dark) { ${DARK_STYLE} }`,
}

/** Renders the page of a chart for frames of other pages. */
export async function renderEmbed(
  service: LiveService,
  principal: Principal,
  fid: Fid,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const view = await openFigure(service, { ...createReadRequest(principal, fid), filetype: 'plot' })
  const { file } = view
  const modebar = query.get('modebar') === 'false' ? 'false' : ''
  const scheme = readColorScheme(query)
  const key = accessQueryOf(principal)
  const link =
    query.get('link') === 'true'
      ? `<p class="link"><a href="${escapeHtml(formatWebUrl(service.url, fid) + (key && `?${key}`))}" target="_blank" rel="noopener">${escapeHtml(file.filename)}</a></p>`
      : ''
  const dataUrl = formatWebUrl(service.url, fid).slice(0, -1)
  // The page of a plot uses server-sent events. Embedded charts poll: browsers open few connections to one
  // server.
  const follow = query.get('live') === 'events' ? 'events' : 'state'
  const token = await createChartToken(service, principal, fid)
  const head = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="${scheme === 'auto' ? 'light dark' : scheme}">
<title>${escapeHtml(file.filename)}</title>
<style>
html, body { margin: 0; height: 100%; background: #fff }
body { display: flex; flex-direction: column; font: 15px/1.5 system-ui, sans-serif; color: #222 }
#chart { flex: 1; min-height: 0 }
#status { margin: 1rem; position: absolute }
.link { margin: 0; padding: .2rem .6rem; font-size: 13px }
${DARK_STYLES[scheme]}
</style>
<p id="status" role="status">Drawing the chart…</p>
<div id="chart" role="img" aria-label="${escapeHtml(describeChart(view.figure, file.filename))}"></div>${link}
<script type="application/json" id="figure">`
  const tail = `</script>
<script src="${assetPathOf('plotly.js')}"></script>
<script src="${assetPathOf('chart.js')}" data-geo="${assetPathOf('plotly-geo.js')}" data-more="${assetPathOf('more.js')}" data-scheme="${scheme}" data-modebar="${modebar}" data-live="${follow}" data-state="${view.fingerprint}" data-own="${escapeHtml(dataUrl)}" data-watch="${token}"></script>
</html>
`
  return createPage(
    wrapStream(head, escapeTags(await (await service.live.get()).loadForDrawing(view)), tail),
    {
      headers: { 'content-security-policy': createEmbedPolicy(dataUrl) },
      viewed: fid,
    },
  )
}

async function* wrapStream(head: string, body: Bytes, tail: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head)
  yield* body
  yield Buffer.from(tail)
}

/** Escapes `<` in JSON, so that it cannot close its script element. */
async function* escapeTags(json: Bytes): AsyncGenerator<Uint8Array> {
  for await (const chunk of json) {
    if (!chunk.includes(0x3c)) yield chunk
    else yield Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll('<', '\\u003c'), 'latin1')
  }
}
