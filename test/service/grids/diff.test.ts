// Diffs of random tables, compared with a naive diff and daff.
import { createHash } from 'node:crypto'
import { CompareFlags, compareTables, TableDiff, TableView } from 'daff'
import { afterAll, describe, expect, it } from 'vitest'
import { identifyBy } from '../../../src/service/grids/column/identify.ts'
import { CellReader } from '../../../src/service/grids/column/kernel/cells.ts'
import { KernelPool } from '../../../src/service/grids/column/kernel/pool.ts'
import { diffTables } from '../../../src/service/grids/diff/diff.ts'
import type { DiffInput } from '../../../src/service/grids/diff/diff-inputs.ts'
import { listChangedRows } from '../../../src/service/grids/diff/diff-rows.ts'
import { blobIdOf } from '../../../src/service/store/objects/blobs.ts'
import { runs } from '../../support/property-runs.ts'

/** Formats a cell as JSON text. */
type Row = string[]

interface Table {
  names: string[]
  rows: Row[]
}

/** A seeded generator of random numbers. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const typeOf = (cells: string[]) =>
  cells.every((cell) => cell === 'null')
    ? 'empty'
    : cells.every((cell) => /^(null|-?\d)/.test(cell))
      ? 'number'
      : cells.every((cell) => /^(null|")/.test(cell))
        ? 'text'
        : 'json'

/** A table in slices that end at these rows; the rest is the tail. */
function side(name: string, { names, rows }: Table, ends: number[] = []): DiffInput {
  const stored = new Map<string, Buffer>()
  const columns = names.map((column, k) => {
    const cells = rows.map((row) => row[k])
    let from = 0
    const slices = ends.map((end, seq) => {
      const text = Buffer.from(cells.slice(from, end).join(','))
      const hash = createHash('sha256').update(text).digest('hex')
      stored.set(hash, Buffer.concat([Buffer.from('0'), text]))
      const slice = {
        seq,
        rows: end - from,
        bytes: text.length,
        blob: { owner: 'alice', hash },
        packOffset: undefined,
      }
      from = end
      return slice
    })
    return {
      name: column,
      uid: `uid${k}`,
      order: k,
      type: typeOf(cells) as 'text',
      rows: rows.length,
      slices,
      tail: Buffer.from(cells.slice(from).join(',')),
    }
  })
  const blobs: DiffInput['snap']['blobs'] = {
    get: async ({ hash }) => stored.get(hash)!,
    getAll: async (refs) => new Map(refs.map((ref) => [blobIdOf(ref), stored.get(ref.hash)!])),
  }
  return { name, snap: { blobs, columns, rows: rows.length } }
}

const same = (a: string, b: string): boolean => identifyBy.value(a) === identifyBy.value(b)
const sameRow = (a: Row, b: Row): boolean => a.length === b.length && a.every((cell, k) => same(cell, b[k]))

/** Length of the longest common subsequence of rows. */
function common(a: Row[], b: Row[]): number {
  const best = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let x = a.length - 1; x >= 0; x--)
    for (let y = b.length - 1; y >= 0; y--)
      best[x][y] = sameRow(a[x], b[y]) ? 1 + best[x + 1][y + 1] : Math.max(best[x + 1][y], best[x][y + 1])
  return best[0][0]
}

const CELLS = [
  '1',
  '1.50',
  '1.5',
  '-0',
  '0',
  '1e2',
  '100',
  'null',
  '"a"',
  '"b, c"',
  '"\\u00e9"',
  '"é"',
  '"q\\"x"',
]

/** Generates a table and a randomly changed copy. `ends`: ends of the slices of both. */
function pairOf(seed: number, keyed: boolean): { a: Table; b: Table; endsA: number[]; endsB: number[] } {
  const pick = random(seed)
  const width = 1 + pick(4)
  const names = ['id', ...Array.from({ length: width }, (_, k) => `c${k}`)]
  const cell = (): string => CELLS[pick(seed % 3 === 0 ? 4 : CELLS.length)]
  let next = 0
  const row = (): Row => [keyed ? String(next++) : cell(), ...Array.from({ length: width }, cell)]
  const rows = Array.from({ length: pick(40) }, row)
  const changed = rows.map((one) => [...one])
  for (let k = pick(6); k > 0; k--) {
    const at = pick(changed.length + 1)
    const what = pick(4)
    if (what === 0) changed.splice(at, 0, row())
    else if (what === 1 && changed.length > 0) changed.splice(at, 1)
    else if (what === 2 && changed[at]) changed[at][1 + pick(width)] = cell()
    else if (keyed && changed[at]) changed.push(...changed.splice(at, 1))
  }
  const ends = (count: number): number[] =>
    [...new Set(Array.from({ length: pick(5) }, () => 1 + pick(Math.max(1, count))))]
      .filter((end) => end <= count)
      .sort((x, y) => x - y)
  const endsA = ends(rows.length)
  return {
    a: { names, rows },
    b: { names, rows: changed },
    endsA,
    endsB: pick(2) === 0 ? endsA.filter((end) => end <= changed.length) : ends(changed.length),
  }
}

