// Rows of a table and of a grid that have the same key.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchRows } from '../../../src/service/grids/change/match-rows.ts'
import { identifyBy } from '../../../src/service/grids/column/identify.ts'
import { CellReader } from '../../../src/service/grids/column/kernel/cells.ts'
import { runs } from '../../support/property-runs.ts'
import { columnArbitrary, snapshotOf } from '../../support/snapshots.ts'

it('slices whose bounds exclude all keys make no difference', async () => {
  let skipped = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(columnArbitrary, { minLength: 1, maxLength: 2 }),
      fc.boolean(),
      fc.array(fc.nat(59), { minLength: 1, maxLength: 6 }),
      async (columns, isSorted, chosen) => {
        const length = Math.min(...columns.map(({ values }) => values.length))
        const all = Array.from({ length }, (_, row) => columns.map(({ values }) => values[row]))
        const keyOf = (row: string[][]) => row.map(([, json]) => identifyBy.text(json)).join()
        const known = new Set<string>()
        let rows = all.filter((row) => {
          const isNew = !known.has(keyOf(row)) && row.every(([, json]) => json !== 'null')
          known.add(keyOf(row))
          return isNew
        })
        if (isSorted)
          rows = rows.sort(([[, a]], [[, b]]) =>
            a[0] === '"' || b[0] === '"' ? (a < b ? -1 : 1) : Number(a) - Number(b),
          )
        fc.pre(rows.length > 2)
        // The grid has two thirds of the rows; the table has some of all.
        const inGrid = rows.filter((_, k) => k % 3 !== 1)
        const inTable = [...new Set(chosen.map((k) => k % rows.length))].map((k) => rows[k])
        fc.pre(inTable.length < inGrid.length)
        const columnsOf = (list: string[][][], slices: number[]) =>
          columns.map((_, k) => ({ values: list.map((row) => row[k]), slices }))
        const grid = await snapshotOf(columnsOf(inGrid, [3, 3, 3, 3, 3, 3]))
        const table = await snapshotOf(columnsOf(inTable, []))
        const reads: string[] = []
        const counted = {
          ...grid,
          blobs: {
            get: (ref: Parameters<typeof grid.blobs.get>[0]) => {
              reads.push(ref.hash)
              return grid.blobs.get(ref)
            },
            getAll: (refs: Parameters<typeof grid.blobs.getAll>[0]) => {
              reads.push(...refs.map(({ hash }) => hash))
              return grid.blobs.getAll(refs)
            },
          },
        }
        const reader = CellReader.open(100_000)
        const match = (readsAll: boolean) =>
          matchRows(reader, counted, table.columns, {
            keyPositions: columns.map((_, k) => k),
            readsAll,
            source: 'table.csv',
            rows: table.rows,
          })
        const expected = await match(true)
        const most = reads.splice(0).length
        const found = await match(false)
        skipped += most - reads.length
        reader.release()
        expect({ ...found, missing: undefined }).toEqual({ ...expected, missing: undefined })
      },
    ),
    { numRuns: runs(300, 20_000), seed: runs(3, Date.now()) },
  )
  expect(skipped).toBeGreaterThan(10)
})
