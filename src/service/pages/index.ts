/** Handlers of all pages, downloads and charts. */
import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { type ImageFormat, imageTypes } from '../../contract/operations/index.ts'
import type { WebRouteName } from '../../contract/web/index.ts'
import type { Principal } from '../access/access.ts'
import type { ImageService } from '../images/plot.ts'
import type { LiveService } from '../plots/live.ts'
import type { Answer } from './answer.ts'
import { csvOf, figureOf, imageOf } from './files/downloads.ts'
import { embed } from './files/embed.ts'
import type { SortingService } from './files/grid-page.ts'
import { readerOf, watched } from './files/live-chart.ts'
import { oEmbed } from './files/oembed.ts'
import { pageOf } from './files/page.ts'
import { connectPage, startPage, userPage } from './files/start-page.ts'
import { newChartPage, previewPage } from './forms/newchart.ts'

export type { Answer } from './answer.ts'

/** Services that pages use. */
type PageService = ImageService & LiveService & SortingService

/** A request for a page, a download or a chart. */
export interface PageRequest {
  principal: Principal
  query: URLSearchParams
  /** Username or IP address, for limits. */
  who: string
  /** User in the path; empty if there is none. */
  username: string
  /** File in the path. */
  fid: Fid
  /** Extension in the path, such as `png`; empty if there is none. */
  ending: string
}

type PageHandler = (service: PageService, asked: PageRequest) => Promise<Answer> | Answer

/** Handlers by route. Each throws `not_found` for files that the principal may not read. */
export const pages = {
  // The share button can be configured with the URL of the server only.
  start: (service, { principal, query }) =>
    query.has('origin') ? newChartPage() : startPage(service, principal, query),
  connect: (service, { principal }) => connectPage(service, principal),
  user: (service, { principal, username, query }) => userPage(service, principal, username, query),
  file: (service, { principal, fid, query }) => pageOf(service, principal, fid, query),
  embed: (service, { principal, fid, query }) => embed(service, principal, fid, query),
  figure: (service, { principal, fid }) => figureOf(service, principal, fid),
  rows: (service, { principal, fid }) => csvOf(service, principal, fid),
  image: (service, { principal, fid, ending, query }) =>
    imageOf(service, principal, fid, formatOf(ending), query),
  state: watching('state'),
  events: watching('events'),
  live: watching('live'),
  oembed: (service, { principal, query }) => oEmbed(service, principal, query),
  newChart: () => newChartPage(),
  preview: (service) => previewPage(service),
} satisfies Partial<Record<WebRouteName, PageHandler>>

export type PageName = keyof typeof pages

function formatOf(ending: string): ImageFormat {
  return ending in imageTypes ? (ending as ImageFormat) : 'jpeg'
}

/** Creates the handler of a route for open charts. */
function watching(kind: 'state' | 'events' | 'live'): PageHandler {
  return async (service, { principal, query, fid, who }) => {
    const token = query.get('watch')
    const reader = token === null ? principal : await readerOf(service, token, fid)
    if (!reader) throw new Problem('not_found', 'this page has expired; load it again')
    return watched(service, reader, fid, kind, token !== null, who, query)
  }
}
