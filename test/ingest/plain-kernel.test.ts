// Values of Parquet pages are written by the kernel as by the reader of the library.
import fc from 'fast-check'
import type { ColumnMetaData, PageHeader, SchemaTree } from 'hyparquet'
import { expect, it } from 'vitest'
import { type FlatColumn, readFlatColumn } from '../../src/ingest/columnar/flat-column.ts'
import { JsonText } from '../../src/ingest/columnar/json-text.ts'
import {
  createDecimalWriter,
  formatDay,
  formatTimestamp,
  type ToJson,
  toNumberJson,
  toSingleJson,
  toStringJson,
  toTimeJson,
} from '../../src/ingest/columnar/json-values.ts'
import { type PlainForm, PlainKernel } from '../../src/ingest/kernel/plain.ts'
import { runs } from '../support/property-runs.ts'

type Element = SchemaTree['element']

/** A kind of column: its type, how the reader writes it, and how the kernel does. */
interface Kind {
  element: Pick<Element, 'type' | 'converted_type' | 'logical_type'>
  toJson: ToJson
  form: PlainForm
  /** Bytes of a random value. */
  value: fc.Arbitrary<Buffer>
}

const parsers = {
  timestampFromMilliseconds: (ms: bigint) => formatTimestamp(ms, 1000n),
  timestampFromMicroseconds: (micros: bigint) => formatTimestamp(micros, 1_000_000n),
  timestampFromNanoseconds: (nanos: bigint) => formatTimestamp(nanos, 1_000_000_000n),
  dateFromDays: formatDay,
} as unknown as FlatColumn['parsers']

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

function single(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

function byteArray(bytes: Buffer): Buffer {
  return Buffer.concat([int32(bytes.length), bytes])
}

const anyInt32 = fc.oneof(
  fc.integer(),
  fc.integer({ min: -200, max: 200 }),
  fc.constantFrom(-(2 ** 31), 2 ** 31 - 1),
)
const anyInt64 = fc.oneof(
  fc.bigInt({ min: MIN_INT64, max: MAX_INT64 }),
  fc.bigInt({ min: -1000n, max: 1000n }),
  fc.bigInt({ min: -(2n ** 34n), max: 2n ** 34n }),
  fc.constantFrom(MIN_INT64, MAX_INT64, 0n, 99_999_999n, 100_000_000n, 2n ** 32n, 10n ** 16n),
)
const decimals = fc
  .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.nat(12))
  .map(([digits, places]) => digits / 10 ** places)
const oddNumbers = [0.1, 1e-6, 9.9e-7, 5e-324, 1e21, 1e15 + 0.5, 123456789012345.6, 0.1 + 0.2, 2 ** 53, -0]
const anyDouble = fc.oneof(
  { weight: 3, arbitrary: decimals },
  fc.double(),
  fc.constantFrom(...oddNumbers, Number.NaN, Number.POSITIVE_INFINITY),
)
const anySingle = fc.oneof(
  { weight: 3, arbitrary: decimals },
  fc.float(),
  fc.constantFrom(16_777_216, 123456.789, 0.3, 1e-7, 3.4e38),
)
/** Days around those of calendars, mostly of the years 0 to 9999. */
const anyDay = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -719_600, max: 2_933_000 }) },
  fc.integer({ min: -5, max: 400 }),
  fc.integer({ min: -(10 ** 7), max: 10 ** 7 }),
)
const character = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('a', 'b', ' ', '!', '"', '\\', '0', '/') },
  fc.constantFrom('ä', '😀', '\n', '\t', '\u0000', '\u001f', '\u007f', '\u2028', '\ufeff'),
)
const anyText = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.array(character, { maxLength: 40 }).map((parts) => Buffer.from(parts.join(''))),
  },
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
)

const DIGITS_BY_UNIT = { MILLIS: 3, MICROS: 6, NANOS: 9 } as const

