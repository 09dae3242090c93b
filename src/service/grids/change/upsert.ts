/** Rows that are found by their key: those that a grid has are updated in place, others are appended. */
import { counted } from '../../../contract/closest.ts'
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { MAX_REMOVED } from '../../../contract/headers.ts'
import type { CheckReport } from '../../../contract/resources/index.ts'
import { type Bounds, boundsOf, boundsTogether, numbersAsText } from '../../../ingest/index.ts'
import { breathe } from '../../../json/index.ts'
import { authorize, checkReplay } from '../../access/access.ts'
import { checkIfMatch } from '../../core/etag.ts'
import type { ColumnRow, Epoch, SliceRef } from '../../store/aggregates/grids.ts'
import { loadText, type SliceText, storeSlices } from '../../store/aggregates/texts.ts'
import { mergeTypes } from '../../store/schema/column-types.ts'
import { keyOf, storedKey } from '../../store/schema/primary-key.ts'
import type { Writers } from '../../store/store.ts'
import { enforceOn, givenChecks } from '../checks/enforce.ts'
import { columnsAre, longestText, type Snapshot, type SnapshotColumn } from '../column/content.ts'
import { CellReader, RowHashes } from '../column/kernel/cells.ts'
import { type Layout, snapshotOfLayout } from '../column/layout.ts'
import { partsOf, readCells, readRows } from '../diff/chunks.ts'
import { checkType, convertSlices, matchColumns, typeWithin } from '../given/match.ts'
import { type DataCall, givenProvenance, refuseWarnings } from '../given/reading-options.ts'
import type { Table } from '../given/tables.ts'
import { snapshotOfTable } from '../given/tables.ts'
import { givenKey, isOfOtherKind, keysOf, namedColumns } from '../keys/key.ts'
import type { GridService } from '../service.ts'
import { repeatedSlices, rewriteLayout, withRows } from './compact.ts'
import { moreNulls, type RowEdit, spliced } from './splice.ts'
import { appendVersion, type Before, beginVersion, continuesVersion, userOf } from './versions.ts'

/** Bytes of texts that are changed together. */
const WINDOW_BYTES = 32 * 1024 * 1024
/** Rows that a write may change without a version of its own: more are had back by a revert. */
const FEW_ROWS = 100

export interface Upserted {
  idlocal: number
  rows_added: number
  /** Absent without a key: rows were appended. */
  rows_updated?: number
  rows_unchanged?: number
  rows_removed?: number
  row_count: number
  version: number
  warnings: string[]
  checks?: CheckReport
}

interface NewSlices {
  column: ColumnRow
  slices: SliceRef[]
  rows: number
  type: ColumnRow['type']
}

interface Prepared {
  columns: NewSlices[]
  key: string[]
  counts: { rows_added: number; rows_updated: number; rows_unchanged: number; rows_removed: number }
  warnings: string[]
  checks?: CheckReport
}

/**
 * Updates and appends the rows of a table by the key of a grid, or by the one that the request names, which the grid then
 * has. `lacks`: columns that the table does not have, so that those of the grid keep their values.
 */
