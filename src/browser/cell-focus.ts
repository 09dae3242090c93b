/// <reference lib="dom" />
// The focus among the cells of a table, also after the page is loaded again.

/** Key of the cell that was corrected before the page was loaded again: number of its row, and of its column. */
const CELL_KEY = 'gridline:cell'

/** Steps of keys in a table: columns and rows. */
const STEPS: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** Remembers a cell until the page is loaded again. */
export function rememberCell(cell: HTMLTableCellElement): void {
  try {
    sessionStorage.setItem(CELL_KEY, placeOf(cell))
  } catch {
    // Without storage, the focus is on the first cell then.
  }
}

/** Returns the place of the remembered cell; empty without one. */
export function takeCell(): string {
  try {
    const place = sessionStorage.getItem(CELL_KEY) ?? ''
    sessionStorage.removeItem(CELL_KEY)
    return place
  } catch {
    return ''
  }
}

function placeOf(cell: HTMLTableCellElement): string {
  return `${(cell.parentElement as HTMLTableRowElement).sectionRowIndex} ${cell.cellIndex}`
}

/** Moves the focus between cells with the arrow keys: only one of them is a stop of the Tab key. It begins at `place`. */
export function allowArrows(
  table: HTMLTableElement,
  cells: readonly HTMLTableCellElement[],
  place: string,
): void {
  const all = new Set(cells)
  let current = cells.find((cell) => placeOf(cell) === place) ?? cells[0]
  if (!current) return
  for (const cell of cells) cell.tabIndex = cell === current ? 0 : -1
  const [body] = table.tBodies
  body.addEventListener('focusin', ({ target }) => {
    const cell = (target as Element).closest('td')
    if (!cell || !all.has(cell)) return
    current.tabIndex = -1
    cell.tabIndex = 0
    current = cell
  })
  body.addEventListener('keydown', (event) => {
    const [across, down] = STEPS[event.key] ?? [0, 0]
    const { sectionRowIndex } = current.parentElement as HTMLTableRowElement
    const next = body.rows[sectionRowIndex + down]?.cells[current.cellIndex + across]
    if ((across === 0 && down === 0) || !next || !all.has(next)) return
    event.preventDefault()
    next.focus()
  })
  current.focus()
}
