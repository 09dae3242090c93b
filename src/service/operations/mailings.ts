// Handlers of charts and boards that are sent by e-mail (docs/send.md).
import { createHash, randomBytes } from 'node:crypto'
import { errorMessageOf, invalidField, Problem } from '../../contract/errors.ts'
import { formatFid } from '../../contract/fid.ts'
import { WARNING_HEADER } from '../../contract/headers.ts'
import type { Mailing } from '../../contract/resources/index.ts'
import { listFilters, toFilterQuery } from '../../contract/web/filter-query.ts'
import { authorizeCall, loadVisibleFile, ownerPrincipal } from '../access/access.ts'
import { parseBoard } from '../boards/content.ts'
import { assertFiltersKnown } from '../boards/filters.ts'
import { loadBoardText } from '../boards/load.ts'
import { formatSchedule, nextTime, parseSchedule } from '../mailings/schedule.ts'
import { NO_MAIL_HINT, sendPicture } from '../mailings/send.ts'
import { isEmailAddress, type Mailer } from '../sharing/mail.ts'
import type { FileRow } from '../store/aggregates/files.ts'
import type { WriteKey } from '../store/aggregates/idempotency.ts'
import type { MailingRow } from '../store/aggregates/mailings.ts'
import type { Handler, Handlers, OperationService as Service } from './handler.ts'

/** Maximum number of receivers of a mailing. */
const MAX_RECEIVERS = 10

/** Time after which a request tries no other receiver, in ms: many clients and proxies wait for a minute. */
const SEND_TIMEOUT_MS = 45_000

/** Maximum length of filters, as the query of a page. */
const MAX_FILTER_CHARACTERS = 2000

/** Fields in which two mailings differ. */
const MAILING_FIELDS = [
  ...(['to_owner', 'to_idlocal', 'receivers', 'filters', 'every', 'at', 'day', 'zone'] as const),
] as const

export const mailingHandlers = {
  'mailings.list': (service, call) =>
    service.store.read(async (readers) => {
      const mailings: Mailing[] = []
      for (const row of await readers.mailings.list(call.caller!.username, service.limits.mailings)) {
        const fid = { owner: row.to_owner, idlocal: row.to_idlocal }
        const visible = await loadVisibleFile(readers, fid, ownerPrincipal(row.owner))
        const mailing = formatMailing(row, visible?.file.filename ?? '')
        const lost = !visible
          ? 'you may not see it any more'
          : visible.state === 'active'
            ? null
            : 'it is in the trash'
        mailings.push(lost === null ? mailing : { ...mailing, error: lost })
      }
      return { body: { mailings } }
    }),

  'mailings.send': (service, call) => {
    const { caller, key, fingerprint } = call.writeKey(call.caller!.username)
    const { mailer } = service
    if (key === undefined || !mailer) return sendNow(service, call)
    // A client that got no answer asks again, while the first request may still run.
    const sends = runningSends.get(mailer) ?? new Map<string, Promise<Answer>>()
    runningSends.set(mailer, sends)
    const id = `${caller} ${key} ${fingerprint}`
    const running = sends.get(id)
    if (running) return running
    const sending = sendNow(service, call).finally(() => sends.delete(id))
    sends.set(id, sending)
    return sending
  },

  'mailings.create': async (service, call) => {
    const { username } = call.caller!
    const { to: addresses, filter, ...given } = call.fields
    const to = [...new Set(addresses)]
    // A mailing has the rights of its sender, without a share key.
    const asked = { ...call, shareKey: undefined }
    const { file } = await service.store.read((readers) => authorizeCall(readers, asked))
    const schedule = parseSchedule(given)
    checkSendable(service, file, to)
    const filters = await parseFilters(service, file, filter)
    const now = Date.now()
    const row: MailingRow = {
      ...{ owner: username, id: randomBytes(5).toString('hex') },
      ...{ to_owner: file.owner, to_idlocal: file.idlocal, receivers: JSON.stringify(to), filters },
      ...schedule,
      ...{
        created_at: now,
        next_at: await nextTime(schedule, now),
        sent_at: null,
        pending: null,
        error: null,
        failed_at: null,
      },
    }
    const added = await service.store.writeOnce(call.writeKey(username), async (writers) => {
      await authorizeCall(writers, asked)
      const all = await writers.mailings.list(username, service.limits.mailings)
      if (all.length >= service.limits.mailings)
        throw new Problem('too_large', `you have ${all.length} mailings, which is the limit (mailings)`)
      const same = all.find((one) => MAILING_FIELDS.every((field) => one[field] === row[field]))
      if (same)
        throw new Problem('already_exists', `mailing ${same.id} sends this already, at the same times`, {
          hint: `To stop it: gridline send --stop ${same.id}`,
        })
      await writers.mailings.add(row)
      await writers.jobs.setDue(username, 'mail', row.id, row.next_at)
      return row
    })
    return { body: formatMailing(added, file.filename) }
  },

  'mailings.delete': async (service, call) => {
    const { username } = call.caller!
    await service.store.writeOnce(call.writeKey(username), async ({ mailings }) => {
      if (!(await mailings.remove(username, call.name)))
        throw new Problem('not_found', `you have no mailing ${JSON.stringify(call.name.slice(0, 100))}`, {
          hint: 'List them with: gridline send',
        })
    })
    return { body: undefined }
  },
} satisfies Partial<Handlers>

