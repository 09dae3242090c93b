/** Compares two tables: columns, rows and cells. See docs/diff.md. */

import { Problem } from '../../../contract/errors.ts'
import { formatList } from '../../../contract/message-texts.ts'
import { Work } from '../../../json/index.ts'
import { familyOf } from '../../store/schema/column-types.ts'
import type { SnapshotColumn } from '../column/content.ts'
import { CellReader, RowHashes } from '../column/kernel/cells.ts'
import type { Part } from '../column/parts.ts'
import { mergeSort } from '../read/order.ts'
import { AlignedChunks, type ChunkPair } from './aligned.ts'
import { CellDifferences } from './cells.ts'
import { type Chunk, ChunkedTable, partsWithin } from './chunks.ts'
import { faultText, indexKeys, type KeyFault, type KeyIndex } from './keys.ts'
import { align, ascending } from './sequence.ts'
import {
  type Pair,
  pickHashes,
  type RowChange,
  type RowPairs,
  type Side,
  type Tables,
  Wanted,
} from './wanted.ts'

export type { Side } from './wanted.ts'

export interface DiffOptions {
  /** Columns by which rows are found. Without, rows are compared in order. */
  key: readonly string[]
  /** Columns that are compared; all without. */
  columns?: readonly string[]
  ignore?: readonly string[]
  /** Numbers that differ by no more are the same. */
  tolerance?: number
  /** Columns with the same uid are the same column, whatever their names are. */
  isSameGrid?: boolean
  work?: Work
  /** Whether people read it: without a key, rows need something that says which they are. */
  context?: boolean
}

export interface TableDiff {
  pairs: Pair[]
  added: SnapshotColumn[]
  removed: SnapshotColumn[]
  /** Columns that have another place among those of both tables. */
  moved: ReadonlySet<Pair>
  rows: { added: number; removed: number; changed: number }
  /** Cells of changed rows that differ, by pair. */
  cells: number[]
  /** The rows that differ, in their order; removed ones come before what is at their place. */
  changes: RowChange[]
  isReordered: boolean
  /** Without a key: the column that says most of which row it is. */
  context?: Pair
  /** Without a key: a column whose values are unique in both tables. */
  unique?: Pair
}

/** Rows that are compared at most, of each table. */
export const MAX_ROWS = 20_000_000
/** Up to this many rows of both tables, the key is checked in all of them, also where slices are shared. */
const MAX_CHECKED = 200_000
/** Columns that are looked at for one with unique values. */
const MAX_TRIED = 8
/** Pairs of a removed and an added row that are looked at to find the most similar ones. */
const MAX_SIMILAR = 1_000_000

/** A key of two versions of a grid, by the names that its columns have after: one that was renamed may be named as before. */
export function keyAfter(key: readonly string[], before: Side, after: Side): string[] {
  const [olds, news] = [before.snap.columns, after.snap.columns]
  return key.map((given) => {
    if (news.some(({ name }) => name === given)) return given
    const old = olds.find(({ name }) => name === given)
    return news.find(({ uid }) => uid === old?.uid)?.name ?? given
  })
}

/** Throws `bad_data` if the key is null or not unique, `unknown_column`, `too_large` and `aborted`. */
export async function diffTables(before: Side, after: Side, options: DiffOptions): Promise<TableDiff> {
  const { work = new Work(), tolerance = 0 } = options
  const { pairs, added, removed } = pairColumns(before, after, options)
  const left = new ChunkedTable(
    before.snap,
    pairs.map((pair) => pair.before),
    work,
  )
  const right = new ChunkedTable(
    after.snap,
    pairs.map((pair) => pair.after),
    work,
  )
  const reader = CellReader.open(Math.max(left.longest, right.longest))
  try {
    const tables: Tables = { before, after, left, right, pairs, reader, work }
    const isKeyed = options.key.length > 0
    const aligned = new AlignedChunks(tables, tolerance, isKeyed)
    const found = isKeyed ? await byKey(tables, aligned) : await inOrder(tables, tolerance, aligned)
    const cells = new CellDifferences(tables, found.pairs, tolerance)
    await cells.find()
    const changes = await inPlace(found.single.concat(aligned.changes, await cells.changed()), work)
    const isAsked = options.context === true && !isKeyed && changes.length > 0
    return {
      pairs,
      added,
      removed,
      ...(isAsked && { context: contextOf(pairs), unique: await uniqueOf(tables) }),
      moved: await movedOf(pairs, work),
      isReordered: found.isReordered === true,
      rows: {
        added: count(found.single, (change) => change.before < 0),
        removed: count(found.single, (change) => change.after < 0),
        changed: cells.count + aligned.changes.length,
      },
      cells: cells.byPair.map((count, k) => count + aligned.cells[k]),
      changes,
    }
  } finally {
    reader.release()
  }
}

