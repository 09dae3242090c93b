// Rows that match a condition.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Problem } from '../../../src/contract/errors.ts'
import { WorkBudget } from '../../../src/json/index.ts'
import { parseWhere } from '../../../src/query/index.ts'
import { bindCondition, findMatchingRows } from '../../../src/service/grids/read/matching-rows.ts'
import { runs } from '../../support/property-runs.ts'
import { columnArbitrary, snapshotOf } from '../../support/snapshots.ts'

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

/** Writes JSON as a constant of a condition. */
function literalOf(json: string): string {
  return json.startsWith('"') ? `'${(JSON.parse(json) as string).replaceAll("'", "''")}'` : json
}

/** Number of the values of a column that conditions compare with it. */
const CONSTANTS = 3
const condition = fc.letrec<{ condition: (names: string[], constants: string[][]) => string }>((tie) => {
  const one = fc
    .tuple(
      fc.nat(2),
      fc.constantFrom('=', '<>', '<', '<=', '>', '>=', 'mirrored', 'between', 'in', 'is null', 'is not null'),
      fc.nat(CONSTANTS - 1),
      fc.nat(CONSTANTS - 1),
    )
    .map(([column, sign, a, b]) => (names: string[], constants: string[][]) => {
      const at = column % names.length
      const [name, low, high] = [names[at], constants[at][a], constants[at][b]]
      if (sign.startsWith('is')) return `${name} ${sign}`
      if (sign === 'mirrored') return `${low} < ${name}`
      if (sign === 'between') return `${name} between ${low} and ${high}`
      if (sign === 'in') return `${name} in (${low}, ${high})`
      return `${name} ${sign} ${low}`
    })
  const two = fc.tuple(tie('condition'), fc.constantFrom('and', 'or'), tie('condition')).map(
    ([left, word, right]) =>
      (names: string[], constants: string[][]) =>
        `(${left(names, constants)}) ${word} (${right(names, constants)})`,
  )
  const not = tie('condition').map(
    (of) => (names: string[], constants: string[][]) => `not (${of(names, constants)})`,
  )
  return { condition: fc.oneof({ maxDepth: 3, withCrossShrink: true }, one, one, two, not) }
}).condition

it('slices that bounds exclude make no difference', async () => {
  let [excluded, sure] = [0, 0]
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(columnArbitrary, fc.boolean()), { minLength: 1, maxLength: 3 }),
      condition,
      fc.nat(),
      fc.option(fc.nat(20), { nil: undefined }),
      async (columns, createWhere, seed, most) => {
        for (const [{ values }, isSorted] of columns) {
          fc.pre(values.length > 0)
          const rank = ([, json]: string[]) => (json.startsWith('"') ? JSON.parse(json) : Number(json))
          if (isSorted) values.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
        }
        const snap = await snapshotOf(columns.map(([column]) => column))
        const constants = columns.map(([{ values }], k) =>
          Array.from({ length: CONSTANTS }, (_, n) =>
            literalOf(values[(seed + n * 7 + k) % values.length][1]),
          ),
        )
        const names = snap.columns.map(({ name }) => name)
        const where = createWhere(names, constants)
        let bound: ReturnType<typeof bindCondition>
        try {
          bound = bindCondition(parseWhere(where), snap.columns)
        } catch (error) {
          // Types that cannot be compared.
          expect(error).toBeInstanceOf(Problem)
          return
        }
        const counted: typeof bound = {
          ...bound,
          outcomes: (ranges) => {
            const outcomes = bound.outcomes(ranges)
            if ((outcomes & 1) === 0) excluded++
            if (outcomes === 1) sure++
            return outcomes
          },
        }
        const rows = await findMatchingRows(snap, counted, undefined, most)
        const expected = await findMatchingRows(snap, { ...bound, outcomes: () => 7 }, undefined, most)
        expect([where, ...rows]).toEqual([where, ...expected])
      },
    ),
    { numRuns: runs(1000, 30_000), seed: runs(7, Date.now()) },
  )
  expect(excluded).toBeGreaterThan(100)
  expect(sure).toBeGreaterThan(20)
})
