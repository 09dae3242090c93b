/** Sends charts and boards by e-mail: the picture, and the link. */
import { Problem } from '../../contract/errors.ts'
import { type Fid, formatWebUrl } from '../../contract/fid.ts'
import { escapeHtml } from '../../contract/html.ts'
import { WorkBudget } from '../../json/index.ts'
import { authorizeCall, ownerPrincipal } from '../access/access.ts'
import type { ImageService } from '../images/plot-image.ts'
import { drawFile } from '../pages/files/draw-file.ts'
import type { SortingService } from '../pages/files/grid-page.ts'
import { toOneLine } from '../sharing/invitation.ts'
import type { Mailer } from '../sharing/mail.ts'
import type { MailingRow } from '../store/aggregates/mailings.ts'
import type { Writers } from '../store/store.ts'
import { formatSchedule, nextTime } from './schedule.ts'

export interface MailingService extends ImageService, SortingService {
  mailer: Mailer | undefined
}

/** Width of the picture, in CSS pixels, and image pixels per CSS pixel. */
const WIDTH_PIXELS = 800
const SCALE = 2

/** A picture to send. */
interface Mail {
  fid: Fid
  /** User whose rights decide what the picture shows. */
  sender: string
  to: readonly string[]
  /** The same for a repeated attempt. */
  messageId: string
  /** Why it is sent, and how that ends. */
  footer: string
}

/** Sends a picture of a chart or a board, as its sender sees it now. Throws why it cannot be sent. */
export async function sendPicture(service: MailingService, mail: Mail): Promise<void> {
  const { store, mailer, limits, url } = service
  const { fid, sender, to, messageId, footer } = mail
  if (!mailer) throw new Problem('forbidden', 'this server sends no e-mail', { hint: NO_MAIL_HINT })
  const request = {
    ...ownerPrincipal(sender),
    operation: 'files.image' as const,
    fid,
    filetype: undefined,
  }
  const { file } = await store.read((readers) => authorizeCall(readers, request))
  if (file.filetype !== 'plot' && file.filetype !== 'dashboard')
    throw new Problem('invalid_request', 'only charts and boards can be sent')
  const { picture, note } = await drawPicture(service, request, sender)
  const granted = await store.write([sender], ({ accounts }) =>
    accounts.takeQuota(sender, 'emails', to.length, limits.emails_per_day),
  )
  if (granted < to.length)
    throw new Problem('too_large', `the limit is ${limits.emails_per_day} e-mails a day (emails_per_day)`)
  const link = formatWebUrl(url, file)
  const title = toOneLine(file.filename)
  const image = picture
    ? `<a href="${escapeHtml(link)}"><img src="cid:picture" alt="${escapeHtml(title)}" width="${WIDTH_PIXELS}" style="max-width: 100%; height: auto"></a>`
    : `<p>${escapeHtml(note)}</p>`
  for (const [k, receiver] of to.entries())
    await mailer.send({
      to: receiver,
      subject: title,
      messageId: `<${messageId}.${k}@gridline>`,
      text: `${title}\n\n    ${link}\n\n${picture ? '' : `${note}\n\n`}${footer}\n`,
      html: `<p><a href="${escapeHtml(link)}">${escapeHtml(title)}</a></p>${image}<p style="color: #666; font-size: 13px">${escapeHtml(footer)}</p>`,
      attachments: picture
        ? [{ filename: `${title.replace(/[/\\]/g, '_')}.png`, content: picture, cid: 'picture' }]
        : [],
    })
}

export const NO_MAIL_HINT = 'Its operator can name a mail server with: gridline serve --smtp'

/** Draws the picture; on a machine without Chromium, returns a note instead. */
async function drawPicture(
  service: MailingService,
  request: Parameters<typeof drawFile>[1],
  user: string,
): Promise<{ picture?: Buffer; note: string }> {
  try {
    const drawn = await drawFile(service, request, { format: 'png', width: WIDTH_PIXELS, scale: SCALE })
    const body = drawn.createBody
      ? (await drawn.createBody(user, new WorkBudget(service.limits))).body
      : drawn.body
    const parts: Uint8Array[] = []
    for await (const part of body as AsyncIterable<Uint8Array>) parts.push(part)
    return { picture: Buffer.concat(parts), note: '' }
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
  write: <T>(work: (writers: Writers) => Promise<T>) => Promise<T>,
): Promise<number | undefined> {
  const { store } = service
  const { row, file } = await store.read(async ({ mailings, files }) => {
    const row = await mailings.get(owner, id)
    return { row, file: row && (await files.get(row.to_owner, row.to_idlocal)) }
  })
  if (!row) return undefined
  if (!file) {
    await write(({ mailings }) => mailings.remove(owner, id))
    return undefined
  }
  const now = Date.now()
  if (row.next_at > now) return row.next_at
  const schedule = { every: row.every, at: row.at, day: row.day, zone: row.zone }
  const failure = await sendPicture(service, {
    fid: { owner: row.to_owner, idlocal: row.to_idlocal },
    sender: owner,
    to: JSON.parse(row.receivers) as string[],
    messageId: `${id}.${row.next_at.toString(36)}`,
    footer: `${owner} sends this ${formatSchedule(schedule)}. To end it: gridline send --stop ${id}`,
  }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 300),
  )
  const isLast = now + RETRY_MS > Math.max(row.next_at, row.failed_at ?? now) + MAX_RETRY_MS
  const next_at = failure === undefined || isLast ? await nextTime(schedule, Date.now()) : row.next_at
  await write(({ mailings }) =>
    mailings.change(row, {
      next_at,
      ...(failure === undefined
        ? { sent_at: now, error: null, failed_at: null }
        : { error: failure, failed_at: row.failed_at ?? now }),
    }),
  )
  return failure === undefined || isLast
    ? next_at
    : Math.min(Date.now() + RETRY_MS, await nextTime(schedule, now))
}