type Send = Handler<'mailings.send'>
type Answer = Awaited<ReturnType<Send>>

/** Answers of the requests that run on a server, by caller, key and content. */
const runningSends = new WeakMap<Mailer, Map<string, Promise<Answer>>>()

/** Receivers of a request so far: who got the mail, and whom the mail server refused, with the answer. */
interface SendResult {
  reached: string[]
  refused: string[]
  failure?: string
}

/** Sends a file to the receivers that an earlier attempt of the same request has not tried. */
async function sendNow(service: Service, call: Parameters<Send>[1]): Promise<Answer> {
  const { store } = service
  const until = performance.now() + SEND_TIMEOUT_MS
  const { username } = call.caller!
  const write = call.writeKey(username)
  const asked = { ...call, shareKey: undefined }
  const { file, before } = await store.read(async (readers) => ({
    ...(await authorizeCall(readers, asked)),
    before: await readers.idempotency.findResult<SendResult | string[]>(write),
  }))
  const to = [...new Set(call.fields.to)]
  // Servers before this one recorded only who got it.
  const known: SendResult = Array.isArray(before?.result)
    ? { reached: before.result, refused: [] }
    : (before?.result ?? { reached: [], refused: [] })
  const left = to.filter((receiver) => !known.reached.includes(receiver) && !known.refused.includes(receiver))
  const answer = ({ reached, failure }: SendResult): Answer => ({
    body: { fid: formatFid(call.fid), to: reached },
    ...(failure !== undefined && { headers: { [WARNING_HEADER]: encodeURIComponent(failure) } }),
  })
  if (before && left.length === 0) return answer(known)
  checkSendable(service, file, to)
  const filters = await parseFilters(service, file, call.fields.filter)
  const record = async (more: Partial<SendResult>): Promise<SendResult> => {
    const result = {
      ...more,
      reached: [...known.reached, ...(more.reached ?? [])],
      refused: [...known.refused, ...(more.refused ?? [])],
    }
    await store.write([username], ({ idempotency }) => idempotency.recordResults([{ write, result }]))
    return result
  }
  const sent = await sendPicture(service, {
    fid: call.fid,
    filters,
    sender: username,
    to: left,
    messageId: createMessageId(write),
    footer: `${username} has sent this to you.`,
    isRepeated: before !== undefined,
    onReached: async (reached) => {
      await record({ reached: [...reached] })
    },
    until,
  }).catch((error: unknown) => {
    // Some got it from an earlier attempt.
    if (known.reached.length === 0) throw error
    return { reached: [], refused: [], failure: errorMessageOf(error) }
  })
  const { failure } = sent
  if (known.reached.length + sent.reached.length > 0) return answer(await record(sent))
  throw sent.refused.length === left.length
    ? invalidField('to', failure!)
    : new Problem('unreachable', failure!)
}

/** Creates the id of a message: the same for a repeated request. */
function createMessageId({ caller, key }: WriteKey): string {
  if (key === undefined) return randomBytes(8).toString('hex')
  return createHash('sha256')
    .update(JSON.stringify([caller, key]))
    .digest('hex')
    .slice(0, 16)
}

/** Checks that a file can be sent to receivers. Throws `invalid_request` and `forbidden`. */
function checkSendable({ mailer }: Service, { filetype }: FileRow, to: readonly string[]): void {
  if (filetype !== 'plot' && filetype !== 'dashboard')
    throw new Problem('invalid_request', 'only charts and boards can be sent')
  if (to.length === 0 || to.length > MAX_RECEIVERS)
    throw invalidField('to', `must have from 1 to ${MAX_RECEIVERS} addresses`)
  const wrong = to.find((address) => !isEmailAddress(address))
  if (wrong !== undefined)
    throw invalidField('to', `not an e-mail address: ${JSON.stringify(wrong.slice(0, 100))}`)
  if (!mailer) throw new Problem('forbidden', 'this server sends no e-mail', { hint: NO_MAIL_HINT })
}

/** Parses the filters of a board to the query of its page; empty without. Throws `invalid_request` for unknown ones. */
async function parseFilters(
  service: Service,
  file: FileRow,
  filter: readonly string[] | undefined,
): Promise<string> {
  const query = toFilterQuery(filter ?? [])
  if (query.size === 0) return ''
  if (query.toString().length > MAX_FILTER_CHARACTERS)
    throw invalidField('filter', `longer than ${MAX_FILTER_CHARACTERS} characters`)
  if (file.filetype !== 'dashboard') throw invalidField('filter', 'only boards have filters')
  assertFiltersKnown(parseBoard(await loadBoardText(service, file)), query)
  return query.toString()
}

function formatMailing(row: MailingRow, filename: string): Mailing {
  const { id, to_owner, to_idlocal, receivers, filters, next_at, sent_at, error, failed_at } = row
  const format = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString())
  return {
    ...{ id, fid: formatFid({ owner: to_owner, idlocal: to_idlocal }), filename },
    ...{ to: JSON.parse(receivers) as string[], schedule: formatSchedule(row), zone: row.zone },
    filter: listFilters(new URLSearchParams(filters)).map(({ column, value }) => `${column}=${value}`),
    ...{ next_at: format(next_at)!, sent_at: format(sent_at), error, failing_since: format(failed_at) },
  }
}
