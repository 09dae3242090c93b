/** Sends charts and boards by e-mail: the picture, and the link. */
import { createHash } from 'node:crypto'
import { errorMessageOf, Problem } from '../../contract/errors.ts'
import { type Fid, formatWebUrl } from '../../contract/fid.ts'
import { WARNING_HEADER } from '../../contract/headers.ts'
import { escapeHtml } from '../../contract/html.ts'
import type { Limits } from '../../contract/limits.ts'
import { listFilters } from '../../contract/web/filter-query.ts'
import { WorkBudget } from '../../json/index.ts'
import { assertEnabled, authorizeCall, ownerPrincipal } from '../access/access.ts'
import { type ImageService, readImage } from '../images/plot-image.ts'
import { describeNumbers } from '../pages/files/board-words.ts'
import { drawFile } from '../pages/files/draw-file.ts'
import type { SortingService } from '../pages/files/grid-page.ts'
import { toOneLine } from '../sharing/invitation.ts'
import { MailError, type Mailer } from '../sharing/mail.ts'
import type { MailingRow } from '../store/aggregates/mailings.ts'
import type { Write } from '../store/store.ts'
import { formatSchedule, nextTime } from './schedule.ts'

export interface MailingService extends ImageService, SortingService {
  mailer: Mailer | undefined
}

/** Width of the picture of a chart, and of a board, whose items are beside each other, in CSS pixels. */
const WIDTH_PIXELS = 640
const BOARD_WIDTH_PIXELS = 800
/** Image pixels per CSS pixel. */
const SCALE = 2

/** A picture to send. */
interface Mail {
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
interface Sent {
  reached: string[]
  refused: string[]
  failure?: string
}

/** Sends a picture of a chart or a board, as its sender sees it now. Throws why it cannot be sent to anybody. */
export async function sendPicture(service: MailingService, mail: Mail): Promise<Sent> {
  const { store, mailer, limits, url } = service
  const { fid, filters, sender, to, messageId, footer, zone, isRepeated, onReached, until } = mail
  if (!mailer) throw new Problem('forbidden', 'this server sends no e-mail', { hint: NO_MAIL_HINT })
  const request = {
    ...ownerPrincipal(sender),
    operation: 'files.image' as const,
    fid,
    filetype: undefined,
  }
  const { file, state } = await store.read((readers) => authorizeCall(readers, request))
  if (state !== 'active') throw new Problem('conflict', 'it is in the trash')
  const width = file.filetype === 'dashboard' ? BOARD_WIDTH_PIXELS : WIDTH_PIXELS
  const query = new URLSearchParams(filters)
  const { picture, note } = await drawPicture(service, request, sender, width, query)
  const numbers =
    file.filetype === 'dashboard' ? await describeNumbers(service, request, file, query, sender) : []
  const granted = await store.write([sender], ({ accounts }) =>
    accounts.takeQuota(sender, 'emails', to.length, limits.emails_per_day),
  )
  if (granted === 0) throw overQuota(limits)
  const about = file.world_readable ? footer : `${footer} The link asks for an account that may see it.`
  const link = `${formatWebUrl(url, file)}${filters === '' ? '' : `?${filters}`}`
  const values = listFilters(query).flatMap(({ value }) => (value.trim() === '' ? [] : [value]))
  const title = toOneLine([file.filename, ...values].join(', '))
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone ?? 'UTC', dateStyle: 'short' }).format(
    Date.now(),
  )
  const image = picture
    ? `<a href="${escapeHtml(link)}"><img src="cid:picture" alt="${escapeHtml(title)}" width="${width}" style="max-width: 100%; height: auto"></a>`
    : ''
  const notes = note === '' ? '' : `<p>${escapeHtml(note)}</p>`
  let unused = 0
  const sent: Sent = {
    reached: [],
    refused: [],
    ...(granted < to.length && { failure: overQuota(limits).message }),
  }
  let tried = 0
  for (const receiver of to.slice(0, granted)) {
    if (until !== undefined && tried > 0 && performance.now() > until) {
      sent.failure = `${receiver}: the mail server is too slow`
      break
    }
    tried++
    try {
      await mailer.send({
        to: receiver,
        subject: `${title}, ${day}`,
        messageId: `<${messageId}.${createHash('sha256').update(receiver).digest('hex').slice(0, 12)}@gridline>`,
        text: `${title}\n\n    ${link}\n\n${numbers.map((text) => `${toOneLine(text)}\n`).join('')}${numbers.length > 0 ? '\n' : ''}${note === '' ? '' : `${note}\n\n`}${about}\n`,
        html: `<p><a href="${escapeHtml(link)}">${escapeHtml(title)}</a></p>${image}${notes}<p style="color: #666; font-size: 13px">${escapeHtml(about)}</p>`,
        attachments: picture
          ? [{ filename: `${title.replace(/[/\\]/g, '_')}.png`, content: picture, cid: 'picture' }]
          : [],
      })
    } catch (error) {
      sent.failure = `${receiver}: ${errorMessageOf(error)}`
      if (error instanceof MailError && error.isRefused) sent.refused.push(receiver)
      // A receiver who is refused counts once.
      if (isRepeated || (error instanceof MailError && error.isUnreachable)) unused++
      continue
    }
    sent.reached.push(receiver)
    try {
      await onReached?.(sent.reached)
    } catch (error) {
      // The others are sent later, or by the server that has taken over.
      sent.failure = errorMessageOf(error)
      break
    }
  }
  unused += granted - tried
  if (unused > 0)
    await store.write([sender], ({ accounts }) => accounts.returnQuota(sender, 'emails', unused))
  return sent
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

