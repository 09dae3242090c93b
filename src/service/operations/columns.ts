// Creates, updates and deletes columns of grids.
import { invalidField, Problem } from '../../contract/errors.ts'
import { breathe, type RawJson } from '../../json/index.ts'
import type { Call } from '../core/call.ts'
import { applyOnce } from '../files/read.ts'
import { rewriteLayout } from '../grids/change/compact.ts'
import {
  addColumns,
  arrayOf,
  checkColumnName,
  endsOf,
  smallValue,
  storeArray,
  storeArrays,
  tooManyColumns,
} from '../grids/change/create.ts'
import { recordLost } from '../grids/change/lost.ts'
import { isSame } from '../grids/change/same.ts'
import { beginVersion, userOf } from '../grids/change/versions.ts'
import { enforceOn } from '../grids/checks/enforce.ts'
import { byUid, type SnapshotColumn } from '../grids/column/content.ts'
import { type Layout, type NewColumn, snapshotOfLayout } from '../grids/column/layout.ts'
import { checkKey } from '../grids/keys/key.ts'
import type { ColumnRow, Epoch } from '../store/aggregates/grids.ts'
import { keyOf } from '../store/schema/primary-key.ts'
import type { Writers } from '../store/store.ts'
import type { OperationService as Service } from './handler.ts'

/** Changes columns and adds a version, once per idempotency key. Checks access again. */
function changing<T>(
  writers: Writers,
  call: Call,
  { grid, columns: before }: Layout,
  change: (epoch: Epoch) => Promise<T>,
): Promise<T> {
  const { owner, idlocal } = call.fid
  return applyOnce(writers, call, async ({ file }) => {
    const result = await change({ owner, idlocal, epoch: grid.epoch + 1 })
    const after = await writers.grids.columns(owner, idlocal)
    await beginVersion(writers, { file, grid }, { operation: 'columns', by: userOf(call) }, { before, after })
    return result
  })
}

/** Returns the members of each column object in the body. Stops after `limit` + 1 columns. */
async function objects(cols: RawJson, limit: number, { limits }: Service): Promise<Map<string, RawJson>[]> {
  if (cols.kind !== 'array') throw invalidField('cols', 'must be an array of columns')
  const columns: Map<string, RawJson>[] = []
  for (const column of cols.items()) {
    if (column.kind !== 'object') throw invalidField(`cols.${columns.length}`, 'must be an object')
    if (columns.length === limits.columns) throw tooManyColumns(limits.columns + 1, limits)
    if (columns.length > limit) break
    columns.push(column.entries())
    await breathe()
  }
  return columns
}

function nameOf(parts: Map<string, RawJson>, k: number, service: Service): string | undefined {
  const name = parts.get('name')
  return name === undefined
    ? undefined
    : checkColumnName(smallValue(name, `cols.${k}.name`), `cols.${k}.name`, service.limits)
}

