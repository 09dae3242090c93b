// The data of plots as tables.
import { formatFid } from '../../../contract/fid.ts'
import type { RawJson } from '../../../json/index.ts'
import type { Service } from '../../core/context.ts'
import { createMemorySnapshot, type Snapshot, type SnapshotColumn } from '../../grids/column/snapshot.ts'
import { type FigureView, hidesRows, readEvaluatedFigure } from '../../plots/content.ts'
import { detectValueType, mergeTypes } from '../../store/schema/column-types.ts'
import type { ColumnType } from '../../store/schema/schema.ts'

/** Loads the data of a plot: the columns that it refers to, or what it draws of grids that the caller may not read. */
export async function loadPlotTable(service: Service, view: FigureView): Promise<Snapshot> {
  return hidesRows(view)
    ? collectArrays(service, await readEvaluatedFigure(view))
    : collectColumns(service, view)
}

/** Collects the arrays of a figure: those of values, not of lists. */
function collectArrays({ store }: Service, figure: RawJson): Snapshot {
  const traces = listTraceNames(figure)
  const columns: { name: string; type: ColumnType; texts: string[] }[] = []
  for (const [k, trace] of [...(figure.get('data')?.items() ?? [])].entries()) {
    if (trace.kind !== 'object') continue
    for (const [attribute, array] of trace.members()) {
      if (array.kind !== 'array') continue
      const values = [...array.items()]
      if (values.length === 0 || values.some(({ kind }) => kind === 'array' || kind === 'object')) continue
      const types = values.map(({ buf, start, end }) => detectValueType(buf, start, end))
      columns.push({
        name: nameArray(traces, k, attribute),
        type: types.reduce(mergeTypes),
        texts: values.map(({ bytes }) => bytes.toString()),
      })
    }
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
