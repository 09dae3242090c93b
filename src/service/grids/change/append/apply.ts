// Appends rows to the tail of a grid: the fast path, whose cost does not depend on the size of the grid.
import { Problem } from '../../../../contract/errors.ts'
import { authorize, checkReplay, type Principal } from '../../../access/access.ts'
import { checkIfMatch } from '../../../core/etag.ts'
import type { FileRow } from '../../../store/aggregates/files.ts'
import { type GridRow, isLocked } from '../../../store/aggregates/grids.ts'
import {
  callerKeyOf,
  encodeFingerprint,
  isSameRequest,
  reusedKeyError,
  type WriteKey,
} from '../../../store/aggregates/idempotency.ts'
import { SETTLE_DELAY_MS } from '../../../store/aggregates/jobs.ts'
import { decodeTypes, encodeTypes, isAssignable, mergeTypeLists } from '../../../store/schema/column-types.ts'
import type { Writers } from '../../../store/store.ts'
import { packBodies, type RowsJson } from '../../column/tail.ts'
import { type Misfit, wrongLengthError } from '../../input/json-rows.ts'
import { checkColumnsUnchanged, checkReadLike } from '../../input/like-columns.ts'
import type { Append, Appended } from '../../service.ts'
import {
  addAppendVersion,
  assertNotDerived,
  continuesVersion,
  type GridBefore,
  usernameOf,
} from '../versions.ts'
import { needsPlan } from './request.ts'

/** The tail is flushed into slices when it exceeds either limit. */
const MAX_TAIL_ROWS = 4096
export const MAX_TAIL_BYTES = 256 * 1024

export interface AppendOutcomes {
  /** Outcome of each append, in order. */
  outcomes: AppendOutcome[]
  /** Size of the tail in bytes; above `MAX_TAIL_BYTES` if it must be flushed, 0 if nothing was added. */
  tailBytes: number
}

/** Outcome of an append. The row of a misfit is found after the transaction. */
export type AppendOutcome =
  | { kind: 'applied'; result: Appended }
  | { kind: 'refused'; error: Problem }
  | { kind: 'misfit'; misfit: Misfit }
  /** The append needs a plan: see `needsPlan`. */
  | { kind: 'plan' }
  /** Another server holds the layout lock of the grid: retry later. */
  | { kind: 'held' }

/** Applies appends to one grid, in order of arrival. A refused append does not stop the others. */
export async function applyAppends(writers: Writers, list: readonly Append[]): Promise<AppendOutcomes> {
  const { owner, idlocal } = list[0].fid
  const file = await writers.files.get(owner, idlocal)
  const replays = await writers.idempotency.findResults(list.map(({ write }) => write))
  const grid = file?.filetype === 'grid' ? await writers.grids.get(owner, idlocal) : undefined
  const group = new AppendGroup(writers, file, grid)
  const outcomes: AppendOutcome[] = []
  for (const [k, append] of list.entries()) {
    try {
      outcomes.push(await group.apply(append, replays[k]))
    } catch (error) {
      // An error of the database fails the transaction, or repeats it.
      if (!(error instanceof Problem)) throw error
      outcomes.push({ kind: 'refused', error })
    }
  }
  return { outcomes, tailBytes: await group.write() }
}

/** Appends to one grid in one transaction. */
class AppendGroup {
  /** File and grid after the appends so far. */
  private readonly after: GridBefore | undefined
  private readonly now = Date.now()
  private readonly bodies: RowsJson[] = []
  /** Results of the appends with an idempotency key, by `callerKeyOf`. */
  private readonly records = new Map<string, { write: WriteKey; result: Appended }>()
  /** Principal of the last append that was permitted. */
  private lastPermitted: Principal | undefined
  private rows = 0
  private bytes = 0

  constructor(
    private readonly writers: Writers,
    private readonly file: FileRow | undefined,
    grid: GridRow | undefined,
  ) {
    this.after = file && grid && { file: { ...file }, grid: { ...grid } }
  }

