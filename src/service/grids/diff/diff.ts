// Compares two tables: columns, rows and cells (docs/diff.md).

import { Problem } from '../../../contract/errors.ts'
import { formatList } from '../../../contract/message-texts.ts'
import { WorkBudget } from '../../../json/index.ts'
import { familyOf, mustCompareAsText } from '../../store/schema/column-types.ts'
import type { ColumnChunk } from '../column/chunks.ts'
import { CellReader, RowHashes } from '../column/kernel/cells.ts'
import type { SnapshotColumn } from '../column/snapshot.ts'
import { mergeSort } from '../read/sort.ts'
import { ChangedCells } from './changed-cells.ts'
import { align, longestAscending } from './common-subsequence.ts'
import {
  type ColumnPair,
  type ComparedTables,
  type DiffInput,
  hashRows,
  type RowChange,
  RowList,
  type RowPairs,
} from './diff-inputs.ts'
import { formatKeyFault, indexKeys, type KeyFault, type KeyIndex } from './keys.ts'
import { PairedRowGroups, type RowGroupPair } from './paired-row-groups.ts'
import { chunksWithin, GroupedTable, type RowGroup } from './row-groups.ts'

export type { DiffInput } from './diff-inputs.ts'

export interface DiffOptions {
  /** Columns to match rows by. Without a key, rows are compared in order. */
  key: readonly string[]
  /** Columns to compare; default: all. */
  columns?: readonly string[]
  ignore?: readonly string[]
  /** Numbers that differ by no more are equal. */
  tolerance?: number
  /** True if columns are matched by uid, and only then by name. */
  isSameGrid?: boolean
  work?: WorkBudget
  /** True if people read the diff: without a key, finds a column that helps to recognize rows. */
  context?: boolean
}

export interface TableDiff {
  /** Columns of both tables. */
  pairs: ColumnPair[]
  /** Columns of one table only. */
  added: SnapshotColumn[]
  removed: SnapshotColumn[]
  /** Columns of both tables with a different position. */
  moved: ReadonlySet<ColumnPair>
  rows: { added: number; removed: number; changed: number }
  /** Number of changed cells, by column pair. */
  cells: number[]
  /** Changed rows in order; a removed row comes before the row at its position. */
  changes: RowChange[]
  isReordered: boolean
  /** Without a key: the column that best helps to recognize rows. */
  context?: ColumnPair
  /** Without a key: a column whose values are unique in both tables. */
  unique?: ColumnPair
}

/** Maximum number of rows per table in row groups that differ. */
export const MAX_DIFF_ROWS = 20_000_000
/** Maximum number of rows of both tables up to which keys are checked in shared slices, too. */
const MAX_CHECKED_ROWS = 200_000
/** Maximum number of columns that are checked for unique values. */
const MAX_TRIED_COLUMNS = 8
/** Maximum number of pairs of a removed and an added row that are compared for similarity. */
const MAX_SIMILAR_PAIRS = 1_000_000

/**
 * Converts key columns of two versions of a grid to their current names; a renamed column can have its old
 * name.
 */
export function currentKeyNames(key: readonly string[], before: DiffInput, after: DiffInput): string[] {
  const [olds, news] = [before.snap.columns, after.snap.columns]
  return key.map((given) => {
    if (news.some(({ name }) => name === given)) return given
    const old = olds.find(({ name }) => name === given)
    return news.find(({ uid }) => uid === old?.uid)?.name ?? given
  })
}

/**
 * Compares two tables. Throws `bad_data` (a key is null or not unique), `unknown_column`, `too_large`,
 * `aborted`.
 */
export async function diffTables(
  before: DiffInput,
  after: DiffInput,
  options: DiffOptions,
): Promise<TableDiff> {
  const { work = new WorkBudget(), tolerance = 0 } = options
  const { pairs, added, removed } = pairColumns(before, after, options)
  const left = new GroupedTable(
    before.snap,
    pairs.map((pair) => pair.before),
    work,
  )
  const right = new GroupedTable(
    after.snap,
    pairs.map((pair) => pair.after),
    work,
  )
  const reader = CellReader.open(Math.max(left.largestChunkBytes, right.largestChunkBytes))
  try {
    const tables: ComparedTables = { before, after, left, right, pairs, reader, work }
    const isKeyed = options.key.length > 0
    const aligned = new PairedRowGroups(tables, tolerance, isKeyed)
    const matches = isKeyed
      ? await matchByKey(tables, aligned)
      : await matchInOrder(tables, tolerance, aligned)
    const cells = new ChangedCells(tables, matches.pairs, tolerance)
    await cells.compare()
    const changes = await sortChanges(
      matches.single.concat(aligned.changes, await cells.listChangedRows()),
      work,
    )
    const needsContext = options.context === true && !isKeyed && changes.length > 0
    return {
      pairs,
      added,
      removed,
      ...(needsContext && { context: contextColumnOf(pairs), unique: await findUniqueColumn(tables) }),
      moved: await findMovedColumns(pairs, work),
      isReordered: matches.isReordered === true,
      rows: {
        added: countChanges(matches.single, (change) => change.before < 0),
        removed: countChanges(matches.single, (change) => change.after < 0),
        changed: cells.changedRows + aligned.changes.length,
      },
      cells: cells.byPair.map((count, k) => count + aligned.cells[k]),
      changes,
    }
  } finally {
    reader.release()
  }
}

