// Decides the state of alerts, and records a message for each change, in the transaction that caused it.
import { formatMinute } from '../../../contract/duration.ts'
import { formatFid } from '../../../contract/fid.ts'
import type { AlertChange } from '../../../contract/resources/index.ts'
import type { AlertKey, AlertRow, Judgement } from '../../store/aggregates/alerts.ts'
import { FROM_URL } from '../../store/aggregates/derivations.ts'
import type { FileRow } from '../../store/aggregates/files.ts'
import type { Readers, Writers } from '../../store/store.ts'
import { conditionOf, formatCondition } from './condition.ts'

/** Maximum number of messages of one alert in an hour. */
const MAX_HOUR_MESSAGES = 60
const HOUR_MS = 3600_000
/** Maximum length of a reason, in characters. */
const MAX_REASON_CHARACTERS = 500

/** A write that is stored. */
export interface StoredWrite {
  /** Judgements of its content, by alert. */
  judgements: ReadonlyMap<string, Judgement>
  /** Whether the content has changed. */
  isChange: boolean
  /** Number of the version that has its content. */
  version: number
}

/** Judges a write, in its transaction. `file`: as it was before. */
export async function judgeWrite(
  writers: Writers,
  file: FileRow,
  { judgements, isChange, version }: StoredWrite,
  now = Date.now(),
): Promise<void> {
  const block = await findBlock(writers, file)
  for (const row of await writers.alerts.list(file)) {
    const { stale_seconds } = conditionOf(row)
    let judgement: Partial<AlertRow> | undefined = findJudgement(judgements, row)
    if (isChange && stale_seconds !== undefined) judgement = { judged: 'ok', why: 'the grid has changed' }
    if (!judgement && isChange) {
      judgement = { judged: null }
      await writers.jobs.scheduleJudgement(file)
    }
    if (judgement)
      await settle(writers, row, { ...judgement, ...(isChange && { changed_at: now }) }, block, version, now)
  }
}

/** Tells alerts on failed checks that they have refused a write. `why`: the failures. */
export async function judgeRefusal(
  writers: Writers,
  file: FileRow,
  why: string,
  now = Date.now(),
): Promise<void> {
  const block = await findBlock(writers, file)
  for (const row of await writers.alerts.list(file))
    if (conditionOf(row).failed_checks)
      await settle(writers, row, { judged: 'firing', why }, block, file.content_version, now)
}

/** Lets alerts on failed checks be judged again, since the checks have changed. */
export async function judgeChecksAgain(writers: Writers, file: FileRow): Promise<void> {
  for (const row of await writers.alerts.list(file))
    if (conditionOf(row).failed_checks) await writers.alerts.change(row, { judged: null })
  await writers.jobs.scheduleJudgement(file)
}

/**
 * Looks at alerts without a write: at the time since the last one, and at whether the grid can be trusted. Returns when
 * to look again, in ms since 1970; undefined if only writes matter.
 */
export async function judgeTime(
  writers: Writers,
  file: FileRow,
  judgements: ReadonlyMap<string, Judgement>,
  now = Date.now(),
): Promise<number | undefined> {
  const block = await findBlock(writers, file)
  let next: number | undefined
  for (const row of await writers.alerts.list(file)) {
    const { stale_seconds } = conditionOf(row)
    let fields: Partial<AlertRow> = {}
    if (stale_seconds !== undefined) {
      // The clock may have been set back.
      const changed_at = Math.min(row.changed_at, now)
      const due = changed_at + stale_seconds * 1000
      // Only a write ends it, not a clock that is set back.
      const isStale = row.judged === 'firing' || now >= due
      const since = formatMinute(changed_at)
      fields = {
        changed_at,
        judged: isStale ? 'firing' : 'ok',
        why: `the last change was ${since}`,
      }
      // Look again before, since the clock may jump.
      if (!isStale) next = Math.min(next ?? Number.POSITIVE_INFINITY, due, now + HOUR_MS)
    } else if (row.judged === null) fields = findJudgement(judgements, row) ?? {}
    await settle(writers, row, fields, block, file.content_version, now)
  }
  return next
}

/** Returns the judgement of an alert; undefined if its condition is another one since. */
function findJudgement(judgements: ReadonlyMap<string, Judgement>, row: AlertRow): Judgement | undefined {
  const judgement = judgements.get(row.id)
  return judgement?.condition === row.condition ? judgement : undefined
}

