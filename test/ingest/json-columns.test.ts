// A JSON document of columns gives the same columns as the same values in records.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ingestJson } from '../../src/ingest/records/records.ts'
import type { Slice } from '../../src/ingest/values/table.ts'
import { toByteStream } from '../../src/json/index.ts'
import { runs } from '../support/property-runs.ts'

const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer().map(String) },
  { weight: 3, arbitrary: fc.string({ maxLength: 12 }).map((text) => JSON.stringify(text)) },
  {
    weight: 6,
    arbitrary: fc.constantFrom('null', '"2024-02-29"', '"2024-01-01T10:00:00"', '"a,b"', '"\\"]"', '1.50'),
  },
  { weight: 1, arbitrary: fc.constantFrom('true', '[1,2]', '{"a":[1, 2]}', '[1,\n 2]', '[]', '1e400') },
)
const document = fc.record({
  values: fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 60 }),
  /** How often all values are repeated, so that there are several slices. */
  times: fc.constantFrom(1, 1, 1, 1, 3000),
  gaps: fc.array(fc.constantFrom(',', ',', ',', ', ', ' ,', ',\n  '), { minLength: 1, maxLength: 5 }),
  form: fc.constantFrom<'plain' | 'api'>('plain', 'api'),
})

async function read(text: string): Promise<unknown> {
  const texts: string[][] = []
  const rows: number[][] = []
  const sink = {
    slice({ column, text, rows: count }: Slice) {
      ;(texts[column] ??= []).push(text.toString())
      ;(rows[column] ??= []).push(count)
    },
  }
  const { columns, warnings } = await ingestJson(toByteStream(Buffer.from(text)), {}, sink)
  return { columns, warnings, rows, texts: texts.map((parts) => parts.join(',')) }
}

it('columns give the same values, types and slices as records', async () => {
  await fc.assert(
    fc.asyncProperty(document, async ({ values, times, gaps, form }) => {
      const all = Array.from({ length: times }, () => values).flat()
      const join = (texts: string[]): string =>
        texts.map((text, k) => (k > 0 ? `${gaps[k % gaps.length]}${text}` : text)).join('')
      const [a, b] = [0, 1].map((k) => `[${join(all.map((row) => row[k]))}]`)
      const columns =
        form === 'plain' ? `{"a":${a},"b":${b}}` : `{"cols":{"a":{"data":${a}},"b":{"data":${b}}}}`
      const records = `[${all.map(([x, y]) => `{"a":${x},"b":${y}}`).join(',')}]`
      expect(await read(columns)).toEqual(await read(records))
    }),
    { numRuns: runs(60, 3000) },
  )
})

it.each<[string, string, object]>([
  [
    'members given twice',
    '[{"a":1,"a":2},{"a":3}]',
    { texts: ['2,3'], warnings: ['an object has several members a; the last one was read'] },
  ],
  [
    'columns given twice',
    '{"a":[1,2],"a":[3,4]}',
    { texts: ['3,4'], warnings: ['an object has several members a; the last one was read'] },
  ],
  [
    'members without a name',
    '[{"":1,"b":2}]',
    { texts: ['1', '2'], warnings: ['column 1 has no name; named column_1'] },
  ],
  [
    'tables that pandas has split',
    '{"columns":["a",5],"index":[0,1],"data":[["x",2],["y",4]]}',
    { texts: ['"x","y"', '2,4'], warnings: [], columns: [{ name: 'a' }, { name: '5' }] },
  ],
  [
    'split tables with an index',
    '{"columns":["a"],"index":["k","l"],"data":[[1],[2]]}',
    { texts: ['1,2'], warnings: ['index was not read: the columns and their data are the table'] },
  ],
  [
    'split tables with names of several levels, repeated and missing names',
    '{"columns":[["a","x"],["a",1.50],"b","b",null],"data":[[1,2,3,4,5]]}',
    {
      texts: ['1', '2', '3', '4', '5'],
      columns: [{ name: 'a.x' }, { name: 'a.1.50' }, { name: 'b' }, { name: 'b (2)' }, { name: 'column_5' }],
      warnings: [
        'column 4 has the duplicate name b; renamed to b (2)',
        'column 5 has no name; named column_5',
      ],
    },
  ],
  [
    'columns that are named like the parts of a split table',
    '{"columns":["a","b"],"data":[[1],[2]]}',
    { texts: ['"a","b"', '[1],[2]'], columns: [{ name: 'columns' }, { name: 'data' }] },
  ],
  [
    'columns with objects',
    '{"a":[1,2],"b":[{"x":1},{"x":2}]}',
    { texts: ['1,2', '{"x":1},{"x":2}'], warnings: [] },
  ],
])('%s are read, with a warning for each assumption', async (_, text, expected) => {
  expect(await read(text)).toMatchObject(expected)
})

it.each([
  ['{"columns":["a","b"],"index":[],"data":[]}', 'input: no rows'],
  [
    '{"columns":["a","b"],"data":[[1],[2],[3]]}',
    'input: row 1 of data has 1 value, which is not the number of columns',
  ],
])('the split table %s is refused', async (text, message) => {
  await expect(read(text)).rejects.toMatchObject({ code: 'bad_data', message })
})

it('several arrays of records are refused, and the hint names one', async () => {
  await expect(read('{"nodes":[{"id":1},{"id":2}],"links":[{"s":1}]}')).rejects.toMatchObject({
    code: 'bad_data',
    hint: expect.stringContaining(`jq '.["nodes"]' FILE`),
  })
})