function timesIn(unit: keyof typeof DIGITS_BY_UNIT, isUtc: boolean): Kind {
  const digits = DIGITS_BY_UNIT[unit]
  const perSecond = 10n ** BigInt(digits)
  const fraction = fc.oneof(
    fc.constant(0n),
    fc.bigInt({ min: 0n, max: perSecond - 1n }),
    fc.constant(perSecond / 2n),
  )
  return {
    element: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: isUtc, unit } },
    toJson: (value, lost) =>
      toTimeJson(value === null || value === undefined ? value : `${value}${isUtc ? 'Z' : ''}`, lost),
    form: { kind: 'time', digits, separator: ' ', isUtc },
    value: fc
      .tuple(anyDay, fc.nat(86_399), fraction)
      .map(([day, second, rest]) =>
        int64(BigInt.asIntN(64, (BigInt(day) * 86_400n + BigInt(second)) * perSecond + rest)),
      ),
  }
}

const KINDS: Record<string, Kind> = {
  'integers of 32 bits': {
    element: { type: 'INT32' },
    toJson: toNumberJson,
    form: { kind: 'integer', bytes: 4, scale: 0, isQuoted: false },
    value: anyInt32.map(int32),
  },
  'integers of 64 bits': {
    element: { type: 'INT64' },
    toJson: toNumberJson,
    form: { kind: 'integer', bytes: 8, scale: 0, isQuoted: false },
    value: anyInt64.map(int64),
  },
  'integers that become text': {
    element: { type: 'INT64' },
    toJson: toStringJson,
    form: { kind: 'integer', bytes: 8, scale: 0, isQuoted: true },
    value: anyInt64.map(int64),
  },
  'decimals of 32 bits': {
    element: { type: 'INT32' },
    toJson: createDecimalWriter(2, false),
    form: { kind: 'integer', bytes: 4, scale: 2, isQuoted: false },
    value: anyInt32.map(int32),
  },
  'decimals of 64 bits': {
    element: { type: 'INT64' },
    toJson: createDecimalWriter(18, false),
    form: { kind: 'integer', bytes: 8, scale: 18, isQuoted: false },
    value: anyInt64.map(int64),
  },
  doubles: {
    element: { type: 'DOUBLE' },
    toJson: toNumberJson,
    form: { kind: 'double' },
    value: anyDouble.map(double),
  },
  singles: {
    element: { type: 'FLOAT' },
    toJson: toSingleJson,
    form: { kind: 'single' },
    value: anySingle.map(single),
  },
  days: {
    element: { type: 'INT32', converted_type: 'DATE' },
    toJson: toTimeJson,
    form: { kind: 'day' },
    value: anyDay.map(int32),
  },
  'times in milliseconds': timesIn('MILLIS', false),
  'times in microseconds, in UTC': timesIn('MICROS', true),
  'times in nanoseconds': timesIn('NANOS', false),
  texts: {
    element: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    toJson: toStringJson,
    form: { kind: 'text' },
    // The reader decodes texts only of columns with this type; both write other bytes in Base64.
    value: anyText.map(byteArray),
  },
}

/** Encodes bits as one packed run. */
function packedRun(values: readonly number[], width: number): Buffer {
  const groups = Math.ceil(values.length / 8)
  const bytes = Buffer.alloc(groups * width)
  for (const [k, value] of values.entries())
    for (let bit = 0; bit < width; bit++)
      if ((value >> bit) & 1) bytes[(k * width + bit) >> 3] |= 1 << ((k * width + bit) & 7)
  const header = (groups << 1) | 1
  const varint: number[] = []
  for (let left = header; ; left >>>= 7) {
    varint.push(left > 127 ? (left & 127) | 128 : left)
    if (left <= 127) break
  }
  return Buffer.concat([Buffer.from(varint), bytes])
}

/** A page of rows; those without a value are null. */
function pageOf(rows: readonly boolean[], body: Buffer, encoding: 'PLAIN' | 'RLE_DICTIONARY') {
  const levels = packedRun(
    rows.map((isValue) => (isValue ? 1 : 0)),
    1,
  )
  const packed = Buffer.concat([int32(levels.length), levels, body])
  const header = {
    type: 'DATA_PAGE',
    uncompressed_page_size: packed.length,
    compressed_page_size: packed.length,
    data_page_header: { num_values: rows.length, encoding },
  }
  return { header: header as PageHeader, packed }
}

