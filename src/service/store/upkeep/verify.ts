// Verifies all stored data: checksums, counts, types and references.
import { Problem } from '../../../contract/errors.ts'
import { findValueEnd, skipWhitespace, yieldToEventLoop } from '../../../json/index.ts'
import type { FileRow } from '../aggregates/files.ts'
import {
  type ColumnRow,
  contentKeyOf,
  type GridRow,
  type SliceRef,
  type TailRow,
} from '../aggregates/grids.ts'
import { storedContentOf } from '../aggregates/plots.ts'
import { loadDecompressed } from '../aggregates/slice-json.ts'
import type { VersionRow } from '../aggregates/versions.ts'
import { type BlobRef, blobIdOf } from '../objects/blobs.ts'
import { readObjectBatches } from '../objects/object-rows.ts'
import { OBJECT_STATES } from '../objects/object-states.ts'
import { decodeTypes, detectRowTypes, isAssignable, mergeTypeLists } from '../schema/column-types.ts'
import type { Db } from '../schema/schema.ts'
import { blobTables } from '../schema/tables.ts'
import type { Store } from '../store.ts'
import { verifyReferences } from './verify-references.ts'
import { verifyTrees } from './verify-trees.ts'

/** Damage found by verification. */
export interface Damage {
  /** The affected file; null if the damage is not in one file. */
  fid: string | null
  what: string
}

export interface VerifyResult {
  files: number
  grids: number
  slices: number
  versions: number
  blobs: number
  bytes: number
  damage: Damage[]
}

const BATCH_ROWS = 200

/**
 * Verifies all stored data: pages of the engine, folders, references, checksums of blobs and tail rows,
 * counts and types.
 */
export async function verifyStore(store: Store): Promise<VerifyResult> {
  const result: VerifyResult = { files: 0, grids: 0, slices: 0, versions: 0, blobs: 0, bytes: 0, damage: [] }
  try {
    await verifyAll(store, result)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'damaged') throw error
    result.damage.push({ fid: null, what: `${error.message}: the rest could not be read` })
  }
  return result
}

/**
 * Verifies the whole store, and adds counts and damage to `result`. Stops if the location of blobs is missing.
 * Throws `damaged` if the rest cannot be read.
 */
async function verifyAll(store: Store, result: VerifyResult): Promise<void> {
  for (const what of await store.engine.checkIntegrity()) result.damage.push({ fid: null, what })
  const missingError = await store.locations.findMissingBytes()
  if (missingError) {
    result.damage.push({ fid: null, what: missingError.message })
    return
  }
  await verifyTrees(store, (fid, what) => result.damage.push({ fid, what }))
  await verifyReferences(store, (fid, what) => result.damage.push({ fid, what }))
  const damagedNames = await verifyBlobs(store, result)
  for await (const file of readFiles(store)) {
    result.files++
    const report = (what: string): void => {
      result.damage.push({ fid: `${file.owner}:${file.idlocal}`, what })
    }
    await verifyFile(store, file, damagedNames, result, report).catch((error) => {
      if (!(error instanceof Problem)) throw error
      report(error.message)
    })
    await yieldToEventLoop()
  }
}

/** Verifies every blob. Returns the names of damaged ones. */
async function verifyBlobs({ engine, blobs }: Store, result: VerifyResult): Promise<Set<string>> {
  const damagedNames = new Set<string>()
  for await (const rows of readObjectBatches(engine, BATCH_ROWS))
    for (const row of rows) {
      // No row refers to objects in other states.
      if (row.state !== OBJECT_STATES.live) continue
      result.blobs++
      try {
        result.bytes += (await blobs.get(row)).length
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'damaged') throw error
        // Not damaged: it was collected in the meantime.
        if (!(await engine.read((db) => isReferenced(db, row)))) continue
        damagedNames.add(blobIdOf(row))
      }
    }
  return damagedNames
}

async function isReferenced(db: Db, { owner, hash }: BlobRef): Promise<boolean> {
  for (const table of blobTables)
    if (
      await db
        .selectFrom(table)
        .select('hash')
        .where(({ and }) => and({ owner, hash }))
        .limit(1)
        .executeTakeFirst()
    )
      return true
  return false
}

