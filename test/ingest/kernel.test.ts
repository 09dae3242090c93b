// The WebAssembly kernel and the TypeScript reader give the same result.
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { type DelimitedOptions, ingestDelimited, type Slice } from '../../src/ingest/index.ts'
import { Kernel } from '../../src/ingest/kernel/index.ts'
import { type Bounds, boundsOf } from '../../src/ingest/slices.ts'
import { runs } from '../support/property-runs.ts'

/** Number of compared files. */
const FILES = runs(15, 1000)

afterEach(() => {
  Kernel.usage = 'large'
})

type Random = () => number

/** Seeded random numbers of [0, 1) (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Generates a file and options from a seed: most rows are plain; some files have few or many odd rows. */
function fileOf(seed: number): { file: Buffer; piece: number; options: DelimitedOptions } {
  const random = randomOf(seed)
  const below = (n: number): number => Math.floor(random() * n)
  const one = <T>(...list: T[]): T => list[below(list.length)]
  const width = one(1, 2, 3, 6, 6, 20, 100)
  const end = one('\n', '\n', '\r\n')
  const delimiter = one(',', ',', ';', '\t', '|')
  const quote = one('"', '"', '"', "'")
  const oddness = one(0, 0, 0, 0.0005, 0.01, 0.2)
  const count = Math.floor(one(3, 50, 2000, 8000) / (width > 10 ? 10 : 1))
  const plainNumber = (): string =>
    one(
      () => String(below(1e6)),
      () => (random() * 1000).toFixed(4),
      () => String(random()),
      () => '',
      () => `-${random()}`,
    )()
  const number = (): string =>
    one(
      plainNumber,
      () => `1e${below(400)}`,
      () => String(random() * 1e-9),
      () => `${'1'.repeat(below(40))}.${'2'.repeat(below(40))}`,
      () => '9'.repeat(below(20)),
      () => `-${'9'.repeat(below(20))}`,
      () =>
        one('007', '.5', '5.', '-', '-0', '0', '0.0', '00.5', '-0.10', '-.5', '1.2.3', '--1', '1,5', '+1'),
      () => one('9007199254740991', '9007199254740993', '12345678901234567890', '-123456789012.3456'),
      () => one(' 12 ', '""', '"12"', '"-1.50"', '\\N', 'n/a', '-', 'NULL', '="1"', '1_000', '1E5', '0x10'),
    )()
  const text = (): string =>
    one(
      () => one('Oslo', 'Tromsø', 'Kyōto', '日本', '😀', 'n/a', 'a b c', '\\N', '=1', '="007"', '"=""1"""'),
      () => 'x'.repeat(below(80)),
      () => `"${`quoted${delimiter} `.repeat(below(9))}"`,
      () => `"say ""hi"" to ${one('me', '日本')}"`,
      () => one('"line\nbreak"', '"crlf\r\nbreak"', '"cr\rin"', '"\n\n\n"', `"${'y\n'.repeat(below(50))}"`),
      () => one('back\\slash', '"back\\slash"', 'tab\\tin', 'ctl\u0001\u001f', '', '""', '""""', '"\\""\t"'),
      () => one('c0', 'c1', '"c0"', '#', '#c', '-'.repeat(below(30)), '"it""s"', "it's"),
    )()
  const plainTime = (): string => new Date(below(4e12)).toISOString().slice(0, one(10, 19, 19))
  const time = (): string =>
    one(
      plainTime,
      plainTime,
      plainTime,
      () => plainTime().replace('T', ' '),
      () => new Date(below(4e12)).toISOString().slice(0, one(10, 16, 19, 20, 23, 24)),
      () => one('2024-02-29', '2023-02-29', '2024-01-31T24:00:00', '2024-01-31T23:60:00', '0000-01-01', ''),
    )()
  const dateKind = one(plainTime, plainTime, time)
  const odd = (): string =>
    one('5" pipe', '"a" ', '"a" b', ' "a"', 'a""b', 'x\ry', '\r', '"a""', '"un', '"a"b"', '"""', '"a\nb"c')
  const kinds = Array.from({ length: width }, () =>
    one(plainNumber, plainNumber, number, text, text, dateKind),
  )
  const rows = [kinds.map((_, k) => `c${k}`).join(delimiter)]
  for (let r = 0; r < count; r++) {
    if (random() < oddness / 4) {
      rows.push(one('', rows[0], delimiter.repeat(width - 1), '# a remark', 'a note at the end'))
      continue
    }
    const cells = kinds.map((kind) => {
      const cell = random() < oddness ? odd() : kind()
      return cell.startsWith('"') ? cell : cell.replaceAll(delimiter, '_')
    })
    if (random() < oddness) cells.pop()
    if (random() < oddness / 3) cells.push('')
    const row = cells.join(delimiter)
    rows.push(quote === '"' ? row : row.replaceAll("'", '`').replaceAll('"', quote))
  }
  const options: DelimitedOptions = {}
  if (random() < 0.1) options.nullTexts = one(['n/a'], ['n/a', '-'], ['Oslo', '', 'x'.repeat(20)])
  if (random() < 0.5) options.delimiter = delimiter
  if (random() < 0.05) options.quote = one('', "'")
  if (random() < 0.05) options.comment = '#'
  if (random() < 0.05) options.escape = '\\'
  if (random() < 0.05) options.types = new Map([['c0', one('text', 'number', 'boolean')]])
  return { file: Buffer.from(rows.join(end) + one('', end)), piece: one(1000, 65_536, 256 * 1024), options }
}

