// Sends the messages of alerts, in order, until each is accepted or two days old.
import { Problem } from '../../contract/errors.ts'
import { formatWebUrl } from '../../contract/fid.ts'
import type { AlertChange } from '../../contract/resources/index.ts'
import { assertEnabled } from '../access/access.ts'
import type { Service } from '../core/context.ts'
import type { Lazy } from '../core/lazy.ts'
import { conditionOf, formatCondition } from '../grids/alerts/condition.ts'
import { endOfHour, parseKey, tellUnsent } from '../grids/alerts/judge.ts'
import type { Mailer } from '../sharing/mail.ts'
import type { AlertMessageRow, AlertRow } from '../store/aggregates/alerts.ts'
import type { JobRow } from '../store/aggregates/jobs.ts'
import type { Write } from '../store/store.ts'
import { formatAlertMail, formatWebhookBody, type MessageSubject } from './message.ts'
import type { Webhooks } from './webhook.ts'

/** The parts of the service that send messages. */
export interface DeliveryService extends Service {
  mailer: Mailer | undefined
  webhooks: Lazy<Webhooks>
}

/** Time after each failed attempt, in ms; then the last one again. */
const RETRY_WAITS_MS = [
  5_000,
  30_000,
  2 * 60_000,
  10 * 60_000,
  30 * 60_000,
  3600_000,
  2 * 3600_000,
  4 * 3600_000,
]
/** Age at which a message is given up, in ms. */
const MAX_AGE_MS = 48 * 3600_000

/**
 * Sends the next message of the alert that a job is for. Returns when the job is due again, in ms since 1970; undefined
 * if all messages are sent.
 */
export async function deliverMessage(
  service: DeliveryService,
  { owner, key: jobKey }: Pick<JobRow, 'owner' | 'key'>,
  write: Write,
): Promise<number | undefined> {
  const key = parseKey(owner, jobKey)
  await write(async (writers) => {
    const row = await writers.alerts.get(key)
    const file = row && (await writers.files.get(key.owner, key.idlocal))
    if (row && file) await tellUnsent(writers, row, file.content_version)
  })
  const { alert, message, file, user } = await service.store.read(async ({ alerts, files, accounts }) => ({
    user: await accounts.getUser(key.owner),
    alert: await alerts.get(key),
    message: await alerts.findMessage(key),
    file: await files.get(key.owner, key.idlocal),
  }))
  if (!alert || !file) return undefined
  if (!message) return alert.unsent > 0 ? endOfHour(alert) : undefined
  const now = Date.now()
  // A later message waits, too. If the clock was set back, it waits no longer than from now.
  if (message.next_at > now && message.next_at <= now + RETRY_WAITS_MS.at(-1)!) return message.next_at
  const send = async (): Promise<void> => {
    assertEnabled(key.owner, user)
    await sendMessage(service, alert, message, formatSubject(service, alert, file.filename))
  }
  const error = await send().then(
    () => undefined,
    (error: unknown) => error,
  )
  const failure = error === undefined ? undefined : formatFailure(error)
  // Without a mail that was granted, nothing was tried.
  const attempts = message.attempts + (error instanceof OverQuota ? 0 : 1)
  const wait = RETRY_WAITS_MS[Math.min(attempts, RETRY_WAITS_MS.length) - 1]
  const next_at = Date.now() + (error instanceof OverQuota ? RETRY_WAITS_MS.at(-1)! : wait)
  const isEnded = failure === undefined || next_at > message.at + MAX_AGE_MS
  const isSame = await write(async ({ alerts }) => {
    if (isEnded) await alerts.deleteMessage(message)
    else await alerts.changeMessage(message, { attempts, next_at })
    const { receiver } = (await alerts.get(alert)) ?? {}
    // The failures of a former receiver are not those of this one.
    if (receiver !== alert.receiver) return false
    if (failure !== undefined || alert.error !== null)
      await alerts.change(alert, {
        error: failure ?? null,
        failed_at: failure === undefined ? null : (alert.failed_at ?? now),
      })
    return true
  })
  // The next message waits for its turn behind those of others.
  return isEnded || !isSame ? Date.now() : next_at
}

/** Sends a message that tests the receiver of an alert. Throws why it could not be sent. */
export async function sendTest(
  service: DeliveryService,
  alert: AlertRow,
  filename: string,
  version: number,
): Promise<void> {
  const { owner, idlocal, id, state, reason } = alert
  const at = new Date().toISOString()
  const change: AlertChange = {
    ...{ alert: id, fid: `${owner}:${idlocal}`, state, previous_state: state, reason },
    ...{ value: null, version, at, unsent: 0 },
  }
  const body = JSON.stringify(change)
  const row = { owner, idlocal, alert: id, seq: 0, at: Date.now(), body, attempts: 0, next_at: 0 }
  await sendMessage(service, alert, row, formatSubject(service, alert, filename), true)
}

function formatSubject({ url }: Service, alert: AlertRow, filename: string): MessageSubject {
  return {
    filename,
    condition: formatCondition(conditionOf(alert)),
    link: formatWebUrl(url, alert),
  }
}

/** Sends a message. Throws why it could not be sent. */
async function sendMessage(
  { mailer, webhooks, store, limits }: DeliveryService,
  { owner, id, receiver, secret, created_at }: AlertRow,
  { seq, body, at, attempts }: AlertMessageRow,
  subject: MessageSubject,
  isTest = false,
): Promise<void> {
  const change = JSON.parse(body) as AlertChange
  const about = { ...subject, condition: change.condition ?? subject.condition }
  // Distinct from those of an earlier alert with the same number.
  const messageId = `msg_${id}_${created_at.toString(36)}_${isTest ? `test${at.toString(36)}` : seq}`
  if (secret !== null)
    return (await webhooks.get()).send(
      receiver,
      { id: messageId, body: formatWebhookBody(change, about, isTest) },
      secret,
    )
  if (!mailer) throw new Problem('unreachable', 'this server sends no e-mail (gridline serve --smtp)')
  // Once for all attempts.
  if (attempts === 0)
    await store.write([owner], async ({ accounts }) => {
      const { emails_per_day } = limits
      const share = Math.ceil(emails_per_day / 2)
      if ((await accounts.takeQuota(owner, 'alert_emails', 1, share)) === 0)
        throw new OverQuota('too_large', `alerts send ${share} e-mails a day, half of emails_per_day`)
      if ((await accounts.takeQuota(owner, 'emails', 1, emails_per_day)) === 0)
        throw new OverQuota('too_large', `the limit is ${emails_per_day} e-mails a day (emails_per_day)`)
    })
  await mailer.send({
    to: receiver,
    messageId: `<${messageId}@gridline>`,
    ...formatAlertMail(change, about, isTest),
  })
}

/** All mails of a day are sent. */
class OverQuota extends Problem {}

/** Maximum length of the reason of a failure, in characters. */
const MAX_FAILURE_CHARACTERS = 300

function formatFailure(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.slice(0, MAX_FAILURE_CHARACTERS)
}
