// Parquet, Arrow, OpenDocument and compressed files, written by other programs.
import { mkdtemp, readFile as readBytes, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import zlib from 'node:zlib'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import {
  type DataType,
  Dictionary,
  DurationMillisecond,
  Field,
  FixedSizeBinary,
  Int8,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Table,
  tableFromArrays,
  tableToIPC,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow'
import fc from 'fast-check'
import { parquetMetadata } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readLimits } from '../../src/contract/limits.ts'
import { checkPages } from '../../src/ingest/columnar/pages.ts'
import { zip } from '../support/archives.ts'
import { runs } from '../support/property-runs.ts'
import { readFile } from './read-file.ts'

let folder: string
let duckdb: DuckDBConnection

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gridline-formats-'))
  duckdb = await (await DuckDBInstance.create(':memory:')).connect()
})

afterAll(async () => {
  duckdb.closeSync()
  await rm(folder, { recursive: true })
})

/** A Parquet file of four texts, whose column has the types UTF8 and TIMESTAMP. */
const TEXTS_AS_TIMES =
  'UEFSMRUAFUoVSiwVCBUAFQYVBgAACwAAAEM6XHRlbXBcbmV3BQAAAGEiLCJiAgAAAHhcAwAAAAEKeBUCGSxIBHJvb3QVAgAVDCUAGAF0JQBMjBIcLAAAAAAAFggZHBkcJggcFQwZFQAZGAF0FQAWCBZsFmwmCAAAFnQWCAAARAAAAFBBUjE='

/** A Parquet file of a column n of integers and a column l of lists, whose pages have checksums. */
const WITH_CHECKSUMS =
  'UEFSMRUAFSQVJBW9+KGmAxwVBhUAFQYVBhwAAAACAAAABgEKAAAAFAAAAB4AAAAVABUyFTIVxMzm2QEcFQgVABUGFQYcAAAAAgAAAAMCAwAAAAN/AAEAAAACAAAAAwAAABUEGVw1ABgGc2NoZW1hFQQAFQIlAhgBbgA1AhgBbBUCFQZMPAAAADUEGARsaXN0FQIAFQIlAhgHZWxlbWVudAAWBhkcGSwmABwVAhklBgAZGAFuFQAWBhZWFlYmCEkcFQAVABUCADwpBhkmAAYAAAAmABwVAhklBgAZOAFsBGxpc3QHZWxlbWVudBUAFggWZBZkJl5JHBUAFQAVAgA8KSYGAhlGAAIABgAAABa6ARYGJggWugEAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI1LjAuMRksHAAAHAAAAOEAAABQQVIx'

/** Texts `a`, null and `bc` as pyarrow writes them; the null has bytes that are not UTF-8. */
const ODD_NULL =
  'QVJST1cxAAD/////cAAAABAAAAAAAAoADAAGAAUACAAKAAAAAAEEAAwAAAAIAAgAAAAEAAgAAAAEAAAAAQAAABQAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQUQAAAAGAAAAAQAAAAAAAAAAQAAAHMAAAAEAAQABAAAAAAAAAD/////mAAAABQAAAAAAAAADAAWAAYABQAIAAwADAAAAAADBAAYAAAAIAAAAAAAAAAAAAoAGAAMAAQACAAKAAAATAAAABAAAAADAAAAAAAAAAAAAAADAAAAAAAAAAAAAAABAAAAAAAAAAgAAAAAAAAAEAAAAAAAAAAYAAAAAAAAAAUAAAAAAAAAAAAAAAEAAAADAAAAAAAAAAEAAAAAAAAABQAAAAAAAAAAAAAAAQAAAAMAAAAFAAAAYf/+YmMAAAD/////AAAAABAAAAAMABQABgAIAAwAEAAMAAAAAAAEADgAAAAoAAAABAAAAAEAAACAAAAAAAAAAKAAAAAAAAAAIAAAAAAAAAAAAAAAAAAAAAgACAAAAAQACAAAAAQAAAABAAAAFAAAABAAFAAIAAYABwAMAAAAEAAQAAAAAAABBRAAAAAYAAAABAAAAAAAAAABAAAAcwAAAAQABAAEAAAAmAAAAEFSUk9XMQ=='