function count(changes: readonly RowChange[], isCounted: (change: RowChange) => boolean): number {
  let found = 0
  for (const change of changes) if (isCounted(change)) found++
  return found
}

/** Sorts changes by their rows; removed rows come before what is at their place. */
async function inPlace(changes: RowChange[], work: Work): Promise<RowChange[]> {
  const place = ({ before: a, after: b }: RowChange): number => (b < 0 ? a : b)
  const compare = (a: RowChange, b: RowChange): number =>
    place(a) - place(b) || Number(a.after >= 0) - Number(b.after >= 0)
  const rows = await numbered(changes.length, work)
  const order = await mergeSort(rows, (a, b) => compare(changes[a], changes[b]) || a - b, work)
  const sorted: RowChange[] = new Array(changes.length)
  for (let k = 0; k < sorted.length; k++) {
    sorted[k] = changes[order[k]]
    if (work.spend(1)) await work.pause()
  }
  return sorted
}

/** The numbers from 0 up to a count. */
async function numbered(count: number, work: Work): Promise<Uint32Array> {
  const numbers = new Uint32Array(count)
  for (let k = 0; k < count; k++) {
    numbers[k] = k
    if (work.spend(1)) await work.pause()
  }
  return numbers
}

/** The first column of texts; without one, of dates; without these, the first one. */
function contextOf(pairs: readonly Pair[]): Pair | undefined {
  const ofFamily = (wanted: string): Pair | undefined =>
    pairs.find(({ after }) => familyOf(after.type) === wanted)
  return ofFamily('text') ?? ofFamily('date') ?? ofFamily('datetime') ?? pairs[0]
}

/** The first of some columns whose values are never null and never the same; undefined of many rows. */
async function uniqueOf(tables: Tables): Promise<Pair | undefined> {
  const { left, right, pairs } = tables
  if (left.rows + right.rows > MAX_CHECKED) return undefined
  for (const one of pairs.slice(0, MAX_TRIED)) {
    const asKey = { ...tables, pairs: pairs.map((pair) => ({ ...pair, isKey: pair === one })) }
    try {
      for (const side of ['left', 'right'] as const)
        await keysOf(asKey, side, tables[side].choose(tables[side].chunks))
      return one
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'bad_data') throw error
    }
  }
  return undefined
}

/** Rows that are in one table only, and rows of both that may differ: by their numbers among those that are read. */
interface Found {
  single: RowChange[]
  pairs: RowPairs
  /** With a key: whether rows of both tables have another order. */
  isReordered?: boolean
}

function pairColumns(
  before: Side,
  after: Side,
  { key, columns, ignore = [], isSameGrid }: DiffOptions,
): { pairs: Pair[]; added: SnapshotColumn[]; removed: SnapshotColumn[] } {
  const [olds, news] = [before.snap.columns, after.snap.columns]
  const names = new Set([...olds, ...news].map(({ name }) => name))
  const unknown = [...key, ...(columns ?? []), ...ignore].find((name) => !names.has(name))
  if (unknown !== undefined)
    throw new Problem('unknown_column', `neither table has a column ${JSON.stringify(unknown)}`, {
      hint: `The columns are: ${formatList([...names])}`,
    })
  const isChosen = (name: string): boolean =>
    key.includes(name) || ((columns?.includes(name) ?? true) && !ignore.includes(name))
  const byUid = new Map(isSameGrid ? olds.map((column) => [column.uid, column]) : [])
  const byName = new Map(olds.map((column) => [column.name, column]))
  const taken = new Set<SnapshotColumn>()
  const pairs: Pair[] = []
  const added: SnapshotColumn[] = []
  const uids = new Set(isSameGrid ? news.map(({ uid }) => uid) : [])
  for (const column of news) {
    const named = byName.get(column.name)
    // A column of that name that goes on under another one is not it.
    const old = byUid.get(column.uid) ?? (named && !uids.has(named.uid) ? named : undefined)
    if (old) taken.add(old)
    if (!isChosen(column.name) && !(old && isChosen(old.name) && columns)) continue
    if (!old) added.push(column)
    else
      pairs.push({
        before: old,
        after: column,
        asText: comparedAsText(old, column),
        isKey: key.includes(column.name),
      })
  }
  const lost = key.find((name) => !pairs.some((pair) => pair.after.name === name))
  if (lost !== undefined) {
    const lacking = news.some(({ name }) => name === lost) ? before : after
    throw new Problem(
      'unknown_column',
      `${lacking.name} has no column ${JSON.stringify(lost)}, which is the key`,
      {
        hint: 'Choose columns that both have: --key',
      },
    )
  }
  const removed = olds.filter((column) => !taken.has(column) && isChosen(column.name))
  return { pairs, added, removed }
}

