/** Numbers of boards: a value of a grid, its change since the version before, and how it developed. */
import { formatMinute } from '../../../contract/duration.ts'
import { Problem } from '../../../contract/errors.ts'
import type { Fid } from '../../../contract/fid.ts'
import { escapeHtml } from '../../../contract/html.ts'
import type { BoardItem } from '../../../contract/resources/index.ts'
import { canSeeVersions } from '../../files/versions.ts'
import { type Snapshot, takeVersionSnapshot, trimSnapshot } from '../../grids/column/snapshot.ts'
import { Selection } from '../../grids/read/selection.ts'
import type { ReshapeQuery } from '../../grids/reshape/index.ts'
import { addFilters, renderIgnored } from './board-filters.ts'
import {
  type BoardReader,
  type ItemGrid,
  renderSource,
  reshapeRows,
  takeItemSnapshot,
} from './board-reader.ts'

/** Describes a number in words: `Revenue: 170,378.66 €, +3 (+12.5%) since 2026-11-05 14:30 UTC`. */
export async function describeNumber(reader: BoardReader, item: BoardItem, fid: Fid): Promise<string> {
  const { value = 'count', title, unit, change, decimals } = item
  const { where } = await addFilters(reader, fid, item.where)
  const filter = new Selection({ where })
  const { snap, ...grid } = await takeItemSnapshot(reader, fid, (all) => filter.bind(all, all))
  const number: unknown = JSON.parse(
    lastValueOf(await reshapeRows(reader, filter, snap, { aggregate: [value] })),
  )
  const before = change ? await measureBefore(reader, grid, { ...item, where }) : undefined
  const difference = describeChange(number, before, decimals)
  const name = title ?? `${grid.file.filename}, ${value.replace(':', ' of ')}`
  const shown = number === null ? '–' : formatNumber(number, decimals)
  return `${name}: ${shown}${unit === undefined ? '' : ` ${unit}`}${difference && `, ${difference}`}`
}

/** Renders a number. */
export async function renderNumber(reader: BoardReader, item: BoardItem, fid: Fid): Promise<string> {
  const { value = 'count', unit, change, spark, per, decimals } = item
  const { where, ignored } = await addFilters(reader, fid, item.where)
  const filter = new Selection({ where })
  const { snap, ...grid } = await takeItemSnapshot(reader, fid, (all) => filter.bind(all, all))
  const measure = (query: ReshapeQuery): Promise<Snapshot> => reshapeRows(reader, filter, snap, query)
  const json = lastValueOf(await measure({ aggregate: [value] }))
  const number: unknown = JSON.parse(json)
  const suffix = unit === undefined ? '' : ` <small>${escapeHtml(unit)}</small>`
  const before = change ? await measureBefore(reader, grid, { ...item, where }) : undefined
  const difference = describeChange(number, before, decimals)
  const line =
    spark === undefined ? '' : renderLine(await measure({ group: [spark], per, aggregate: [value] }))
  const link = renderSource(reader.service, grid)
  const condition = item.where === undefined ? '' : ` where ${escapeHtml(item.where)}`
  return `<p class="number">${number === null ? '–' : escapeHtml(formatNumber(number, decimals))}${suffix}</p>${difference && `<p class="change">${difference}</p>`}${line}<p class="source">${escapeHtml(value.replace(':', ' of '))}${condition} · ${link}</p>${renderIgnored(ignored)}`
}

/** Returns the JSON of the value of a table with one row. */
function lastValueOf(table: Snapshot): string {
  return table.columns.at(-1)?.tail.toString('utf8') || 'null'
}

interface ValueBefore {
  value: number
  /** When its version ended. */
  until: Date
}

/**
 * Measures the number of the version before the shown one. Undefined if there is none, or if the reader may not see
 * it: versions are for writers, and for readers of boards by the owner of the grid.
 */
