/** Handlers of all pages, downloads and charts. */

import type { Fid } from '../../contract/fid.ts'
import { type ImageFormat, imageTypes } from '../../contract/operations/index.ts'
import type { WebRouteName } from '../../contract/web/index.ts'
import { authorizeCall, type Principal } from '../access/access.ts'
import type { ContentFormat } from '../grids/read/content-formats.ts'
import type { ImageService } from '../images/plot-image.ts'
import type { LiveService } from '../plots/live-plots.ts'
import type { PageAnswer, PageRequest } from './answer.ts'
import { renderBoardCharts } from './files/board-page.ts'
import { createReadRequest, downloadFigure, downloadImage, downloadRows } from './files/downloads.ts'
import { renderEmbed } from './files/embed.ts'
import { renderFilePage } from './files/file-page.ts'
import type { SortingService } from './files/grid-page.ts'
import { serveLiveChart } from './files/live-updates.ts'
import { serveOEmbed } from './files/oembed.ts'
import { renderConnectPage, renderStartPage, renderUserPage } from './files/start-page.ts'
import { renderAccountPage } from './forms/account.ts'
import { renderPreviewPage, renderSavePage } from './forms/newchart.ts'

export type { PageAnswer as Answer, PageRequest } from './answer.ts'

/** Services that pages use. */
type PageService = ImageService & LiveService & SortingService

type PageHandler = (service: PageService, asked: PageRequest) => Promise<PageAnswer> | PageAnswer

/** Handlers by route. Each throws `not_found` for files that the principal may not read. */
export const PAGE_HANDLERS = {
  // The share button can be configured with the URL of the server only.
  start: (service, { principal, query }) =>
    query.has('origin') ? renderSavePage() : renderStartPage(service, principal, query),
  connect: (service, { principal }) => renderConnectPage(service, principal),
  account: (service, { principal, query }) => renderAccountPage(service, principal, query),
  user: (service, { principal, username, query }) => renderUserPage(service, principal, username, query),
  file: (service, { principal, fid, query }) => renderFilePage(service, principal, fid, query),
  embed: (service, { principal, fid, query }) => renderEmbed(service, principal, fid, query),
  figure: (service, { principal, fid }) => downloadFigure(service, principal, fid),
  rows: (service, { principal, fid, ending, query }) =>
    downloadRows(service, principal, fid, ending as ContentFormat, query),
  image: async (service, { principal, fid, ending, query }) => {
    if (ending === 'html') {
      const filetype = await filetypeOf(service, principal, fid)
      if (filetype === 'grid') return downloadRows(service, principal, fid, 'html', query)
      // Of a folder, it is the page.
      if (filetype !== 'plot' && filetype !== 'dashboard')
        return renderFilePage(service, principal, fid, query)
    }
    return downloadImage(service, principal, fid, imageFormatOf(ending), query)
  },
  state: (service, asked) => serveLiveChart(service, 'state', asked),
  events: (service, asked) => serveLiveChart(service, 'events', asked),
  live: (service, asked) => serveLiveChart(service, 'live', asked),
  oembed: (service, { principal, query }) => serveOEmbed(service, principal, query),
  newChart: () => renderSavePage(),
  preview: () => renderPreviewPage(),
  boardCharts: (service) => renderBoardCharts(service),
} satisfies Partial<Record<WebRouteName, PageHandler>>

export type PageName = keyof typeof PAGE_HANDLERS

/** Returns the type of a file. Throws `not_found` if the principal may not read it. */
async function filetypeOf(service: PageService, principal: Principal, fid: Fid): Promise<string> {
  const { file } = await service.store.read((readers) =>
    authorizeCall(readers, createReadRequest(principal, fid)),
  )
  return file.filetype
}

function imageFormatOf(ending: string): ImageFormat {
  return ending in imageTypes ? (ending as ImageFormat) : 'jpeg'
}