/** Why the content of a grid tells nothing. */
interface Block {
  why: string
  /** Whether its refresh fails. */
  isOfRefresh: boolean
}

/** Returns why the content of a grid tells nothing now; undefined if it does. */
async function findBlock(readers: Readers, file: FileRow): Promise<Block | undefined> {
  const { owner, idlocal } = file
  if (file.trashed_at !== null || file.hidden !== 0)
    return { why: 'the grid is in the trash', isOfRefresh: false }
  if (!file.derived) return undefined
  const source = file.derived === FROM_URL ? readers.urlRefreshes : readers.derivations
  const failed = await source.get(owner, idlocal)
  if (!failed || failed.error === null) return undefined
  const { detail } = JSON.parse(failed.error) as { detail: string }
  return { why: `the grid is stale, since its refresh fails: ${detail}`, isOfRefresh: true }
}

/** Updates an alert. If its state changes, records a message. */
async function settle(
  writers: Writers,
  row: AlertRow,
  fields: Partial<AlertRow>,
  block: Block | undefined,
  version: number,
  now: number,
): Promise<void> {
  const { owner } = row
  const { stale_seconds } = conditionOf(row)
  const { judged, why } = { ...row, ...fields }
  // A grid that is not refreshed any more has no changes, which is what an alert on stale grids is for.
  const isBlocked = block !== undefined && !(block.isOfRefresh && stale_seconds !== undefined)
  const state = isBlocked ? 'unknown' : (judged ?? row.state)
  const reason = (isBlocked ? block.why : why).slice(0, MAX_REASON_CHARACTERS)
  if (state === row.state) {
    if (Object.keys(fields).length > 0 || reason !== row.reason)
      await writers.alerts.change(row, { ...fields, reason })
    return
  }
  const hour = Math.floor(now / HOUR_MS)
  const hour_messages = hour === row.hour ? row.hour_messages : 0
  const changed = { ...row, ...fields, state, reason, since: now }
  if (hour_messages < MAX_HOUR_MESSAGES) {
    await writers.alerts.change(row, {
      ...fields,
      state,
      reason,
      since: now,
      hour,
      hour_messages: hour_messages + 1,
    })
    return addMessage(writers, changed, row.state, version, now)
  }
  await writers.alerts.change(row, { ...fields, state, reason, since: now, unsent: row.unsent + 1 })
  // The state at the end of the hour is told then.
  await writers.jobs.schedule(owner, 'deliver', formatKey(row), endOfHour(row))
}

/** Returns the end of the hour of the last message of an alert, in ms since 1970. */
export function endOfHour({ hour }: Pick<AlertRow, 'hour'>): number {
  return (hour + 1) * HOUR_MS
}

/** Records the message that tells of the state of an alert, and of changes of which nobody was told. */
async function addMessage(
  writers: Writers,
  row: AlertRow,
  previous_state: AlertRow['state'],
  version: number,
  now: number,
): Promise<void> {
  const { owner, idlocal, id, value, state, reason, unsent } = row
  const seq = row.last_seq + 1
  const body: AlertChange = {
    ...{ alert: id, fid: formatFid({ owner, idlocal }), state, previous_state, reason },
    value: value === null ? null : JSON.parse(value),
    ...{ version, at: new Date(row.since).toISOString(), unsent },
    condition: formatCondition(conditionOf(row)),
  }
  await writers.alerts.change(row, { last_seq: seq, unsent: 0 })
  await writers.alerts.addMessage({
    ...{ owner, idlocal, alert: id, seq },
    ...{ at: now, body: JSON.stringify(body), attempts: 0, next_at: 0 },
  })
  await writers.jobs.schedule(owner, 'deliver', formatKey(row))
}

/** Records the message of changes of which nobody was told because there were too many, when the hour is over. */
export async function tellUnsent(
  writers: Writers,
  row: AlertRow,
  version: number,
  now = Date.now(),
): Promise<void> {
  const hour = Math.floor(now / HOUR_MS)
  if (row.unsent === 0 || hour === row.hour) return
  await writers.alerts.change(row, { hour, hour_messages: 1 })
  await addMessage(writers, row, row.state, version, now)
}

/** Returns the key of the job that sends the messages of an alert. */
function formatKey({ idlocal, id }: AlertKey): string {
  return `${idlocal}:${id}`
}

/** Parses the key of a job. */
export function parseKey(owner: string, key: string): AlertKey {
  const [idlocal, id] = key.split(':')
  return { owner, idlocal: Number(idlocal), id }
}
