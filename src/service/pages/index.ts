import { Problem } from '../../contract/errors.ts'
import { isUsername, parseFid } from '../../contract/fid.ts'
import type { Principal } from '../access/access.ts'
import type { ImageService } from '../images/plot.ts'
import type { LiveService } from '../plots/live.ts'
import { csvOf, figureOf, imageOf } from './downloads.ts'
import { embed } from './embed.ts'
import type { SortingService } from './grid-page.ts'
import { startPage, userPage } from './lists.ts'
import { newChartPage, previewPage } from './newchart.ts'
import { oEmbed } from './oembed.ts'
import { pageOf } from './page.ts'
import { type Answer, extensions, type Place } from './place.ts'
import { watched, watcherOf } from './watch.ts'

export type { Answer, Place } from './place.ts'

/** What pages need of the service. */
type PageService = ImageService & LiveService & SortingService

/** The place of a path, which begins with a slash and does not end with one; undefined outside of pages. */
export function pageAt(path: string): Place | undefined {
  if (path === '/') return { kind: 'start' }
  if (path === '/newchart') return { kind: 'newchart' }
  if (path === '/newchart/preview') return { kind: 'preview' }
  if (path === '/oembed') return { kind: 'oembed' }
  if (path === '/favicon.ico') return { kind: 'asset', name: 'favicon.svg' }
  const asset = /^\/assets\/([0-9a-f]+)\/([\w.-]+)$/.exec(path)
  if (asset) return { kind: 'asset', name: asset[2], hash: asset[1] }
  const user = /^\/~([^/]+)$/.exec(path)
  if (user && isUsername(user[1])) return { kind: 'user', username: user[1] }
  const file = /^\/~([^/]+)\/(\d+)(?:\/?\.([a-z]+))?$/.exec(path)
  if (!file) return undefined
  const fid = parseFid(`${file[1]}:${file[2]}`)
  const named = file[3] === 'jpg' ? 'jpeg' : file[3]
  const extension = extensions.find((one) => one === named)
  return fid && (named === undefined || extension) ? { kind: 'file', fid, extension } : undefined
}

/** The page or download at a place. Throws `not_found` if `principal` may not read the file. */
export async function answerPage(
  service: PageService,
  principal: Principal,
  place: Exclude<Place, { kind: 'asset' }>,
  query: URLSearchParams,
  /** The user or address that asks. */
  who: string,
): Promise<Answer> {
  switch (place.kind) {
    case 'newchart':
      return newChartPage()
    case 'preview':
      return previewPage(service)
    case 'start':
      // The share button opens the address it was given, which may be that of the server alone.
      return query.has('origin') ? newChartPage() : startPage(service, principal)
    case 'user':
      return userPage(service, principal, place.username)
    case 'oembed':
      return oEmbed(service, principal, query)
    case 'file':
      return filePage(service, principal, place, query, who)
  }
}

async function filePage(
  service: PageService,
  principal: Principal,
  { fid, extension }: Extract<Place, { kind: 'file' }>,
  query: URLSearchParams,
  who: string,
): Promise<Answer> {
  switch (extension) {
    case undefined:
      return pageOf(service, principal, fid, query)
    case 'embed':
      return embed(service, principal, fid, query)
    case 'events':
    case 'state':
    case 'live': {
      const token = query.get('watch')
      const reader = token === null ? principal : await watcherOf(service, token, fid)
      if (!reader) throw new Problem('not_found', 'this page has expired; load it again')
      return watched(service, reader, fid, extension, token !== null, who)
    }
    case 'json':
      return figureOf(service, principal, fid)
    case 'csv':
      return csvOf(service, principal, fid)
    default:
      return imageOf(service, principal, fid, extension, query)
  }
}