export async function upsert(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  lacks: readonly boolean[] = [],
): Promise<Upserted> {
  return rewriteLayout(
    service,
    fid,
    (layout) => prepare(service, call, fid, table, layout, lacks),
    async (writers, prepared, layout) => {
      const { columns, key, counts, warnings, checks } = prepared
      const there = await writers.files.get(fid.owner, fid.idlocal)
      const write = call.writeKey(fid.owner)
      const apply = async (): Promise<Upserted> => {
        const { file } = await authorize(writers, there, call, { access: 'write', filetype: 'grid' })
        checkIfMatch(file, call.ifMatch)
        const { rows_added, rows_updated, rows_removed } = counts
        const { grid } = layout
        let version = file.content_version
        if (storedKey(key) !== grid.primary_key) {
          const changed = { primary_key: storedKey(key), appended_by: null, appended_since: null }
          await writers.grids.change(fid.owner, fid.idlocal, changed)
          await writers.files.change(fid.owner, fid.idlocal)
        }
        if (key.length === 0) {
          if (rows_added > 0) version = await putRows(writers, { file, grid }, layout, columns, userOf(call))
        } else if (rows_added + rows_updated + rows_removed > 0)
          version = await putKeyed(writers, call, { file, grid }, layout, prepared)
        const row_count = grid.row_count + rows_added - rows_removed
        const done = key.length === 0 ? { rows_added } : counts
        return { idlocal: fid.idlocal, ...done, row_count, version, warnings, checks }
      }
      return writers.idempotency.once(write, apply, {
        onReplay: () => checkReplay(writers, there, write, call),
      })
    },
  )
}

/** Appends rows: what was there stays, in longer slices. Returns the version that has them. */
async function putRows(
  writers: Writers,
  { file, grid }: Before,
  { slices, columns: before }: Layout,
  columns: readonly NewSlices[],
  by: string | null,
): Promise<number> {
  const { owner, idlocal } = file
  // Columns that are filled up before change what was there.
  const isChange = grid.ragged === 1
  const epoch = { owner, idlocal, epoch: grid.epoch + (isChange ? 1 : 0) }
  for (const { column, slices: now } of columns) {
    const own = now.map((slice, seq) => ({ ...slice, seq }))
    await writers.grids.replaceSlices(epoch, column.uid, slices.get(column.uid) ?? [], own)
  }
  const changes = columns.map(({ column: { uid }, rows, type }) => ({ uid, fields: { rows, type } }))
  await writers.grids.changeColumns(owner, idlocal, changes)
  if (!isChange) return appendVersion(writers, { file, grid }, by)
  const after = columns.map(({ column, rows, type }) => ({ ...column, rows, type }))
  return beginVersion(writers, { file, grid }, { operation: 'append', by }, { before, after })
}

/**
 * Stores what rows that are found by their key change. Rows that are only added are an append. A few that one user
 * changes belong to the version that began with such rows, like appends. Returns the version.
 */
async function putKeyed(
  writers: Writers,
  call: DataCall,
  before: Before,
  layout: Layout,
  { columns, counts }: Prepared,
): Promise<number> {
  const { file, grid } = before
  const { owner, idlocal } = file
  const { rows_added, rows_updated: rows_changed, rows_removed } = counts
  const by = userOf(call)
  const source = givenProvenance(call) ?? call.headers['Source-Tag']
  const isAppend = rows_changed + rows_removed === 0
  // What says where it is from, or why it is made, is a version of its own.
  const isOwn = source !== undefined || writers.versions.message !== undefined
  const isSmall =
    call.operation !== 'grids.upload' &&
    rows_removed === 0 &&
    rows_changed <= FEW_ROWS &&
    columns.every(({ column, type }) => type === column.type)
  const now = Date.now()
  const present =
    !isOwn && continuesVersion(grid, by, now)
      ? await writers.versions.get(owner, idlocal, file.content_version)
      : undefined
  const goesOn = present?.operation === 'update' && (isAppend || isSmall)
  if (isAppend && source === undefined && !goesOn) return putRows(writers, before, layout, columns, by)
  await putColumns(writers, { owner, idlocal, epoch: grid.epoch + (goesOn ? 0 : 1) }, layout, columns)
  if (goesOn) {
    // They are counted when the history is read: a row may have changed twice.
    const uncounted = { rows_added: null, rows_removed: null, rows_changed: null }
    await writers.versions.change(present, uncounted)
    await writers.files.change(owner, idlocal)
    return present.version
  }
  const after = columns.map(({ column, rows, type }) => ({ ...column, rows, type }))
  const change = { operation: 'update' as const, by, source, rows_added, rows_changed, rows_removed }
  const version = await beginVersion(writers, before, change, { before: layout.columns, after })
  if (isSmall && !isOwn) await writers.grids.change(owner, idlocal, { appended_by: by, appended_since: now })
  return version
}

