// Makes another table of the rows of a grid: join, then unpivot, then group or pivot.
import { invalidField } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import type { AGGREGATE_FUNCTIONS, PERIODS } from '../../../contract/row-options.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { createFirstRows, type RowSequence } from '../column/cursor.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { AGGREGATES } from './aggregates.ts'
import { type Grouping, group } from './group.ts'
import { join } from './join.ts'
import { unpivot } from './unpivot.ts'

/** The steps, as query parameters name them. */
export interface ReshapeQuery {
  join?: string
  on?: string[]
  unpivot?: string[]
  into?: string[]
  group?: string[]
  aggregate?: string[]
  per?: (typeof PERIODS)[number]
  pivot?: string
}

/** Throws `invalid_request` for a parameter without the one that it belongs to. */
export function checkReshape(query: ReshapeQuery): void {
  for (const [step, name] of [
    ['join', 'on'],
    ['unpivot', 'into'],
  ] as const)
    if ((query[step] === undefined) !== (query[name] === undefined))
      throw invalidField(name, `${step} and ${name} belong together`)
}

/** Makes a table of rows of a snapshot. `other`: the table to join. */
export async function reshape(
  snap: Snapshot,
  query: ReshapeQuery,
  {
    rows,
    other,
    limits,
    work,
  }: { rows: RowSequence; other: Snapshot | undefined; limits: Limits; work: WorkBudget },
): Promise<Snapshot> {
  let [table, chosen] = [snap, rows]
  const take = (next: Snapshot): void => {
    table = next
    chosen = createFirstRows(next.rows)
  }
  if (other) take((await join(table, other, query.on ?? [], { rows: chosen, limits, work })).toSnapshot(snap))
  if (query.unpivot)
    take(
      (
        await unpivot(
          table,
          { columns: query.unpivot, into: query.into ?? [] },
          { rows: chosen, maxBytes: limits.query_result_bytes, work },
        )
      ).toSnapshot(snap),
    )
  const grouping = parseGrouping(query)
  if (grouping) take((await group(table, grouping, { rows: chosen, limits, work })).toSnapshot(snap))
  return table
}

/** Parses the parameters of groups; undefined without them. Throws `invalid_request`. */
function parseGrouping({ group: by = [], aggregate = [], per, pivot }: ReshapeQuery): Grouping | undefined {
  if (by.length === 0 && aggregate.length === 0 && per === undefined && pivot === undefined) return undefined
  const aggregates = aggregate.map((text) => {
    const [, name, column] = /^(\w+)(?::(.+))?$/s.exec(text) ?? []
    if (!isAggregate(name) || (column === undefined && name !== 'count'))
      throw invalidField('aggregate', `${JSON.stringify(text)} must be function:column, such as sum:amount`)
    return { function: name, column }
  })
  return { by, per, pivot, aggregates }
}

function isAggregate(name: string | undefined): name is (typeof AGGREGATE_FUNCTIONS)[number] {
  return name !== undefined && Object.hasOwn(AGGREGATES, name)
}