async function* readFiles({ engine }: Store): AsyncGenerator<FileRow> {
  for (let after = { owner: '', idlocal: -1 }; ; ) {
    const rows = await engine.read((db) =>
      db
        .selectFrom('files')
        .selectAll()
        .where(({ or, and, eb }) =>
          or([
            eb('owner', '>', after.owner),
            and([eb('owner', '=', after.owner), eb('idlocal', '>', after.idlocal)]),
          ]),
        )
        .orderBy('owner')
        .orderBy('idlocal')
        .limit(BATCH_ROWS)
        .execute(),
    )
    for (const row of rows) {
      after = row
      yield row
    }
    if (rows.length < BATCH_ROWS) return
  }
}

type ReportFileDamage = (what: string) => void

async function verifyFile(
  store: Store,
  file: FileRow,
  damagedNames: ReadonlySet<string>,
  result: VerifyResult,
  report: ReportFileDamage,
): Promise<void> {
  if (file.filetype === 'grid') {
    await verifyGrid(store, file, damagedNames, result, report)
    await verifyVersions(store, file, damagedNames, result, report)
    return
  }
  if (file.filetype === 'fold') return
  await verifyVersions(store, file, damagedNames, result, report)
  const content = await store.read(({ plots }) => plots.getContent(file.owner, file.idlocal))
  if (!content) report('its content is missing')
  else if (damagedNames.has(blobIdOf(content)))
    report(`its content is damaged (blob ${content.hash.slice(0, 12)})`)
  else if ((await loadDecompressed(store.blobs, storedContentOf(content))).length !== content.bytes)
    report('its content has the wrong length')
}

interface GridParts {
  grid: GridRow
  columns: ColumnRow[]
  slices: Map<string, SliceRef[]>
  tail: TailRow[] | Problem
}

async function verifyGrid(
  store: Store,
  { owner, idlocal }: FileRow,
  damagedNames: ReadonlySet<string>,
  result: VerifyResult,
  report: ReportFileDamage,
): Promise<void> {
  result.grids++
  const { grid, columns, slices, tail } = await store.read(
    async ({ grids }): Promise<GridParts> => ({
      grid: await grids.get(owner, idlocal),
      columns: await grids.listColumns(owner, idlocal),
      slices: await grids.listSlices(owner, idlocal),
      tail: await grids.loadTail(owner, idlocal).catch((error) => {
        if (error instanceof Problem) return error
        throw error
      }),
    }),
  )
  for (const column of columns) {
    let rows = 0
    for (const slice of slices.get(column.uid) ?? []) {
      result.slices++
      rows += slice.rows
      if (damagedNames.has(blobIdOf(slice.blob))) {
        report(
          `column ${column.name}: rows ${rows - slice.rows + 1} to ${rows} are damaged (blob ${slice.blob.hash.slice(0, 12)})`,
        )
        continue
      }
      const text = await loadDecompressed(store.blobs, slice).catch(ignoreProblem)
      if (text?.length !== slice.bytes || countValues(text) !== slice.rows)
        report(`column ${column.name}: a slice does not contain the expected ${slice.rows} rows`)
      await yieldToEventLoop()
    }
    if (rows !== column.rows) report(`column ${column.name}: ${rows} rows in slices, expected ${column.rows}`)
  }
  const uids = new Set(columns.map(({ uid }) => uid))
  for (const uid of slices.keys()) if (!uids.has(uid)) report(`slices of a missing column: ${uid}`)
  if (tail instanceof Problem) {
    report(tail.message)
    return
  }
  const tailRows = sumRows(tail)
  if (tailRows !== grid.tail_rows) report(`${tailRows} appended rows, expected ${grid.tail_rows}`)
  const longest = Math.max(0, ...columns.map(({ rows }) => rows)) + tailRows
  if (longest !== grid.row_count) report(`${longest} rows, expected ${grid.row_count}`)
  let types = columns.map(({ type }) => type)
  for (const { body } of tail)
    types = mergeTypeLists(types, decodeTypes(detectRowTypes(Buffer.from(body), columns.length)))
  // In grids stored before date types existed, dates are stored as text.
  const storedTypes = decodeTypes(grid.types)
  if (
    storedTypes.length !== types.length ||
    types.some(
      (type, k) => !isAssignable(type, storedTypes[k]) || (type === 'empty') !== (storedTypes[k] === 'empty'),
    )
  )
    report('the types of the columns do not match their values')
}

/** Ignores a Problem; throws all other errors. */
function ignoreProblem(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error
}