async function putColumns(
  writers: Writers,
  of: Epoch,
  { slices }: Layout,
  columns: readonly NewSlices[],
): Promise<void> {
  for (const { column, slices: now, rows, type } of columns) {
    const own = now.map((slice, seq) => ({ ...slice, seq }))
    await writers.grids.replaceSlices(of, column.uid, slices.get(column.uid) ?? [], own)
    if (rows !== column.rows || type !== column.type)
      await writers.grids.changeColumn(of, column.uid, { rows, type })
  }
}

async function prepare(
  service: GridService,
  call: DataCall,
  fid: Fid,
  table: Table,
  layout: Layout,
  lacks: readonly boolean[],
): Promise<Prepared> {
  const { store } = service
  const { grid, columns } = layout
  const source = call.fileName ?? 'the upload'
  const names = givenKey(call)
  const key = names ? namedColumns(columns, names, 'the grid').map(({ uid }) => uid) : keyOf(grid)
  if (key.length === 0) refuseDeleteMissing(call)
  const said: string[] = []
  const matched = matchColumns(table, columns, source, said).map((column, k) =>
    table.rows > 0 && lacks[k] ? undefined : column,
  )
  const warnings = [...table.warnings]
  const before = await filledUp(service, layout)
  const given = await sourceColumns(service, call, table, before, matched, warnings)
  refuseWarnings(call, warnings)
  const lacking = key.find((uid) => !given[columns.findIndex((column) => column.uid === uid)])
  if (lacking !== undefined) {
    const { name } = columns.find(({ uid }) => uid === lacking)!
    throw new Problem('unknown_column', `${source} has no column ${JSON.stringify(name)}, which is the key`, {
      hint: `${columnsAre(columns.filter((_, k) => given[k]))}. A row is found by its key.`,
    })
  }
  const reader = CellReader.open(
    Math.max(0, ...before.map(longestText), ...given.map((one) => (one ? longestText(one) : 0))),
  )
  try {
    const snap = { blobs: store.blobs, columns: before, rows: grid.row_count }
    const at = key.map((uid) => columns.findIndex((column) => column.uid === uid))
    const rows =
      key.length === 0
        ? allAdded(table.rows)
        : await matchKeys(reader, snap, given, at, { source, rows: table.rows, lineOf: table.lineOf })
    const removed = call.headers['Delete-Missing'] === true ? rows.missing : new Int32Array(0)
    refuseRemoval(call, removed.length, grid.row_count)
    const changed = new Uint8Array(rows.found.length)
    const edits = new ColumnEdits(service, fid.owner, reader, rows.found, removed, changed, table.rows)
    const edited: SliceRef[][] = []
    for (const [k, column] of before.entries()) {
      const isKey = at.includes(k)
      edited.push(await edits.slices(column, isKey ? undefined : given[k]))
    }
    const added = rows.added.length
    const texts: Buffer[] = []
    if (added > 0)
      for (const one of given)
        texts.push(
          one
            ? await readRows(reader, partsOf({ ...snap, rows: table.rows }, one), rows.added)
            : Buffer.from(`${'null,'.repeat(added).slice(0, -1)}`),
        )
    const longer =
      added > 0
        ? await withRows(
            store.blobs,
            fid.owner,
            edited.map((slices, k) => ({ slices, text: texts[k] })),
            added,
            at,
          )
        : edited
    const updated = changed.reduce((sum, one) => sum + one, 0)
    const isTouched = updated + added > 0
    const rowCount = grid.row_count + added - removed.length
    const after = before.map((column, k) => {
      const filled = columns[k].rows < grid.row_count ? mergeTypes(column.type, 'text') : column.type
      const type = mergeTypes(filled, given[k]?.type ?? 'empty')
      return { ...column, slices: longer[k], rows: rowCount, type: isTouched ? type : column.type }
    })
    const checked = await enforceOn(
      service,
      fid,
      layout,
      {
        snap: { ...snap, columns: after, rows: rowCount },
        source,
        from: key.length === 0 ? grid.row_count : 0,
        lineOf: lineAfter(table, rows, removed, grid.row_count),
      },
      givenChecks(call),
    )
    refuseWarnings(call, checked.warnings)
    warnings.push(...checked.warnings)
    return {
      key,
      warnings,
      checks: checked.report,
      counts: {
        rows_added: added,
        rows_updated: updated,
        rows_unchanged: rows.found.length - updated,
        rows_removed: removed.length,
      },
      columns: after.map(({ slices, rows: count, type }, k) => ({
        column: columns[k],
        slices,
        rows: count,
        type,
      })),
    }
  } finally {
    reader.release()
  }
}

