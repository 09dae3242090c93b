/** Filters the rows of figures by columns of their grids, as a board asks. See docs/boards.md#filters. */
import { NO_LABEL } from '../../charts/figure/shared-names.ts'
import { type Fid, formatFid } from '../../contract/fid.ts'
import { NO_JSON_LIMITS, parseInstant, parseRaw, type RawJson } from '../../json/index.ts'
import type { RowFilter } from '../access/access.ts'
import type { ColumnRow } from '../store/aggregates/grids.ts'
import type { Readers } from '../store/store.ts'
import type { Reference } from './scan.ts'

/** Returns the condition that a column has a value, which is given as text; `NO_LABEL` for rows without one. */
export function formatCondition({ name, type }: Pick<ColumnRow, 'name' | 'type'>, value: string): string {
  const column = `"${name.replaceAll('"', '""')}"`
  if (value === NO_LABEL)
    return type === 'text' ? `${column} is null or ${column} in ('', '${NO_LABEL}')` : `${column} is null`
  if (type === 'number' && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return `${column} = ${value}`
  if (type === 'boolean' && /^(true|false)$/.test(value)) return `${column} = ${value}`
  // No number, boolean or date has this value.
  const isMoment = type.startsWith('date')
  if (type === 'number' || type === 'boolean' || (isMoment && Number.isNaN(parseInstant(value))))
    return `${column} is null and ${column} is not null`
  return `${column} = '${value.replaceAll("'", "''")}'`
}

/** Returns the columns of a grid that a filter names, with their conditions. */
export function bindRowFilter<C extends Pick<ColumnRow, 'name' | 'type'>>(
  filter: RowFilter,
  columns: readonly C[],
): { column: C; condition: string }[] {
  return filter.flatMap(({ column: name, value }) => {
    const column = columns.find((one) => one.name === name)
    return column ? [{ column, condition: formatCondition(column, value) }] : []
  })
}

/** A trace of a figure, as far as filters change it. */
interface Trace {
  transforms?: unknown
  /** Numbers of points, which are others after a filter. */
  selectedpoints?: unknown
}

/** Transform of a trace that selects rows: docs/api.md#own-transforms. */
interface RowsTransform {
  type: 'rows'
  where?: string
  filter?: string
  names: string[]
  types: string[]
  valuessrc: string
}

/** Columns by which the traces of a figure are filtered. */
interface FilteredTrace {
  /** Number of the trace. */
  k: number
  /** Its grid, as fid. */
  grid: string
  bound: { column: ColumnRow; condition: string }[]
}

/** Lists the traces that follow a filter: those of one grid that has a column of it. */
async function listFilteredTraces(
  readers: Readers,
  references: readonly Reference[],
  filter: RowFilter,
): Promise<FilteredTrace[]> {
  const gridsByTrace = new Map<number, Map<string, Fid>>()
  for (const { path, source } of references) {
    const trace = /^data\.(\d+)\./.exec(path)?.[1]
    if (trace === undefined) continue
    const grids = gridsByTrace.get(Number(trace)) ?? new Map<string, Fid>()
    gridsByTrace.set(Number(trace), grids.set(formatFid(source.grid), source.grid))
  }
  const columnsByGrid = new Map<string, ColumnRow[]>()
  const filtered: FilteredTrace[] = []
  for (const [k, grids] of gridsByTrace) {
    // Rows of several grids have no order in common.
    if (grids.size !== 1) continue
    const [[grid, fid]] = grids
    if (!columnsByGrid.has(grid)) columnsByGrid.set(grid, await listColumnsOf(readers, fid))
    const bound = bindRowFilter(filter, columnsByGrid.get(grid)!)
    if (bound.length > 0) filtered.push({ k, grid, bound })
  }
  return filtered
}

/** Returns a figure whose traces show the rows that a filter selects; the same figure if none follows it. */
export async function filterFigure(
  readers: Readers,
  figure: RawJson,
  references: readonly Reference[],
  filter: RowFilter,
): Promise<RawJson> {
  const filtered = await listFilteredTraces(readers, references, filter)
  if (filtered.length === 0) return figure
  const parsed = JSON.parse(figure.bytes.toString('utf8')) as { data: Trace[] }
  for (const { k, grid, bound } of filtered) {
    addRowsTransform(parsed.data[k], grid, bound)
    delete parsed.data[k].selectedpoints
  }
  return parseRaw(Buffer.from(JSON.stringify(parsed)), 'the figure', NO_JSON_LIMITS)
}

/** Lists the columns of a filter that not all traces of a figure follow. Frames follow none. */
export async function listUnfollowed(
  readers: Readers,
  figure: RawJson,
  references: readonly Reference[],
  filter: RowFilter,
): Promise<string[]> {
  const filtered = await listFilteredTraces(readers, references, filter)
  const countOf = (name: string): number => {
    const member = figure.get(name)
    return member?.kind === 'array' ? [...member.items()].length : 0
  }
  const traces = countOf('data')
  const hasFrames = countOf('frames') > 0
  return filter.flatMap(({ column }) => {
    const following = filtered.filter(({ bound }) => bound.some((one) => one.column.name === column)).length
    return following === traces && !hasFrames ? [] : [column]
  })
}

/** Lists the columns of a grid; none if it is gone. */
export async function listColumnsOf(
  { files, grids }: Readers,
  { owner, idlocal }: Fid,
): Promise<ColumnRow[]> {
  const file = await files.get(owner, idlocal)
  return file?.filetype === 'grid' ? grids.listCurrentColumns(await grids.get(owner, idlocal)) : []
}

/** Lists the grids that a plot shows. */
export async function listPlotGrids(readers: Readers, { owner, idlocal }: Fid): Promise<Fid[]> {
  const references = await readers.plots.listReferences(owner, [idlocal])
  return references.flatMap(({ kind, to_owner, to_idlocal }) =>
    kind === 'grid' ? [{ owner: to_owner, idlocal: to_idlocal }] : [],
  )
}

/** Adds conditions to a trace, which can have one transform of its rows. */
function addRowsTransform(
  trace: Trace,
  grid: string,
  bound: readonly { column: ColumnRow; condition: string }[],
): void {
  const transforms: unknown[] = Array.isArray(trace.transforms) ? trace.transforms : []
  const own = transforms.find((one): one is RowsTransform => (one as RowsTransform | null)?.type === 'rows')
  const { names = [], types = [], valuessrc, ...more }: Partial<RowsTransform> = own ?? {}
  const added = bound.filter(({ column }) => !names.includes(column.name))
  const uids = [
    ...(valuessrc === undefined ? [] : valuessrc.split(':').slice(2)),
    ...added.map(({ column }) => column.uid),
  ]
  const rows = {
    ...more,
    type: 'rows',
    filter: bound.map(({ condition }) => `(${condition})`).join(' and '),
    names: [...names, ...added.map(({ column }) => column.name)],
    types: [...types, ...added.map(({ column }) => column.type)],
    valuessrc: `${grid}:${uids.join(',')}`,
  }
  trace.transforms = own ? transforms.map((one) => (one === own ? rows : one)) : [rows, ...transforms]
}