/** A text that is not UTF-8, among texts that lie in several buffers (`string_view` of pyarrow). */
const ODD_VIEW =
  'QVJST1cxAAD/////cAAAABAAAAAAAAoADAAGAAUACAAKAAAAAAEEAAwAAAAIAAgAAAAEAAgAAAAEAAAAAQAAABQAAAAQABQACAAGAAcADAAAABAAEAAAAAAAARgQAAAAGAAAAAQAAAAAAAAAAQAAAHMAAAAEAAQABAAAAAAAAAD/////sAAAABQAAAAAAAAADAAWAAYABQAIAAwADAAAAAADBAAcAAAASAAAAAAAAAAAAA4AHAAQAAQACAAAAAwADgAAAGAAAAAkAAAAEAAAAAMAAAAAAAAAAAAAAAEAAAABAAAAAAAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAMAAAAAAAAAAwAAAAAAAAABUAAAAAAAAAAAAAAAEAAAADAAAAAAAAAAAAAAAAAAAABQAAAGFi/2RlAAAAAAAAABUAAAB4eHh4AAAAAAAAAAABAAAAawAAAAAAAAAAAAAAeHh4eHh4eHh4eHh4eHh4eHh4eHj/AAAA/////wAAAAAQAAAADAAUAAYACAAMABAADAAAAAAABAA4AAAAKAAAAAQAAAABAAAAgAAAAAAAAAC4AAAAAAAAAEgAAAAAAAAAAAAAAAAAAAAIAAgAAAAEAAgAAAAEAAAAAQAAABQAAAAQABQACAAGAAcADAAAABAAEAAAAAAAARgQAAAAGAAAAAQAAAAAAAAAAQAAAHMAAAAEAAQABAAAAJgAAABBUlJPVzE='

/** Numbers of types, as the footer of a Parquet file has them: doubled (zigzag). */
const [PARQUET_FLOAT, PARQUET_DOUBLE] = [8, 10]

/** Writes the result of a DuckDB query as Parquet. */
async function parquet(query: string, options = ''): Promise<Buffer> {
  const file = join(folder, 'a.parquet')
  await duckdb.run(`copy (${query}) to '${file}' (format parquet${options})`)
  return readBytes(file)
}