/** Time after a failed attempt, in ms. */
const RETRY_MS = 10 * 60_000
/** Time after which the next one is waited for, in ms. */
const MAX_RETRY_MS = 6 * 3600_000

/** Sends a mailing that is due. Returns when it is due again, in ms since 1970; undefined if it has ended. */
export async function runMailing(
  service: MailingService,
  { owner, id }: Pick<MailingRow, 'owner' | 'id'>,
  write: Write,
): Promise<number | undefined> {
  const { store } = service
  const {
    row: stored,
    file,
    user,
  } = await store.read(async ({ mailings, files, accounts }) => {
    const row = await mailings.get(owner, id)
    const file = row && (await files.get(row.to_owner, row.to_idlocal))
    return { row, file, user: await accounts.getUser(owner) }
  })
  if (!stored) return undefined
  if (!file) {
    await write(({ mailings }) => mailings.remove(owner, id))
    return undefined
  }
  const now = Date.now()
  const schedule = { every: stored.every, at: stored.at, day: stored.day, zone: stored.zone }
  // Some have not got the last mail, but the next one is due: that is for all.
  const isOld = stored.pending !== null && (await nextTime(schedule, stored.next_at)) <= now
  const row = isOld ? { ...stored, pending: null, next_at: now } : stored
  if (isOld) await write(({ mailings }) => mailings.change(row, { pending: null, next_at: now }))
  const following = await nextTime(schedule, now)
  // Looked at daily, since the clock may have been ahead.
  const next_at = Math.min(row.next_at, following)
  if (next_at > now) {
    if (next_at !== row.next_at)
      await write(({ mailings }) => mailings.change(row, { next_at, pending: null }))
    return Math.min(next_at, now + DAY_MS)
  }
  const receivers = JSON.parse(row.pending ?? row.receivers) as string[]
  const without = (reached: readonly string[]): string[] =>
    receivers.filter((receiver) => !reached.includes(receiver))
  let got: readonly string[] = []
  // Who has got it gets it no second time, also if this server is killed before all have.
  const onReached = async (reached: readonly string[]): Promise<void> => {
    got = reached
    const pending = without(reached)
    if (pending.length > 0)
      await write(({ mailings }) => mailings.change(row, { pending: JSON.stringify(pending), sent_at: now }))
  }
  const send = async (mail: Mail): Promise<Sent> => {
    assertEnabled(owner, user)
    return sendPicture(service, mail)
  }
  const { reached, failure } = await send({
    fid: { owner: row.to_owner, idlocal: row.to_idlocal },
    filters: row.filters,
    sender: owner,
    to: receivers,
    messageId: `${id}.${row.next_at.toString(36)}`,
    zone: row.zone,
    isRepeated: row.pending !== null,
    onReached,
    footer: `${owner} sends this ${formatSchedule(schedule)}. ${owner} ends it with: gridline send --stop ${id}`,
  }).catch((error: unknown): Sent => ({ reached: [...got], refused: [], failure: errorMessageOf(error) }))
  const left = without(reached)
  const isLast = now + RETRY_MS > Math.max(row.next_at, row.failed_at ?? now) + MAX_RETRY_MS
  const isEnded = left.length === 0 || isLast
  await write(({ mailings }) =>
    mailings.change(row, {
      next_at: isEnded ? following : row.next_at,
      pending: isEnded ? null : JSON.stringify(left),
      ...(reached.length > 0 && { sent_at: now }),
      ...(failure === undefined
        ? { error: null, failed_at: null }
        : { error: failure.slice(0, MAX_ERROR_CHARACTERS), failed_at: row.failed_at ?? now }),
    }),
  )
  return Math.min(isEnded ? following : Date.now() + RETRY_MS, now + DAY_MS)
}

const DAY_MS = 24 * 3600_000
/** Maximum length of the reason of a failure, in characters. */
const MAX_ERROR_CHARACTERS = 300
