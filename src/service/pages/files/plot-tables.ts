// The data of plots as tables.
import { formatFid } from '../../../contract/fid.ts'
import { takeUniqueName } from '../../../contract/unique-name.ts'
import { concatAsync, RawJson, shouldYield, yieldToEventLoop } from '../../../json/index.ts'
import type { FileRequest } from '../../access/access.ts'
import type { Service } from '../../core/context.ts'
import { createMemorySnapshot, type Snapshot, type SnapshotColumn } from '../../grids/column/snapshot.ts'
import type { FigureView } from '../../plots/content.ts'
import type { LiveService } from '../../plots/live-plots.ts'
import { scanFigureInTurns } from '../../plots/scan.ts'
import { hidesRows } from '../../plots/stream-figure.ts'
import { detectValueType, mergeTypes } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'

/**
 * Loads the data of a plot: the columns that it refers to, or what it draws of grids that the caller may not read. Throws
 * `too_large` and `overloaded` if the transforms cannot be evaluated.
 */
export async function loadPlotTable(
  service: LiveService,
  request: FileRequest,
  view: FigureView,
): Promise<Snapshot> {
  if (!hidesRows(view)) return collectColumns(service, view)
  // Kept in memory, and read once for all who ask at the same time.
  const chunks: Uint8Array[] = []
  for await (const chunk of await (await service.live.get()).loadFigure(service, request, 'data'))
    chunks.push(chunk)
  const text = await concatAsync(chunks)
  return collectArrays(service, new RawJson(text, 0, text.length, view.figure.limits))
}

/** Collects the arrays of a figure: those of values, not of lists. */
async function collectArrays({ store }: Service, figure: RawJson): Promise<Snapshot> {
  const traces = listTraceNames(figure)
  const columns: { name: string; type: ColumnType; texts: string[] }[] = []
  const used = new Set<string>()
  for (const { kind, path, value } of await scanFigureInTurns(figure)) {
    const [, trace, attribute] = /^data\.(\d+)\.(.+)$/.exec(path) ?? []
    if (kind !== 'array' || trace === undefined) continue
    const values = [...value.items()]
    if (values.length === 0 || values.some((one) => one.kind === 'array' || one.kind === 'object')) continue
    const types = values.map(({ buf, start, end }) => detectValueType(buf, start, end))
    columns.push({
      name: takeUniqueName(nameArray(traces, Number(trace), attribute), used),
      type: types.reduce(mergeTypes),
      texts: values.map(({ bytes }) => bytes.toString()),
    })
    if (shouldYield()) await yieldToEventLoop()
  }
  const rows = Math.max(0, ...columns.map(({ texts }) => texts.length))
  const texts = columns.map((column) =>
    Buffer.from(Array.from({ length: rows }, (_, row) => column.texts[row] ?? 'null').join(',')),
  )
  return createMemorySnapshot(store, columns, rows, texts)
}

/** Names an array by its trace (`trace 0` if it has no name) and the attribute. */
function nameArray(traces: readonly (string | undefined)[], trace: number, attribute: string): string {
  return `${traces[trace] ?? `trace ${trace}`} ${attribute}`
}

/** Collects the distinct columns that a plot shows. Duplicate names get the id of their column. */
function collectColumns({ store }: Service, { figure, references, grids }: FigureView): Snapshot {
  const columns = new Map<string, SnapshotColumn>()
  const traces = listTraceNames(figure)
  for (const { source, path } of references) {
    const grid = formatFid(source.grid)
    const referenced = grids.get(grid)
    for (const uid of source.uids) {
      const column = referenced?.columns.get(uid)
      if (column) columns.set(`${grid}:${uid}`, { ...column, name: columnNameOf(column, path, traces) })
    }
  }
  const counts = new Map<string, number>()
  for (const { name } of columns.values()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const named = [...columns].map(([key, column]) =>
    counts.get(column.name)! > 1 ? { ...column, name: `${column.name} (${key})` } : column,
  )
  return { blobs: store.blobs, columns: named, rows: Math.max(0, ...named.map(({ rows }) => rows)) }
}

/** Lists the names of traces; undefined for traces without one. */
function listTraceNames(figure: RawJson): (string | undefined)[] {
  const data = figure.get('data')
  if (data?.kind !== 'array') return []
  return [...data.items()].map((trace) => {
    const name = trace.kind === 'object' ? trace.get('name') : undefined
    return name?.kind === 'string' ? String(name.toValue()) : undefined
  })
}

/**
 * Returns the name of a column; for one that is named by its path in the figure, the name of the trace
 * (`trace 0` if it has none) and the attribute.
 */
function columnNameOf(
  { name }: SnapshotColumn,
  path: string,
  traces: readonly (string | undefined)[],
): string {
  const [, trace, attribute] = /^data\.(\d+)\.(.+)$/.exec(name === path ? path : '') ?? []
  return trace === undefined ? name : nameArray(traces, Number(trace), attribute)
}
