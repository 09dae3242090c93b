// Looks at the alerts of a grid without a write: new ones, and those about the time since the last write.
import { parseChecks } from '../../checks/index.ts'
import type { Fid } from '../../contract/fid.ts'
import type { Service } from '../core/context.ts'
import { conditionOf } from '../grids/alerts/condition.ts'
import { judgeTime } from '../grids/alerts/judge.ts'
import { measureAlerts } from '../grids/alerts/measure.ts'
import { formatFailure } from '../grids/checks/enforce.ts'
import { runChecks } from '../grids/checks/run.ts'
import { type Snapshot, takeSnapshot, trimSnapshot } from '../grids/column/snapshot.ts'
import type { AlertRow, Judgement } from '../store/aggregates/alerts.ts'
import type { Write } from '../store/store.ts'

/**
 * Looks at the alerts of a grid. Returns when to look again, in ms since 1970; undefined if only writes matter.
 */
export async function lookAtAlerts({ store }: Service, fid: Fid, write: Write): Promise<number | undefined> {
  const { owner, idlocal } = fid
  const found = await store.read(async (readers) => {
    const alerts = (await readers.alerts.list(fid)).filter(({ judged }) => judged === null)
    const file = await readers.files.get(owner, idlocal)
    if (!file) return undefined
    if (alerts.length === 0) return { alerts }
    const { layout, row_count, checks } = await readers.grids.get(owner, idlocal)
    return { alerts, state: `${layout}:${row_count}`, checks, snap: await takeSnapshot(store, readers, fid) }
  })
  if (!found) return undefined
  const { alerts, state, snap, checks } = found
  const judgements = snap
    ? await judge(alerts, await trimSnapshot(snap), checks)
    : new Map<string, Judgement>()
  return write(async (writers) => {
    const file = await writers.files.get(owner, idlocal)
    if (!file) return undefined
    const grid = await writers.grids.get(owner, idlocal)
    // A write in between has judged its own content, and waits for no other look.
    const isSame = state === undefined || state === `${grid.layout}:${grid.row_count}`
    const next = await judgeTime(writers, file, isSame ? judgements : new Map())
    const isLeft = (await writers.alerts.list(fid)).some(({ judged }) => judged === null)
    return isLeft ? Date.now() : next
  })
}

async function judge(
  alerts: readonly AlertRow[],
  snap: Snapshot,
  checks: string | null | undefined,
): Promise<Map<string, Judgement>> {
  const needsChecks = alerts.some((alert) => conditionOf(alert).failed_checks)
  if (!needsChecks || !checks) return measureAlerts(alerts, { snap, failedChecks: undefined })
  const { results } = await runChecks(parseChecks(JSON.parse(checks)), { snap })
  const failedChecks = results.filter(({ passed }) => !passed).map(formatFailure)
  return measureAlerts(alerts, { snap, failedChecks })
}
