// Runs the rules for whole columns.
import { formatPercent, type WholeColumnRule } from '../../../checks/index.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import { isStringType } from '../../store/schema/column-types.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import type { ColumnHashes, ColumnValues } from './column-values.ts'
import { type CheckRun, cannotRunOutcome, failedOutcome, type Outcome, PASSED } from './outcome.ts'

/** The column of a rule, and its values. */
export interface ReadColumn {
  column: SnapshotColumn
  values: ColumnValues
  /** Hashes that are added while values are read, if a rule requires unique values. */
  unique: ColumnHashes | undefined
}

type Runner<R> = (run: CheckRun, rule: R, read: ReadColumn) => Outcome | Promise<Outcome>

export const COLUMN_RULE_RUNNERS: {
  readonly [N in WholeColumnRule['rule']]: Runner<Extract<WholeColumnRule, { rule: N }>>
} = {
  cannot: (_, { why }) => cannotRunOutcome(why),
  unique: (run, _, { column, unique }) => run.unique([column], false, unique),
  /** Passes if at most `maxShare` of the values are missing. */
  async nulls({ checked }, { maxShare: most }, { values }) {
    const { rows } = checked.snap
    const count = await values.countMissing()
    const share = rows === 0 ? 0 : count / rows
    if (share <= most) return { ...PASSED, count }
    return failedOutcome(
      `${count} of ${formatCount(rows, 'value')} are missing (${formatPercent(share)})`,
      count,
    )
  },
  async max_age(_, { ms }, { column, values }) {
    if (column.type !== 'empty' && !isStringType(column.type))
      return cannotRunOutcome('the column has no dates')
    const newest = await values.findNewest(parseTime)
    if (newest === undefined) return failedOutcome('there are no values')
    const time = parseTime(newest)
    if (time === undefined) return cannotRunOutcome(`${JSON.stringify(newest)} is not a date`)
    return Date.now() - time <= ms ? PASSED : failedOutcome(`the newest value is ${newest}`)
  },
}

/**
 * Parses a date or time to ms since 1970: the end of a day; UTC without a zone. Undefined for other texts.
 */
function parseTime(text: string): number | undefined {
  const iso = text.replace(' ', 'T')
  const isDay = /^\d{4}-\d\d-\d\d$/.test(iso)
  const hasZone = /(Z|[+-]\d\d(:?\d\d)?)$/.test(iso.slice(10))
  const time = Date.parse(isDay ? iso : hasZone ? iso.replace(/([+-]\d\d)$/, '$1:00') : `${iso}Z`)
  return Number.isNaN(time) ? undefined : time + (isDay ? 86_400_000 : 0)
}
