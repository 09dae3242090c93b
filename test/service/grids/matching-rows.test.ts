// Rows that match a condition.
import { expect, it } from 'vitest'
import { WorkBudget } from '../../../src/json/index.ts'
import { parseWhere } from '../../../src/query/index.ts'
import { bindCondition, findMatchingRows } from '../../../src/service/grids/read/matching-rows.ts'
import { snapshotOf } from '../../support/snapshots.ts'

/** Work that remembers the largest number of units at once. */
class CountedWork extends WorkBudget {
  largest = 0

  override spend(units: number): boolean {
    this.largest = Math.max(this.largest, units)
    return super.spend(units)
  }
}

it('conditions of many steps are tested in small batches', async () => {
  const values = Array.from({ length: 5000 }, (_, k) => ['', String(k), ''])
  const snap = await snapshotOf([{ values, slices: [] }])
  for (const terms of [1, 500]) {
    const where = Array.from({ length: terms }, (_, k) => `c0 = ${4999 - k}`).join(' or ')
    const work = new CountedWork()
    const test = bindCondition(parseWhere(where), snap.columns)
    const rows = await findMatchingRows(snap, test, work)
    expect([...rows]).toEqual(Array.from({ length: terms }, (_, k) => 5000 - terms + k))
    expect(work.largest).toBeGreaterThan(1000)
    expect(work.largest).toBeLessThanOrEqual(16_384)
  }
})