/** The columns of a grid; shorter ones end in empty texts, as for all appends. */
async function filledUp({ store }: GridService, layout: Layout): Promise<SnapshotColumn[]> {
  const { columns, rows } = snapshotOfLayout(store, layout)
  const filled: SnapshotColumn[] = []
  for (const column of columns) {
    const fill = rows - column.rows
    const more = fill > 0 ? await repeatedSlices(store, layout.grid.owner, '""', fill) : []
    filled.push({ ...column, rows, slices: [...column.slices, ...more] })
  }
  return filled
}

/** The columns of a table as they are in the grid, by its columns: their values have its types. */
async function sourceColumns(
  service: GridService,
  call: DataCall,
  table: Table,
  columns: readonly SnapshotColumn[],
  matched: readonly (Table['columns'][number] | undefined)[],
  warnings: string[],
): Promise<(SnapshotColumn | undefined)[]> {
  const snap = snapshotOfTable(service.store, table)
  const given: (SnapshotColumn | undefined)[] = []
  for (const [k, column] of matched.entries()) {
    if (!column) {
      given.push(undefined)
      continue
    }
    const own = snap.columns[table.columns.indexOf(column)]
    const target = columns[k]
    const type = typeWithin(column, target.type)
    if (table.small) {
      checkType(call, call.fileName ?? 'the upload', column, target, warnings)
      const isQuoted = type === 'text' && column.type === 'number'
      given.push({ ...own, type, tail: isQuoted ? numbersAsText(own.tail) : own.tail })
    } else given.push({ ...own, type, slices: await convertSlices(service, call, column, target, warnings) })
  }
  return given
}

/** Finds the rows of a grid that have the same keys as those of a table. `at`: positions of the columns of the key. */
async function matchKeys(
  reader: CellReader,
  grid: Snapshot,
  given: readonly (SnapshotColumn | undefined)[],
  at: readonly number[],
  { source, rows, lineOf }: { source: string; rows: number; lineOf?: (row: number) => number },
): Promise<MatchedRows> {
  const columns = at.map((k) => {
    const theirs = grid.columns[k]
    const own = { ...given[k]!, name: theirs.name }
    return { own, theirs, asText: isOfOtherKind(theirs, own) }
  })
  const own = await keysOf(
    reader,
    { ...grid, rows },
    columns.map(({ own: column, asText }) => ({ column, asText })),
    { source, lineOf },
  )
  const theirs = await keysOf(
    reader,
    grid,
    columns.map(({ theirs: column, asText }) => ({ column, asText })),
    { source: 'the grid' },
  )
  return matchedRows(own, theirs, rows, grid.rows)
}

