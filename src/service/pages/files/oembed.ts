/** Serves oEmbed, by which other sites embed charts. */

import { Problem } from '../../../contract/errors.ts'
import { formatEmbedUrl, formatFid, parseFidLink } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { authorizeCall, type Principal } from '../../access/access.ts'
import { CHART_SANDBOX } from '../../core/chart-policy.ts'
import type { Service } from '../../core/context.ts'
import type { PageAnswer } from '../answer.ts'
import { accessQueryOf } from '../html.ts'
import { createReadRequest } from './downloads.ts'

/** Default size of an embedded chart, in CSS pixels. */
const WIDTH_PIXELS = 700
const HEIGHT_PIXELS = 500

/** Describes how to embed the plot at a link (oEmbed 1.0). Only JSON is supported. */
export async function serveOEmbed(
  service: Service,
  principal: Principal,
  query: URLSearchParams,
): Promise<PageAnswer> {
  if ((query.get('format') ?? 'json') !== 'json')
    throw new Problem('invalid_request', 'format: only json is supported', { field: 'format' })
  const link = query.get('url') ?? ''
  const fid = link.startsWith(`${service.url}/`) ? parseFidLink(link) : undefined
  if (!fid) throw new Problem('not_found', 'url: must be a link to a plot of this server', { field: 'url' })
  const shareKey = new URL(link).searchParams.get('share_key') ?? undefined
  const version = new URL(link).searchParams.get('version') || undefined
  const request = {
    ...createReadRequest({ caller: principal.caller, shareKey, version }, fid),
    filetype: 'plot' as const,
  }
  const { file } = await service.store.read((readers) => authorizeCall(readers, request))
  const side = (name: string, defaultPixels: number): number => {
    const maxPixels = Number(query.get(name))
    return maxPixels >= 1 ? Math.min(defaultPixels, Math.floor(maxPixels)) : defaultPixels
  }
  const width = side('maxwidth', WIDTH_PIXELS)
  const height = side('maxheight', HEIGHT_PIXELS)
  const key = accessQueryOf({ shareKey, version })
  const src = formatEmbedUrl(service.url, fid) + (key && `?${key}`)
  const body = {
    version: '1.0',
    type: 'rich',
    provider_name: 'Gridline',
    provider_url: service.url,
    title: file.filename,
    author_name: file.owner,
    width,
    height,
    html: renderFrame(src, file.filename, width, height),
    thumbnail_url: `${service.url}${pathOf('files.image', formatFid(fid))}?image_name=block-thumb${key && `&${key}`}`,
    thumbnail_width: 315,
    thumbnail_height: 225,
  }
  return { body: JSON.stringify(body), type: 'application/json' }
}

/** Renders the element that embeds a chart in a page. */
export function renderFrame(src: string, title: string, width: number | string, height: number): string {
  return `<iframe src="${escapeHtml(src)}" title="${escapeHtml(title)}" width="${width}" height="${height}" style="border: 0" loading="lazy" sandbox="${CHART_SANDBOX}"></iframe>`
}
