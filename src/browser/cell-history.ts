/// <reference lib="dom" />
// The history of a cell: in which versions its value changed.
import { ApiError, call, formatError } from './api.ts'
import { create } from './dom.ts'

/** Maximum number of columns that find a row without a key, and size of the JSON of each. */
const MAX_FINDING_COLUMNS = 10
const MAX_FINDING_CHARACTERS = 200

/** Columns of a grid, and its key. */
interface GridOfCells<Column> {
  columns: readonly Column[]
  key: readonly string[] | null
  /** Loads the values of a column as JSON text. */
  loadItems(column: Column): Promise<string[]>
}

/** A cell that finds a row: its column, and the JSON text of its value. */
interface CellOfRow {
  name: string
  item: string
}

/** Returns the history of a cell, which is loaded when it is opened. */
export function createCellHistory<Column extends { name: string; type: string }>(
  fid: string,
  column: Column,
  row: number,
  grid: GridOfCells<Column>,
): HTMLElement {
  const list = create('div', { 'aria-live': 'polite' })
  const details = create('details', { class: 'whole' }, create('summary', {}, 'History of this cell'), list)
  details.addEventListener('toggle', () => {
    if (!details.open || list.textContent !== '') return
    list.textContent = 'Loading …'
    describeChanges(fid, column, row, grid).then(
      (lines) => list.replaceChildren(...lines.map((line) => create('p', {}, line))),
      (error) => {
        list.textContent = formatError(error)
      },
    )
  })
  return details
}

/** Describes each change of a cell. Its row is found by the key, or without one by other columns. */
async function describeChanges<Column extends { name: string; type: string }>(
  fid: string,
  column: Column,
  row: number,
  grid: GridOfCells<Column>,
): Promise<string[]> {
  const { names, changes } = await findChanges(fid, column, row, grid)
  const lines = changes.flatMap(({ version, made_at, made_by, message, cells }) => {
    const cell = cells.find((one) => one.column === column.name)
    if (!cell) return []
    const who = made_by === null ? '' : ` by ${made_by}`
    const why = message === null ? '' : `: “${message}”`
    return [
      `${cell.before ?? '–'} → ${cell.after ?? '–'}, version ${version}, ${new Date(made_at).toLocaleString()}${who}${why}`,
    ]
  })
  const found = lines.length > 0 ? lines : ['It has never changed.']
  return grid.key
    ? found
    : [
        ...found,
        `Without a key, its row is found by ${names.join(', ')}: before ${names.length > 1 ? 'these' : 'that'} changed, it is not known.`,
      ]
}

/** Loads the changes of a row, and the columns that it was found by. Throws if they are not enough. */
async function findChanges<Column extends { name: string; type: string }>(
  fid: string,
  column: Column,
  row: number,
  grid: GridOfCells<Column>,
) {
  const { columns, key } = grid
  const ask = async (cells: readonly CellOfRow[]) => {
    const query = { where: cells.map(formatCondition).join(' and ') }
    const names = cells.map(({ name }) => name)
    return { names, ...(await call('rows.history', { path: { fid }, query })) }
  }
  const load = async (one: Column): Promise<CellOfRow> => {
    const items = await grid.loadItems(one)
    return { name: one.name, item: items[row - 1] ?? 'null' }
  }
  if (key) return ask(await Promise.all(key.map((name) => load(columns.find((one) => one.name === name)!))))
  const others = columns.filter(({ name, type }) => name !== column.name && type !== 'json')
  const cells: CellOfRow[] = []
  for (const other of others.slice(0, MAX_FINDING_COLUMNS)) {
    const cell = await load(other)
    if (cell.item.length > MAX_FINDING_CHARACTERS) continue
    cells.push(cell)
    // One column first: what finds the row must not have changed. A missing value is no good name of a row.
    if (cell.item === 'null' || cells.filter(({ item }) => item !== 'null').length > 1) continue
    const found = await ask([cell]).catch(nothingIfSeveral)
    if (found) return found
  }
  const found = await ask(cells.length > 0 ? cells : [await load(column)]).catch(nothingIfSeveral)
  if (!found) throw new Error('Other rows are like this one: without a key, its history is not known')
  return found
}

/** Returns the condition that a column has a value. JSON strings have other quotes there. */
function formatCondition({ name, item }: CellOfRow): string {
  const column = `"${name.replaceAll('"', '""')}"`
  if (item === 'null') return `${column} is null`
  return `${column} = ${item.startsWith('"') ? `'${JSON.parse(item).replaceAll("'", "''")}'` : item}`
}

/** Returns undefined for the error that several rows have the given values. Throws others. */
function nothingIfSeveral(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'invalid_request')) throw error
}