/** The lines of the file that the rows of a grid are from, after the change. */
function lineAfter(
  { lineOf }: Table,
  { found, added }: MatchedRows,
  removed: Int32Array,
  before: number,
): ((row: number) => number | undefined) | undefined {
  if (!lineOf) return undefined
  const stay = before - removed.length
  return (row) => {
    if (row >= stay) return lineOf(added[row - stay])
    // The row of the grid before: as many as are removed up to it come before it.
    let was = row
    for (let k = 0; k < removed.length && removed[k] <= was; k++) was++
    const source = found.find((one) => one.row === was)
    return source && lineOf(source.from)
  }
}

/** Without a key, all rows are new. */
function allAdded(rows: number): MatchedRows {
  return { found: [], added: Int32Array.from({ length: rows }, (_, k) => k), missing: new Int32Array(0) }
}

interface MatchedRows {
  /** Rows of the grid that the table has, ascending, with their rows in the table. */
  found: { row: number; from: number }[]
  /** Rows of the table that the grid lacks, and of the grid that the table lacks. */
  added: Int32Array
  missing: Int32Array
}

function matchedRows(
  own: { hashes: RowHashes },
  theirs: { index: { get(hashes: RowHashes, row: number): number | undefined } },
  rows: number,
  gridRows: number,
): MatchedRows {
  const sources = new Int32Array(gridRows).fill(-1)
  const added = new Int32Array(rows)
  let count = 0
  for (let from = 0; from < rows; from++) {
    const row = theirs.index.get(own.hashes, from)
    if (row === undefined) added[count++] = from
    else sources[row] = from
  }
  const found: MatchedRows['found'] = []
  const missing = new Int32Array(gridRows - (rows - count))
  let gone = 0
  for (let row = 0; row < gridRows; row++) {
    if (sources[row] < 0) missing[gone++] = row
    else found.push({ row, from: sources[row] })
  }
  return { found, added: added.subarray(0, count), missing }
}

/** Throws if rows that a file lacks should be removed, and there is no key to find them by. */
export function refuseDeleteMissing({ headers }: DataCall): void {
  if (headers['Delete-Missing'] !== true) return
  throw new Problem('invalid_request', 'Delete-Missing: the grid has no key by which rows are found', {
    field: 'Delete-Missing',
    hint: 'Name the columns of the key with --key.',
  })
}

function refuseRemoval({ headers }: DataCall, removed: number, rows: number): void {
  const most = headers['Max-Shrink'] ?? MAX_REMOVED
  if (removed * 100 <= rows * most) return
  throw new Problem(
    'row_loss',
    `the file lacks ${counted(removed, 'row')} of the ${rows} that the grid has, which would be removed`,
    { hint: 'If that is right, add --yes, or leave out --delete-missing.' },
  )
}

/** Changes columns one by one: rows that a table has get its values, and rows that are missing are removed. */
class ColumnEdits {
  constructor(
    private readonly service: GridService,
    private readonly owner: string,
    private readonly reader: CellReader,
    private readonly found: readonly { row: number; from: number }[],
    private readonly removed: Int32Array,
    /** Which of the rows that were found have changed. */
    private readonly changed: Uint8Array,
    private readonly sourceRows: number,
  ) {}

