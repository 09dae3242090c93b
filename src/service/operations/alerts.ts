// Handlers of alerts (docs/alerts.md).
import { randomBytes } from 'node:crypto'
import { invalidField, Problem } from '../../contract/errors.ts'
import { formatFid, parseFid } from '../../contract/fid.ts'
import type { Alert, AlertCondition } from '../../contract/resources/index.ts'
import { authorizeCall } from '../access/access.ts'
import { sendTest } from '../alerts/deliver.ts'
import { lookAtAlerts } from '../alerts/look.ts'
import { createSecret } from '../alerts/webhook.ts'
import { changeCondition, checkCondition, conditionOf, formatCondition } from '../grids/alerts/condition.ts'
import { checkColumns } from '../grids/alerts/measure.ts'
import { isEmailAddress } from '../sharing/mail.ts'
import type { AlertRow } from '../store/aggregates/alerts.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

export const alertHandlers = {
  'alerts.list': (service, call) =>
    service.store.read(async (readers) => {
      const { username } = call.caller!
      const fid = call.query.fid === undefined ? undefined : parseFid(call.query.fid)
      if (call.query.fid !== undefined && fid?.owner !== username)
        throw invalidField('fid', 'not one of your grids')
      const rows = await readers.alerts.listAll(username, service.limits.alerts)
      const alerts: Alert[] = []
      for (const row of rows) {
        if (fid && row.idlocal !== fid.idlocal) continue
        const file = await readers.files.get(row.owner, row.idlocal)
        alerts.push(formatAlert(row, file?.filename ?? ''))
      }
      return { body: { alerts } }
    }),

  'alerts.create': async (service, call) => {
    const { fid } = call
    const { to, ...condition } = call.fields
    const { file, columns } = await service.store.read(async (readers) => ({
      ...(await authorizeCall(readers, call)),
      columns: await readers.grids.listColumns(fid.owner, fid.idlocal),
    }))
    checkCondition(condition)
    checkColumns(condition, columns)
    const secret = await checkReceiver(service, to)
    const added = await service.store.writeOnce(call.writeKey(fid.owner), async (writers) => {
      const { file } = await authorizeCall(writers, call)
      const all = await writers.alerts.listAll(fid.owner, service.limits.alerts)
      if (all.length >= service.limits.alerts)
        throw new Problem('too_large', `you have ${all.length} alerts, which is the limit (alerts)`)
      if (all.filter(({ idlocal }) => idlocal === fid.idlocal).length >= MAX_GRID_ALERTS)
        throw new Problem('too_large', `the grid has ${MAX_GRID_ALERTS} alerts, which each write judges`)
      const { owner, idlocal, content_version, date_modified, appended_at } = file
      const version = await writers.versions.get(owner, idlocal, content_version)
      const row = {
        ...createRow(fid, condition, to, secret),
        changed_at: Math.max(version?.made_at ?? date_modified, appended_at ?? 0),
      }
      refuseSame(all, row)
      await writers.alerts.add(row)
      await writers.jobs.scheduleJudgement(fid)
      return row
    })
    return { body: await lookAndFormat(service, added, file.filename) }
  },

  'alerts.update': async (service, call) => {
    const { username } = call.caller!
    const { to, ...given } = call.fields
    const found = await service.store.read(async (readers) => {
      const alert = await readers.alerts.find(username, call.name)
      if (!alert) throw noAlert(call.name)
      const file = await readers.files.get(alert.owner, alert.idlocal)
      const columns = await readers.grids.listColumns(alert.owner, alert.idlocal)
      return { alert, filename: file?.filename ?? '', columns }
    })
    const check = (alert: AlertRow, columns: readonly ColumnRow[]): AlertCondition => {
      const condition = changeCondition(conditionOf(alert), given)
      checkCondition(condition)
      checkColumns(condition, columns)
      return condition
    }
    check(found.alert, found.columns)
    const isOther = to !== undefined && to !== found.alert.receiver
    const secret = isOther ? await checkReceiver(service, to) : null
    const { row, hasNewSecret } = await service.store.writeOnce(call.writeKey(username), async (writers) => {
      const { alerts, grids, jobs } = writers
      const alert = await alerts.find(username, call.name)
      if (!alert) throw noAlert(call.name)
      const condition = check(alert, await grids.listColumns(alert.owner, alert.idlocal))
      const isMoved = isOther && to !== alert.receiver
      if (!isMoved && formatCondition(condition) === formatCondition(conditionOf(alert)))
        return { row: alert, hasNewSecret: false }
      const row: AlertRow = {
        ...{ ...alert, condition: JSON.stringify(condition), judged: null, why: '', value: null },
        // A new receiver was told nothing yet.
        ...(isMoved && { ...BEGINNING, since: Date.now(), receiver: to, secret }),
      }
      refuseSame(await alerts.list(alert), row)
      if (isMoved) await alerts.deleteMessages(alert)
      await alerts.change(alert, row)
      await jobs.scheduleJudgement(alert)
      return { row, hasNewSecret: isMoved }
    })
    return { body: await lookAndFormat(service, row, found.filename, hasNewSecret) }
  },

  'alerts.test': async (service, call) => {
    const { username } = call.caller!
    const write = call.writeKey(username)
    const found = await service.store.read(async ({ alerts, files, idempotency }) => {
      const before = await idempotency.findResult<string>(write)
      if (before) return { before }
      const alert = await alerts.find(username, call.name)
      if (!alert) throw noAlert(call.name)
      const file = await files.get(alert.owner, alert.idlocal)
      return { alert, filename: file?.filename ?? '', version: file?.content_version ?? 0 }
    })
    // A repeated request sends nothing again.
    if (found.before) return { body: { sent: true, to: found.before.result } }
    const { alert, filename, version } = found
    const granted = await service.store.write([alert.owner], ({ accounts }) =>
      accounts.takeQuota(alert.owner, 'alert_tests', 1, MAX_DAY_TESTS),
    )
    if (granted === 0) throw new Problem('too_large', `at most ${MAX_DAY_TESTS} test messages a day`)
    try {
      await sendTest(service, alert, filename, version)
    } catch (error) {
      if (error instanceof Problem && error.code !== 'unreachable') throw error
      throw new Problem('unreachable', `${alert.receiver}: ${(error as Error).message}`)
    }
    await service.store.write([username], ({ idempotency }) =>
      idempotency.recordResults([{ write, result: alert.receiver }]),
    )
    return { body: { sent: true, to: alert.receiver } }
  },

  'alerts.delete': async (service, call) => {
    const { username } = call.caller!
    await service.store.writeOnce(call.writeKey(username), async ({ alerts }) => {
      const alert = await alerts.find(username, call.name)
      if (!alert) throw noAlert(call.name)
      await alerts.remove(alert)
    })
    return { body: undefined }
  },
} satisfies Partial<Handlers>

