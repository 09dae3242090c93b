// Content-defined ends of slices, and their bounds.
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { AlignedSlices } from '../../src/ingest/columnar/align-slices.ts'
import { ingestDelimited, type Slice } from '../../src/ingest/index.ts'
import { Kernel } from '../../src/ingest/kernel/index.ts'
import { boundsOf, findSliceEnds } from '../../src/ingest/slices.ts'

afterEach(() => {
  Kernel.usage = 'large'
})

const ROWS = 200_000
const rows = Array.from({ length: ROWS }, (_, k) => [k, `t${(k * 7919) % 4099}`, ((k * 31) % 977) / 8])
const csvOf = (table: readonly (readonly unknown[])[], delimiter = ',', quote = '') =>
  Buffer.from(
    ['id', 'name', 'value'].join(delimiter) +
      '\n' +
      table
        .map((row) =>
          row.map((cell) => (typeof cell === 'string' ? quote + cell + quote : cell)).join(delimiter),
        )
        .join('\n') +
      '\n',
  )

/** Returns rows and hash of the slices of each column. */
async function slicesOf(file: Buffer, keys?: string[]): Promise<{ rows: number; hash: string }[][]> {
  const columns: { rows: number; hash: string }[][] = [[], [], []]
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < file.length; at += 300_000) yield file.subarray(at, at + 300_000)
  }
  await ingestDelimited(
    pieces(),
    { source: 'x', keys },
    {
      slice({ column, rows: count, text }: Slice) {
        columns[column].push({ rows: count, hash: createHash('sha1').update(text).digest('hex') })
      },
    },
  )
  return columns
}

const fresh = (now: { hash: string }[][], before: { hash: string }[][]): number => {
  const known = new Set(before.flat().map(({ hash }) => hash))
  return now.flat().filter(({ hash }) => !known.has(hash)).length
}

describe('slices end where their rows say', () => {
  it('slices end at the same row in all columns, after 16,384 to 131,072 rows, with and without the kernel', async () => {
    Kernel.usage = 'never'
    const plain = await slicesOf(csvOf(rows))
    Kernel.usage = 'always'
    expect(await slicesOf(csvOf(rows))).toEqual(plain)
    const heights = plain.map((column) => column.map((slice) => slice.rows))
    expect(heights[1]).toEqual(heights[0])
    expect(heights[2]).toEqual(heights[0])
    for (const height of heights[0].slice(0, -1)) {
      expect(height).toBeGreaterThanOrEqual(16_384)
      expect(height).toBeLessThanOrEqual(131_072)
    }
    const texts = [0, 1, 2].map((k) => Buffer.from(rows.map((row) => JSON.stringify(row[k])).join(',')))
    const ends = heights[0]
      .slice(0, -1)
      .map((_, k) => heights[0].slice(0, k + 1).reduce((sum, one) => sum + one, 0))
    expect(await findSliceEnds(texts)).toEqual(ends)
  })

  it('an inserted or deleted row changes only nearby slices', async () => {
    const before = await slicesOf(csvOf(rows))
    for (const at of [0, 123_456]) {
      const more = await slicesOf(csvOf(rows.toSpliced(at, 0, [-1, 'new', 0.5])))
      expect(fresh(more, before)).toBeLessThanOrEqual(6)
      const less = await slicesOf(csvOf(rows.toSpliced(at, 1)))
      expect(fresh(less, before)).toBeLessThanOrEqual(6)
    }
  })

  it('delimiters and quotes do not move slice ends; with a key, other columns do not either', async () => {
    const before = await slicesOf(csvOf(rows))
    expect(await slicesOf(csvOf(rows, ';', '"'))).toEqual(before)
    const keyed = await slicesOf(csvOf(rows), ['id'])
    const others = rows.map(([id, name]) => [id, `${name}x`, 1])
    const heights = (columns: { rows: number }[][]) => columns[0].map((slice) => slice.rows)
    expect(heights(await slicesOf(csvOf(others), ['id']))).toEqual(heights(keyed))
  })

  it('columns that arrive in different batches end at the same rows', async () => {
    const texts = [0, 1, 2].map((k) => rows.map((row) => JSON.stringify(row[k])))
    const given: Slice[] = []
    const slices = new AlignedSlices({ slice: (slice) => void given.push(slice) }, 3)
    for (const [k, values] of texts.entries())
      for (let at = 0; at < values.length; at += 30_011) {
        const run = values.slice(at, at + 30_011)
        await slices.add(k, run.length, Buffer.from(run.join(',')))
      }
    await slices.end()
    for (const k of [0, 1, 2]) {
      const own = given.filter(({ column }) => column === k)
      expect(own.map(({ text }) => text.toString()).join(',')).toBe(texts[k].join(','))
      expect(own.map((slice) => slice.rows)).toEqual(
        given.filter(({ column }) => column === 0).map((slice) => slice.rows),
      )
    }
    expect(given.filter(({ column }) => column === 0).map((slice) => slice.rows)).toEqual(
      (await slicesOf(csvOf(rows)))[0].map((slice) => slice.rows),
    )
  })
})

it('the bounds of a slice are its lowest and highest value, by number or by bytes', () => {
  const of = (...values: unknown[]) =>
    boundsOf(Buffer.from(values.map((value) => JSON.stringify(value)).join(',')))
  expect(of(3, null, -1.5, 20)).toEqual({ low: '-1.5', high: '20', nulls: 1 })
  expect(of('b', 'a"c', 'a', 'ä', null)).toEqual({ low: '"a"', high: '"ä"', nulls: 1 })
  expect(of('a"', 'a!', 'a#')).toMatchObject({ low: '"a!"', high: '"a#"' })
  expect(of(1, 'x')).toEqual({ nulls: 0 })
  expect(of('a"', false, 'b"', null)).toEqual({ nulls: 1 })
  expect(of(true, [1, 'x'], { a: '\\' })).toEqual({ nulls: 0 })
  expect(of(null, null)).toEqual({ nulls: 2 })
  expect(of('x'.repeat(500), 'a')).toEqual({ low: '"a"', high: undefined, nulls: 0 })
})