/** Whether one column has values that are texts in the other. */
function comparedAsText({ type: a }: SnapshotColumn, { type: b }: SnapshotColumn): boolean {
  const [one, other] = [familyOf(a), familyOf(b)]
  const isText = (family: string): boolean => ['text', 'date', 'datetime', 'empty'].includes(family)
  return one !== other && !(isText(one) && isText(other))
}

async function movedOf(pairs: readonly Pair[], work: Work): Promise<Set<Pair>> {
  const before = pairs.map((pair) => pair.before.order)
  const stay = new Set(await ascending(before, work))
  return new Set(pairs.filter((_, k) => !stay.has(k)))
}

/** Pairs rows by their key. Chunks that both tables have are not read. */
async function byKey(tables: Tables, aligned: AlignedChunks): Promise<Found> {
  const { left, right, work } = tables
  if (left.rows + right.rows <= MAX_CHECKED)
    for (const side of ['left', 'right'] as const)
      await keysOf(tables, side, tables[side].choose(tables[side].chunks))
  const [onlyA, onlyB] = unshared(left.chunks, right.chunks)
  // Chunks with the same keys in the same order have the same rows.
  const keyed = await pairsOfChunks(tables, onlyA, onlyB, (pair) => pair.isKey)
  await aligned.compare(keyed)
  const [doneA, doneB] = [new Set(keyed.map(({ a }) => a)), new Set(keyed.map(({ b }) => b))]
  const rowsA = left.choose(onlyA.filter((chunk) => !doneA.has(chunk)))
  const rowsB = right.choose(onlyB.filter((chunk) => !doneB.has(chunk)))
  checkSize(rowsA, rowsB)
  const keys = {
    left: await keysOf(tables, 'left', rowsA),
    right: await keysOf(tables, 'right', rowsB),
  }
  const index = keys.left.index
  const isMatched = new Uint8Array(rowsA)
  const single: RowChange[] = []
  const matched: RowPairs = { before: new Int32Array(rowsB), after: new Int32Array(rowsB) }
  let count = 0
  for (let row = 0; row < rowsB; row++) {
    if (work.spend(4)) await work.pause()
    const other = index.get(keys.right.hashes, row)
    if (other === undefined) {
      single.push({ before: -1, after: right.rowOf(row) })
      continue
    }
    isMatched[other] = 1
    matched.before[count] = other
    matched.after[count++] = row
  }
  for (let row = 0; row < rowsA; row++) {
    if (isMatched[row] === 0) single.push({ before: left.rowOf(row), after: -1 })
    if (work.spend(1)) await work.pause()
  }
  const before = matched.before.subarray(0, count)
  return {
    single,
    pairs: { before, after: matched.after.subarray(0, count) },
    isReordered: before.some((row, k) => k > 0 && row < before[k - 1]),
  }
}

/** The keys of the rows that are read. Throws `bad_data` if one is null, or two are the same. */
function keysOf(
  { reader, pairs, work, ...sides }: Tables,
  side: 'left' | 'right',
  rows: number,
): Promise<KeyIndex> {
  const { name } = side === 'left' ? sides.before : sides.after
  const key = pairs.flatMap(({ isKey, asText, after }, column) =>
    isKey ? [{ column, name: after.name, asText }] : [],
  )
  const problem = (fault: KeyFault): Problem => {
    const text = faultText(fault, 'row', (row) => row + 1)
    return new Problem('bad_data', `${name}: ${text}`, {
      hint: 'Choose a key whose values are unique (--key), or leave it out to compare rows in order.',
    })
  }
  return indexKeys(reader, sides[side], key, rows, problem, work)
}

