// How the rules of whole columns run.
import { formatPercent, type WholeColumnRule } from '../../../checks/index.ts'
import { formatCount } from '../../../contract/message-texts.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { SnapshotColumn } from '../column/content.ts'
import type { ColumnValues, KnownHashes } from './column-values.ts'
import { cannotRun, failed, type Outcome, PASSED, type Run } from './outcome.ts'

/** The column of a rule, with what has been read of it. */
export interface ReadColumn {
  column: SnapshotColumn
  values: ColumnValues
  /** Filled while values are read, if they must be unique. */
  unique: KnownHashes | undefined
}

type Runner<R> = (run: Run, rule: R, read: ReadColumn) => Outcome | Promise<Outcome>

export const columnRunners: {
  readonly [N in WholeColumnRule['rule']]: Runner<Extract<WholeColumnRule, { rule: N }>>
} = {
  cannot: (_, { why }) => cannotRun(why),
  unique: (run, _, { column, unique }) => run.unique([column], false, unique),
  async nulls({ checked }, { maxShare: most }, { values }) {
    const { rows } = checked.snap
    const count = await values.missing()
    const share = rows === 0 ? 0 : count / rows
    if (share <= most) return { ...PASSED, count }
    return failed(`${count} of ${formatCount(rows, 'value')} are missing (${formatPercent(share)})`, count)
  },
  async max_age(_, { ms }, { column, values }) {
    if (!['date', 'datetime', 'text', 'empty'].includes(familyOf(column.type)))
      return cannotRun('the column has no dates')
    const newest = await values.newest()
    if (newest === undefined) return failed('there are no values')
    const at = timeOf(newest)
    if (at === undefined) return cannotRun(`${JSON.stringify(newest)} is no date`)
    return Date.now() - at <= ms ? PASSED : failed(`the newest value is ${newest}`)
  },
}

/** Parses a date or time, in ms; a day counts until its end. Times without a zone are UTC. Undefined for other texts. */
function timeOf(text: string): number | undefined {
  const iso = text.replace(' ', 'T')
  const isDay = /^\d{4}-\d\d-\d\d$/.test(iso)
  const hasZone = /(Z|[+-]\d\d(:?\d\d)?)$/.test(iso.slice(10))
  const at = Date.parse(isDay ? iso : hasZone ? iso.replace(/([+-]\d\d)$/, '$1:00') : `${iso}Z`)
  return Number.isNaN(at) ? undefined : at + (isDay ? 86_400_000 : 0)
}
