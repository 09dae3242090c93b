/** Serves oEmbed, by which other sites embed charts. */
import { Problem } from '../../../contract/errors.ts'
import { embedUrl, fidFromLink, formatFid } from '../../../contract/fid.ts'
import { pathOf } from '../../../contract/operations/index.ts'
import { authorizeCall, type Principal } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import type { Answer } from '../answer.ts'
import { accessQuery, text } from '../html.ts'
import { reading } from './downloads.ts'

/** Default size of an embedded chart, in CSS pixels. */
const WIDTH = 700
const HEIGHT = 500

/** Describes how to embed the plot at a link (oEmbed 1.0). Only JSON is supported. */
export async function oEmbed(
  service: Service,
  principal: Principal,
  query: URLSearchParams,
): Promise<Answer> {
  if ((query.get('format') ?? 'json') !== 'json')
    throw new Problem('invalid_request', 'format: only json is supported', { field: 'format' })
  const link = query.get('url') ?? ''
  const fid = link.startsWith(`${service.url}/`) ? fidFromLink(link) : undefined
  if (!fid) throw new Problem('not_found', 'url: must be a link to a plot of this server', { field: 'url' })
  const shareKey = new URL(link).searchParams.get('share_key') ?? undefined
  const version = new URL(link).searchParams.get('version') || undefined
  const request = {
    ...reading({ caller: principal.caller, shareKey, version }, fid),
    filetype: 'plot' as const,
  }
  const { file } = await service.store.read((readers) => authorizeCall(readers, request))
  const side = (name: string, defaultPixels: number): number => {
    const maxPixels = Number(query.get(name))
    return maxPixels >= 1 ? Math.min(defaultPixels, Math.floor(maxPixels)) : defaultPixels
  }
  const width = side('maxwidth', WIDTH)
  const height = side('maxheight', HEIGHT)
  const key = accessQuery({ shareKey, version })
  const src = embedUrl(service.url, fid) + (key && `?${key}`)
  const body = {
    version: '1.0',
    type: 'rich',
    provider_name: 'Gridline',
    provider_url: service.url,
    title: file.filename,
    author_name: file.owner,
    width,
    height,
    html: frameOf(src, file.filename, width, height),
    thumbnail_url: `${service.url}${pathOf('files.image', formatFid(fid))}?image_name=block-thumb${key && `&${key}`}`,
    thumbnail_width: 315,
    thumbnail_height: 225,
  }
  return { body: JSON.stringify(body), type: 'application/json' }
}

/** Renders the element that embeds a chart in a page. */
export function frameOf(src: string, title: string, width: number | string, height: number): string {
  return `<iframe src="${text(src)}" title="${text(title)}" width="${width}" height="${height}" style="border: 0" loading="lazy" sandbox="allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"></iframe>`
}