/** Chunks that only one table has. */
function unshared(a: readonly Chunk[], b: readonly Chunk[]): [Chunk[], Chunk[]] {
  const counts = new Map<string, number>()
  for (const { id } of b) if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  const shared = new Map<string, number>()
  const take = (counts: Map<string, number>, id: string | undefined): boolean => {
    const left = id === undefined ? 0 : (counts.get(id) ?? 0)
    if (left === 0) return false
    counts.set(id!, left - 1)
    return true
  }
  const onlyA = a.filter(({ id }) => {
    const isShared = take(counts, id)
    if (isShared) shared.set(id!, (shared.get(id!) ?? 0) + 1)
    return !isShared
  })
  return [onlyA, b.filter(({ id }) => !take(shared, id))]
}

function checkSize(a: number, b: number): void {
  if (Math.max(a, b) <= MAX_ROWS) return
  throw new Problem('too_large', `${Math.max(a, b)} rows differ in their slices; the limit is ${MAX_ROWS}`)
}

/** Aligns rows in their order: first chunks, then rows between those that both tables have. */
async function inOrder(tables: Tables, tolerance: number, aligned: AlignedChunks): Promise<Found> {
  const { left, right, pairs, reader, work } = tables
  const all = { a: left.chunks, b: right.chunks }
  const between = await gapsBetween(
    all,
    numbersOf(({ id }) => id),
    work,
  )
  // Chunks that have as many rows, at the same place of a gap.
  const candidates = between.flatMap((gap) => pairsAtSamePlace(tables, gap))
  const rejected = new Set(await aligned.compare(candidates))
  const done = candidates.filter((pair) => !rejected.has(pair))
  const gaps = between.flatMap((gap) => withoutPairs(gap, done))
  const rowsA = left.choose(gaps.flatMap(({ a }) => a))
  const rowsB = right.choose(gaps.flatMap(({ b }) => b))
  checkSize(rowsA, rowsB)
  const hashes = { left: new RowHashes(rowsA), right: new RowHashes(rowsB) }
  for (const [k, { asText, before }] of pairs.entries()) {
    // Numbers that are nearly the same have different hashes.
    if (tolerance > 0 && familyOf(before.type) === 'number') continue
    await left.hash(reader, k, hashes.left, asText)
    await right.hash(reader, k, hashes.right, asText)
  }
  const match = new Int32Array(rowsA).fill(-1)
  const hunks: Hunk[] = []
  let [atA, atB] = [0, 0]
  for (const gap of gaps) {
    const a = { from: atA, to: atA + gap.a.reduce((sum, { rows }) => sum + rows, 0) }
    const b = { from: atB, to: atB + gap.b.reduce((sum, { rows }) => sum + rows, 0) }
    await align(hashes.left, hashes.right, { a, b }, match, work)
    for (const hunk of hunksOf(match, a, b)) hunks.push(hunk)
    await work.spendAndPause(a.to - a.from)
    atA = a.to
    atB = b.to
  }
  // Rows that are the same, but perhaps for numbers, have a partner already.
  const isSure = tolerance === 0
  const sure = new Uint8Array(rowsA)
  for (let row = 0; isSure && row < rowsA; row++) {
    if (match[row] >= 0) sure[row] = 1
    if (work.spend(1)) await work.pause()
  }
  await pairRows(tables, hunks, match)
  return foundIn(tables, hunks, match, sure)
}

async function foundIn(
  { left, right, work }: Tables,
  hunks: readonly Hunk[],
  match: Int32Array,
  sure: Uint8Array,
): Promise<Found> {
  const single: RowChange[] = []
  for (const { a, b } of hunks) {
    let next = b.from
    const addUpTo = (end: number): void => {
      for (; next < end; next++) single.push({ before: -1, after: right.rowOf(next) })
    }
    for (let row = a.from; row < a.to; row++) {
      if (work.spend(4)) await work.pause()
      if (match[row] < 0) {
        single.push({ before: left.rowOf(row), after: -1 })
        continue
      }
      addUpTo(match[row])
      next++
    }
    addUpTo(b.to)
    await work.spendAndPause(b.to - b.from)
  }
  let count = 0
  const before = new Int32Array(match.length)
  for (let row = 0; row < match.length; row++) if (match[row] >= 0 && sure[row] === 0) before[count++] = row
  const rows = before.slice(0, count)
  return { single, pairs: { before: rows, after: rows.map((row) => match[row]) } }
}

