import { Problem } from '../../contract/errors.ts'
import type { Fid } from '../../contract/fid.ts'
import { acceptedBefore, breathe, RawJson, turnIsLong } from '../../json/index.ts'
import { authorize, checkReplay, type Principal } from '../access/access.ts'
import type { Service as CoreService } from '../core/context.ts'
import { checkIfMatch } from '../core/etag.ts'
import type { Blobs } from '../store/blobs.ts'
import { combineTypes, decodeTypes, encodeTypes, fits, mergeTypes, typeOf } from '../store/column-types.ts'
import type { ColumnRow, SliceRef } from '../store/grids.ts'
import { kept, otherRequest, sameRequest, type WriteKey } from '../store/idempotency.ts'
import type { ColumnType } from '../store/schema.ts'
import type { Store, Writers } from '../store/store.ts'
import { storeTexts } from '../store/texts.ts'
import { commitSlices } from './append-slices.ts'
import { FULL_ROWS, padShortColumns, rewriteLayout } from './compact.ts'
import { sliceBytes } from './create.ts'
import { typeChange } from './types.ts'
import { addRows, newBuilders } from './values.ts'

/** The tail is folded into slices when it exceeds either limit. */
const FOLD_ROWS = 4096
const FOLD_BYTES = 256 * 1024
/** Tail size beyond which appends wait for the fold. */
const FULL_BYTES = 8 * FOLD_BYTES
/** Target size of a row of the `tail` table, in bytes. */
const TAIL_ROW_BYTES = 16 * 1024
const GROUP = 1024

/** JSON arrays, one per row, comma-separated. */
export interface RowText {
  rows: number
  body: Buffer
}

/** A request to append rows to a grid. */
export interface Append {
  fid: Fid
  principal: Principal
  write: WriteKey
  ifMatch: string | undefined
  bodies: RowText[]
  /** Number of values per row. */
  width: number
  /** Types of the values by column, encoded as in `column-types.ts`. */
  types: string
  /** Whether values may change the type of a column. Otherwise they fail with `type_change`. */
  mayChangeTypes: boolean
  /** The columns that the values were matched to, if known. */
  columns?: readonly { uid: string; name: string }[]
}

export interface Appended {
  rows_added: number
  row_count: number
}

interface Waiting {
  append: Append
  resolve: (result: Appended) => void
  reject: (error: unknown) => void
}

/** Thrown if columns differ in length. The caller pads them and retries the append. */
export class UnequalColumns extends Error {}

/**
 * Groups concurrent appends into one transaction: few tail rows per grid and one commit. Each append resolves
 * when it is on disk. The cost does not depend on the size of the grid.
 */
export class AppendQueue {
  private readonly waiting = new Map<string, Waiting[]>()
  private readonly running = new Set<string>()
  private readonly gates = new Map<string, Promise<unknown>>()

  constructor(
    private readonly store: Store,
    private readonly fold: (fid: Fid) => Promise<void>,
    private readonly background: (work: () => Promise<void>) => void,
  ) {}

  async add(append: Append): Promise<Appended> {
    await this.gates.get(keyOf(append.fid))
    return new Promise<Appended>((resolve, reject) => {
      const scope = this.store.engine.groupsWritesAcrossOwners ? '' : append.fid.owner
      const list = this.waiting.get(scope)
      if (list) list.push({ append, resolve, reject })
      else this.waiting.set(scope, [{ append, resolve, reject }])
      if (!this.running.has(scope)) this.drain(scope)
    })
  }

  /** Runs `work` while appends to the grid wait. */
  async hold<T>(fid: Fid, work: () => Promise<T>): Promise<T> {
    const key = keyOf(fid)
    const before = this.gates.get(key)
    const run = (async () => {
      await before
      return work()
    })()
    const gate = run.then(nothing, nothing)
    this.gates.set(key, gate)
    try {
      return await run
    } finally {
      if (this.gates.get(key) === gate) this.gates.delete(key)
    }
  }

