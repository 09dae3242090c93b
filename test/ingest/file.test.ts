// Streaming of JSON arrays, --flatten, sheets and ranges.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readLimits } from '../../src/contract/limits.ts'
import type { FileOptions } from '../../src/ingest/index.ts'
import { xlsx } from '../support/archives.ts'
import { readFile } from './read-file.ts'

const few = readLimits({ GRIDLINE_LIMIT_JSON_BODY_BYTES: '100' })
const json = (text: string, options: Partial<FileOptions> = {}, pieces?: number) =>
  readFile(Buffer.from(text), { fileName: 'a.json', ...options }, pieces)

it('an array of records above json_body_bytes is streamed, with columns that appear late', async () => {
  const value = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.constantFrom('}', '"', '\\', '],[', '{"a":'),
  )
  const record = fc.dictionary(fc.constantFrom('a', 'b', 'c{', 'd"'), value, { minKeys: 1 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 8, maxLength: 30 }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(undefined, 2),
      async (records, pieces, indent) => {
        const text = JSON.stringify(records, null, indent)
        const [whole] = await json(text)
        const [found] = await json(text, { limits: few }, pieces)
        expect(found).toEqual(whole)
      },
    ),
  )
})

it.each([
  ['an object without an end', `[{"a": 1}, {"a": "${'x'.repeat(200)}`, /item 2 of the array: the text ends/],
  ['a value that is no object', `[{"a": "${'x'.repeat(200)}"}, 5]`, /item 2 of the array: not an object/],
  ['two commas', `[{"a": "${'x'.repeat(200)}"},, {"a": 1}]`, /item 2 of the array/],
  ['text after it', `[{"a": "${'x'.repeat(200)}"}] x`, /text after the end/],
  ['invalid JSON', `[{"a": "${'x'.repeat(200)}", b: 1}]`, /item 1 of the array/],
])('an array with %s is refused with the item', async (_, text, message) => {
  await expect(json(text, { limits: few }, 10)).rejects.toThrow(message)
})

it('with flatten, members of nested objects become columns', async () => {
  const text = '[{"id": 1, "at": {"city": "Oslo", "geo": {"x": 1}}}, {"id": 2, "at": null}]'
  const [{ names, rows }] = await json(text, { flatten: true })
  expect([names, rows]).toEqual([
    ['id', 'at.city', 'at.geo.x', 'at'],
    [
      [1, 'Oslo', 1, null],
      [2, null, null, null],
    ],
  ])
})

it('a sheet and a range of a workbook can be selected', async () => {
  const bytes = await xlsx({
    First: [['a'], [1]],
    Second: [
      ['title', '', ''],
      ['x', 'y', 'z'],
      [1, 2, 3],
      [4, 5, 6],
    ],
  })
  const book = (options: Partial<FileOptions>) => readFile(bytes, { fileName: 'b.xlsx', ...options })
  expect((await book({})).map(({ path }) => path)).toEqual([['First'], ['Second']])
  for (const sheet of ['Second', 'second', '2'])
    expect(await book({ sheet, range: 'B2:C3' })).toMatchObject([
      { path: [], names: ['y', 'z'], rows: [[2, 3]] },
    ])
  expect((await book({ sheet: '2', range: '2:4' }))[0].rows).toEqual([
    [1, 2, 3],
    [4, 5, 6],
  ])
  await expect(book({ sheet: 'Third' })).rejects.toThrow(/no sheet "Third"/)
  await expect(book({ sheet: '1', range: '5:1' })).rejects.toThrow(/invalid range/)
  await expect(json('[{"a":1}]', { sheet: '1' })).rejects.toThrow(/not a workbook/)
})

it.each(['xlsx', 'zip', 'parquet', 'feather'])(
  'a .%s file of which only the first bytes are there is refused',
  async (extension) => {
    await expect(readFile(Buffer.from('PK'), { fileName: `a.${extension}` })).rejects.toMatchObject({
      code: 'bad_data',
      message: expect.stringMatching(/damaged/),
    })
  },
)