function refuseDoubles(names: readonly string[]): void {
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
export async function createColumns(service: Service, call: Call, cols: RawJson): Promise<string[]> {
  const parts = (await objects(cols, service.limits.columns, service)).map((column, k) => ({
    name: nameOf(column, k, service) ?? refuseNameless(k),
    data: arrayOf(column.get('data'), `cols.${k}.data`),
  }))
  return rewriteLayout(
    service,
    call.fid,
    async (layout): Promise<NewColumn[]> => {
      const { columns, slices } = layout
      if (columns.length + parts.length > service.limits.columns)
        throw tooManyColumns(columns.length + parts.length, service.limits)
      const stored = await storeArrays(service.store.blobs, call.fid.owner, parts, endsOf(slices))
      await checkColumns(service, call, layout, (before) => [...before, ...stored.map(asColumn)])
      return stored
    },
    (writers, stored, layout) =>
      changing(writers, call, layout, async (epoch) => {
        const { columns } = layout
        refuseDoubles([...columns, ...stored].map(({ name }) => name))
        const taken = new Set(columns.map(({ uid }) => uid))
        return addColumns(writers, epoch, stored, taken, nextPosition(columns))
      }),
  )
}

function refuseNameless(k: number): never {
  throw invalidField(`cols.${k}.name`, 'is missing')
}

function nextPosition(columns: readonly ColumnRow[]): number {
  return columns.length > 0 ? columns[columns.length - 1].position + 1 : 0
}

/** Updates data, name or order of the columns `uids`, in the order of `cols`. See docs/api.md#columns. */
export async function updateColumns(
  service: Service,
  call: Call,
  uids: string[],
  cols: RawJson,
): Promise<void> {
  const parts = await objects(cols, uids.length, service)
  if (parts.length !== uids.length) {
    const count = parts.length > uids.length ? `more than ${uids.length}` : parts.length
    throw new Problem('invalid_request', `cols: ${count} columns for ${uids.length} uids`, {
      field: 'cols',
      hint: 'Give one object per uid.',
    })
  }
  const changes = parts.map((column, k) => {
    const data = column.get('data')
    const orderJson = column.get('order')
    const order = (orderJson && smallValue(orderJson, `cols.${k}.order`)) ?? undefined
    if (order !== undefined && !Number.isSafeInteger(order))
      throw invalidField(`cols.${k}.order`, 'must be an integer')
    return {
      uid: uids[k],
      name: nameOf(column, k, service),
      order: order as number | undefined,
      data: data && arrayOf(data, `cols.${k}.data`),
    }
  })
  await rewriteLayout(
    service,
    call.fid,
    async (layout) => {
      const { columns, slices } = layout
      byUid(uids)(columns)
      const ends = endsOf(slices)
      const stored = new Map<string, Omit<NewColumn, 'name'>>()
      for (const { uid, data } of changes) {
        if (!data) continue
        const values = await storeArray(service.store.blobs, call.fid.owner, data, ends)
        const column = columns.find((candidate) => candidate.uid === uid)!
        const isUnchanged = await isSame(
          service.store.blobs,
          [{ ...values, name: column.name }],
          [column],
          slices,
        )
        if (!isUnchanged) stored.set(uid, values)
      }
      const names = new Map(changes.flatMap(({ uid, name }) => (name === undefined ? [] : [[uid, name]])))
      await checkColumns(service, call, layout, (before) =>
        before.map((column) => ({
          ...column,
          ...stored.get(column.uid),
          uid: column.uid,
          name: names.get(column.uid) ?? column.name,
        })),
      )
      return stored
    },
    (writers, stored, layout) => {
      const isChange = changes.some(({ uid, name, order }) => {
        const column = layout.columns.find((candidate) => candidate.uid === uid)!
        const isMoved = order !== undefined && order !== column.position
        return stored.has(uid) || isMoved || (name !== undefined && name !== column.name)
      })
      if (!isChange) return applyOnce(writers, call, async () => {})
      return changing(writers, call, layout, async (epoch) => {
        const { columns } = layout
        const after = new Map(columns.map((column) => [column.uid, { ...column }]))
        for (const { uid, name, order } of changes) {
          const column = after.get(uid)!
          column.name = name ?? column.name
          column.position = order ?? column.position
          const values = stored.get(uid)
          if (!values) continue
          Object.assign(column, { type: values.type, rows: values.rows })
          await writers.grids.replaceSlices(epoch, uid, layout.slices.get(uid) ?? [], values.slices)
        }
        refuseDoubles([...after.values()].map(({ name }) => name))
        await renumber(writers, epoch, columns, [...after.values()], changes)
      })
    },
  )
}

/**
 * Throws `checks_failed` if the grid would fail its checks after the change, and `bad_data` if its key would
 * no longer be unique.
 */
async function checkColumns(
  service: Service,
  { fid }: Call,
  layout: Layout,
  change: (before: readonly SnapshotColumn[]) => SnapshotColumn[],
): Promise<void> {
  const before = snapshotOfLayout(service.store, layout)
  const columns = change(before.columns)
  const rows = Math.max(0, ...columns.map((column) => column.rows))
  const snap = { ...before, columns, rows }
  const key = keyOf(layout.grid)
  const isKeyChanged = columns.some((column) => {
    const previous = before.columns.find(({ uid }) => uid === column.uid)
    return key.includes(column.uid) && previous?.slices !== column.slices
  })
  const names = columns.flatMap(({ uid, name }) => (key.includes(uid) ? [name] : []))
  if (names.length === key.length && (isKeyChanged || rows > before.rows))
    await checkKey(snap, names, { source: 'the grid' })
  await enforceOn(service, fid, layout, { snap, source: 'the grid' })
}

/** Returns a new column as part of a snapshot. It has no uid yet. */
function asColumn(column: NewColumn): SnapshotColumn {
  return { ...column, uid: '', order: 0, tail: Buffer.alloc(0) }
}

/** Renumbers positions to 0, 1, 2 … and writes changed columns. A moved column displaces the old one. */
async function renumber(
  writers: Writers,
  epoch: Epoch,
  before: readonly ColumnRow[],
  after: ColumnRow[],
  changes: readonly { uid: string; order?: number }[],
): Promise<void> {
  const moved = new Set(changes.flatMap(({ uid, order }) => (order === undefined ? [] : [uid])))
  const previous = new Map(before.map((column) => [column.uid, column]))
  after.sort((a, b) => {
    if (a.position !== b.position) return a.position - b.position
    // At equal positions, a column moved right comes after the existing one; a column moved left, before it.
    const side = (c: ColumnRow): number =>
      moved.has(c.uid) ? (c.position > previous.get(c.uid)!.position ? 1 : -1) : 0
    return side(a) - side(b)
  })
  for (const [position, column] of after.entries()) {
    const previousColumn = previous.get(column.uid)!
    const { uid, name, type, rows } = column
    if (previousColumn.name !== name || previousColumn.position !== position)
      await writers.grids.changeColumn(epoch, uid, { name, position })
    if (previousColumn.type !== type || previousColumn.rows !== rows)
      await writers.grids.changeColumn(epoch, uid, { type, rows })
  }
}

/** Removes columns. Throws 400 if a uid is not in the grid. */
export async function deleteColumns(service: Service, call: Call, uids: string[]): Promise<void> {
  await rewriteLayout(
    service,
    call.fid,
    (layout) =>
      checkColumns(service, call, layout, (before) => before.filter(({ uid }) => !uids.includes(uid))),
    (writers, _, layout) =>
      changing(writers, call, layout, async (epoch) => {
        const { columns, grid } = layout
        byUid(uids)(columns)
        const key = columns.find(({ uid }) => uids.includes(uid) && keyOf(grid).includes(uid))
        if (key)
          throw new Problem('conflict', `column ${key.name} is in the key of the grid`, {
            field: 'uid',
            hint: 'Remove the key first: gridline append GRID --key ""',
          })
        await writers.grids.removeColumns(epoch, uids)
        const removed = new Set(uids)
        await recordLost(
          writers,
          call.fid,
          columns.filter(({ uid }) => removed.has(uid)),
        )
        const remaining = columns.filter(({ uid }) => !removed.has(uid))
        for (const [position, { uid, position: old }] of remaining.entries()) {
          if (position !== old) await writers.grids.changeColumn(epoch, uid, { position })
        }
      }),
  )
}
