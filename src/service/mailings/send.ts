/** Sends charts and boards by e-mail: the picture, and the link. */
import { createHash } from 'node:crypto'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { type Fid, formatWebUrl } from '../../contract/fid.ts'
import { WARNING_HEADER } from '../../contract/headers.ts'
import { escapeHtml } from '../../contract/html.ts'
import type { Limits } from '../../contract/limits.ts'
import { listFilters } from '../../contract/web/filter-query.ts'
import { WorkBudget } from '../../json/index.ts'
import { authorizeCall, ownerPrincipal } from '../access/access.ts'
import { type ImageService, readImage } from '../images/plot-image.ts'
import { describeNumbers } from '../pages/files/board-words.ts'
import { drawFile } from '../pages/files/draw-file.ts'
import type { SortingService } from '../pages/files/grid-page.ts'
import { toOneLine } from '../sharing/invitation.ts'
import { MailError, type Mailer, type Message } from '../sharing/mail.ts'

export interface MailingService extends ImageService, SortingService {
  mailer: Mailer | undefined
}

/** Width of the picture of a chart, and of a board, whose items are beside each other, in CSS pixels. */
const WIDTH_PIXELS = 640
const BOARD_WIDTH_PIXELS = 800
/** Image pixels per CSS pixel. */
const SCALE = 2

/** A picture to send. */
export interface Mail {
  fid: Fid
  /** Filters of a board, as the query of its page. */
  filters: string
  /** User whose rights decide what the picture shows. */
  sender: string
  to: readonly string[]
  /** The same for a repeated attempt. */
  messageId: string
  /** Why it is sent, and how that ends. */
  footer: string
  /** Time zone of the date in the subject; default: UTC. */
  zone?: string
  /** Whether these receivers were counted before: it could not be sent to them, or a server was killed meanwhile. */
  isRepeated?: boolean
  /** Called after each receiver who has got it, with all who have. */
  onReached?: (reached: readonly string[]) => Promise<void>
  /** Time of `performance.now()` after which no other receiver is tried. */
  until?: number
}

/** Result of sending: who got the mail, whom the mail server refused, and why the last of the others did not get it. */
export interface Sent {
  reached: string[]
  refused: string[]
  failure?: string
}

/** Sends a picture of a chart or a board, as its sender sees it now. Throws why it cannot be sent to anybody. */
export async function sendPicture(service: MailingService, mail: Mail): Promise<Sent> {
  const { store, mailer, limits } = service
  const { sender, to } = mail
  if (!mailer) throw new Problem('forbidden', 'this server sends no e-mail', { hint: NO_MAIL_HINT })
  const message = await composeMessage(service, mail)
  const granted = await store.write([sender], ({ accounts }) =>
    accounts.takeQuota(sender, 'emails', to.length, limits.emails_per_day),
  )
  if (granted === 0) throw overQuota(limits)
  const { sent, counted } = await deliver(mailer, message, { ...mail, to: to.slice(0, granted) })
  if (counted < granted)
    await store.write([sender], ({ accounts }) => accounts.returnQuota(sender, 'emails', granted - counted))
  return granted < to.length ? { failure: overQuota(limits).message, ...sent } : sent
}

/** A message without its receiver. */
type Draft = Omit<Message, 'to' | 'messageId'>

