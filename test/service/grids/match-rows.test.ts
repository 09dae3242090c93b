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

it('rows are found by the time of their key, in whatever form it is written', async () => {
  const forms = {
    datetime: [
      (iso: string) => iso.slice(0, 19),
      (iso: string) => iso.slice(0, 19).replace('T', ' '),
      (iso: string) => `${iso.slice(0, 23)}000`,
      (iso: string) => (iso.endsWith(':00.000Z') ? iso.slice(0, 16) : iso.slice(0, 19)),
      (iso: string) => (iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 19)),
    ],
    'datetime-zone': [
      (iso: string) => iso,
      (iso: string) => `${iso.slice(0, 19)}+00:00`,
      (iso: string) => `${new Date(Date.parse(iso) + 14 * 3_600_000).toISOString().slice(0, 19)}+14`,
      (iso: string) => `${new Date(Date.parse(iso) - 45 * 60_000).toISOString().slice(0, 19)}-00:45`,
    ],
  }
  const step = fc.constantFrom(1, 1, 30, 60, 3600, 12 * 3600, 24 * 3600, 40 * 86_400)
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('datetime' as const, 'datetime-zone' as const),
      fc.array(fc.tuple(step, fc.nat(4), fc.nat(4)), { minLength: 4, maxLength: 60 }),
      fc.array(fc.nat(59), { minLength: 1, maxLength: 3 }),
      async (type, steps, chosen) => {
        let at = Date.parse('2023-12-30T22:00:00Z')
        const write = (iso: string, form: number): string =>
          JSON.stringify(forms[type][form % forms[type].length](iso))
        const rows = steps.map(([seconds, form, other]) => {
          at += seconds * 1000
          const iso = new Date(at).toISOString()
          return { own: write(iso, form), other: write(iso, other) }
        })
        const wanted = [...new Set(chosen.map((k) => k % rows.length))]
        fc.pre(wanted.length < rows.length)
        const column = (values: string[], slices: number[]) =>
          snapshotOf([{ values: values.map((value) => ['', value, '']), slices }])
        const grid = await column(
          rows.map(({ own }) => own),
          Array.from({ length: 20 }, () => 3),
        )
        const table = await column(
          wanted.map((k) => rows[k].other),
          [],
        )
        const reader = CellReader.open(100_000)
        const { matched, added } = await matchRows(reader, grid, table.columns, {
          ...{ keyPositions: [0], readsAll: false, source: 'table.csv', rows: table.rows },
        })
        reader.release()
        expect(added.length).toBe(0)
        expect(new Map(matched.map(({ row, from }) => [from, row]))).toEqual(new Map(wanted.entries()))
      },
    ),
    { numRuns: runs(300, 20_000), seed: runs(5, Date.now()) },
  )
})