describe('Parquet', () => {
  const row = (k: number): unknown[] => [
    k,
    k * 1000,
    String(9007199254740993n + BigInt(k)),
    k / 3,
    Number(Math.fround(k / 7).toPrecision(8)),
    Number((k * 0.57).toFixed(2)),
    k % 2 === 0,
    `text "${k}" ü`,
    `2024-01-0${k + 1}`,
    k === 0 ? '2024-01-01 10:00:00' : `2024-01-01 10:00:0${k}.00012${k}`,
    `10:00:0${k}`,
    k % 3 === 0 ? null : k,
    [k, k + 1],
    { a: k, b: 'x' },
  ]
  const query = `select i::integer as i, (i * 1000)::bigint as big, (9007199254740993 + i)::bigint as huge,
    i / 3 as f, (i / 7)::float as single, (i * 0.57)::decimal(10, 2) as dec, i % 2 = 0 as ok,
    'text "' || i || '" ü' as s, date '2024-01-01' + i::integer as d,
    timestamp '2024-01-01 10:00:00' + interval (case when i = 0 then 0 else i * 1000000 + 120 + i end) microsecond as ts,
    time '10:00:00' + interval (i) second as tm, case when i % 3 = 0 then null else i end as n,
    [i, i + 1] as l, {'a': i, 'b': 'x'} as st from range(5) r(i)`

  it.each(['snappy', 'zstd', 'gzip', 'lz4_raw', 'brotli', 'uncompressed'])(
    'Parquet values of all types are exact: %s',
    async (codec) => {
      const [found] = await readFile(await parquet(query, `, codec '${codec}'`))
      expect(found.names).toEqual('i big huge f single dec ok s d ts tm n l st'.split(' '))
      expect(found.types).toEqual(
        'number number text number number number boolean text date datetime text number json json'.split(' '),
      )
      expect(found.rows).toEqual(Array.from({ length: 5 }, (_, k) => row(k)))
    },
  )

  it('several row groups become one table, in order', async () => {
    const file = await parquet('select i, i % 7 as m from range(10000) r(i)', ', row_group_size 2048')
    const [found] = await readFile(file)
    expect(found.rows).toEqual(Array.from({ length: 10_000 }, (_, k) => [k, k % 7]))
  })

  it('texts of a column that says it has times are kept', async () => {
    const [found] = await readFile(Buffer.from(TEXTS_AS_TIMES, 'base64'))
    expect(found.rows).toEqual([['C:\\temp\\new'], ['a","b'], ['x\\'], ['\u0001\nx']])
  })

  it('NaN and infinite numbers are null, with a warning', async () => {
    const [found] = await readFile(
      await parquet("select * from (values ('nan'::double), ('-infinity'::double), (1.5)) t(x)"),
    )
    expect(found.rows).toEqual([[null], [null], [1.5]])
    expect(found.warnings.join()).toMatch(/column x: 2 values that are not finite/)
  })

  it('lost values of a dictionary are counted once for each row', async () => {
    const query = "select (case when i % 2 = 0 then 'nan' else '1.5' end)::double as x from range(1000) r(i)"
    const [found] = await readFile(await parquet(query))
    expect(found.warnings.join()).toContain('column x: 500 values that are not finite')
  })

  it('pages with encodings that the file does not name are read', async () => {
    const query = "select '10:00:00+01'::timetz as x, i from range(3) r(i)"
    const [found] = await readFile(await parquet(query, ', parquet_version v2'))
    expect(found.rows).toEqual([0, 1, 2].map((i) => ['09:00:00Z', i]))
  })

  /** Each type with tricky values, compared with DuckDB's text. */
  const types: [type: string, values: string[]][] = [
    ['decimal(18, 2)', ['12345678901234.56', '-0.01', '0.50']],
    ['decimal(38, 10)', ['1234567890123456789012345678.0123456789', '-1.5000000000', '0.0000000000']],
    ['decimal(9, 4)', ['868.9700', '-12345.0001']],
    ['decimal(20, 0)', ['12345678901234567890', '-7']],
    ['date', ['0001-01-01', '1969-12-31', '9999-12-31']],
    ['timestamp', ['2024-01-01 00:00:00', '1969-12-31 23:59:59.999999', '0044-03-15 12:00:00']],
    ['timestamp_ns', ['2024-01-01 10:00:00.123456789', '1969-12-31 23:59:59.999999999']],
    ['timestamp_ms', ['2024-01-01 10:00:00.123', '1900-01-01 00:00:00']],
    ['time', ['00:00:00', '23:59:59.999999']],
    ['ubigint', ['18446744073709551615', '0']],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000']],
  ]
  it.each(types)('%s is read as DuckDB writes it', async (type, values) => {
    const rows = values.map((value) => `('${value}'::${type})`).join(', ')
    const [found] = await readFile(await parquet(`select v from (values ${rows}, (null)) t(v)`))
    expect(found.literals[0].slice(0, -1).map((text) => text.replace(/^"|"$/g, ''))).toEqual(values)
    expect(found.rows.at(-1)).toEqual([null])
  })

  /** Columns of random values, by a seed: with many or few distinct ones, with and without nulls. */
  const randomColumns = (seed: number): string[] => {
    const values = [
      ['bigint', '(h % 2000000000000) - 1000000000000'],
      ['bigint', 'h % 9'],
      ['integer', '(h % 200000)::integer - 100000'],
      ['utinyint', 'h % 256'],
      ['double', '((h % 100000) - 50000) / 100'],
      ['float', '(h % 64) / 4'],
      ['varchar', "'value ' || h"],
      [
        'varchar',
        "(['', 'a', 'say \"x\"', 'back\\\\slash', 'zwölf', '日本', 'line\n', '😀', chr(127)])[1 + h % 9]",
      ],
      ['date', "date '1970-01-01' + ((h % 60000)::integer - 30000)"],
      ['timestamp', "timestamp '2000-01-01' + to_seconds((h % 1000000000)::bigint - 500000000)"],
      ['timestamp_ms', "timestamp '2000-01-01' + to_milliseconds((h % 1000000000)::bigint)"],
      ['timestamp_ns', "timestamp '2000-01-01' + to_seconds((h % 1000000000)::bigint)"],
      ['boolean', 'h % 2 = 0'],
      ['decimal(12, 2)', '((h % 100000) - 50000) / 100'],
    ]
    return values.map(([type, value], k) => {
      const hash = `hash(i, ${seed}, ${k}) % 1000000007`
      const some = [
        value,
        `case when h % 5 < 2 then null else ${value} end`,
        `case when i < 900 then null else ${value} end`,
      ]
      return `(select ${some[(seed + k) % 3]} from (select (${hash})::bigint as h))::${type} as c${k}`
    })
  }
  it('random columns are read as DuckDB writes them, in any layout', async () => {
    for (let seed = 1; seed <= runs(6, 200); seed++) {
      const rows = [1, 100, 2048, 5000][seed % 4]
      await duckdb.run(
        `create or replace table random as select ${randomColumns(seed).join(', ')} from range(${rows}) r(i)`,
      )
      const layout = [
        `, codec '${['snappy', 'zstd', 'uncompressed', 'gzip', 'lz4_raw'][seed % 5]}'`,
        `, row_group_size ${2048 * (1 + (seed % 2))}, parquet_version v${1 + (seed % 2)}`,
        `, string_dictionary_page_size_limit ${seed % 3 === 0 ? 1 : 100000}`,
        `, dictionary_size_limit ${[1, 50, 100000][seed % 3]}`,
      ]
      const [found] = await readFile(await parquet('from random', layout.join('')))
      const texts = await duckdb.run('select columns(*)::varchar from random')
      const expected = (await texts.getRows()) as (string | null)[][]
      // DuckDB writes 1.0 for 1.
      const asText = (value: unknown, k: number): string | null =>
        value === null ? null : [4, 5, 13].includes(k) ? String(Number(value)) : String(value)
      expect(
        found.rows.map((row) => row.map(asText)),
        `seed ${seed}`,
      ).toEqual(expected.map((row) => row.map(asText)))
    }
  })

  it('timestamps with a zone are converted to UTC, with Z', async () => {
    const [found] = await readFile(await parquet(`select '2024-01-01 10:00:00+02'::timestamptz as t`))
    expect(found.rows).toEqual([['2024-01-01 08:00:00Z']])
  })

  it('UTC timestamps end in Z, also inside structs, where numbers keep their digits', async () => {
    const [found] = await readFile(
      await parquet(
        "select '10:11:12+02'::timetz as t, '01:00:00+02'::timetz as u, {'t': '10:11:12.5'::time, 'z': '2024-01-01 10:00:00+02'::timestamptz, 'f': 0.1::float, 'd': 0.3::decimal(5, 1), 'n': 'nan'::double} as s",
      ),
    )
    expect(found.rows).toEqual([
      ['08:11:12Z', '23:00:00Z', { t: '10:11:12.5', z: '2024-01-01 08:00:00Z', f: 0.1, d: 0.3, n: null }],
    ])
    expect(found.warnings.join()).toContain('column s: 1 values that are not finite')
  })

  it('two struct members of one name are refused', async () => {
    const file = await parquet("select {'a': 1, 'z': 2} as s")
    const twice = Buffer.from(file.toString('latin1').replaceAll('\u0001z', '\u0001a'), 'latin1')
    await expect(readFile(twice)).rejects.toThrow(/column s has two members s\.a/)
  })

  it('two columns of one name are read by position', async () => {
    const [found] = await readFile(await parquet('select 1 as a, 2 as b, 3 as c'))
    expect(found.rows).toEqual([[1, 2, 3]])
    const file = await parquet('select 1 as a, 2 as z, [3] as c')
    const twice = Buffer.from(file.toString('latin1').replaceAll('\u0001z', '\u0001a'), 'latin1')
    const [same] = await readFile(twice)
    expect([same.names, same.rows]).toEqual([['a', 'a (2)', 'c'], [[1, 2, [3]]]])
  })

  it('a truncated or altered Parquet file is refused or read, but never crashes', async () => {
    const file = await parquet(query)
    for (let k = 4; k < file.length; k += runs(997, 61)) {
      const changed = Buffer.from(file)
      changed[k] ^= 0x55
      for (const one of [file.subarray(0, k), changed]) {
        const outcome = await readFile(one, { fileName: 'a.parquet' }).catch(
          (error: { code: string }) => error.code,
        )
        if (typeof outcome === 'string') expect(outcome).toBe('bad_data')
      }
    }
  })

  it('a page whose header lacks sizes is refused, since the reader would not end', async () => {
    const file = await parquet('select (i % 50)::double as v from range(300) r(i)', ', parquet_version v2')
    const chunk = parquetMetadata(Uint8Array.from(file)).row_groups[0].columns[0].meta_data!
    let lacking = 0
    for (let bit = 0; bit < 64 * 8; bit++) {
      const bytes = Uint8Array.from(file.subarray(4, file.length - 8))
      bytes[bit >> 3] ^= 1 << (bit & 7)
      const header = (() => {
        try {
          return parquetHeader({ view: new DataView(bytes.buffer), offset: 0 }).data_page_header_v2
        } catch {
          return undefined
        }
      })()
      if (!header || !Object.values(header).includes(undefined)) continue
      lacking++
      expect(() => checkPages(bytes.buffer, chunk)).toThrow(/damaged/)
    }
    expect(lacking).toBeGreaterThan(0)
  })

  it('pages that do not have as many values as their chunk are refused', async () => {
    const file = await parquet('select [1, 2] as l from range(60)', ', parquet_version v2')
    const chunk = parquetMetadata(Uint8Array.from(file)).row_groups[0].columns[0].meta_data!
    const start = Number(chunk.dictionary_page_offset ?? chunk.data_page_offset)
    const end = start + Number(chunk.total_compressed_size)
    const pages = Uint8Array.from(file.subarray(start, end)).buffer
    checkPages(pages, chunk)
    expect(() => checkPages(pages, { ...chunk, num_values: chunk.num_values + 4n })).toThrow(
      /as many values as the file says/,
    )
  })

  it('texts that are not UTF-8 are in Base64', async () => {
    const file = await parquet("select 'abcde' as s, ['abcde'] as l from range(3)", ", codec 'uncompressed'")
    const [found] = await readFile(
      Buffer.from(file.toString('latin1').replaceAll('abcde', 'ab\u00ffde'), 'latin1'),
    )
    const base64 = Buffer.from('ab\u00ffde', 'latin1').toString('base64')
    expect(found.rows).toEqual(Array.from({ length: 3 }, () => [base64, [base64]]))
  })

  it('a column whose values have another type is refused', async () => {
    const file = await parquet('select i::double as v from range(10) r(i)')
    const metadata = parquetMetadata(Uint8Array.from(file))
    const footer = file.length - 8 - metadata.metadata_length
    // The footer has the type of the column in the schema, and that of its values in the row group.
    const refused = []
    for (let at = footer; at < file.length - 8; at++) {
      if (file[at] !== PARQUET_DOUBLE) continue
      const changed = Buffer.from(file)
      changed[at] = PARQUET_FLOAT
      const outcome = await readFile(changed, { fileName: 'a.parquet' }).catch(
        (error: Error) => error.message,
      )
      if (typeof outcome === 'string' && /v" is (FLOAT|DOUBLE), and its values are/.test(outcome))
        refused.push(outcome)
    }
    expect(refused.length).toBe(2)
  })

  it('too many columns and a high compression ratio are refused', async () => {
    const file = await parquet('select 1 as a, 2 as b, 3 as c')
    await expect(readFile(file, { limits: readLimits({ GRIDLINE_LIMIT_COLUMNS: '2' }) })).rejects.toThrow(
      /3 columns; the limit is 2/,
    )
    const zeros = await parquet(`select repeat('0', 20000000) as s`, `, codec 'zstd'`)
    await expect(
      readFile(zeros, { limits: readLimits({ GRIDLINE_LIMIT_COMPRESSION_RATIO: '10' }) }),
    ).rejects.toThrow(/grows too much/)
  })
})

it('pages of Parquet that differ from their checksums are refused', async () => {
  const file = Buffer.from(WITH_CHECKSUMS, 'base64')
  expect((await readFile(file))[0].rows).toEqual([
    [10, [1, 2]],
    [20, [3]],
    [30, []],
  ])
  for (const value of [20, 3]) {
    const damaged = Buffer.from(file)
    const bytes = Buffer.alloc(4)
    bytes.writeInt32LE(value)
    damaged[damaged.lastIndexOf(bytes, damaged.indexOf('schema'))] ^= 1
    await expect(readFile(damaged)).rejects.toThrow(/a page is damaged: it differs from its checksum/)
  }
})

it('texts keep U+FEFF at their begin, in lists and dictionaries, too', async () => {
  const texts = ['\ufeffOslo', 'Rome', '\ufeffOslo']
  const query = `select t, [t] as l from (values ${texts.map((text) => `('${text}')`).join(', ')}) as v(t)`
  expect((await readFile(await parquet(query)))[0].rows).toEqual(texts.map((text) => [text, [text]]))
  const table = new Table({
    t: vectorFromArray(texts, new Utf8()),
    d: vectorFromArray(texts, new Dictionary(new Utf8(), new Int8(), 1)),
  })
  expect((await readFile(tableToIPC(table, 'file')))[0].rows).toEqual(texts.map((text) => [text, text]))
})

describe('Arrow', () => {
  it('damaged data is refused, or has all rows and no missing values', async () => {
    const words = vectorFromArray(['a', 'b', 'a', 'c', 'b'], new Dictionary(new Utf8(), new Int8(), 1))
    const table = new Table({
      n: vectorFromArray([1, 2, 3, 4, 5], new Int32()),
      s: vectorFromArray(['one', 'two', 'three', 'four', 'five'], new Utf8()),
      w: words,
    })
    const whole = tableToIPC(table, 'stream')
    const [{ rows }] = await readFile(whole)
    const schemaEnd = 8 + Buffer.from(whole).readInt32LE(4)
    let refused = 0
    for (let k = schemaEnd; k < whole.length; k += runs(29, 1)) {
      const damaged = Buffer.from(whole)
      damaged[k] ^= 0x41
      const found = await readFile(damaged).catch((error: { code: string }) => error.code)
      if (typeof found === 'string') {
        expect(found).toBe('bad_data')
        refused++
        continue
      }
      expect([k, found[0].rows.length]).toEqual([k, rows.length])
      expect([k, found[0].rows.flat().filter((value) => value === null)]).toEqual([k, []])
    }
    expect(refused).toBeGreaterThan(2)
  })

  it('texts that are not UTF-8 are refused', async () => {
    const whole = tableToIPC(new Table({ s: vectorFromArray(['abcde'], new Utf8()) }), 'stream')
    const odd = Buffer.from(Buffer.from(whole).toString('latin1').replace('abcde', 'ab\u00ffde'), 'latin1')
    await expect(readFile(odd)).rejects.toThrow(/a text is not UTF-8/)
    // A character that two texts share.
    const pair = Buffer.from(
      tableToIPC(new Table({ s: vectorFromArray(['abc', 'def'], new Utf8()) }), 'stream'),
    )
    const shared = Buffer.from(pair.toString('latin1').replace('abcdef', 'ab\u00c3\u00a4ef'), 'latin1')
    await expect(readFile(shared)).rejects.toThrow(/a text is not UTF-8/)
    await expect(readFile(Buffer.from(ODD_VIEW, 'base64'))).rejects.toThrow(/a text is not UTF-8/)
    // Nulls may have any bytes.
    expect((await readFile(Buffer.from(ODD_NULL, 'base64')))[0].rows).toEqual([['a'], [null], ['bc']])
  })

  it('a file whose footer lists fewer batches than it has is refused', async () => {
    const batches = [1, 2, 3].map((k) => new Table({ n: vectorFromArray([k], new Int32()) }).batches[0])
    const file = Buffer.from(tableToIPC(new Table(batches), 'file'))
    expect((await readFile(file))[0].rows).toEqual([[1], [2], [3]])
    // The number of batches in the vector of their places, which ends the footer.
    const footer = file.length - 10 - file.readInt32LE(file.length - 10)
    const at = file.indexOf(Buffer.from([3, 0, 0, 0]), footer)
    const damaged = Buffer.from(file)
    damaged[at] = 0
    await expect(readFile(damaged)).rejects.toThrow(/damaged/)
  })

  it('an Arrow stream of a version before 0.15 is named', async () => {
    const stream = Buffer.concat([Buffer.from([0x80, 0, 0, 0, 0x10, 0, 0, 0]), Buffer.alloc(200)])
    for (const fileName of ['old.arrow', 'old.arrows', 'old.feather'])
      await expect(readFile(stream, { fileName })).rejects.toThrow(/before 0\.15/)
  })

  const table = tableFromArrays({
    i: Int32Array.from([1, 2, 3]),
    f: Float64Array.from([1.5, Number.NaN, 3]),
    g: Float32Array.from([0.1, 0.2, 0.3]),
    s: ['a', 'b "q"', null],
    big: BigInt64Array.from([1n, 2n, 9007199254740993n]),
    d: [new Date('2024-01-01T00:00:00Z'), new Date('2024-01-02T10:00:00.500Z'), null],
    ok: [true, false, null],
  })

  it.each(['file', 'stream'] as const)('Arrow values are exact: %s', async (format) => {
    const [found] = await readFile(tableToIPC(table, format))
    expect(found.names).toEqual(['i', 'f', 'g', 's', 'big', 'd', 'ok'])
    expect(found.rows).toEqual([
      [1, 1.5, 0.1, 'a', '1', '2024-01-01 00:00:00', true],
      [2, null, 0.2, 'b "q"', '2', '2024-01-02 10:00:00.5', false],
      [3, 3, 0.3, null, '9007199254740993', null, null],
    ])
  })

  it('UUIDs and booleans of a byte are read as such, also in lists and structs', async () => {
    const bytes = [Buffer.alloc(16, '0'), null, Buffer.alloc(16, 0xff)]
    const texts = ['30303030-3030-3030-3030-303030303030', null, 'ffffffff-ffff-ffff-ffff-ffffffffffff']
    const extension = (name: string): Map<string, string> =>
      new Map([['ARROW:extension:name', `arrow.${name}`]])
    const uuid = new Field('u', new FixedSizeBinary(16), true, extension('uuid'))
    const flag = new Field('b', new Int8(), true, extension('bool8'))
    const nested = new Struct<{ u: FixedSizeBinary }>([uuid])
    const schema = new Schema([uuid, flag, new Field('s', nested, true)])
    const table = new Table(schema, {
      u: vectorFromArray(bytes, uuid.type),
      b: vectorFromArray([0, null, 5], new Int8()),
      s: vectorFromArray(
        bytes.map((u) => ({ u })),
        nested,
      ),
    })
    const [found] = await readFile(tableToIPC(table))
    expect(found.rows).toEqual(texts.map((text, k) => [text, [false, null, true][k], { u: text }]))
    // Of another type, the name means nothing.
    const words = new Field('w', new Utf8(), true, extension('uuid'))
    const other = new Table(new Schema([words]), { w: vectorFromArray(['a', null], words.type) })
    expect((await readFile(tableToIPC(other)))[0].rows).toEqual([['a'], [null]])
  })

  it.each(['lz4', 'zstd'])('Arrow buffers compressed with %s are read', async (codec) => {
    const file = await readBytes(new URL(`../data/arrow/${codec}.feather`, import.meta.url))
    const [found] = await readFile(file)
    expect(found.rows).toEqual(Array.from({ length: 2000 }, (_, k) => [k % 10, `row ${k % 7}`]))
    for (let k = 8; k < file.length; k += runs(421, 29)) {
      const changed = Buffer.from(file)
      changed[k] ^= 0xff
      const outcome = await readFile(changed).catch((error: { code: string }) => error.code)
      if (typeof outcome === 'string') expect(outcome).toBe('bad_data')
    }
  })
})

describe('Arrow dictionaries', () => {
  /** Writes a stream. Before each batch of rows, it replaces the dictionaries of all columns. */
  const write = (types: DataType[], batches: unknown[][][]): Uint8Array => {
    const fields = types.map((type, k) => new Field(`c${k}`, new Dictionary(type, new Int8(), k + 1), true))
    const schema = new Schema(fields)
    const writer = new RecordBatchStreamWriter()
    for (const columns of batches) {
      const children = columns.map((values, k) => {
        const words = [...new Set(values)]
        const data = Int8Array.from(values, (value) => words.indexOf(value))
        const { type } = fields[k]
        const dictionary = vectorFromArray(words, types[k])
        return new Vector([makeData({ type, length: values.length, nullCount: 0, data, dictionary })]).data[0]
      })
      const length = columns[0].length
      writer.write(
        new RecordBatch(schema, makeData({ type: new Struct(fields), length, nullCount: 0, children })),
      )
    }
    writer.finish()
    return writer.toUint8Array(true)
  }

  it('rows have the words of the dictionary that was sent last before them', async () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 3, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(words, words), { minLength: 1, maxLength: 6 }), async (batches) => {
        const [found] = await readFile(write([new Utf8(), new Utf8()], batches))
        expect(found.rows).toEqual(batches.flatMap(([a, b]) => a.map((word, k) => [word, b[k]])))
      }),
      { numRuns: runs(8, 300) },
    )
  })

  it('integers beyond 2^53 in a dictionary are text', async () => {
    const [found] = await readFile(write([new Int64()], [[[1n, 2n]], [[9007199254740993n, 1n]]]))
    expect(found.rows).toEqual([['1'], ['2'], ['9007199254740993'], ['1']])
  })

  it('durations are clocks', async () => {
    const values = vectorFromArray([1500n, -1n, 93_600_000n, null], new DurationMillisecond())
    const [found] = await readFile(tableToIPC(new Table({ d: values })))
    expect(found.rows).toEqual([['00:00:01.5'], ['-00:00:00.001'], ['26:00:00'], [null]])
  })
})

