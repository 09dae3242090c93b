// Appends rows to the tail of a grid: the fast path, whose cost does not depend on the size of the grid.
import { Problem } from '../../../../contract/errors.ts'
import { authorize, checkReplay } from '../../../access/access.ts'
import { checkIfMatch } from '../../../core/etag.ts'
import type { FileRow } from '../../../store/aggregates/files.ts'
import { type GridRow, isLocked } from '../../../store/aggregates/grids.ts'
import {
  encodeFingerprint,
  isSameRequest,
  reusedKeyError,
  type WriteKey,
} from '../../../store/aggregates/idempotency.ts'
import { SETTLE_DELAY_MS } from '../../../store/aggregates/jobs.ts'
import { decodeTypes, encodeTypes, isAssignable, mergeTypeLists } from '../../../store/schema/column-types.ts'
import type { ColumnType } from '../../../store/schema/schema.ts'
import type { Writers } from '../../../store/store.ts'
import { packBodies, type RowsJson } from '../../column/tail.ts'
import { type Misfit, wrongLengthError } from '../../input/json-rows.ts'
import type { Append, Appended } from '../../service.ts'
import {
  addAppendVersion,
  assertNotDerived,
  continuesVersion,
  type GridBefore,
  usernameOf,
} from '../versions.ts'
import { columnsChangedError, haveColumnsChanged, needsPlan } from './request.ts'

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
  private state: GridBefore | undefined
  private types: ColumnType[]
  private readonly now = Date.now()
  private readonly bodies: RowsJson[] = []
  private readonly records: { write: WriteKey; result: Appended }[] = []
  private rows = 0
  private bytes = 0

  constructor(
    private readonly writers: Writers,
    private readonly file: FileRow | undefined,
    private readonly grid: GridRow | undefined,
  ) {
    this.state = file && grid && { file, grid }
    this.types = decodeTypes(grid?.types ?? '')
  }

  /** Checks an append and buffers its rows. Throws a Problem if it is refused. */
  async apply(append: Append, recorded: unknown): Promise<AppendOutcome> {
    const { writers, file } = this
    const before = recorded ?? findEarlierResult(this.records, append.write)
    if (before instanceof Problem) throw before
    if (before) {
      await checkReplay(writers, file, append.write, append.principal)
      return { kind: 'applied', result: before as Appended }
    }
    await authorize(writers, file, append.principal, { access: 'write', filetype: 'grid' })
    checkIfMatch({ version: file!.version + (this.rows > 0 ? 1 : 0) }, append.ifMatch)
    const grid = this.grid!
    if (isLocked(grid)) return { kind: 'held' }
    if (needsPlan(grid)) return { kind: 'plan' }
    const { owner, idlocal } = append.fid
    if (append.width !== this.types.length || append.width === 0)
      throw wrongLengthError(append.width, this.types.length)
    if (append.columns && haveColumnsChanged(await writers.grids.listColumns(owner, idlocal), append.columns))
      throw columnsChangedError()
    const types = decodeTypes(append.types)
    const column = append.mayChangeTypes
      ? -1
      : types.findIndex((type, k) => !isAssignable(type, this.types[k]))
    if (column >= 0) {
      const { name } = (await writers.grids.listColumns(owner, idlocal))[column]
      return { kind: 'misfit', misfit: { column, name, type: this.types[column] } }
    }
    return { kind: 'applied', result: await this.add(append, types) }
  }

  private async add(append: Append, types: readonly ColumnType[]): Promise<Appended> {
    const { writers, now } = this
    const rows = append.bodies.reduce((sum, body) => sum + body.rows, 0)
    const bytes = append.bodies.reduce((sum, { body }) => sum + body.length, 0)
    await writers.usage.reserve(append.fid.owner, { rows, bytes }, { rows: this.rows, bytes: this.bytes })
    const by = usernameOf(append.principal)
    const { message } = append
    const { file, grid } = this.state!
    const version = await versionOfAppend(writers, this.state!, by, now, message)
    const isNew = version > file.content_version
    this.types = mergeTypeLists(this.types, types)
    for (const body of append.bodies) this.bodies.push(body)
    this.rows += rows
    this.bytes += bytes
    const row_count = this.grid!.row_count + this.rows
    this.state = {
      file: isNew ? { ...file, content_version: version } : file,
      grid: {
        ...grid,
        row_count,
        types: encodeTypes(this.types),
        ...(isNew && { appended_by: message === undefined ? by : null, appended_since: now }),
      },
    }
    const result = { rows_added: rows, row_count, version }
    this.records.push({ write: append.write, result })
    return result
  }

  /** Writes the buffered rows of all appends. Returns the size of the tail: see `AppendOutcomes`. */
  async write(): Promise<number> {
    if (this.rows === 0) return 0
    const { writers, grid: before, file } = this
    const { owner, idlocal } = file!
    const { grid: after } = this.state!
    let { tail_seq, tail_bytes, tail_rows } = before!
    for (const { rows, body } of packBodies(this.bodies)) {
      await writers.grids.addTail({ owner, idlocal, seq: ++tail_seq, rows, body })
      tail_bytes += body.length
    }
    tail_rows += this.rows
    const { row_count, types, appended_by, appended_since } = after
    const fields = { row_count, tail_rows, tail_bytes, tail_seq, types, appended_by, appended_since }
    await writers.grids.changeWithoutQuota(owner, idlocal, fields)
    const { content_version } = this.state!.file
    const isUnsettled = await writers.files.touchAfterAppend(
      file!,
      content_version > file!.content_version ? { content_version } : {},
    )
    if (isUnsettled) await writers.jobs.schedule(owner, 'dates', '', this.now + SETTLE_DELAY_MS)
    await writers.idempotency.recordResults(this.records)
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

/**
 * Returns the result of an earlier append in the group with the same idempotency key, or the error for reuse.
 */
function findEarlierResult(
  records: { write: WriteKey; result: Appended }[],
  write: WriteKey,
): Appended | Problem | undefined {
  if (write.key === undefined) return undefined
  const record = records.find((r) => r.write.key === write.key && r.write.caller === write.caller)
  return (
    record &&
    (isSameRequest(write, { ...record.write, fingerprint: encodeFingerprint(record.write) })
      ? record.result
      : reusedKeyError())
  )
}