describe.each(['with a kernel', 'without'] as const)('diff, %s', (how) => {
  KernelPool.use = 'large'
  const within = async <T>(work: () => Promise<T>): Promise<T> => {
    KernelPool.use = how === 'without' ? 'never' : 'large'
    return work().finally(() => {
      KernelPool.use = 'large'
    })
  }
  const diff = (a: DiffInput, b: DiffInput, options: Partial<Parameters<typeof diffTables>[2]> = {}) =>
    within(() => diffTables(a, b, { key: [], isSameGrid: true, ...options }))
  afterAll(() => {
    KernelPool.use = 'large'
  })

  it('a diff by key agrees with a naive comparison and with daff', async () => {
    for (let seed = 0; seed < runs(250, 1000); seed++) {
      const { a, b, endsA, endsB } = pairOf(seed, true)
      const found = await diff(side('a', a, endsA), side('b', b, endsB), { key: ['id'] })
      const [old, now] = [
        new Map(a.rows.map((row) => [row[0], row])),
        new Map(b.rows.map((row) => [row[0], row])),
      ]
      const changed = b.rows.filter((row) => old.has(row[0]) && !sameRow(old.get(row[0])!, row))
      const cells = changed.flatMap((row) => row.filter((cell, k) => !same(cell, old.get(row[0])![k])))
      expect([seed, found.rows, found.cells.reduce((sum, count) => sum + count, 0)]).toEqual([
        seed,
        {
          added: b.rows.filter((row) => !old.has(row[0])).length,
          removed: a.rows.filter((row) => !now.has(row[0])).length,
          changed: changed.length,
        },
        cells.length,
      ])
      expect([seed, found.rows]).toEqual([seed, daffCounts(a, b)])
    }
  })

  it('without a key, a diff keeps the longest common subsequence', async () => {
    for (let seed = 0; seed < runs(250, 1000); seed++) {
      const { a, b, endsA, endsB } = pairOf(seed, false)
      const found = await diff(side('a', a, endsA), side('b', b, endsB))
      const gone = new Set(found.changes.filter(({ before }) => before >= 0).map(({ before }) => before))
      const come = new Set(found.changes.filter(({ after }) => after >= 0).map(({ after }) => after))
      const restA = a.rows.filter((_, row) => !gone.has(row))
      const restB = b.rows.filter((_, row) => !come.has(row))
      expect([seed, restB.length]).toEqual([seed, restA.length])
      expect([seed, restA.every((row, k) => sameRow(row, restB[k]))]).toEqual([seed, true])
      // Shared slices are matched as a whole, even if another alignment had more common rows.
      const most = common(a.rows, b.rows)
      if (endsA.length === 0) expect([seed, restA.length]).toEqual([seed, most])
      else expect(restA.length).toBeLessThanOrEqual(most)
      for (const { before, after } of found.changes)
        if (before >= 0 && after >= 0)
          expect([seed, sameRow(a.rows[before], b.rows[after])]).toEqual([seed, false])
      const { added, removed, changed } = found.rows
      expect([seed, a.rows.length - removed + added]).toEqual([seed, b.rows.length])
      expect(found.changes.length).toBe(added + removed + changed)
    }
  })

  it('the listed rows turn one table into the other', async () => {
    for (let seed = 0; seed < runs(100, 400); seed++) {
      const { a, b, endsA, endsB } = pairOf(seed, seed % 2 === 0)
      const [before, after] = [side('a', a, endsA), side('b', b, endsB)]
      const key = seed % 2 === 0 ? ['id'] : []
      const found = await diff(before, after, { key })
      const rows = await within(() =>
        listChangedRows(CellReader.open(1 << 20), before, after, found, { limit: 1000, tolerance: 0 }),
      )
      for (const { change, row_before, row_after, before: old, after: now } of rows) {
        const texts = (row: Row) => Object.fromEntries(a.names.map((name, k) => [name, JSON.parse(row[k])]))
        if (change === 'removed') expect(old).toEqual(texts(a.rows[row_before! - 1]))
        if (change === 'added') expect(now).toEqual(texts(b.rows[row_after! - 1]))
        if (change !== 'changed') continue
        const [x, y] = [a.rows[row_before! - 1], b.rows[row_after! - 1]]
        const differ = a.names.filter((name, k) => key.includes(name) || !same(x[k], y[k]))
        expect([seed, Object.keys(now!)]).toEqual([seed, differ])
        expect([seed, Object.keys(old!)]).toEqual([seed, differ])
      }
    }
  })

  it('a null or duplicate key is refused with its rows', async () => {
    const table = (...ids: string[]): DiffInput => side('t', { names: ['id'], rows: ids.map((id) => [id]) })
    await expect(diff(table('1', '2'), table('1', 'null'), { key: ['id'] })).rejects.toThrow(
      'row 2 has no key',
    )
    await expect(diff(table('1', '2', '1.0'), table('1'), { key: ['id'] })).rejects.toThrow(
      'rows 1 and 3 have the same key: id 1',
    )
    await expect(diff(table('1'), table('1'), { key: ['no'] })).rejects.toThrow('"no"')
  })

  it('numbers within the tolerance are equal, also with added rows', async () => {
    const a = {
      names: ['n', 't'],
      rows: [
        ['1', '"a"'],
        ['2', '"b"'],
        ['3', '"c"'],
      ],
    }
    const b = {
      names: ['n', 't'],
      rows: [
        ['9', '"new"'],
        ['1.01', '"a"'],
        ['2.2', '"b"'],
        ['3', '"c"'],
      ],
    }
    const found = await diff(side('a', a), side('b', b), { tolerance: 0.1 })
    expect(found.rows).toEqual({ added: 1, removed: 0, changed: 1 })
    expect(found.cells).toEqual([1, 0])
  })

  it('a column that becomes text differs only where its values differ', async () => {
    const a = { names: ['n'], rows: [['1'], ['2.50'], ['3']] }
    const b = { names: ['n'], rows: [['"1"'], ['"2.5"'], ['"n/a"']] }
    const found = await diff(side('a', a), side('b', b))
    expect(found.rows).toEqual({ added: 0, removed: 0, changed: 1 })
  })

  it('among unequal numbers of rows, the most similar are paired', async () => {
    const a = {
      names: ['x', 'y', 'z'],
      rows: [
        ['1', '2', '3'],
        ['4', '5', '6'],
      ],
    }
    const b = {
      names: ['x', 'y', 'z'],
      rows: [
        ['0', '0', '0'],
        ['4', '5', '7'],
        ['8', '8', '8'],
      ],
    }
    const found = await diff(side('a', a), side('b', b))
    expect(found.changes).toContainEqual({ before: 1, after: 1 })
    expect(found.rows).toEqual({ added: 2, removed: 1, changed: 1 })
  })
})