describe('OpenDocument spreadsheets', () => {
  const ods = (sheets: string): Promise<Buffer> =>
    zip({
      mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
      'META-INF/manifest.xml': '<manifest/>',
      'content.xml': `<?xml version="1.0"?><office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:calcext="c"><office:body><office:spreadsheet>${sheets}</office:spreadsheet></office:body></office:document-content>`,
    })
  const text = (value: string): string =>
    `<table:table-cell office:value-type="string"><text:p>${value}</text:p></table:table-cell>`
  const number = (value: number): string =>
    `<table:table-cell office:value-type="float" office:value="${value}"><text:p>shown</text:p></table:table-cell>`
  const sheet = (name: string, rows: string[]): string =>
    `<table:table table:name="${name}">${rows.map((row) => `<table:table-row>${row}</table:table-row>`).join('')}<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="1024"/></table:table-row></table:table>`

  it('ODS numbers, texts, dates, times, repeated and empty cells are read', async () => {
    const file = await ods(
      sheet('One', [
        text('a') + text('b') + text('c') + text('d'),
        number(1.5) +
          text('x<text:s text:c="2"/>y</text:p><text:p>z') +
          '<table:table-cell office:value-type="date" office:date-value="2024-01-31"/>' +
          '<table:table-cell office:value-type="time" office:time-value="PT10H30M00S"/>',
        '<table:table-cell office:value-type="float" office:value="7" table:number-columns-repeated="2"/><table:table-cell table:number-columns-repeated="2"/>',
        number(-2) +
          '<table:table-cell office:value-type="string"><office:annotation><text:p>a remark</text:p></office:annotation><text:p>n</text:p></table:table-cell>' +
          '<table:table-cell office:value-type="string" calcext:value-type="error"><text:p>#REF!</text:p></table:table-cell>',
      ]),
    )
    const [found] = await readFile(file)
    expect(found.names).toEqual(['a', 'b', 'c', 'd'])
    expect(found.rows).toEqual([
      [1.5, 'x  y\nz', '2024-01-31', '10:30:00'],
      [7, '7', null, null],
      [-2, 'n', null, null],
    ])
    expect(found.warnings.join()).toMatch(/formula errors/)
    const amount = (value: number, currency: string): string =>
      `<table:table-cell office:value-type="currency" office:currency="${currency}" office:value="${value}"/>`
    const mixed = [text('a'), amount(12.5, 'EUR'), amount(3, 'USD')]
    const [amounts] = await readFile(await ods(sheet('One', mixed)))
    expect([amounts.rows, amounts.warnings.join()]).toEqual([
      [[12.5], [3]],
      expect.stringMatching(/line 3: amounts in another currency|amounts in another currency.*line 3/),
    ])
    const old = await ods(
      sheet('One', [
        text('a') + text('b'),
        ...['#DIV/0!', 'Err:502', '5'].map(
          (shown, k) =>
            number(k) +
            `<table:table-cell table:formula="of:=1/0" office:value-type="float" office:value="0"><text:p>${shown}</text:p></table:table-cell>`,
        ),
      ]),
    )
    const [inOld] = await readFile(old)
    expect(inOld.rows).toEqual([
      [0, null],
      [1, null],
      [2, 0],
    ])
    expect(inOld.warnings.join()).toMatch(/formula errors/)
  })

  it('each ODS sheet becomes a table; --sheet and --range select', async () => {
    const file = await ods(
      sheet('One', [text('a') + text('b'), number(1) + number(2)]) +
        sheet('Empty', []) +
        sheet('Two', [text('c') + text('d'), number(3) + number(4), number(5) + number(6)]),
    )
    const tables = await readFile(file)
    expect(tables.map(({ path, rows }) => [path, rows])).toEqual([
      [['One'], [[1, 2]]],
      [
        ['Two'],
        [
          [3, 4],
          [5, 6],
        ],
      ],
    ])
    const [chosen] = await readFile(file, { sheet: 'two', range: 'B:B' })
    expect([chosen.names, chosen.rows]).toEqual([['d'], [[4], [6]]])
    await expect(readFile(file, { sheet: 'Three' })).rejects.toThrow(/no sheet "Three"/)
  })

  it('many ODS sheets are read in one pass; a table in a cell is not a sheet', async () => {
    const inner =
      '<table:table table:name="Inner"><table:table-row><table:table-cell/></table:table-row></table:table>'
    const names = Array.from({ length: 60 }, (_, k) => `Sheet ${k}`)
    const rows = (k: number): string[] =>
      Array.from({ length: k % 7 === 0 ? 300 : 1 }, (_, r) => number(k) + text(`row ${r} of ${k}`))
    const file = await ods(
      names
        .map((name, k) =>
          sheet(name, [text('n') + text('t'), ...rows(k)]).replace('row 0 of 5<', `row 0 of 5${inner}<`),
        )
        .join(''),
    )
    const tables = await readFile(file)
    expect(tables.map(({ path }) => path)).toEqual(names.map((name) => [name]))
    for (const [k, table] of tables.entries())
      expect(table.rows).toEqual(rows(k).map((_, r) => [k, `row ${r} of ${k}`]))
  })

  it('ODS rows and cells that are repeated too often are refused', async () => {
    const long = 'x'.repeat(100_000)
    const cells = `<table:table-cell office:value-type="string" table:number-columns-repeated="16000"><text:p>${long}</text:p></table:table-cell>`
    await expect(readFile(await ods(sheet('One', [cells])))).rejects.toThrow(/too large, or is repeated/)
    const rows = `<table:table table:name="One"><table:table-row table:number-rows-repeated="1000000">${text(long)}</table:table-row></table:table>`
    await expect(readFile(await ods(rows))).rejects.toThrow(/too large, or is repeated/)
  })

  it('an OpenDocument text is refused', async () => {
    const file = await zip({
      'META-INF/manifest.xml': '<manifest/>',
      'content.xml': '<office:document-content xmlns:office="o"><office:text/></office:document-content>',
    })
    await expect(readFile(file)).rejects.toThrow(/not a spreadsheet/)
  })
})