async function measureBefore(
  reader: BoardReader,
  grid: Pick<ItemGrid, 'file' | 'roles' | 'state' | 'version'>,
  { where, value = 'count' }: BoardItem,
): Promise<ValueBefore | undefined> {
  const { store } = reader.service
  const { owner, idlocal, content_version } = grid.file
  if (!canSeeVersions(grid) && reader.board.owner !== owner) return undefined
  try {
    const found = await store.read(async (readers) => {
      const isDraft = grid.version !== undefined && grid.version.version < 0
      const current = await readers.versions.get(owner, idlocal, content_version)
      const shown = isDraft ? current : (grid.version ?? current)
      // A draft is compared with the current version.
      const [row] = isDraft
        ? [current]
        : await readers.versions.list(owner, idlocal, shown?.version ?? content_version, 1)
      return (
        row && { made_at: shown?.made_at, snap: await takeVersionSnapshot(store, readers, grid.file, row) }
      )
    })
    if (!found?.made_at) return undefined
    const snap = await trimSnapshot(found.snap)
    const filter = new Selection({ where })
    filter.bind(snap.columns, snap.columns)
    const number: unknown = JSON.parse(
      lastValueOf(await reshapeRows(reader, filter, snap, { aggregate: [value] })),
    )
    return typeof number === 'number' ? { value: number, until: new Date(Number(found.made_at)) } : undefined
  } catch (error) {
    // The version had other columns, or has expired.
    if (error instanceof Problem && error.code !== 'aborted') return undefined
    throw error
  }
}

/** Describes the change of a number: `+3 (+12.5%) since 2026-11-05 14:30 UTC`; empty if it is not known. */
function describeChange(number: unknown, before: ValueBefore | undefined, decimals?: number): string {
  if (!before || typeof number !== 'number') return ''
  const difference = number - before.value
  const since = formatMinute(before.until)
  if (difference === 0) return `unchanged since ${since}`
  const sign = difference > 0 ? '+' : '−'
  const share = Math.abs((difference / before.value) * 100)
  const percent = Number.isFinite(share) ? ` (${sign}${formatNumber(Number(share.toPrecision(3)))}%)` : ''
  return `${sign}${formatNumber(Math.abs(difference), decimals)}${percent} since ${since}`
}

/** Number of points of a line, and its size in its own units. */
const LINE_POINTS = 100
const LINE_WIDTH = 200
const LINE_HEIGHT = 40

/** Draws the values of a table by its first column: a line without axes, of the last points. */
function renderLine(table: Snapshot): string {
  const [keys, values] = [table.columns[0], table.columns.at(-1)!].map(({ tail }): unknown[] =>
    JSON.parse(`[${tail.toString('utf8')}]`),
  )
  const points = keys
    .flatMap((key, k): { key: number | string; value: number }[] => {
      const value = values[k]
      const isKey = typeof key === 'number' || typeof key === 'string'
      return isKey && typeof value === 'number' ? [{ key, value }] : []
    })
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .slice(-LINE_POINTS)
  if (points.length < 2) return ''
  const numbers = points.map(({ value }) => value)
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)]
  const path = points.map(({ value }, k) => {
    const x = (k / (points.length - 1)) * LINE_WIDTH
    const y = high === low ? LINE_HEIGHT / 2 : LINE_HEIGHT - ((value - low) / (high - low)) * LINE_HEIGHT
    return `${Number(x.toFixed(1))},${Number(y.toFixed(1))}`
  })
  const label = `${String(points[0].key)} to ${String(points.at(-1)!.key)}: from ${formatNumber(numbers[0])} to ${formatNumber(numbers.at(-1))}, lowest ${formatNumber(low)}, highest ${formatNumber(high)}`
  return `<svg class="spark" viewBox="-2 -2 ${LINE_WIDTH + 4} ${LINE_HEIGHT + 4}" role="img" aria-label="${escapeHtml(label)}"><title>${escapeHtml(label)}</title><polyline points="${path.join(' ')}" fill="none" stroke="currentColor" stroke-width="2" vector-effect="non-scaling-stroke"/></svg>`
}

function formatNumber(value: unknown, decimals?: number): string {
  if (typeof value !== 'number') return String(value)
  const fixed = decimals === undefined ? {} : { minimumFractionDigits: decimals }
  const digits =
    decimals === undefined && Math.abs(value) < 1
      ? { maximumSignificantDigits: 3 }
      : { ...fixed, maximumFractionDigits: decimals ?? 2 }
  return value.toLocaleString('en', digits)
}
