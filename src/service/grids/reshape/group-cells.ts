// Groups rows by any values, and combines any values of each group, by the values of a pivot if there is one.
import { Problem } from '../../../contract/errors.ts'
import type { Limits } from '../../../contract/limits.ts'
import type { WorkBudget } from '../../../json/index.ts'
import { type Cell, jsonOf, type RowSequence } from '../column/cursor.ts'
import type { Identify } from '../column/identify.ts'
import type { Snapshot } from '../column/snapshot.ts'
import { type Rank, rankOf } from '../column/value-order.ts'
import { forEachRow } from '../read/rows.ts'
import { COLLECTOR_BYTES, type Collector } from './aggregates.ts'
import type { Group, Key, Result } from './group-numbers.ts'
import { ENTRY_BYTES, type KeptMemory } from './kept-memory.ts'

/** A grouping. `pivotAt`: position of the column whose values become columns. */
interface CellPlan {
  keys: readonly (Key & { identify: Identify })[]
  results: readonly Result[]
  pivotAt: number | undefined
  identifyPivot: Identify
}

/** Groups rows by any values, and combines any values of them. Adds the values of the pivot to `pivoted`. */
export async function groupCells(
  snap: Snapshot,
  plan: CellPlan,
  pivoted: PivotedValues,
  { rows, limits, kept, work }: { rows: RowSequence; limits: Limits; kept: KeptMemory; work: WorkBudget },
): Promise<Iterable<Group>> {
  const groups = new Map<string, CellGroup>()
  const { pivotAt, results } = plan
  const addGroup = (key: string, keys: readonly string[]): CellGroup => {
    // There can be a million groups: each is few objects.
    const isKey = keys.length === 1 && keys[0] === key
    const added: CellGroup = { keys: isKey ? undefined : keys, collectors: [] }
    groups.set(key, added)
    kept.add(2 * ENTRY_BYTES + key.length)
    if (!isKey) for (const { length } of keys) kept.add(ENTRY_BYTES + length)
    return added
  }
  /** Adds the collectors of the results, from a position on. The array has the positions before, too. */
  const addCollectors = ({ collectors }: CellGroup, first: number): void => {
    const end = first + results.length
    kept.add(Math.max(0, end - collectors.length) * SLOT_BYTES + results.length * COLLECTOR_BYTES)
    for (let k = 0; k < results.length; k++) collectors[first + k] = results[k].create()
  }
  const placeOf = (json: string): number => {
    const identity = plan.identifyPivot(json)
    let value = pivoted.get(identity)
    if (!value) {
      if (pivoted.size === limits.columns) throw tooManyColumns(limits)
      value = { json, rank: rankOf(json, snap.columns[pivotAt!].type), place: pivoted.size }
      pivoted.set(identity, value)
      kept.add(2 * json.length)
    }
    return value.place
  }
  // All rows are one group, even without any.
  if (plan.keys.length === 0 && pivotAt === undefined) addCollectors(addGroup('', []), 0)
  await forEachRow(snap, rows, (cells) => {
    let key = ''
    for (let k = 0; k < plan.keys.length; k++) {
      const { at, identify } = plan.keys[k]
      key += k === 0 ? identify(jsonOf(cells[at])) : `\n${identify(jsonOf(cells[at]))}`
    }
    const found =
      groups.get(key) ??
      addGroup(
        key,
        plan.keys.map(({ at, period }) => (period ? period(jsonOf(cells[at])) : jsonOf(cells[at]))),
      )
    const first = pivotAt === undefined ? 0 : placeOf(jsonOf(cells[pivotAt])) * results.length
    if (found.collectors[first] === undefined) addCollectors(found, first)
    let grown = 0
    for (let k = 0; k < results.length; k++) {
      const { at } = results[k]
      grown += found.collectors[first + k]!.add(at === undefined ? PRESENT : cells[at])
    }
    if (grown > 0) kept.add(grown)
    return work.spend(key.length + cells.length + results.length) ? work.pause() : undefined
  })
  return listGroups(groups)
}

/** A group of rows. `keys`: undefined for the only one, if the group is found by it. */
interface CellGroup {
  keys: readonly string[] | undefined
  collectors: (Collector | undefined)[]
}

/** Size of a position of an array that grows, in bytes. */
const SLOT_BYTES = 12

function* listGroups(groups: ReadonlyMap<string, CellGroup>): Generator<Group> {
  for (const [key, { keys = [key], collectors }] of groups) yield { keys, collectors }
}

/** A value that is not missing, which `count` counts without a column. */
const PRESENT: Cell = { buf: Buffer.from('1'), start: 0, end: 1 }

/** Different values of the pivot column, as JSON, and the place of each. */
export type PivotedValues = Map<string, { json: string; rank: Rank; place: number }>

function tooManyColumns({ columns }: Limits): Problem {
  return new Problem('too_large', `pivot: more than ${columns} different values (limit columns)`, {
    field: 'pivot',
  })
}