describe('compressed files', () => {
  // a,b / 1,x / 2,y, compressed by zstd 1.5 and bzip2 1.0.
  const zstd = Buffer.from('KLUv/SQMYQAAYSxiCjEseAoyLHkKLp8hRg==', 'base64')
  const bzip2 = Buffer.from(
    'QlpoOTFBWSZTWbzHKEUAAARZgAAQAAQwADAAAGAgADEMCCNBmo4EIheLuSKcKEheY5QigA==',
    'base64',
  )

  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4])
  const hasZstd = 'createZstdDecompress' in zlib

  it.skipIf(hasZstd)('zstd is refused on Node.js versions without it', async () => {
    await expect(readFile(zstd)).rejects.toThrow(/needs Node.js 22.15/)
  })

  it.each([
    ...(hasZstd
      ? ([
          ['zstd', zstd],
          ['two zstd frames', Buffer.concat([skippable, zstd, skippable, zstd])],
        ] as const)
      : []),
    ['bzip2', bzip2] as const,
    ['two bzip2 streams', Buffer.concat([bzip2, bzip2])] as const,
  ])('%s is decompressed in chunks of any size', async (name, file) => {
    const twice = name.startsWith('two')
    for (const pieces of [1, 7, 1024]) {
      const [found] = await readFile(file, { fileName: 'a.csv.x' }, pieces)
      expect(found.names).toEqual(['a', 'b'])
      expect(found.rows).toEqual([
        [1, 'x'],
        [2, 'y'],
        ...(twice
          ? [
              [1, 'x'],
              [2, 'y'],
            ]
          : []),
      ])
    }
  })

  it.skipIf(!hasZstd)('a zstd file of many blocks is decompressed completely', async () => {
    const rows = Array.from({ length: 200_000 }, (_, k) => [k, `text ${k % 977}`])
    const text = `a,b\n${rows.map((row) => row.join(',')).join('\n')}\n`
    const { zstdCompressSync } = zlib as unknown as { zstdCompressSync: (text: string) => Buffer }
    const [found] = await readFile(zstdCompressSync(text), {}, 65_536)
    expect(found.rows).toEqual(rows)
  })

  it.each([...(hasZstd ? [['zstd', zstd] as const] : []), ['bzip2', bzip2] as const])(
    'truncated or altered %s is refused',
    async (name, file) => {
      for (let length = 5; length < file.length; length++)
        await expect(readFile(file.subarray(0, length))).rejects.toThrow(`${name} data is truncated`)
      const changed = Buffer.from(file)
      changed[8] ^= 0xff
      await expect(readFile(changed)).rejects.toThrow(name)
    },
  )
})