/** Maximum number of test messages of a user in a day. */
const MAX_DAY_TESTS = 100
/** Maximum number of alerts on one grid. */
const MAX_GRID_ALERTS = 20

function noAlert(id: string): Problem {
  return new Problem('not_found', `you have no alert ${JSON.stringify(id.slice(0, 100))}`, {
    hint: 'List them with: gridline alert list',
  })
}

/** Maximum length of a URL. */
const MAX_URL_CHARACTERS = 2000

/** Checks a receiver. Returns the secret that signs messages to a URL; null for an address. */
async function checkReceiver({ webhooks, mailer }: Service, to: string): Promise<string | null> {
  if (isEmailAddress(to)) {
    if (!mailer)
      throw new Problem('forbidden', 'to: this server sends no e-mail', {
        field: 'to',
        hint: 'Its operator can name a mail server with: gridline serve --smtp. A URL works without.',
      })
    return null
  }
  if (to.length > MAX_URL_CHARACTERS) throw invalidField('to', `longer than ${MAX_URL_CHARACTERS} characters`)
  if (!/^https?:/i.test(to)) throw invalidField('to', 'expected an e-mail address, or a URL')
  await (await webhooks.get()).checkUrl(to)
  return createSecret()
}

function createRow(
  { owner, idlocal }: { owner: string; idlocal: number },
  condition: AlertCondition,
  receiver: string,
  secret: string | null,
): Omit<AlertRow, 'changed_at'> {
  const now = Date.now()
  return {
    ...{ owner, idlocal, id: randomBytes(5).toString('hex'), condition: JSON.stringify(condition) },
    ...{ receiver, secret, created_at: now, since: now, last_seq: 0, hour: 0, hour_messages: 0 },
    ...BEGINNING,
  }
}

/** The state of an alert that was not judged yet. The first judgement sends a message if it is another one. */
const BEGINNING: Pick<
  AlertRow,
  'judged' | 'why' | 'value' | 'state' | 'reason' | 'unsent' | 'error' | 'failed_at'
> = {
  ...{ judged: null, why: '', value: null, state: 'ok', reason: '', unsent: 0 },
  ...{ error: null, failed_at: null },
}

type AlertIdentity = Pick<AlertRow, 'idlocal' | 'id' | 'condition' | 'receiver'>

/** Throws `already_exists` if another alert on the grid has the same condition and receiver. */
function refuseSame(alerts: readonly AlertIdentity[], row: AlertIdentity): void {
  const textOf = (one: AlertIdentity): string =>
    JSON.stringify([one.idlocal, one.receiver, formatCondition(conditionOf(one))])
  const same = alerts.find((one) => one.id !== row.id && textOf(one) === textOf(row))
  if (same)
    throw new Problem('already_exists', `alert ${same.id} tells ${same.receiver} of the same`, {
      hint: `To change it: gridline alert set ${same.id}`,
    })
}

/**
 * Looks at an alert that is new or changed, which also shows whether its condition can be evaluated, and formats it.
 */
async function lookAndFormat(
  service: Service,
  row: AlertRow,
  filename: string,
  hasNewSecret = true,
): Promise<Alert> {
  await service.analysis.run(row.owner, () =>
    lookAtAlerts(service, row, (work) => service.store.write([row.owner], work)),
  )
  const judged = (await service.store.read(({ alerts }) => alerts.get(row))) ?? row
  const { secret } = row
  const { isDry } = service.store
  return { ...formatAlert(judged, filename), ...(hasNewSecret && secret !== null && !isDry && { secret }) }
}

function formatAlert(row: AlertRow, filename: string): Alert {
  const { id, receiver, state, reason, since, error, failed_at } = row
  return {
    ...{ id, fid: formatFid(row), filename },
    condition: formatCondition(conditionOf(row)),
    ...{ to: receiver, state, reason, since: new Date(since).toISOString(), error },
    failing_since: failed_at === null ? null : new Date(failed_at).toISOString(),
  }
}
