/** Page of an embedded chart. */

import { Problem } from '../../../contract/errors.ts'
import { type Fid, formatWebUrl } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { Bytes } from '../../../json/index.ts'
import { authorizeCall, type Principal } from '../../access/access.ts'
import { FRAME_TOKEN, resolveFrame } from '../../boards/frames.ts'
import { CHART_SANDBOX, createChartPolicy } from '../../core/chart-policy.ts'
import type { ImageService } from '../../images/plot-image.ts'
import { type FigureView, openFigure } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live-plots.ts'
import { createPage, type PageAnswer } from '../answer.ts'
import { renderChartDocument } from '../chart-document.ts'
import { accessQueryOf, readColorScheme } from '../html.ts'
import { describeChart, listTraceTypes } from './alt-text.ts'
import { createReadRequest } from './downloads.ts'
import type { SortingService } from './grid-page.ts'
import { createChartToken } from './live-updates.ts'

/** Returns the content security policy of an embedded chart: it can connect only to its own data. */
const createEmbedPolicy = (dataUrl: string): string =>
  createChartPolicy({
    sandbox: CHART_SANDBOX,
    others: [`connect-src ${dataUrl}.events ${dataUrl}.state ${dataUrl}.live`],
  })

/** Ways in which a chart learns of changes without polling: its own stream, or the board around it. */
const LIVE_MODES = ['events', 'board'] as const

/** Renders the page of a chart for frames of other pages. */
export async function renderEmbed(
  service: LiveService & ImageService & SortingService,
  principal: Principal,
  fid: Fid,
  query: URLSearchParams,
): Promise<PageAnswer> {
  const frame = query.get(FRAME_TOKEN)
  const { reader, isOfBoard } = await resolveFrame(service, frame, fid, principal)
  const request = createReadRequest(reader, fid)
  let view: FigureView
  try {
    view = await openFigure(service, { ...request, filetype: 'plot' })
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error
    const access = await service.store.read((readers) => authorizeCall(readers, request))
    if (access.file.filetype !== 'dashboard') throw error
    const { renderBoardEmbed } = await import('./board-document.ts')
    return renderBoardEmbed(service, principal, access, query)
  }
  const { file } = view
  const modebar = query.get('modebar') === 'false' ? 'false' : ''
  const scheme = readColorScheme(query)
  const key = accessQueryOf(principal)
  const link =
    query.get('link') === 'true' && !isOfBoard
      ? `<p class="link"><a href="${escapeHtml(formatWebUrl(service.url, fid) + (key && `?${key}`))}" target="_blank" rel="noopener">${escapeHtml(file.filename)}</a></p>`
      : ''
  const dataUrl = formatWebUrl(service.url, fid).slice(0, -1)
  // The page of a plot uses server-sent events. Embedded charts poll: browsers open few connections to one
  // server.
  const asked = LIVE_MODES.find((mode) => mode === query.get('live'))
  const follow = asked === undefined || (asked === 'events' && isOfBoard) ? 'state' : asked
  const token = await createChartToken(service, principal, fid, frame)
  const [head, tail] = renderChartDocument({
    title: file.filename,
    description: describeChart(view.figure, file.filename),
    scheme,
    traceTypes: listTraceTypes(view.figure),
    link,
    data: { modebar, live: follow, state: view.fingerprint, own: dataUrl, watch: token },
  })
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