/** Draws what is sent, with the rights of the sender. */
async function composeMessage(
  service: MailingService,
  { fid, filters, sender, footer, zone = 'UTC' }: Mail,
): Promise<Draft> {
  const request = {
    ...ownerPrincipal(sender),
    operation: 'files.image' as const,
    fid,
    filetype: undefined,
  }
  const { file, state } = await service.store.read((readers) => authorizeCall(readers, request))
  if (state !== 'active') throw new Problem('conflict', 'it is in the trash')
  const isBoard = file.filetype === 'dashboard'
  const width = isBoard ? BOARD_WIDTH_PIXELS : WIDTH_PIXELS
  const query = new URLSearchParams(filters)
  const { picture, note } = await drawPicture(service, request, sender, width, query)
  const numbers = isBoard ? await describeNumbers(service, request, file, query, sender) : []
  const about = file.world_readable ? footer : `${footer} The link asks for an account that may see it.`
  const link = `${formatWebUrl(service.url, file)}${filters === '' ? '' : `?${filters}`}`
  const values = listFilters(query).flatMap(({ value }) => (value.trim() === '' ? [] : [value]))
  const title = toOneLine([file.filename, ...values].join(', '))
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(Date.now())
  const paragraphs = [
    `${title}\n\n    ${link}\n`,
    numbers.map((text) => `${toOneLine(text)}\n`).join(''),
    note === '' ? '' : `${note}\n`,
    `${about}\n`,
  ]
  const image = picture
    ? `<a href="${escapeHtml(link)}"><img src="cid:picture" alt="${escapeHtml(title)}" width="${width}" style="max-width: 100%; height: auto"></a>`
    : ''
  const notes = note === '' ? '' : `<p>${escapeHtml(note)}</p>`
  return {
    subject: `${title}, ${day}`,
    text: paragraphs.filter((text) => text !== '').join('\n'),
    html: `<p><a href="${escapeHtml(link)}">${escapeHtml(title)}</a></p>${image}${notes}<p style="color: #666; font-size: 13px">${escapeHtml(about)}</p>`,
    attachments: picture
      ? [{ filename: `${title.replace(/[/\\]/g, '_')}.png`, content: picture, cid: 'picture' }]
      : [],
  }
}

/** Sends a message to each receiver. `counted`: the receivers who count for the limit of e-mails a day. */
async function deliver(
  mailer: Mailer,
  message: Draft,
  { to, messageId, isRepeated, onReached, until }: Mail,
): Promise<{ sent: Sent; counted: number }> {
  const sent: Sent = { reached: [], refused: [] }
  let counted = 0
  for (const [k, receiver] of to.entries()) {
    if (until !== undefined && k > 0 && performance.now() > until) {
      sent.failure = `${receiver}: the mail server is too slow`
      break
    }
    try {
      const hash = createHash('sha256').update(receiver).digest('hex').slice(0, 12)
      await mailer.send({ ...message, to: receiver, messageId: `<${messageId}.${hash}@gridline>` })
    } catch (error) {
      sent.failure = `${receiver}: ${errorMessageOf(error)}`
      if (error instanceof MailError && error.isRefused) sent.refused.push(receiver)
      // A receiver who is refused counts once.
      if (!isRepeated && !(error instanceof MailError && error.isUnreachable)) counted++
      continue
    }
    counted++
    sent.reached.push(receiver)
    try {
      await onReached?.(sent.reached)
    } catch (error) {
      // The others are sent later, or by the server that has taken over.
      sent.failure = errorMessageOf(error)
      break
    }
  }
  return { sent, counted }
}

function overQuota({ emails_per_day }: Limits): Problem {
  return new Problem('too_large', `the limit is ${emails_per_day} e-mails a day (emails_per_day)`)
}

export const NO_MAIL_HINT = 'Its operator can name a mail server with: gridline serve --smtp'

/** Draws the picture. The note says what is wrong with it, or that the machine has no Chromium. */
async function drawPicture(
  service: MailingService,
  request: Parameters<typeof drawFile>[1],
  user: string,
  width: number,
  query: URLSearchParams,
): Promise<{ picture?: Buffer; note: string }> {
  try {
    const drawn = await drawFile(service, request, { format: 'png', width, scale: SCALE }, query)
    const note = decodeURIComponent(drawn.headers?.[WARNING_HEADER] ?? '')
    return { picture: await readImage(drawn, user, new WorkBudget(service.limits)), note }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'no_chromium') throw error
    return { note: 'There is no picture, since the server has no Chromium.' }
  }
}