function countChanges(changes: readonly RowChange[], isCounted: (change: RowChange) => boolean): number {
  let total = 0
  for (const change of changes) if (isCounted(change)) total++
  return total
}

/** Sorts changes by row; a removed row comes before the row at its position. */
async function sortChanges(changes: RowChange[], work: WorkBudget): Promise<RowChange[]> {
  const positionOf = ({ before: a, after: b }: RowChange): number => (b < 0 ? a : b)
  const compare = (a: RowChange, b: RowChange): number =>
    positionOf(a) - positionOf(b) || Number(a.after >= 0) - Number(b.after >= 0)
  const rows = await countUp(changes.length, work)
  const order = await mergeSort(rows, (a, b) => compare(changes[a], changes[b]) || a - b, work)
  const sorted: RowChange[] = new Array(changes.length)
  for (let k = 0; k < sorted.length; k++) {
    sorted[k] = changes[order[k]]
    if (work.spend(1)) await work.pause()
  }
  return sorted
}

/** Returns the numbers from 0 up to `count`, exclusive. */
async function countUp(count: number, work: WorkBudget): Promise<Uint32Array> {
  const numbers = new Uint32Array(count)
  for (let k = 0; k < count; k++) {
    numbers[k] = k
    if (work.spend(1)) await work.pause()
  }
  return numbers
}

/** Returns the first column of texts, else of dates, else the first column. */
function contextColumnOf(pairs: readonly ColumnPair[]): ColumnPair | undefined {
  const ofFamily = (wanted: string): ColumnPair | undefined =>
    pairs.find(({ after }) => familyOf(after.type) === wanted)
  return ofFamily('text') ?? ofFamily('date') ?? ofFamily('datetime') ?? pairs[0]
}

/**
 * Returns the first column with unique values and no nulls, of the first `MAX_TRIED_COLUMNS`; undefined for
 * large tables.
 */
async function findUniqueColumn(tables: ComparedTables): Promise<ColumnPair | undefined> {
  const { left, right, pairs } = tables
  if (left.rows + right.rows > MAX_CHECKED_ROWS) return undefined
  for (const candidate of pairs.slice(0, MAX_TRIED_COLUMNS)) {
    const asKey = { ...tables, pairs: pairs.map((pair) => ({ ...pair, isKey: pair === candidate })) }
    try {
      for (const side of ['left', 'right'] as const)
        await indexKeysOf(asKey, side, tables[side].choose(tables[side].rowGroups))
      return candidate
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'bad_data') throw error
    }
  }
  return undefined
}

/** Matched rows. `single`: rows of one table only; `pairs`: rows of both that may differ. */
interface MatchedRows {
  single: RowChange[]
  pairs: RowPairs
  /** With a key: whether the rows of both tables have different orders. */
  isReordered?: boolean
}

/** Pairs the columns of both tables by uid and name. Throws `unknown_column`. */
function pairColumns(
  before: DiffInput,
  after: DiffInput,
  { key, columns, ignore = [], isSameGrid }: DiffOptions,
): { pairs: ColumnPair[]; added: SnapshotColumn[]; removed: SnapshotColumn[] } {
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
  const paired = new Set<SnapshotColumn>()
  const pairs: ColumnPair[] = []
  const added: SnapshotColumn[] = []
  const uids = new Set(isSameGrid ? news.map(({ uid }) => uid) : [])
  for (const column of news) {
    const sameName = byName.get(column.name)
    // A column of that name that still exists under another name is a different column.
    const oldColumn = byUid.get(column.uid) ?? (sameName && !uids.has(sameName.uid) ? sameName : undefined)
    if (oldColumn) paired.add(oldColumn)
    if (!isChosen(column.name) && !(oldColumn && isChosen(oldColumn.name) && columns)) continue
    if (!oldColumn) added.push(column)
    else
      pairs.push({
        before: oldColumn,
        after: column,
        asText: mustCompareAsText(oldColumn.type, column.type),
        isKey: key.includes(column.name),
      })
  }
  const missingKey = key.find((name) => !pairs.some((pair) => pair.after.name === name))
  if (missingKey !== undefined) {
    const lackingSide = news.some(({ name }) => name === missingKey) ? before : after
    throw new Problem(
      'unknown_column',
      `${lackingSide.name} has no column ${JSON.stringify(missingKey)}, which is the key`,
      {
        hint: 'Choose key columns that both tables have: --key',
      },
    )
  }
  const removed = olds.filter((column) => !paired.has(column) && isChosen(column.name))
  return { pairs, added, removed }
}