/** Checks the bounds of slices against their text, if they are known. */
function expectBounds(given: Bounds, found: Bounds): void {
  expect(given.nulls).toBe(found.nulls)
  for (const side of ['low', 'high'] as const) {
    const text = given[side]
    if (text === undefined || text === found[side]) continue
    // Numbers of more than 15 digits are compared as doubles.
    expect(Number(text) / Number(found[side]), `${text} ${found[side]}`).toBeCloseTo(1, 14)
  }
}

/** Returns the result of reading: hash of slices, columns, dialect, warnings; or the error. */
async function outcome(file: Buffer, piece: number, options: DelimitedOptions): Promise<unknown> {
  const hash = createHash('sha1')
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < file.length; at += piece) yield file.subarray(at, at + piece)
  }
  const sink = {
    slice({ column, rows, form, text, bounds, ended }: Slice): void {
      hash.update(`${column} ${rows} ${form} ${text.length} ${ended}\n`).update(text)
      if (bounds) expectBounds(bounds, boundsOf(text))
    },
  }
  try {
    const { rows, columns, dialect, warnings } = await ingestDelimited(
      pieces(),
      { source: 'x', ...options },
      sink,
    )
    return { rows, columns, dialect, warnings, slices: hash.digest('hex') }
  } catch (error) {
    return { ...(error as object), message: (error as Error).message }
  }
}

describe('the kernel and the TypeScript reader', () => {
  it('the kernel is loaded, and used for rows of a large file', async () => {
    Kernel.usage = 'always'
    const kernel = Kernel.acquire(false)
    expect(kernel).toBeDefined()
    kernel!.configure({ width: 2, delimiter: 44, quote: 34, comment: -1, firstName: undefined, nulls: [] })
    kernel!.text.write('a,1\n"b,""c""",2\nd,"e\nf"\nodd\n')
    expect(kernel!.findRows(0, 28, 100, 5)).toEqual({ rows: 3, line: 9, next: 24, odd: true })
    kernel!.release()
  })

  it(`kernel and TypeScript reader give the same slices, types, warnings and errors for ${FILES} random files`, async () => {
    let errors = 0
    for (let seed = 1; seed <= FILES; seed++) {
      const { file, piece, options } = fileOf(seed)
      Kernel.usage = 'never'
      const expected = await outcome(file, piece, options)
      Kernel.usage = 'always'
      expect(await outcome(file, piece, options), `seed ${seed}`).toEqual(expected)
      if (expected && 'message' in (expected as object)) errors++
    }
    expect(errors).toBeLessThan(FILES / 2)
  })
})