/** Counts changes with daff, which compares text: equal cells get equal texts. */
function daffCounts(a: Table, b: Table): { added: number; removed: number; changed: number } {
  const view = ({ names, rows }: Table) =>
    new TableView([names, ...rows.map((row) => row.map((cell) => identifyBy.value(cell)))])
  const flags = new CompareFlags()
  flags.ids = ['id']
  flags.show_unchanged = false
  const alignment = compareTables(view(a), view(b), flags).align()
  const output: unknown[][] = []
  new TableDiff(alignment, flags).hilite(new TableView(output))
  const tags = output.map(([tag]) => String(tag))
  return {
    added: tags.filter((tag) => tag === '+++').length,
    removed: tags.filter((tag) => tag === '---').length,
    changed: tags.filter((tag) => tag.includes('->')).length,
  }
}

describe('a number has one canonical form', () => {
  it.each([
    ['1.50', '1.5'],
    ['-0.0', '0'],
    ['1e3', '1000'],
    ['1.25E-2', '0.0125'],
    ['0.05', '0.05'],
    ['12345678901234567890.10', '12345678901234567890.1'],
    ['1e999', '1e999'],
    ['10e998', '1e999'],
  ])('%s has the canonical form %s', (text, canonical) => {
    expect(identifyBy.value(text)).toBe(canonical)
  })
})
