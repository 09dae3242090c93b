// Handlers of columns: reads, creates, updates and deletes them.
import { invalidField, Problem } from '../../contract/errors.ts'
import { decodeStringAsync, parseRawAsync, type RawJson, yieldToEventLoop } from '../../json/index.ts'
import { authorizeCall } from '../access/access.ts'
import type { Call } from '../core/call.ts'
import { contentEtag, fileEtag } from '../core/etag.ts'
import { formatColumnMeta } from '../files/meta.ts'
import { checkCanChange } from '../files/read.ts'
import { changeGrid, type RequestPlan } from '../grids/change/change.ts'
import {
  checkArray,
  checkColumnName,
  parseOrder,
  parseSmallValue,
  sliceEndsOf,
  storeColumnArray,
  storeColumnArrays,
  tooManyColumns,
} from '../grids/change/create.ts'
import { hasSameContent } from '../grids/change/same-content.ts'
import { type ChecksResult, enforceChecksOnGrid } from '../grids/checks/enforce.ts'
import { createLayoutSnapshot, type Layout, type NewColumn } from '../grids/column/layout.ts'
import {
  type SnapshotColumn,
  selectByUid,
  streamColumnsJson,
  trimSnapshot,
} from '../grids/column/snapshot.ts'
import { checkKey } from '../grids/keys/primary-key.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import { primaryKeyUidsOf } from '../store/schema/primary-key.ts'
import { takeRequestedSnapshot } from './grids.requested.ts'
import type { Handlers, OperationService as Service } from './handler.ts'

export const columnHandlers = {
  'columns.get': async (service, call) => {
    const { uid } = call.query
    const choose = uid === undefined ? undefined : selectByUid(parseUids(uid))
    const { snap, etag } = await service.store.read(async (readers) => {
      const access = await authorizeCall(readers, call)
      const snap = await takeRequestedSnapshot(service, readers, access, call, choose)
      return { snap, etag: contentEtag(access.file, call.version) }
    })
    return { body: streamColumnsJson(await trimSnapshot(snap)), type: 'application/json', etag }
  },

  'columns.create': async (service, call) => {
    await checkCanChange(service, call)
    const json = call.fields.cols
    if (json?.kind !== 'string')
      throw invalidField('cols', json ? 'must be a JSON-encoded array' : 'is missing')
    const cols = await parseRawAsync(await decodeStringAsync(json), 'cols', json.limits)
    const uids = await createColumns(service, call, cols)
    return formatWrittenColumns(service, call, uids)
  },

  'columns.update': async (service, call) => {
    await checkCanChange(service, call)
    const json = call.fields.cols
    const cols =
      json.kind === 'string' ? await parseRawAsync(await decodeStringAsync(json), 'cols', json.limits) : json
    const uids = parseUids(call.query.uid)
    await updateColumns(service, call, uids, cols)
    return formatWrittenColumns(service, call, uids)
  },

  'columns.delete': async (service, call) => {
    await checkCanChange(service, call)
    await deleteColumns(service, call, parseUids(call.query.uid))
    return { body: undefined }
  },
} satisfies Partial<Handlers>

function parseUids(uids: string): string[] {
  return uids.split(',').map((uid) => uid.trim())
}

async function formatWrittenColumns(service: Service, call: Call, uids: string[]) {
  return service.store.read(async (readers) => {
    const { file } = await authorizeCall(readers, call)
    const columns = await readers.grids.listColumns(call.fid.owner, call.fid.idlocal)
    const byUid = new Map(columns.map((column) => [column.uid, column]))
    const cols = uids.flatMap((uid) => {
      const column = byUid.get(uid)
      return column ? [formatColumnMeta(column)] : []
    })
    return { body: { cols, version: file.content_version }, etag: fileEtag(file) }
  })
}

