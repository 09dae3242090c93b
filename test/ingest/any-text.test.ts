// Random texts are read, or refused with a reason, alike in chunks of any size.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Kernel } from '../../src/ingest/kernel/index.ts'
import { read } from './read.ts'

/** Fragments with a meaning for the reader. */
const part = fc.constantFrom(
  ...['a', 'b', 'name', '1', '2.5', '1,5', '1,234', '2024-01-01', '10:00', '', ' ', '  ', '"', '""', '"x"'],
  ...[
    '"x, y"',
    "'",
    "''",
    "'x'",
    ',',
    ';',
    '\t',
    '|',
    '||',
    '\r\n',
    '\r',
    '#',
    '#x',
    ':',
    '::',
    '~',
    '^',
    '-',
  ],
  ...[
    '---',
    '(1)',
    'Source: x',
    'Notes',
    'n/a',
    '=',
    '="1"',
    '\\',
    '\\"',
    '\\N',
    '§',
    'é',
    '東',
    '\u0000',
    '\u001f',
  ],
  ...[
    '+',
    '$5',
    '5 kg',
    '%',
    '2023',
    '(3 rows)',
    '+---+',
    'sep=;',
    '{"ImportId":"x"}',
    '5s',
    'Response',
    '\u001a',
  ],
)
const delimiter = fc.constantFrom(',', ';', '\t', '|', ' ', ', ', '||')
const table = fc
  .tuple(
    delimiter,
    fc.array(fc.array(part, { maxLength: 6 }), { maxLength: 14 }),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([separator, rows, end]) => rows.map((row) => row.join(separator)).join(end))
const text = fc.oneof(
  fc.array(fc.oneof(part, fc.constant('\n')), { maxLength: 60 }).map((parts) => parts.join('')),
  table,
)

type Found = { names: string[]; rows: unknown[][]; warnings: string[] } | { refused: string }

async function found(one: string, pieces: number): Promise<Found> {
  try {
    const { names, rows, warnings } = await read(one, {}, pieces)
    return { names, rows, warnings }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    expect(code, `${JSON.stringify(one)}: ${(error as Error).stack}`).toBe('bad_data')
    return { refused: message }
  }
}

it('any text is read or refused alike, in chunks of 1, 7 and 65,536 bytes, with and without the kernel', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (one) => {
      const whole = await found(one, 65_536)
      for (const pieces of [1, 7]) expect(await found(one, pieces)).toEqual(whole)
      Kernel.usage = 'always'
      try {
        expect(await found(one, 7)).toEqual(whole)
      } finally {
        Kernel.usage = 'large'
      }
    }),
    process.env.GRIDLINE_TEST_LONG ? { numRuns: 20_000 } : { numRuns: 200, seed: 1 },
  )
})