/** Returns the columns that have moved: those outside of the longest subsequence in the same order. */
async function findMovedColumns(pairs: readonly ColumnPair[], work: WorkBudget): Promise<Set<ColumnPair>> {
  const before = pairs.map((pair) => pair.before.order)
  const stay = new Set(await longestAscending(before, work))
  return new Set(pairs.filter((_, k) => !stay.has(k)))
}

/** Matches rows by key. Row groups that both tables share are not read. */
async function matchByKey(tables: ComparedTables, aligned: PairedRowGroups): Promise<MatchedRows> {
  const { left, right, work } = tables
  if (left.rows + right.rows <= MAX_CHECKED_ROWS)
    for (const side of ['left', 'right'] as const)
      await indexKeysOf(tables, side, tables[side].choose(tables[side].rowGroups))
  const [onlyA, onlyB] = splitUnshared(left.rowGroups, right.rowGroups)
  // Row groups with the same keys in the same order have the same rows.
  const keyed = await pairByKeySlices(tables, onlyA, onlyB, (pair) => pair.isKey)
  await aligned.compare(keyed)
  const [doneA, doneB] = [new Set(keyed.map(({ a }) => a)), new Set(keyed.map(({ b }) => b))]
  const rowsA = left.choose(onlyA.filter((chunk) => !doneA.has(chunk)))
  const rowsB = right.choose(onlyB.filter((chunk) => !doneB.has(chunk)))
  checkRowLimit(rowsA, rowsB)
  const keys = {
    left: await indexKeysOf(tables, 'left', rowsA),
    right: await indexKeysOf(tables, 'right', rowsB),
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

/** Indexes the rows to read by key. Throws `bad_data` if a key is null or not unique. */
function indexKeysOf(
  { reader, pairs, work, ...sides }: ComparedTables,
  side: 'left' | 'right',
  rows: number,
): Promise<KeyIndex> {
  const { name } = side === 'left' ? sides.before : sides.after
  const key = pairs.flatMap(({ isKey, asText, after }, column) =>
    isKey ? [{ column, name: after.name, asText }] : [],
  )
  const problem = (fault: KeyFault): Problem => {
    const text = formatKeyFault(fault, 'row', (row) => row + 1)
    return new Problem('bad_data', `${name}: ${text}`, {
      hint: 'Choose a key whose values are unique (--key), or leave it out to compare rows in order.',
    })
  }
  return indexKeys(reader, sides[side], key, rows, problem, work)
}

/** Returns the row groups of each table that the other lacks, by id. */
function splitUnshared(a: readonly RowGroup[], b: readonly RowGroup[]): [RowGroup[], RowGroup[]] {
  const counts = new Map<string, number>()
  for (const { id } of b) if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1)
  const shared = new Map<string, number>()
  const takeShared = (counts: Map<string, number>, id: string | undefined): boolean => {
    const left = id === undefined ? 0 : (counts.get(id) ?? 0)
    if (left === 0) return false
    counts.set(id!, left - 1)
    return true
  }
  const onlyA = a.filter(({ id }) => {
    const isShared = takeShared(counts, id)
    if (isShared) shared.set(id!, (shared.get(id!) ?? 0) + 1)
    return !isShared
  })
  return [onlyA, b.filter(({ id }) => !takeShared(shared, id))]
}

/** Throws `too_large` if more than `MAX_DIFF_ROWS` rows must be read. */
function checkRowLimit(a: number, b: number): void {
  if (Math.max(a, b) <= MAX_DIFF_ROWS) return
  throw new Problem(
    'too_large',
    `${Math.max(a, b)} rows differ in their slices; the limit is ${MAX_DIFF_ROWS}`,
  )
}

/** Matches rows in order: aligns shared row groups, then the rows between them. */
async function matchInOrder(
  tables: ComparedTables,
  tolerance: number,
  aligned: PairedRowGroups,
): Promise<MatchedRows> {
  const { left, right, pairs, reader, work } = tables
  const all = { a: left.rowGroups, b: right.rowGroups }
  const between = await findGaps(
    all,
    createGroupHasher(({ id }) => id),
    work,
  )
  // Row groups of the same size at the same position of a gap.
  const candidates = between.flatMap((gap) => pairByOffset(tables, gap))
  const rejected = new Set(await aligned.compare(candidates))
  const done = candidates.filter((pair) => !rejected.has(pair))
  const gaps = between.flatMap((gap) => splitGap(gap, done))
  const rowsA = left.choose(gaps.flatMap(({ a }) => a))
  const rowsB = right.choose(gaps.flatMap(({ b }) => b))
  checkRowLimit(rowsA, rowsB)
  const hashes = { left: new RowHashes(rowsA), right: new RowHashes(rowsB) }
  for (const [k, { asText, before }] of pairs.entries()) {
    // Nearly equal numbers have different hashes.
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
    for (const hunk of listHunks(match, a, b)) hunks.push(hunk)
    await work.spendAndPause(a.to - a.from)
    atA = a.to
    atB = b.to
  }
  // Without a tolerance, matched rows are equal and need no comparison.
  const isSure = tolerance === 0
  const sure = new Uint8Array(rowsA)
  for (let row = 0; isSure && row < rowsA; row++) {
    if (match[row] >= 0) sure[row] = 1
    if (work.spend(1)) await work.pause()
  }
  await pairChangedRows(tables, hunks, match)
  return collectChanges(tables, hunks, match, sure)
}

/** Collects added and removed rows from hunks, and matched rows that are not `sure` to be equal. */
async function collectChanges(
  { left, right, work }: ComparedTables,
  hunks: readonly Hunk[],
  match: Int32Array,
  sure: Uint8Array,
): Promise<MatchedRows> {
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

/** Row groups of both tables, in order. */
interface RowGroupLists {
  a: readonly RowGroup[]
  b: readonly RowGroup[]
}

/**
 * Returns a function that hashes row groups: equal ids have equal hashes; without an id, a hash is unique.
 */
function createGroupHasher(idOf: (chunk: RowGroup, side: 'a' | 'b') => string | undefined) {
  const numbers = new Map<string, number>()
  return (chunks: readonly RowGroup[], side: 'a' | 'b'): RowHashes => {
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

/** Returns the gaps between row groups that both tables share. */
async function findGaps(
  { a, b }: RowGroupLists,
  numbered: ReturnType<typeof createGroupHasher>,
  work: WorkBudget,
): Promise<RowGroupLists[]> {
  const match = new Int32Array(a.length).fill(-1)
  const all = { a: { from: 0, to: a.length }, b: { from: 0, to: b.length } }
  await align(numbered(a, 'a'), numbered(b, 'b'), all, match, work)
  return listHunks(match, all.a, all.b).map((hunk) => ({
    a: a.slice(hunk.a.from, hunk.a.to),
    b: b.slice(hunk.b.from, hunk.b.to),
  }))
}

/** Pairs row groups whose key columns have the same slices, in the order of both tables. */
async function pairByKeySlices(
  { left, right, pairs, work }: ComparedTables,
  a: readonly RowGroup[],
  b: readonly RowGroup[],
  isKey: (pair: ColumnPair) => boolean,
): Promise<RowGroupPair[]> {
  const keys = pairs.flatMap((pair, column) => (isKey(pair) ? [column] : []))
  const shapeOf = (chunk: RowGroup, side: 'a' | 'b'): string | undefined => {
    const { chunks: parts } = side === 'a' ? left : right
    const hashes = keys.flatMap((column) =>
      chunksWithin(parts[column], chunk).map(({ hash, rows }) => hash && `${hash}:${rows}`),
    )
    return hashes.includes(undefined) ? undefined : `${hashes.join()} ${describeShape(parts, chunk)}`
  }
  const numbered = createGroupHasher(shapeOf)
  const match = new Int32Array(a.length).fill(-1)
  const all = { a: { from: 0, to: a.length }, b: { from: 0, to: b.length } }
  await align(numbered(a, 'a'), numbered(b, 'b'), all, match, work)
  return a.flatMap((chunk, k) => (match[k] < 0 ? [] : [{ a: chunk, b: b[match[k]] }]))
}

/** Describes how the chunks of each column divide a row group. */
function describeShape(parts: readonly (readonly ColumnChunk[])[], chunk: RowGroup): string {
  return parts.map((own) => chunksWithin(own, chunk).map(({ rows }) => rows)).join('|')
}

/** Pairs row groups at the same offset of a gap that have the same size and chunks. */
function pairByOffset({ left, right }: ComparedTables, { a, b }: RowGroupLists): RowGroupPair[] {
  if (a.length === 0 || b.length === 0) return []
  const starts = new Map(b.map((chunk) => [chunk.from - b[0].from, chunk]))
  return a.flatMap((chunk) => {
    const other = starts.get(chunk.from - a[0].from)
    return other?.rows === chunk.rows &&
      describeShape(left.chunks, chunk) === describeShape(right.chunks, other)
      ? [{ a: chunk, b: other }]
      : []
  })
}

/** Returns the gaps that remain between pairs of row groups. */
function splitGap({ a, b }: RowGroupLists, pairs: readonly RowGroupPair[]): RowGroupLists[] {
  const gaps: RowGroupLists[] = []
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

/** A range of unmatched rows in each table; one can be empty. */
interface Hunk {
  a: { from: number; to: number }
  b: { from: number; to: number }
}

/** Returns the ranges between matched rows. */
function listHunks(match: Int32Array, a: Hunk['a'], b: Hunk['b']): Hunk[] {
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
 * Matches changed rows of a hunk: the most similar ones, and if both ranges have as many rows, all others in
 * order.
 */
async function pairChangedRows(
  tables: ComparedTables,
  hunks: readonly Hunk[],
  match: Int32Array,
): Promise<void> {
  const several: Hunk[] = []
  const inPlace = (a: Hunk['a'], b: Hunk['b']): void => {
    for (let k = 0; k < Math.min(a.to - a.from, b.to - b.from); k++) match[a.from + k] = b.from + k
  }
  let products = 0
  for (const hunk of hunks) {
    const product = (hunk.a.to - hunk.a.from) * (hunk.b.to - hunk.b.from)
    if (product > 1 && products + product <= MAX_SIMILAR_PAIRS) {
      products += product
      several.push(hunk)
    } else inPlace(hunk.a, hunk.b)
  }
  if (several.length === 0) return
  const shared = await countSharedCells(tables, several)
  for (const [k, { a, b }] of several.entries()) {
    const similar = pairMostSimilar(shared[k], a.to - a.from, b.to - b.from)
    for (const [x, y] of similar) match[a.from + x] = b.from + y
    // Pair the remaining rows in order.
    if (a.to - a.from === b.to - b.from)
      for (const between of listHunks(match, a, b)) inPlace(between.a, between.b)
  }
}

/**
 * Pairs `n` rows with `m` rows, in order, so that they share the most cells. `shared`: counts at x * m + y.
 */
function pairMostSimilar(shared: Uint16Array, n: number, m: number): [number, number][] {
  // Maximum number of cells that the rows from here on can share.
  const best = new Int32Array((n + 1) * (m + 1))
  const at = (x: number, y: number): number => x * (m + 1) + y
  for (let x = n - 1; x >= 0; x--)
    for (let y = m - 1; y >= 0; y--)
      best[at(x, y)] = Math.max(
        best[at(x + 1, y)],
        best[at(x, y + 1)],
        shared[x * m + y] + best[at(x + 1, y + 1)],
      )
  const pairs: [number, number][] = []
  for (let [x, y] = [0, 0]; x < n && y < m; ) {
    const sharedCount = shared[x * m + y]
    if (sharedCount > 0 && best[at(x, y)] === sharedCount + best[at(x + 1, y + 1)]) pairs.push([x++, y++])
    else if (best[at(x, y)] === best[at(x + 1, y)]) x++
    else y++
  }
  return pairs
}

/** Counts the equal cells of each row before with each row after, by hunk. Nulls do not count. */
async function countSharedCells(tables: ComparedTables, hunks: readonly Hunk[]): Promise<Uint16Array[]> {
  const counts = hunks.map(({ a, b }) => new Uint16Array((a.to - a.from) * (b.to - b.from)))
  const rows = (side: 'a' | 'b'): Promise<RowList> =>
    RowList.create(
      Int32Array.from(hunks.flatMap((hunk) => numbersBetween(hunk[side].from, hunk[side].to))),
      tables.work,
    )
  const [wantedA, wantedB] = [await rows('a'), await rows('b')]
  const none = new RowHashes(1)
  for (const [column, { asText }] of tables.pairs.entries()) {
    const left = await hashRows(tables, 'left', column, wantedA)
    const right = await hashRows(tables, 'right', column, wantedB)
    none.low.fill(0)
    none.high.fill(0)
    tables.reader.addHashes(NULL, none, 0, asText)
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

function numbersBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, k) => from + k)
}