  private async drain(scope: string): Promise<void> {
    this.running.add(scope)
    for (let list = this.waiting.get(scope); list?.length; list = this.waiting.get(scope)) {
      // Wait while more appends arrive in each turn of the event loop: they share the commit.
      for (let before = 0; before < list.length && list.length < GROUP; ) {
        before = list.length
        await new Promise(setImmediate)
      }
      await this.commit(list.splice(0, GROUP))
    }
    this.waiting.delete(scope)
    this.running.delete(scope)
  }

  private async commit(group: Waiting[]): Promise<void> {
    const byGrid = new Map<string, Waiting[]>()
    for (const one of group) {
      const key = keyOf(one.append.fid)
      const list = byGrid.get(key)
      if (list) list.push(one)
      else byGrid.set(key, [one])
    }
    try {
      // With idempotency keys, the transaction can be repeated after a commit with an unknown outcome.
      const repeatable = group.every(({ append }) => append.write.key !== undefined)
      const owner = group[0].append.fid.owner
      const store = this.store.engine.groupsWritesAcrossOwners ? this.store : this.store.for(owner)
      const done = await store.write(
        async (writers) => {
          const results: Outcome[] = []
          for (const list of byGrid.values()) results.push(...(await appendTo(writers, list)))
          return results
        },
        { repeatable },
      )
      for (const { one, result, error, tailBytes } of done) {
        if (error) one.reject(error)
        else one.resolve(result!)
        if (tailBytes > FULL_BYTES) this.hold(one.append.fid, () => this.fold(one.append.fid)).catch(nothing)
        else if (tailBytes > FOLD_BYTES) this.background(() => this.fold(one.append.fid))
      }
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }
}

interface Outcome {
  one: Waiting
  result?: Appended
  error?: unknown
  tailBytes: number
}

/** Applies all waiting appends to one grid, in order of arrival. */
async function appendTo(writers: Writers, list: Waiting[]): Promise<Outcome[]> {
  const { owner, idlocal } = list[0].append.fid
  const file = await writers.files.get(owner, idlocal)
  const done: Outcome[] = []
  const known = await writers.idempotency.findAll(list.map(({ append }) => append.write))
  const grid = file?.filetype === 'grid' ? await writers.grids.get(owner, idlocal) : undefined
  let types = decodeTypes(grid?.types ?? '')
  const width = types.length
  const bodies: RowText[] = []
  const records: { write: WriteKey; result: Appended }[] = []
  let added = 0
  for (const [k, one] of list.entries()) {
    const { append } = one
    try {
      const before = known[k] ?? sameKey(records, append.write)
      if (before instanceof Problem) throw before
      if (before) {
        await checkReplay(writers, file, append.write, append.principal)
        done.push({ one, result: before as Appended, tailBytes: 0 })
        continue
      }
      await authorize(writers, file, append.principal, { access: 'write', filetype: 'grid' })
      checkIfMatch({ version: file!.version + (added > 0 ? 1 : 0) }, append.ifMatch)
      if (append.width !== width || width === 0) throw wrongLength(append, width)
      if (append.columns && moved(await writers.grids.columns(owner, idlocal), append.columns))
        throw columnsChanged()
      if (grid!.ragged) throw new UnequalColumns()
      const given = decodeTypes(append.types)
      if (!append.mayChangeTypes) {
        const misfit = given.findIndex((type, column) => !fits(type, types[column]))
        if (misfit >= 0) throw new Misfit(misfit, await nameAt(writers, append.fid, misfit), types[misfit])
      }
      types = combineTypes(types, given)
      for (const body of append.bodies) bodies.push(body)
      const count = append.bodies.reduce((sum, { rows }) => sum + rows, 0)
      added += count
      const result = { rows_added: count, row_count: grid!.row_count + added }
      records.push({ write: append.write, result })
      done.push({ one, result, tailBytes: 0 })
    } catch (error) {
      done.push({ one, error, tailBytes: 0 })
    }
  }
  if (added === 0) return done
  let { tail_seq, tail_bytes } = grid!
  for (const { rows, body } of tailBodies(bodies)) {
    await writers.grids.addTail({ owner, idlocal, seq: ++tail_seq, rows, body })
    tail_bytes += body.length
  }
  await writers.grids.change(owner, idlocal, {
    row_count: grid!.row_count + added,
    tail_rows: grid!.tail_rows + added,
    tail_bytes,
    tail_seq,
    types: encodeTypes(types),
  })
  await writers.files.change(owner, idlocal)
  await writers.idempotency.record(records)
  const full = grid!.tail_rows + added > FOLD_ROWS ? Math.max(tail_bytes, FOLD_BYTES + 1) : tail_bytes
  done[done.length - 1].tailBytes = full
  return done
}

/** A value does not fit the type of its column. The value is located after the transaction. */
class Misfit extends Error {
  constructor(
    readonly column: number,
    readonly columnName: string,
    readonly type: ColumnType,
  ) {
    super()
  }
}

async function nameAt({ grids }: Writers, { owner, idlocal }: Fid, column: number): Promise<string> {
  return (await grids.columns(owner, idlocal))[column].name
}

/** The error for the first row whose value does not fit the type of its column. */
async function misfitIn({ bodies }: Append, { column, columnName, type }: Misfit): Promise<Problem> {
  let row = 0
  for (const { body } of bodies) {
    for (const cells of rowsIn(body)) {
      row++
      const value = valueAt(cells, column)
      if (!fits(typeOf(value.buf[value.start]), type))
        return typeChange(`row ${row}`, columnName, value.bytes, type)
      if (turnIsLong()) await breathe()
    }
  }
  throw new Error('no value misfits')
}

function valueAt(cells: RawJson, column: number): RawJson {
  let at = 0
  for (const cell of cells.items()) if (at++ === column) return cell
  throw new Error('the row is too short')
}

function* rowsIn(body: Buffer): Generator<RawJson> {
  yield* new RawJson(Buffer.concat([OPEN, body, CLOSE]), 0, body.length + 2, acceptedBefore).items()
}

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

/** The result of an earlier append in the same group with the same idempotency key. */
function sameKey(
  records: { write: WriteKey; result: Appended }[],
  write: WriteKey,
): Appended | Problem | undefined {
  if (write.key === undefined) return undefined
  const before = records.find((r) => r.write.key === write.key && r.write.caller === write.caller)
  return (
    before &&
    (sameRequest(write, { ...before.write, fingerprint: kept(before.write) })
      ? before.result
      : otherRequest())
  )
}

/** Merges small bodies, up to the size of a tail row. */
function* tailBodies(bodies: readonly RowText[]): Generator<RowText> {
  let parts: Buffer[] = []
  let size = 0
  let count = 0
  for (const { rows, body } of bodies) {
    if (size > 0 && size + body.length > TAIL_ROW_BYTES) {
      yield { rows: count, body: Buffer.concat(parts) }
      parts = []
      size = 0
      count = 0
    }
    if (count > 0) parts.push(COMMA)
    parts.push(body)
    size += body.length + 1
    count += rows
  }
  yield { rows: count, body: Buffer.concat(parts) }
}

/** Collects single rows into bodies of the size of a tail row. */
export class RowTexts {
  readonly bodies: RowText[] = []
  private parts: Buffer[] = []
  private bytes = 0
  count = 0

