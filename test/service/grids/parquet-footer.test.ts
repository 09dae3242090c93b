// The metadata of Parquet files are those of the library, written in turns.
import fc from 'fast-check'
import type { FileMetaData } from 'hyparquet'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'
import { expect, it } from 'vitest'
import { STORAGES } from '../../../src/service/grids/read/parquet/write-file.ts'
import { type Footer, writeFooter } from '../../../src/service/grids/read/parquet/write-footer.ts'
import * as library from '../../../src/vendor/parquet.ts'
import { runs } from '../../support/property-runs.ts'

const storages = Object.values(STORAGES)
const count = fc.bigInt({ min: 0n, max: 2n ** 40n })
const column = fc.record({
  name: fc.string(),
  storage: fc.nat(storages.length - 1),
  counts: fc.tuple(count, count, count, count),
  bounds: fc.option(fc.tuple(fc.integer(), fc.integer()), { nil: undefined }),
})

/** A column that was drawn at random. */
type Drawn = typeof column extends fc.Arbitrary<infer T> ? T : never

/** Creates the metadata of row groups with the same columns. */
function createFooter(columns: Drawn[], groups: number, isNamed: boolean): Footer {
  return {
    version: 2,
    created_by: isNamed ? 'gridline' : undefined,
    key_value_metadata: isNamed ? [{ key: 'version', value: '3' }] : undefined,
    num_rows: BigInt(groups * 100),
    schema: [
      { name: 'schema', num_children: columns.length },
      ...columns.map(({ name, storage }) => ({
        ...{ name, repetition_type: 'OPTIONAL' as const },
        ...storages[storage].schema,
      })),
    ],
    row_groups: Array.from({ length: groups }, () => ({
      total_byte_size: 1000n,
      num_rows: 100n,
      columns: columns.map(({ name, storage, counts: [at, values, size, packed], bounds }) => {
        const { type } = storages[storage].schema
        const isBig = type === 'INT64'
        const [low, high] = (bounds ?? []).map((bound) => (isBig ? BigInt(bound) : bound))
        const hasBounds = bounds !== undefined && ['INT64', 'INT32'].includes(type)
        return {
          file_offset: at,
          meta_data: {
            ...{ type, encodings: ['PLAIN' as const, 'RLE' as const], path_in_schema: [name] },
            codec: 'GZIP' as const,
            num_values: values,
            total_uncompressed_size: size,
            total_compressed_size: packed,
            data_page_offset: at,
            statistics: { null_count: values, ...(hasBounds && { min_value: low, max_value: high }) },
          },
        }
      }),
    })),
  }
}

it('the metadata are the bytes that the library writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(column, { minLength: 1, maxLength: 20, selector: ({ name }) => name }),
      fc.nat(3),
      fc.boolean(),
      async (columns, groups, isNamed) => {
        const footer = createFooter(columns, groups, isNamed)
        const [ours, theirs] = [new library.ByteWriter(), new library.ByteWriter()]
        await writeFooter(ours, library, footer)
        writeMetadata(theirs, footer as FileMetaData)
        expect(Buffer.from(ours.getBytes())).toEqual(Buffer.from(theirs.getBytes()))
      },
    ),
    { numRuns: runs(50, 500), seed: 11 },
  )
})