/** Chunks of both tables, in their order. */
interface Chunks {
  a: readonly Chunk[]
  b: readonly Chunk[]
}

/** Gives chunks with the same id the same number; one without an id has a number of its own. */
function numbersOf(idOf: (chunk: Chunk, side: 'a' | 'b') => string | undefined) {
  const numbers = new Map<string, number>()
  return (chunks: readonly Chunk[], side: 'a' | 'b'): RowHashes => {
    const hashes = new RowHashes(chunks.length)
    for (const [k, chunk] of chunks.entries()) {
      const id = idOf(chunk, side)
      hashes.high[k] = id === undefined ? (side === 'a' ? 1 : -1) * (k + 1) : 0
      if (id === undefined) continue
      if (!numbers.has(id)) numbers.set(id, numbers.size)
      hashes.low[k] = numbers.get(id)!
    }
    return hashes
  }
}

/** Chunks between those that both tables have. */
async function gapsBetween(
  { a, b }: Chunks,
  numbered: ReturnType<typeof numbersOf>,
  work: Work,
): Promise<Chunks[]> {
  const match = new Int32Array(a.length).fill(-1)
  const all = { a: { from: 0, to: a.length }, b: { from: 0, to: b.length } }
  await align(numbered(a, 'a'), numbered(b, 'b'), all, match, work)
  return hunksOf(match, all.a, all.b).map((hunk) => ({
    a: a.slice(hunk.a.from, hunk.a.to),
    b: b.slice(hunk.b.from, hunk.b.to),
  }))
}

/** Chunks whose slices of the columns of the key are the same, in the order of both tables. */
async function pairsOfChunks(
  { left, right, pairs, work }: Tables,
  a: readonly Chunk[],
  b: readonly Chunk[],
  isKey: (pair: Pair) => boolean,
): Promise<ChunkPair[]> {
  const keys = pairs.flatMap((pair, column) => (isKey(pair) ? [column] : []))
  const shapeOf = (chunk: Chunk, side: 'a' | 'b'): string | undefined => {
    const { parts } = side === 'a' ? left : right
    const hashes = keys.flatMap((column) =>
      partsWithin(parts[column], chunk).map(({ hash, rows }) => hash && `${hash}:${rows}`),
    )
    return hashes.includes(undefined) ? undefined : `${hashes.join()} ${shapeIn(parts, chunk)}`
  }
  const numbered = numbersOf(shapeOf)
  const match = new Int32Array(a.length).fill(-1)
  const all = { a: { from: 0, to: a.length }, b: { from: 0, to: b.length } }
  await align(numbered(a, 'a'), numbered(b, 'b'), all, match, work)
  return a.flatMap((chunk, k) => (match[k] < 0 ? [] : [{ a: chunk, b: b[match[k]] }]))
}

/** How the parts of a chunk divide its rows, by column. */
function shapeIn(parts: readonly (readonly Part[])[], chunk: Chunk): string {
  return parts.map((own) => partsWithin(own, chunk).map(({ rows }) => rows)).join('|')
}

/** Chunks of a gap that begin as far behind its beginning, and have as many rows. */
function pairsAtSamePlace({ left, right }: Tables, { a, b }: Chunks): ChunkPair[] {
  if (a.length === 0 || b.length === 0) return []
  const starts = new Map(b.map((chunk) => [chunk.from - b[0].from, chunk]))
  return a.flatMap((chunk) => {
    const other = starts.get(chunk.from - a[0].from)
    return other?.rows === chunk.rows && shapeIn(left.parts, chunk) === shapeIn(right.parts, other)
      ? [{ a: chunk, b: other }]
      : []
  })
}

/** What is left of a gap between pairs of chunks. */
function withoutPairs({ a, b }: Chunks, pairs: readonly ChunkPair[]): Chunks[] {
  const gaps: Chunks[] = []
  let [fromA, fromB] = [0, 0]
  const close = (toA: number, toB: number): void => {
    if (toA > fromA || toB > fromB) gaps.push({ a: a.slice(fromA, toA), b: b.slice(fromB, toB) })
    fromA = toA + 1
    fromB = toB + 1
  }
  for (const pair of pairs) {
    const [atA, atB] = [a.indexOf(pair.a), b.indexOf(pair.b)]
    if (atA >= 0) close(atA, atB)
  }
  close(a.length, b.length)
  return gaps
}

interface Hunk {
  a: { from: number; to: number }
  b: { from: number; to: number }
}

