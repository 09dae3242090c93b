/// <reference lib="dom" />
// The columns that a figure refers to: loaded once, and put into figures that are not stored.
import { evaluateTransforms } from '../../charts/evaluate/index.ts'
import { isTransposed } from '../../charts/figure/data-attributes.ts'
import type { Attributes, Figure } from '../../charts/figure/figure.ts'
import { call, request } from '../api.ts'

/** Maximum number of rows that are loaded whole. Of a larger grid, a sample of as many is loaded. */
const MAX_ROWS = 100_000

/** Loaded columns of a grid. */
interface LoadedGrid {
  rows: number
  /** Column names by uid. */
  names: ReadonlyMap<string, string>
  columns: Map<string, Promise<unknown[]>>
}

/** Columns of grids, loaded once. */
export class FigureData {
  private readonly grids = new Map<string, Promise<LoadedGrid>>()
  /** Rows of the largest grid of which only a sample is loaded; undefined without one. */
  sampledRows: number | undefined

  /** Forgets what is loaded: the data may have changed. */
  clear(): void {
    this.grids.clear()
    this.sampledRows = undefined
  }

  /** Returns a figure with its data, as the server draws it. Columns that are gone are empty. */
  async evaluate(figure: Figure): Promise<Figure> {
    const copy: Figure = structuredClone(figure)
    const references = copy.data.flatMap((trace) => listReferences(trace, String(trace.type ?? 'scatter')))
    await this.load(references)
    for (const { holder, key, fid, uids, isMatrix } of references) {
      const columns = await Promise.all(uids.map((uid) => this.columnOf(fid, uid)))
      holder[key] = uids.length === 1 ? columns[0] : isMatrix ? transpose(columns) : columns
    }
    return (await evaluateTransforms(copy)) as Figure
  }

  private async columnOf(fid: string, uid: string): Promise<unknown[]> {
    return (await (await this.grids.get(fid)!).columns.get(uid)) ?? []
  }

  /** Loads the columns that are missing, in one request for each grid. */
  private async load(references: readonly Reference[]): Promise<void> {
    const uidsByGrid = new Map<string, Set<string>>()
    for (const { fid, uids } of references) {
      const all = uidsByGrid.get(fid) ?? new Set()
      uidsByGrid.set(fid, all)
      for (const uid of uids) all.add(uid)
    }
    await Promise.all([...uidsByGrid].map(([fid, uids]) => this.loadColumns(fid, [...uids])))
  }

  private async loadColumns(fid: string, uids: readonly string[]): Promise<void> {
    const loading = this.grids.get(fid) ?? loadGrid(fid)
    this.grids.set(fid, loading)
    const grid = await loading
    const wanted = uids.filter((uid) => grid.names.has(uid))
    const missing = wanted.filter((uid) => !grid.columns.has(uid))
    if (missing.length === 0) return
    // A sample has other rows each time.
    const isSampled = grid.rows > MAX_ROWS
    const asked = isSampled ? [...new Set([...grid.columns.keys(), ...wanted])] : missing
    if (isSampled) this.sampledRows = Math.max(this.sampledRows ?? 0, grid.rows)
    const values = isSampled ? loadSample(fid, grid, asked) : loadWhole(fid, asked)
    values.catch(() => this.grids.delete(fid))
    for (const uid of asked)
      grid.columns.set(
        uid,
        values.then((columns) => columns.get(uid) ?? []),
      )
    await values
  }
}

/** Loads the columns of a grid, without values; without columns if it is gone. */
async function loadGrid(fid: string): Promise<LoadedGrid> {
  const grid = await call('grids.get', { path: { fid } }).catch(() => undefined)
  return {
    rows: grid?.row_count ?? 0,
    names: new Map(grid?.cols.map(({ uid, name }) => [uid, name])),
    columns: new Map(),
  }
}

async function loadWhole(fid: string, uids: readonly string[]): Promise<Map<string, unknown[]>> {
  const response = await request('columns.get', { path: { fid }, query: { uid: uids.join(',') } })
  const { cols } = (await response.json()) as { cols: { uid: string; data: unknown[] }[] }
  return new Map(cols.map(({ uid, data }) => [uid, data]))
}

/** Loads random rows, in the order of the grid. */
async function loadSample(
  fid: string,
  { names }: LoadedGrid,
  uids: readonly string[],
): Promise<Map<string, unknown[]>> {
  const query = { format: 'ndjson', sample: MAX_ROWS, columns: uids.map((uid) => names.get(uid)!) } as const
  const text = await (await request('grids.content', { path: { fid }, query })).text()
  const rows = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  return new Map(uids.map((uid) => [uid, rows.map((row) => row[names.get(uid)!] ?? null)]))
}

/** A reference to columns, and where their values go. */
interface Reference {
  holder: Attributes
  key: string
  fid: string
  uids: string[]
  isMatrix: boolean
}

/** Lists the references in a trace, at any depth. */
function listReferences(holder: Attributes, type: string, path = ''): Reference[] {
  return Object.entries(holder).flatMap(([name, value]) => {
    if (typeof value === 'object' && value !== null)
      return listReferences(value, type, Array.isArray(holder) ? path : `${path}${name}.`)
    const [, fid, uids] =
      (name.endsWith('src') && typeof value === 'string' && /^([^:]+:\d+):([^:]+)$/.exec(value)) || []
    if (fid === undefined) return []
    const key = name.slice(0, -3)
    return [{ holder, key, fid, uids: uids.split(','), isMatrix: isTransposed(type, path + key) }]
  })
}

/** Returns the rows of columns of the same length. */
function transpose(columns: readonly unknown[][]): unknown[][] {
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? null))
}