/** The members of each column object in the body. Stops after `limit` + 1 columns. */
async function readColumnObjects(
  cols: RawJson,
  limit: number,
  { limits }: Service,
): Promise<Map<string, RawJson>[]> {
  if (cols.kind !== 'array') throw invalidField('cols', 'must be an array of columns')
  const columns: Map<string, RawJson>[] = []
  for (const column of cols.items()) {
    if (column.kind !== 'object') throw invalidField(`cols.${columns.length}`, 'must be an object')
    if (columns.length === limits.columns) throw tooManyColumns(limits.columns + 1, limits)
    if (columns.length > limit) break
    columns.push(column.entries())
    await yieldToEventLoop()
  }
  return columns
}

function readColumnName(parts: Map<string, RawJson>, k: number, service: Service): string | undefined {
  const name = parts.get('name')
  return name === undefined
    ? undefined
    : checkColumnName(parseSmallValue(name, `cols.${k}.name`), `cols.${k}.name`, service.limits)
}

function checkUniqueNames(names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    if (seen.has(name)) {
      throw new Problem(
        'column_exists',
        `cols: a column named ${JSON.stringify(name)} already exists in this grid`,
        { field: 'cols' },
      )
    }
    seen.add(name)
  }
}

/** Adds columns (`[{name, data}]`). Returns their uids. See docs/api.md#columns. */
async function createColumns(service: Service, call: Call, cols: RawJson): Promise<string[]> {
  const parts = (await readColumnObjects(cols, service.limits.columns, service)).map((column, k) => ({
    name: readColumnName(column, k, service) ?? missingName(k),
    data: checkArray(column.get('data'), `cols.${k}.data`),
  }))
  return changeGrid(service, call, call.fid, async (layout) => {
    const { columns, slices } = layout
    if (columns.length + parts.length > service.limits.columns)
      throw tooManyColumns(columns.length + parts.length, service.limits)
    const stored = await storeColumnArrays(service.store.blobs, call.fid.owner, parts, sliceEndsOf(slices))
    return planColumns(service, call, layout, [...storedColumns(layout), ...stored], (uids) =>
      uids.slice(columns.length),
    )
  })
}

/** Plans these columns for a grid, after its checks and its key. */
async function planColumns<T>(
  service: Service,
  call: Call,
  layout: Layout,
  columns: readonly NewColumn[] | undefined,
  result: (uids: readonly string[]) => T,
): Promise<RequestPlan<T>> {
  if (columns) checkUniqueNames(columns.map(({ name }) => name))
  const checked = columns && (await checkColumns(service, call, layout, columns))
  return {
    columns,
    change: { operation: 'columns' },
    failedChecks: checked?.failedChecks,
    createResult: ({ uids }) => result(uids),
  }
}

/** The columns of a grid as they are. */
function storedColumns({ columns, slices }: Layout): (NewColumn & { uid: string })[] {
  return columns.map((column) => ({ ...column, slices: slices.get(column.uid) ?? [] }))
}

function missingName(k: number): never {
  throw invalidField(`cols.${k}.name`, 'is missing')
}

/** Updates data, name or order of the columns `uids`, in the order of `cols`. See docs/api.md#columns. */
async function updateColumns(service: Service, call: Call, uids: string[], cols: RawJson): Promise<void> {
  const parts = await readColumnObjects(cols, uids.length, service)
  if (parts.length !== uids.length) {
    const count = parts.length > uids.length ? `more than ${uids.length}` : parts.length
    throw new Problem('invalid_request', `cols: ${count} columns for ${uids.length} uids`, {
      field: 'cols',
      hint: 'Give one object per uid.',
    })
  }
  const changes = parts.map((column, k) => {
    const data = column.get('data')
    return {
      uid: uids[k],
      name: readColumnName(column, k, service),
      order: parseOrder(column.get('order'), `cols.${k}.order`),
      data: data && checkArray(data, `cols.${k}.data`),
    }
  })
  await changeGrid(service, call, call.fid, async (layout) => {
    const { columns, slices } = layout
    selectByUid(uids)(columns)
    const ends = sliceEndsOf(slices)
    const after = storedColumns(layout).map((column, position) => ({ ...column, position }))
    const afterByUid = new Map(after.map((column) => [column.uid, column]))
    const beforeByUid = new Map(columns.map((column) => [column.uid, column]))
    for (const { uid, name, order, data } of changes) {
      const column = afterByUid.get(uid)!
      Object.assign(column, { name: name ?? column.name, position: order ?? column.position })
      if (!data) continue
      const values = await storeColumnArray(service.store.blobs, call.fid.owner, data, ends)
      const before = beforeByUid.get(uid)!
      const isSameData = await hasSameContent(
        service.store.blobs,
        [{ ...values, name: before.name }],
        [before],
        slices,
      )
      if (!isSameData) Object.assign(column, { ...values, uid })
    }
    const isChange = after.some((column, k) => {
      const { name, position } = columns[k]
      return column.slices !== slices.get(column.uid) || column.name !== name || column.position !== position
    })
    const sorted = sortColumns(columns, after, changes)
    return planColumns(service, call, layout, isChange ? sorted : undefined, () => null)
  })
}

