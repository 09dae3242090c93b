// The job that sends a mailing when it is due.
import { errorMessageOf } from '../../contract/errors.ts'
import { assertEnabled } from '../access/access.ts'
import type { MailingRow } from '../store/aggregates/mailings.ts'
import type { Write } from '../store/store.ts'
import { formatSchedule, nextTime, type Schedule } from './schedule.ts'
import { type MailingService, type Sent, sendPicture } from './send.ts'

/** Time after a failed attempt, in ms. */
const RETRY_MS = 10 * 60_000
/** Time after which the next one is waited for, in ms. */
const MAX_RETRY_MS = 6 * 3600_000
const DAY_MS = 24 * 3600_000
/** Maximum length of the reason of a failure, in characters. */
const MAX_ERROR_CHARACTERS = 300

/** Sends a mailing that is due. Returns when it is due again, in ms since 1970; undefined if it has ended. */
export async function runMailing(
  service: MailingService,
  { owner, id }: Pick<MailingRow, 'owner' | 'id'>,
  write: Write,
): Promise<number | undefined> {
  const { row: stored, file } = await service.store.read(async ({ mailings, files }) => {
    const row = await mailings.get(owner, id)
    return { row, file: row && (await files.get(row.to_owner, row.to_idlocal)) }
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
  const { sent, pending } = await sendDue(service, row, schedule, write, now)
  const isLast = now + RETRY_MS > Math.max(row.next_at, row.failed_at ?? now) + MAX_RETRY_MS
  const isEnded = pending.length === 0 || isLast
  await write(({ mailings }) =>
    mailings.change(row, {
      next_at: isEnded ? following : row.next_at,
      pending: isEnded ? null : JSON.stringify(pending),
      ...(sent.reached.length > 0 && { sent_at: now }),
      ...(sent.failure === undefined
        ? { error: null, failed_at: null }
        : { error: sent.failure.slice(0, MAX_ERROR_CHARACTERS), failed_at: row.failed_at ?? now }),
    }),
  )
  return Math.min(isEnded ? following : Date.now() + RETRY_MS, now + DAY_MS)
}

/** Sends a mailing to its receivers who have not got it. Returns those who still have not as `pending`. */
async function sendDue(
  service: MailingService,
  row: MailingRow,
  schedule: Schedule,
  write: Write,
  now: number,
): Promise<{ sent: Sent; pending: string[] }> {
  const { owner, id } = row
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
  let sent: Sent
  try {
    assertEnabled(owner, await service.store.read(({ accounts }) => accounts.getUser(owner)))
    sent = await sendPicture(service, {
      fid: { owner: row.to_owner, idlocal: row.to_idlocal },
      filters: row.filters,
      sender: owner,
      to: receivers,
      messageId: `${id}.${row.next_at.toString(36)}`,
      zone: row.zone,
      isRepeated: row.pending !== null,
      onReached,
      footer: `${owner} sends this ${formatSchedule(schedule)}. ${owner} ends it with: gridline send --stop ${id}`,
    })
  } catch (error) {
    sent = { reached: [...got], refused: [], failure: errorMessageOf(error) }
  }
  return { sent, pending: without(sent.reached) }
}