  add(row: Buffer): void {
    if (this.bytes > 0 && this.bytes + row.length > TAIL_ROW_BYTES) this.end()
    this.parts.push(row)
    this.bytes += row.length + 1
    this.count++
  }

  /** Returns all bodies. No rows may be added afterwards. */
  all(): RowText[] {
    if (this.parts.length > 0) this.end()
    return this.bodies
  }

  private end(): void {
    const body = this.parts.length === 1 ? this.parts[0] : joined(this.parts, this.bytes)
    this.bodies.push({ rows: this.parts.length, body })
    this.parts = []
    this.bytes = 0
  }
}

function joined(parts: readonly Buffer[], size: number): Buffer {
  const body = Buffer.allocUnsafe(size - 1)
  let at = 0
  for (const part of parts) {
    if (at > 0) body[at++] = 0x2c
    at += part.copy(body, at)
  }
  return body
}

type Named = Pick<ColumnRow, 'uid' | 'name'>

function moved(columns: readonly Named[], expected: readonly Named[]): boolean {
  return columns.some(({ uid, name }, k) => uid !== expected[k].uid || name !== expected[k].name)
}

function columnsChanged(): Problem {
  return new Problem('conflict', 'the columns of the grid were changed by another request', {
    hint: 'Append again.',
  })
}

/** The store with the queue of appends to its grids. */
export interface AppendStore {
  store: Store
  appends: AppendQueue
}

/**
 * Appends rows. Pads columns that are shorter than others first. Small appends go into the tail; large ones
 * are stored as slices directly.
 */
export async function appendRows(service: AppendStore, append: Append): Promise<Appended> {
  const bytes = append.bodies.reduce((sum, { body }) => sum + body.length, 0)
  const once = (): Promise<Appended> =>
    bytes > FOLD_BYTES ? appendLarge(service, append) : service.appends.add(append)
  try {
    return await once()
  } catch (error) {
    if (error instanceof Misfit) throw await misfitIn(append, error)
    if (!(error instanceof UnequalColumns)) throw error
    // Padding changes the grid: only for a caller who may append to it, whatever the rows come to.
    const { owner, idlocal } = append.fid
    await service.store.read(async (readers) =>
      authorize(readers, await readers.files.get(owner, idlocal), append.principal, {
        access: 'write',
        filetype: 'grid',
      }),
    )
    await padShortColumns(service, append.fid)
    return once()
  }
}

function appendLarge(service: AppendStore, append: Append): Promise<Appended> {
  const { bodies, width } = append
  const added = bodies.reduce((sum, { rows }) => sum + rows, 0)
  return rewriteLayout(
    service,
    append.fid,
    async ({ columns, grid }) => {
      if (width !== columns.length || width === 0) throw wrongLength(append, columns.length)
      if (append.columns && moved(columns, append.columns)) throw columnsChanged()
      if (grid.ragged) throw new UnequalColumns()
      const given = decodeTypes(append.types)
      if (!append.mayChangeTypes) checkTypes(given, columns)
      const slices = await storeRows(service.store.blobs, bodies, width)
      return columns.map((column, k) => ({
        column,
        slices: slices[k],
        rows: column.rows + added,
        type: mergeTypes(column.type, given[k]),
      }))
    },
    (writers, longer, layout) =>
      commitSlices(writers, append, layout, longer, {
        rows_added: added,
        row_count: layout.grid.row_count + added,
      }),
  )
}

function checkTypes(given: readonly ColumnType[], columns: readonly ColumnRow[]): void {
  const misfit = given.findIndex((type, k) => !fits(type, columns[k].type))
  if (misfit >= 0) throw new Misfit(misfit, columns[misfit].name, columns[misfit].type)
}

/** Stores rows as slices of their columns. */
async function storeRows(blobs: Blobs, bodies: readonly RowText[], width: number): Promise<SliceRef[][]> {
  const builders = newBuilders(width)
  const slices: SliceRef[][] = builders.map(() => [])
  const most = sliceBytes(width)
  const store = async (full: readonly number[]): Promise<void> => {
    const refs = await storeTexts(
      blobs,
      full.map((k) => builders[k].take()),
    )
    for (const [at, k] of full.entries()) slices[k].push(refs[at])
  }
  for (const { body } of bodies) {
    addRows(builders, body)
    const full = builders.flatMap(({ size, rows }, k) => (size >= most || rows >= FULL_ROWS ? [k] : []))
    if (full.length > 0) await store(full)
    if (turnIsLong()) await breathe()
  }
  await store(builders.flatMap(({ rows }, k) => (rows > 0 ? [k] : [])))
  return slices
}

const COMMA = Buffer.from(',')

function wrongLength({ width }: Append, columns: number): Problem {
  if (columns === 0)
    return new Problem('bad_data', 'the grid has no columns', {
      field: 'rows',
      hint: 'Add columns before rows.',
    })
  const values = `${width} ${width === 1 ? 'value' : 'values'}`
  return new Problem(
    'bad_data',
    `a row has ${values}; the grid has ${columns} ${columns === 1 ? 'column' : 'columns'}`,
    {
      field: 'rows',
      hint: 'Give a value for every column; use null for missing values.',
    },
  )
}

function keyOf({ owner, idlocal }: Fid): string {
  return `${owner}:${idlocal}`
}

function nothing(): void {}
/** The service with the queue of appends. */
export type GridService = CoreService & AppendStore