/**
 * Throws `checks_failed` if the grid would fail its checks after the change, and `bad_data` if its key would
 * no longer be unique.
 */
async function checkColumns(
  service: Service,
  { fid }: Call,
  layout: Layout,
  after: readonly NewColumn[],
): Promise<ChecksResult> {
  const before = createLayoutSnapshot(service.store, layout)
  const columns = after.map(toSnapshotColumn)
  const rows = Math.max(0, ...columns.map((column) => column.rows))
  const snap = { ...before, columns, rows }
  const key = primaryKeyUidsOf(layout.grid)
  const isKeyChanged = columns.some((column) => {
    if (!key.includes(column.uid)) return false
    const previous = before.columns.find(({ uid }) => uid === column.uid)
    return previous?.slices !== column.slices
  })
  const names = columns.flatMap(({ uid, name }) => (key.includes(uid) ? [name] : []))
  if (names.length === key.length && (isKeyChanged || rows > before.rows))
    await checkKey(snap, names, { source: 'the grid' })
  return enforceChecksOnGrid(service, fid, layout, { snap, source: 'the grid' })
}

/** A column of a plan, to be read. */
function toSnapshotColumn(column: NewColumn, order: number): SnapshotColumn {
  return { ...column, uid: column.uid ?? '', order, tail: NO_TAIL }
}

const NO_TAIL = Buffer.alloc(0)

/** Sorts columns by their positions. On equal positions, a moved column displaces the one there. */
function sortColumns<C extends { uid: string; position: number }>(
  before: readonly ColumnRow[],
  after: readonly C[],
  changes: readonly { uid: string; order?: number }[],
): C[] {
  const moved = new Set(changes.flatMap(({ uid, order }) => (order === undefined ? [] : [uid])))
  const from = new Map(before.map(({ uid, position }) => [uid, position]))
  // A column moved right comes after the one there; a column moved left, before it.
  const side = ({ uid, position }: C): number => (moved.has(uid) ? (position > from.get(uid)! ? 1 : -1) : 0)
  return [...after].sort((a, b) => a.position - b.position || side(a) - side(b))
}

/** Removes columns. Throws `unknown_column` if a uid is not in the grid, `conflict` if it is in the key. */
async function deleteColumns(service: Service, call: Call, uids: string[]): Promise<void> {
  await changeGrid(service, call, call.fid, async (layout) => {
    const { columns, grid } = layout
    selectByUid(uids)(columns)
    const removed = new Set(uids)
    const key = columns.find(({ uid }) => removed.has(uid) && primaryKeyUidsOf(grid).includes(uid))
    if (key)
      throw new Problem('conflict', `column ${key.name} is in the key of the grid`, {
        field: 'uid',
        hint: 'Remove the key first: gridline column key GRID ""',
      })
    const left = storedColumns(layout).filter(({ uid }) => !removed.has(uid))
    return planColumns(service, call, layout, left, () => null)
  })
}