  /** The slices of a column with these changes. Those in which nothing changes stay as they are. */
  async slices(column: SnapshotColumn, source: SnapshotColumn | undefined): Promise<SliceRef[]> {
    const { blobs } = this.service.store
    const parts = source && partsOf({ blobs, columns: [], rows: this.sourceRows }, source)
    const hashes = parts && (await this.hashesOf(parts))
    const slices: (SliceRef | undefined)[] = []
    let window: { at: number; slice: SliceRef; text: Buffer; edits: (RowEdit & { from: number })[] }[] = []
    let size = 0
    const flush = async (): Promise<void> => {
      const edits = window.flatMap((one) => one.edits).filter(({ from }) => from >= 0)
      const wanted = [...edits].sort((a, b) => a.from - b.from)
      const values = parts
        ? await readCells(
            this.reader,
            parts,
            wanted.map(({ from }) => from),
          )
        : []
      for (const [k, edit] of wanted.entries()) edit.value = Buffer.from(values[k])
      const texts: (SliceText | undefined)[] = []
      for (const one of window) {
        texts.push(this.edited(one.slice, one.text, one.edits))
        await breathe()
      }
      const refs = await storeSlices(
        blobs,
        this.owner,
        texts.filter((text) => text !== undefined),
      )
      for (const [k, { at }] of window.entries()) slices[at] = texts[k] && refs.shift()
      window = []
      size = 0
    }
    let from = 0
    let [nextFound, nextRemoved] = [0, 0]
    for (const [at, slice] of column.slices.entries()) {
      const end = from + slice.rows
      const [firstFound, firstRemoved] = [nextFound, nextRemoved]
      while (nextFound < this.found.length && this.found[nextFound].row < end) nextFound++
      while (nextRemoved < this.removed.length && this.removed[nextRemoved] < end) nextRemoved++
      slices.push(slice)
      const isRead = (hashes && nextFound > firstFound) || nextRemoved > firstRemoved
      if (isRead) {
        const text = await loadText(blobs, slice)
        const edits = hashes ? this.changesIn(text, slice.rows, from, [firstFound, nextFound], hashes) : []
        for (let k = firstRemoved; k < nextRemoved; k++)
          edits.push({ row: this.removed[k] - from, value: undefined, from: -1 })
        if (edits.length > 0) {
          edits.sort((a, b) => a.row - b.row)
          window.push({ at, slice, text, edits })
          size += text.length
          if (size > WINDOW_BYTES) await flush()
        }
      }
      from = end
    }
    if (window.length > 0) await flush()
    return slices.filter((slice) => slice !== undefined)
  }

  private async hashesOf(parts: ReturnType<typeof partsOf>): Promise<RowHashes> {
    const hashes = new RowHashes(this.sourceRows)
    for (const part of parts) this.reader.hash(await part.load(), hashes, part.from, false)
    return hashes
  }

  /** The rows of a text whose values are others in the table. */
  private changesIn(
    text: Buffer,
    rows: number,
    first: number,
    [from, to]: [number, number],
    hashes: RowHashes,
  ): (RowEdit & { from: number })[] {
    const own = new RowHashes(rows)
    this.reader.hash(text, own, 0, false)
    const edits: (RowEdit & { from: number })[] = []
    for (let k = from; k < to; k++) {
      const { row, from: source } = this.found[k]
      if (own.isSame(row - first, hashes, source)) continue
      this.changed[k] = 1
      edits.push({ row: row - first, value: undefined, from: source })
    }
    return edits
  }

  /** A slice with edits; undefined if no row is left. */
  private edited(slice: SliceRef, text: Buffer, edits: readonly RowEdit[]): SliceText | undefined {
    const cells = this.reader.find(
      text,
      edits.map(({ row }) => row),
    )
    const gone = edits.filter(({ value }) => value === undefined).length
    const rows = slice.rows - gone
    if (rows === 0) return undefined
    const now = spliced(text, slice.rows, edits, cells)
    return { rows, text: now, ended: slice.ended, bounds: boundsAfter(slice, edits, cells) }
  }
}

/** What the values of a slice are between after a change: what they were between, and the new ones. */
function boundsAfter(
  { bounds, rows }: SliceRef,
  edits: readonly RowEdit[],
  cells: Parameters<typeof moreNulls>[1],
): Bounds | undefined {
  if (!bounds) return undefined
  const values = edits.flatMap(({ value }) => (value ? [value, COMMA] : []))
  if (values.length === 0) return { ...bounds, nulls: bounds.nulls + moreNulls(edits, cells) }
  const more = boundsOf(Buffer.concat(values.slice(0, -1)))
  const together = boundsTogether(bounds, more, [rows, values.length / 2])
  return { ...together, nulls: bounds.nulls + moreNulls(edits, cells) }
}

const COMMA = Buffer.from(',')
