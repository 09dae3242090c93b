// HTML with which other pages embed a chart: a block of a picture with a link, which a script replaces by the live chart.
import { type Fid, formatFid, formatWebUrl } from '../fid.ts'
import { escapeHtml } from '../html.ts'

/** Width of the picture, in pixels: that of an image without a size. */
const PICTURE_WIDTH = 700

/** Formats the block of a chart. `base`: URL of the server. `shareKey`: key of a private chart. */
export function formatEmbedBlock(base: string, fid: Fid, title: string, shareKey?: string): string {
  const query = shareKey === undefined ? '' : `?share_key=${encodeURIComponent(shareKey)}`
  const page = escapeHtml(formatWebUrl(base, fid) + query)
  const picture = escapeHtml(`${formatWebUrl(base, fid).slice(0, -1)}.png${query}`)
  const text = escapeHtml(title)
  const key = shareKey === undefined ? '' : ` sharekey-plotly="${escapeHtml(shareKey)}"`
  return `<div>
  <a href="${page}" target="_blank" rel="noopener" title="${text}"><img src="${picture}" alt="${text}" width="${PICTURE_WIDTH}" style="max-width: 100%"></a>
  <script data-plotly="${escapeHtml(formatFid(fid))}"${key} src="${escapeHtml(base)}/embed.js" async></script>
</div>`
}