  /** Checks an append and buffers its rows. Throws a Problem if it is refused. */
  async apply(append: Append, recorded: unknown): Promise<AppendOutcome> {
    const { writers, file } = this
    const before = recorded ?? this.findEarlierResult(append.write)
    if (before instanceof Problem) throw before
    if (before) {
      await checkReplay(writers, file, append.write, append.principal)
      return { kind: 'applied', result: before as Appended }
    }
    if (!this.isPermitted(append.principal)) {
      await authorize(writers, file, append.principal, { access: 'write', filetype: 'grid' })
      this.lastPermitted = append.principal
    }
    checkIfMatch({ version: file!.version + (this.rows > 0 ? 1 : 0) }, append.ifMatch)
    const { grid } = this.after!
    if (isLocked(grid)) return { kind: 'held' }
    if (needsPlan(grid)) return { kind: 'plan' }
    const { owner, idlocal } = append.fid
    if (append.columns) {
      const columns = await writers.grids.listColumns(owner, idlocal)
      checkColumnsUnchanged(append.columns, columns)
      if (append.readLike) {
        const types = decodeTypes(grid.types)
        checkReadLike(
          append.readLike,
          columns.map((column, k) => ({ ...column, type: types[k] })),
        )
      }
    }
    const width = grid.types.length
    if (append.width !== width || width === 0) throw wrongLengthError(append.width, width)
    if (!append.mayChangeTypes && append.types !== grid.types) {
      const types = decodeTypes(grid.types)
      const column = decodeTypes(append.types).findIndex((type, k) => !isAssignable(type, types[k]))
      if (column >= 0) {
        const { name } = (await writers.grids.listColumns(owner, idlocal))[column]
        return { kind: 'misfit', misfit: { column, name, type: types[column] } }
      }
    }
    return { kind: 'applied', result: await this.add(append) }
  }

  /**
   * Returns whether the last append was permitted to the same caller: nothing in this transaction changes who may write.
   * Requests with the same key have the same caller object (`Authenticator`).
   */
  private isPermitted({ caller, shareKey }: Principal): boolean {
    const last = this.lastPermitted
    return last !== undefined && last.caller === caller && last.shareKey === shareKey
  }

  /**
   * Returns the result of an earlier append in the group with the same idempotency key, or the error for
   * reuse.
   */
  private findEarlierResult(write: WriteKey): Appended | Problem | undefined {
    const record = write.key === undefined ? undefined : this.records.get(callerKeyOf(write))
    if (!record) return undefined
    const isSame = isSameRequest(write, { ...record.write, fingerprint: encodeFingerprint(record.write) })
    return isSame ? record.result : reusedKeyError()
  }

  private async add(append: Append): Promise<Appended> {
    const { writers, now } = this
    const { file, grid } = this.after!
    const { message } = append
    let rows = 0
    let bytes = 0
    for (const body of append.bodies) {
      rows += body.rows
      bytes += body.body.length
    }
    await writers.usage.reserve(append.fid.owner, { rows, bytes }, { rows: this.rows, bytes: this.bytes })
    const by = usernameOf(append.principal)
    const version = await versionOfAppend(writers, this.after!, by, now, message)
    if (version > file.content_version) {
      file.content_version = version
      grid.appended_by = message === undefined ? by : null
      grid.appended_since = now
    }
    if (append.types !== grid.types)
      grid.types = encodeTypes(mergeTypeLists(decodeTypes(grid.types), decodeTypes(append.types)))
    for (const body of append.bodies) this.bodies.push(body)
    this.rows += rows
    this.bytes += bytes
    grid.row_count += rows
    const result = { rows_added: rows, row_count: grid.row_count, version }
    const { write } = append
    if (write.key !== undefined) this.records.set(callerKeyOf(write), { write, result })
    return result
  }

  /** Writes the buffered rows of all appends. Returns the size of the tail: see `AppendOutcomes`. */
  async write(): Promise<number> {
    if (this.rows === 0) return 0
    const { writers } = this
    const file = this.file!
    const { owner, idlocal } = file
    const { grid, file: after } = this.after!
    let { tail_seq, tail_bytes } = grid
    for (const { rows, body } of packBodies(this.bodies)) {
      await writers.grids.addTail({ owner, idlocal, seq: ++tail_seq, rows, body })
      tail_bytes += body.length
    }
    const tail_rows = grid.tail_rows + this.rows
    const { row_count, types, appended_by, appended_since } = grid
    const fields = { row_count, tail_rows, tail_bytes, tail_seq, types, appended_by, appended_since }
    await writers.grids.changeWithoutQuota(owner, idlocal, fields)
    const { content_version } = after
    const isUnsettled = await writers.files.touchAfterAppend(
      file,
      content_version > file.content_version ? { content_version } : {},
    )
    if (isUnsettled) await writers.jobs.schedule(owner, 'dates', '', this.now + SETTLE_DELAY_MS)
    await writers.idempotency.recordResults([...this.records.values()])
    const tailBytes = tail_rows > MAX_TAIL_ROWS ? Math.max(tail_bytes, MAX_TAIL_BYTES + 1) : tail_bytes
    if (tailBytes > MAX_TAIL_BYTES) await writers.jobs.schedule(owner, 'fold', String(idlocal))
    return tailBytes
  }
}

/** Returns the version of appended rows. Adds one unless they continue the current version. */
async function versionOfAppend(
  writers: Writers,
  before: GridBefore,
  by: string | null,
  now: number,
  message: string | undefined,
): Promise<number> {
  assertNotDerived(before.file)
  if (message === undefined && continuesVersion(before.grid, by, now)) return before.file.content_version
  return addAppendVersion(writers, before, by, now, message)
}
