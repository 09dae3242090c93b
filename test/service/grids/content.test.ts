// Round trips of grid content.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../../support/property-runs.ts'
import { onSqliteFirst } from '../../support/service.ts'

const name = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 12 })
  .filter((text) => text.isWellFormed() && !text.includes('\0'))

/** Values that survive a round trip through CSV. */
const csvColumn = fc.oneof(
  fc.array(
    fc.option(
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .filter((x) => !/^-?\d{16,}$/.test(String(x)))
        .map((x) => (Object.is(x, -0) ? 0 : x)),
    ),
    { minLength: 1, maxLength: 20 },
  ),
  fc.array(
    fc.option(
      fc
        .string({
          unit: fc.constantFrom('a', 'b', '"', ',', '\n', '\r', ' ', 'é', '😀', '\\', "'", ';', '\t'),
          maxLength: 6,
        })
        .map((text) => `w${text}`),
    ),
    { minLength: 1, maxLength: 20 },
  ),
)

onSqliteFirst('content of grids', (test) => {
  let made = 0

  it('any JSON values in columns are returned unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, fc.array(fc.jsonValue(), { maxLength: 8 }), {
          minKeys: 1,
          maxKeys: 5,
          noNullPrototype: false,
        }),
        async (columns) => {
          const cols = Object.fromEntries(Object.entries(columns).map(([key, data]) => [key, { data }]))
          const body = `{"filename":"p${made++}","data":{"cols":${JSON.stringify(cols)}}}`
          const { status, json, text } = await test().ask('alice', 'POST', '/v2/grids', {
            body,
            headers: { 'content-type': 'application/json' },
          })
          expect(status, text).toBe(201)
          const content = (await test().ask('alice', 'GET', `/v2/grids/${json.file.fid}/content`)).json.cols
          expect(Object.keys(content).sort()).toEqual(Object.keys(cols).sort())
          for (const key of Object.keys(cols))
            expect(JSON.stringify(content[key].data)).toBe(JSON.stringify(cols[key].data))
        },
      ),
      { numRuns: runs(20, 60) },
    )
  })

  it('a CSV download uploaded again gives the same grid', async () => {
    const table = fc
      .integer({ min: 2, max: 5 })
      .chain((width) =>
        fc.tuple(fc.constant(width), fc.array(csvColumn, { minLength: width, maxLength: width })),
      )
    await fc.assert(
      fc.asyncProperty(table, async ([, columns]) => {
        const rows = Math.min(...columns.map((column) => column.length))
        // A column of nulls would become text, and a row of nulls would be skipped.
        const filled = columns.map((column) =>
          column
            .slice(0, rows)
            .map((value, k) =>
              value === null && (k === 0 || columns.every((other) => other[k] === null))
                ? (column.find((other) => other !== null) ?? 1)
                : value,
            ),
        )
        const grid = await test().grid(
          'alice',
          `c${made++}`,
          Object.fromEntries(filled.map((data, k) => [`name ${String.fromCharCode(97 + k)}`, data])),
        )
        const csv = (await test().ask('alice', 'GET', `/v2/grids/${grid.fid}/content?format=csv`)).text
        const again = await test().ask('alice', 'POST', '/v2/grids/upload', {
          body: csv,
          headers: {
            'x-file-name': `d${made++}.csv`,
            'gridline-delimiter': 'comma',
            'gridline-header': 'true',
          },
        })
        expect(again.status, again.text).toBe(201)
        const out = (await test().ask('alice', 'GET', `/v2/grids/${again.json.file.fid}/content?format=csv`))
          .text
        expect(out).toBe(csv)
        const content = (await test().ask('alice', 'GET', `/v2/grids/${again.json.file.fid}/content`)).json
          .cols
        for (const [k, data] of filled.entries())
          expect(content[`name ${String.fromCharCode(97 + k)}`].data).toEqual(data)
      }),
      { numRuns: runs(20, 60) },
    )
  })
})