/** Verifies that the figures, columns and slices of all versions of a file are complete. */
async function verifyVersions(
  store: Store,
  file: FileRow,
  damagedNames: ReadonlySet<string>,
  result: VerifyResult,
  report: ReportFileDamage,
): Promise<void> {
  const seen = new Set<string>()
  for await (const row of readVersions(store, file)) {
    result.versions++
    const label = row.version < 0 ? `draft ${-row.version}` : `version ${row.version}`
    const reportVersion = (what: string): void => report(`${label}${what}`)
    const check = async (part: VersionPart, name: string): Promise<void> => {
      const key = `${part.blob.owner} ${contentKeyOf(part)}`
      if (seen.has(key)) return
      seen.add(key)
      await verifyPart(store, part, damagedNames, (what) => reportVersion(`: ${name} ${what}`))
    }
    await verifyVersion(store, file, row, check, reportVersion)
  }
}

/** Reads the drafts and versions of a file. */
async function* readVersions(store: Store, { owner, idlocal }: FileRow): AsyncGenerator<VersionRow> {
  yield* await store.read(({ versions }) => versions.listDrafts(owner, idlocal))
  for (let before: number | undefined; ; ) {
    const from = before
    const rows = await store.read(({ versions }) => versions.list(owner, idlocal, from, BATCH_ROWS))
    yield* rows
    if (rows.length < BATCH_ROWS) return
    before = rows.at(-1)!.version
  }
}

/** A figure or a slice of a version. */
type VersionPart = Pick<SliceRef, 'blob' | 'bytes'> & { rows?: number; packOffset?: number }

async function verifyPart(
  store: Store,
  part: VersionPart,
  damagedNames: ReadonlySet<string>,
  report: ReportFileDamage,
): Promise<void> {
  if (damagedNames.has(blobIdOf(part.blob))) report(`is damaged (blob ${part.blob.hash.slice(0, 12)})`)
  else {
    const text = await loadDecompressed(store.blobs, part).catch(ignoreProblem)
    if (text?.length !== part.bytes || (part.rows !== undefined && countValues(text) !== part.rows))
      report('has the wrong length')
  }
  await yieldToEventLoop()
}

async function verifyVersion(
  store: Store,
  { owner, idlocal, filetype, content_version }: FileRow,
  row: VersionRow,
  check: (part: VersionPart, name: string) => Promise<void>,
  report: ReportFileDamage,
): Promise<void> {
  if (row.version > content_version) report(' is later than the current one')
  if (row.hash !== null && row.bytes !== null)
    await check({ blob: { owner, hash: row.hash }, bytes: row.bytes }, 'its figure')
  const isPast = filetype === 'grid' && row.version !== content_version
  if (!isPast && (filetype === 'grid' || row.kept_at === null)) return
  const { grid, tail, slices, columns } = await store.read(async ({ grids, versions }) => ({
    grid: isPast ? await grids.get(owner, idlocal) : undefined,
    // verifyGrid reports damaged tail rows.
    tail: isPast ? await grids.loadTail(owner, idlocal).catch(ignoreProblem) : [],
    slices: await versions.listSlicesIn(row),
    columns: await versions.listColumnsIn(row),
  }))
  if (!tail) return
  const appended = grid?.epoch === row.epoch ? sumRows(tail) : 0
  for (const [uid, columnSlices] of slices)
    for (const [seq, slice] of columnSlices.entries()) {
      if (slice.seq !== seq) report(`: the slices of column ${uid} are not numbered from 0`)
      await check(slice, `column ${uid}`)
    }
  if (!isPast) return
  if (columns.length !== (row.types ?? '').length)
    report(`: ${columns.length} columns, expected ${row.types?.length}`)
  if (columns.some(({ position }, k) => position !== k)) report(': its columns are not in order')
  const minRows = row.ragged ? 0 : (row.row_count ?? 0)
  for (const { uid, name } of columns) {
    const rows = sumRows(slices.get(uid) ?? []) + appended
    if (rows < minRows) report(`: column ${name} has ${rows} rows, expected ${minRows}`)
  }
}

function sumRows(parts: readonly { rows: number }[]): number {
  return parts.reduce((sum, { rows }) => sum + rows, 0)
}

/** Counts the values in the JSON of a slice; NaN if it is damaged. */
function countValues(text: Buffer): number {
  let values = 0
  try {
    for (let i = skipWhitespace(text, 0); i < text.length; values++) {
      const end = findValueEnd(text, i)
      if (end === i) return Number.NaN
      i = skipWhitespace(text, end)
      if (i < text.length && text[i] !== COMMA) return Number.NaN
      i = skipWhitespace(text, i + 1)
    }
  } catch {
    return Number.NaN
  }
  return values
}

const COMMA = 0x2c
