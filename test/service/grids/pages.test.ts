// Pages of Parquet files: the kernel and TypeScript code encode the same values and find the same facts.
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { ENCODINGS, FACTS, PageEncoder } from '../../../src/service/grids/column/kernel/pages.ts'
import { KernelPool } from '../../../src/service/grids/column/kernel/pool.ts'
import { runs } from '../../support/property-runs.ts'

afterAll(() => {
  KernelPool.use = 'large'
})

type Encoding = keyof typeof ENCODINGS

/** Encodes column JSON, and returns all pages and facts as one text. */
function encode(use: typeof KernelPool.use, encoding: Encoding, text: string, pieces: number): string {
  KernelPool.use = use
  const encoder = PageEncoder.create(1, text.length)
  const buf = Buffer.from(text)
  const pages: unknown[] = []
  const take = (): void => {
    const { levels, values, low, high, ...page } = encoder.take(encoding)
    pages.push({
      ...page,
      low: `${low}`,
      high: `${high}`,
      levels: levels.toString('hex'),
      values: values.toString('hex'),
    })
  }
  for (let at = 0; at < buf.length; ) {
    const added = encoder.add(encoding, buf, at, pieces)
    at = added.end
    if (added.isFull) take()
  }
  take()
  return JSON.stringify([pages, encoder.takeFacts()])
}

const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,20})?([eE][+-]?\d{1,2})?$/)
const moment = fc.stringMatching(
  /^\d{4}-[01]\d-[0-3]\d([T ][0-2]\d:[0-6]\d(:[0-6]\d(\.\d{1,9})?)?(Z|[+-][0-2]\d(:?[0-6]\d)?)?)?$/,
)
const nearMoment = fc
  .tuple(moment, fc.nat(30), fc.constantFrom('', '-', ':', '.', 'Z', ' ', '5', 'x'))
  .map(([text, at, other]) => text.slice(0, at) + other + text.slice(at + 1))
const texts: Record<Encoding, fc.Arbitrary<string>> = {
  integer: fc.oneof(digits, fc.stringMatching(/^-?(0|[1-9]\d{0,24})\.0{1,20}$/)),
  double: fc.oneof(digits, fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(String)),
  day: fc
    .oneof(
      moment,
      moment.map((text) => text.slice(0, 10)),
      nearMoment,
    )
    .map((text) => JSON.stringify(text)),
  time: fc.oneof(moment, nearMoment).map((text) => JSON.stringify(text)),
  text: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => JSON.stringify(text)),
    fc
      .string({ unit: fc.constantFrom('"', '\\', '\n', '\t', '/', 'é', 'a'), maxLength: 40 })
      .map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\u00e9\\/"', '1.50', 'true', '[1,\n 2]', '{"a": ","}', '""'),
  ),
  json: fc
    .jsonValue()
    .map((value) => JSON.stringify(value))
    .filter((text) => text !== 'null'),
  boolean: fc.constantFrom('true', 'false'),
}

it('the kernel and TypeScript code encode the same values and find the same facts', () => {
  const column = fc.constantFrom(...(Object.keys(ENCODINGS) as Encoding[])).chain((encoding) =>
    fc.tuple(
      fc.constant(encoding),
      fc.array(
        fc.oneof({ weight: 9, arbitrary: texts[encoding] }, { weight: 1, arbitrary: fc.constant('null') }),
        {
          minLength: 1,
          maxLength: 30,
        },
      ),
      fc.constantFrom(',', ' , ', ',\n'),
      fc.integer({ min: 1, max: 40 }),
    ),
  )
  fc.assert(
    fc.property(column, ([encoding, values, separator, pieces]) => {
      const text = values.join(separator)
      expect(encode('always', encoding, text, pieces)).toBe(encode('never', encoding, text, 1000))
    }),
    { numRuns: runs(700, 50_000) },
  )
})

it('pages end when they are full, and a value that is larger has its own', () => {
  const long = JSON.stringify('x'.repeat(3_000_000))
  const values = [...Array<string>(200_000).fill('"abc"'), long, 'null', '"d"', long]
  const sizes = (use: typeof KernelPool.use): [number, number][] => {
    KernelPool.use = use
    const text = Buffer.from(values.join(','))
    const encoder = PageEncoder.create(1, 1000)
    const pages: [number, number][] = []
    for (let at = 0; at < text.length; ) {
      const { end, isFull } = encoder.add('text', text, at, values.length)
      at = end
      if (!isFull && at < text.length) throw new Error('neither full nor at the end')
      const page = encoder.take('text')
      pages.push([page.rows, page.values.length])
    }
    return pages
  }
  const pages = sizes('always')
  expect(pages).toEqual(sizes('never'))
  expect(pages.reduce((sum, [rows]) => sum + rows, 0)).toBe(values.length)
  expect(pages.filter(([, bytes]) => bytes > 1_048_576).map(([, bytes]) => bytes)).toEqual([
    3_000_004, 3_000_004,
  ])
})

it('facts tell what is true of the values', () => {
  const factsOf = (encoding: Encoding, ...values: string[]): number => {
    const encoder = PageEncoder.create(1, 1000)
    encoder.add(encoding, Buffer.from(values.join(',')), 0, values.length)
    return encoder.takeFacts()
  }
  for (const use of ['always', 'never'] as const) {
    KernelPool.use = use
    expect(factsOf('integer', 'null')).toBe(0)
    expect(factsOf('integer', '5', '-7')).toBe(FACTS.whole)
    expect(factsOf('integer', '-0')).toBe(FACTS.negativeZero)
    expect(factsOf('integer', '1e3', '2.0')).toBe(FACTS.fraction | FACTS.whole)
    expect(factsOf('integer', '2.50', '1e-3')).toBe(FACTS.fraction | FACTS.part)
    expect(factsOf('integer', '-0.0')).toBe(FACTS.fraction | FACTS.negativeZero)
    expect(factsOf('integer', '9223372036854775807', '-9223372036854775808')).toBe(FACTS.whole)
    expect(factsOf('integer', '9223372036854775808')).toBe(FACTS.wide)
    expect(factsOf('integer', `1${'0'.repeat(40)}`)).toBe(FACTS.wide | FACTS.vast)
    expect(factsOf('day', '"2024-02-29"')).toBe(FACTS.day)
    expect(factsOf('day', '"2023-02-29"')).toBe(FACTS.unreadable)
    expect(factsOf('time', '"2024-01-31 10:00"')).toBe(FACTS.space | FACTS.local | FACTS.noSeconds)
    expect(factsOf('time', '"2024-01-31T10:00:00.120Z"')).toBe(FACTS.letter | FACTS.utc | FACTS.padded)
    expect(factsOf('time', '"2024-01-31T10:00:00.1234567+05:30"')).toBe(
      FACTS.letter | FACTS.offset | FACTS.nanoseconds,
    )
  }
})