/** Reads pages of a column as JSON. `form`: as the kernel does. */
function readPages(
  pages: readonly { header: PageHeader; packed: Uint8Array }[],
  { element, toJson }: Kind,
  form: PlainForm | undefined,
): { json: string; infinite: number } {
  const losses = { infinite: 0 }
  const field = { element: { name: 'v', repetition_type: 'OPTIONAL', ...element }, children: [] }
  const column = { field: field as unknown as SchemaTree, toJson, form, losses, parsers, compressors: {} }
  const meta = { codec: 'UNCOMPRESSED' } as ColumnMetaData
  const parts: string[] = []
  for (const { text } of readFlatColumn(pages, column, meta, new JsonText()))
    parts.push(Buffer.from(text).toString())
  return { json: parts.join(), infinite: losses.infinite }
}

/** Numbers of rows whose values are repeated, so that pages are longer than what the kernel reads at once. */
const repeats = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 1200 }))

it.each(Object.entries(KINDS))('%s', (name, kind) => {
  expect(PlainKernel.open()).toBeDefined()
  const cells = fc.array(fc.option(kind.value, { freq: 6, nil: undefined }), { maxLength: 60 })
  fc.assert(
    fc.property(cells, repeats, fc.boolean(), (list, times, isWord) => {
      const rows = Array.from({ length: times }, () => list).flat()
      const isValue = rows.map((value) => value !== undefined)
      const values = rows.filter((value) => value !== undefined)
      const distinct = [...new Set(values)]
      const words = Buffer.concat(distinct)
      const pages = isWord
        ? [
            {
              header: {
                type: 'DICTIONARY_PAGE',
                uncompressed_page_size: words.length,
                dictionary_page_header: { num_values: distinct.length },
              } as PageHeader,
              packed: words,
            },
            pageOf(
              isValue,
              Buffer.concat([
                Buffer.from([8]),
                packedRun(
                  values.map((value) => distinct.indexOf(value)),
                  8,
                ),
              ]),
              'RLE_DICTIONARY',
            ),
          ]
        : [pageOf(isValue, Buffer.concat(values), 'PLAIN')]
      const found = readPages(pages, kind, kind.form)
      expect(found).toEqual(readPages(pages, kind, undefined))
      expect(found.json === '' ? 0 : JSON.parse(`[${found.json}]`).length, name).toBe(rows.length)
    }),
    { numRuns: runs(150, 5000) },
  )
})

it('texts longer than the memory of the kernel, and dictionaries larger than it, are read', () => {
  const kind = KINDS.texts
  const texts = [
    'a'.repeat(300_000),
    '"'.repeat(200_000),
    'ä'.repeat(140_000),
    'b',
    ...Array(9).fill('c'.repeat(90_000)),
  ]
  const values = Buffer.concat(texts.map((text) => byteArray(Buffer.from(text))))
  const page = pageOf(
    texts.map(() => true),
    values,
    'PLAIN',
  )
  const words = {
    header: {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: values.length,
      dictionary_page_header: { num_values: texts.length },
    } as PageHeader,
    packed: values,
  }
  const indexes = pageOf(
    texts.map(() => true),
    Buffer.concat([
      Buffer.from([8]),
      packedRun(
        texts.map((_, k) => k),
        8,
      ),
    ]),
    'RLE_DICTIONARY',
  )
  for (const pages of [[page], [words, indexes], [page, page]]) {
    const found = JSON.parse(`[${readPages(pages, kind, kind.form).json}]`)
    expect(found).toEqual(pages.length === 2 && pages[0] === page ? [...texts, ...texts] : texts)
  }
})

it('an index without a value, and a text that ends after its page, are refused', () => {
  const kind = KINDS.texts
  const words = {
    header: {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: 5,
      dictionary_page_header: { num_values: 1 },
    } as PageHeader,
    packed: byteArray(Buffer.from('a')),
  }
  const index = pageOf(
    [true, true],
    Buffer.concat([Buffer.from([8]), packedRun([0, 1], 8)]),
    'RLE_DICTIONARY',
  )
  const long = pageOf([true, true], Buffer.concat([byteArray(Buffer.from('a')), int32(99)]), 'PLAIN')
  for (const form of [kind.form, undefined]) {
    expect(() => readPages([words, index], kind, form)).toThrow('no such value')
    expect(() => readPages([long], kind, form)).toThrow()
  }
})