/** The runs between matched rows. */
function hunksOf(match: Int32Array, a: Hunk['a'], b: Hunk['b']): Hunk[] {
  const hunks: Hunk[] = []
  let [fromA, fromB] = [a.from, b.from]
  for (let row = a.from; row <= a.to; row++) {
    const other = row === a.to ? b.to : match[row]
    if (other < 0) continue
    if (row > fromA || other > fromB)
      hunks.push({ a: { from: fromA, to: row }, b: { from: fromB, to: other } })
    fromA = row + 1
    fromB = other + 1
  }
  return hunks
}

/**
 * Matches rows of runs that are the same row, changed: those that are the most similar; if both runs have as many rows,
 * also those between them, in order.
 */
async function pairRows(tables: Tables, hunks: readonly Hunk[], match: Int32Array): Promise<void> {
  const several: Hunk[] = []
  const inPlace = (a: Hunk['a'], b: Hunk['b']): void => {
    for (let k = 0; k < Math.min(a.to - a.from, b.to - b.from); k++) match[a.from + k] = b.from + k
  }
  let products = 0
  for (const hunk of hunks) {
    const product = (hunk.a.to - hunk.a.from) * (hunk.b.to - hunk.b.from)
    if (product > 1 && products + product <= MAX_SIMILAR) {
      products += product
      several.push(hunk)
    } else inPlace(hunk.a, hunk.b)
  }
  if (several.length === 0) return
  const shared = await sharedCells(tables, several)
  for (const [k, { a, b }] of several.entries()) {
    const similar = mostSimilar(shared[k], a.to - a.from, b.to - b.from)
    for (const [x, y] of similar) match[a.from + x] = b.from + y
    // Rows between those that have nothing in common are paired in order.
    if (a.to - a.from === b.to - b.from)
      for (const between of hunksOf(match, a, b)) inPlace(between.a, between.b)
  }
}

/** Pairs of rows in the order of both that have the most cells in common: of `n` rows with `m`. */
function mostSimilar(shared: Uint16Array, n: number, m: number): [number, number][] {
  // The most cells that rows from here on can have in common.
  const best = new Int32Array((n + 1) * (m + 1))
  const at = (x: number, y: number): number => x * (m + 1) + y
  for (let x = n - 1; x >= 0; x--)
    for (let y = m - 1; y >= 0; y--)
      best[at(x, y)] = Math.max(
        best[at(x + 1, y)],
        best[at(x, y + 1)],
        shared[x * m + y] + best[at(x + 1, y + 1)],
      )
  const found: [number, number][] = []
  for (let [x, y] = [0, 0]; x < n && y < m; ) {
    const own = shared[x * m + y]
    if (own > 0 && best[at(x, y)] === own + best[at(x + 1, y + 1)]) found.push([x++, y++])
    else if (best[at(x, y)] === best[at(x + 1, y)]) x++
    else y++
  }
  return found
}

/** How many cells each row of one run has in common with each of the other, by hunk. */
async function sharedCells(tables: Tables, hunks: readonly Hunk[]): Promise<Uint16Array[]> {
  const counts = hunks.map(({ a, b }) => new Uint16Array((a.to - a.from) * (b.to - b.from)))
  const rows = (side: 'a' | 'b'): Promise<Wanted> =>
    Wanted.of(Int32Array.from(hunks.flatMap((hunk) => range(hunk[side].from, hunk[side].to))), tables.work)
  const [wantedA, wantedB] = [await rows('a'), await rows('b')]
  const none = new RowHashes(1)
  for (const [column, { asText }] of tables.pairs.entries()) {
    const left = await pickHashes(tables, 'left', column, wantedA)
    const right = await pickHashes(tables, 'right', column, wantedB)
    none.low.fill(0)
    none.high.fill(0)
    tables.reader.hash(NULL, none, 0, asText)
    let [fromA, fromB] = [0, 0]
    for (const [k, { a, b }] of hunks.entries()) {
      const [n, m] = [a.to - a.from, b.to - b.from]
      for (let x = 0; x < n; x++) {
        if (left.isSame(fromA + x, none, 0)) continue
        for (let y = 0; y < m; y++) if (left.isSame(fromA + x, right, fromB + y)) counts[k][x * m + y]++
      }
      fromA += n
      fromB += m
      await tables.work.spendAndPause(n * m)
    }
  }
  return counts
}

const NULL = Buffer.from('null')

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, k) => from + k)
}
