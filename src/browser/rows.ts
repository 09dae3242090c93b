/// <reference lib="dom" />
// The rows of a grid: filters by a value, corrected cells, added rows, and columns that are renamed or hidden.
import { call, formatError, request } from './api.ts'
import { allowArrows, rememberCell, takeCell } from './cell-focus.ts'
import { createCellHistory } from './cell-history.ts'
import {
  create,
  createButton,
  createField,
  createSelect,
  onAction,
  openDialog,
  reloadSaying,
  runOnce,
} from './dom.ts'

/** Address of a page whose cells are being corrected. */
const CORRECTING = '#rows'
onAction({ rows: (button) => startCorrecting(button.dataset.fid ?? '', button as HTMLButtonElement) })

const JSON_TYPE = { 'content-type': 'application/json' }

/** Types of columns whose values can be kept as texts. */
const IS_KEPT_AS_TEXT = new Set(['number', 'boolean', 'json'])

/** A column, as the API knows it. */
interface Column {
  name: string
  uid: string
  type: string
}

/** Lets the reader choose a cell or a column to correct. */
async function startCorrecting(fid: string, button: HTMLButtonElement): Promise<void> {
  const table = document.querySelector<HTMLTableElement>('main .scroll table')
  if (!table) return
  button.disabled = true
  const { cols, primary_key } = await call('grids.get', { path: { fid } }).finally(() => {
    button.disabled = false
  })
  // The entity tag is that of the rows on the page: another version may have other rows.
  const editor = new CellEditor(fid, cols, primary_key, button.dataset.etag)
  const heads = [...table.tHead!.rows[0].cells].slice(1)
  const columns = heads.map((head) => cols.find(({ name }) => name === head.querySelector('a')?.textContent))
  for (const [k, head] of heads.entries()) {
    const column = columns[k]
    if (column)
      head.append(
        createButton('Change', () => editor.openColumn(column), {
          class: 'plain',
          'aria-label': `Change the column ${column.name}`,
        }),
      )
  }
  const cells: HTMLTableCellElement[] = []
  // Values may have to be loaded first: the second click of a double click opens nothing more.
  let isOpening = false
  for (const row of table.tBodies[0].rows) {
    const number = Number(row.cells[0].textContent!.replaceAll(/\D/g, ''))
    for (const [k, cell] of [...row.cells].slice(1).entries()) {
      const column = columns[k]
      if (!column) continue
      cells.push(cell)
      const open = (): void => {
        if (isOpening) return
        isOpening = true
        rememberCell(cell)
        editor
          .openCell(column, number)
          .catch((error) => openDialog('Correct cells').say(formatError(error)))
          .finally(() => {
            isOpening = false
          })
      }
      cell.addEventListener('click', open)
      cell.addEventListener('keydown', ({ key, repeat }) => {
        if (key === 'Enter' && !repeat) open()
      })
    }
  }
  button.replaceWith(
    create(
      'span',
      { class: 'actions' },
      create('span', { role: 'status' }, 'Choose a cell or a column.'),
      createButton('Add a row', () => editor.openRow()),
      createButton('Done', () => location.reload()),
    ),
  )
  const isContinued = location.hash === CORRECTING
  // To load the page again ends it.
  if (isContinued) history.replaceState(null, '', location.pathname + location.search)
  allowArrows(table, cells, isContinued ? takeCell() : '')
}

/** Corrects cells and columns of a grid. Each correction is a version with its reason. */
class CellEditor {
  constructor(
    private readonly fid: string,
    readonly columns: readonly Column[],
    readonly key: readonly string[] | null,
    private readonly etag: string | undefined,
  ) {}

  /** Headers of a change: nobody else may have changed the grid, and the reason is kept. */
  private headers(message: string): Record<string, string | undefined> {
    return {
      'if-match': this.etag,
      ...(message !== '' && { 'Gridline-Message': encodeURIComponent(message) }),
    }
  }

  /** Opens a dialog with fields and a reason. */
  private open(
    title: string,
    fields: readonly HTMLElement[],
    save: (message: string) => Promise<unknown>,
  ): void {
    const dialog = openDialog(title)
    const message = create('input', { maxlength: 500, placeholder: 'why, for the history' })
    const button: HTMLButtonElement = createButton(
      'Save',
      () =>
        runOnce([button], async () => {
          try {
            dialog.say('Saving …')
            if ((await save(message.value.trim())) === 'stay') dialog.close()
            else {
              // More can be corrected then.
              history.replaceState(null, '', CORRECTING)
              reloadSaying('Saved as a new version; History can restore the one before.')
            }
          } catch (error) {
            const { status } = error as { status?: number }
            dialog.say(
              status === 412
                ? 'Somebody else has changed this grid meanwhile. Load the page again, and correct it there.'
                : formatError(error),
            )
          }
        }),
      { class: 'primary' },
    )
    dialog.body.append(
      create(
        'div',
        { class: 'fields' },
        ...fields,
        create('div', { class: 'whole' }, createField('Reason', message)),
      ),
      create('div', { class: 'actions' }, button),
    )
    dialog.body.querySelector<HTMLElement>('input, select, textarea')?.focus()
    dialog.body.addEventListener('keydown', (event) => {
      const { key, shiftKey, isComposing, repeat, target } = event
      if (key !== 'Enter' || isComposing || repeat) return
      if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) || shiftKey) return
      event.preventDefault()
      button.click()
    })
  }

  async openCell(column: Column, row: number): Promise<void> {
    const items = await this.loadItems(column)
    const before = items[row - 1] ?? 'null'
    const isJson = column.type === 'json'
    const text = before === 'null' ? '' : !isJson && before.startsWith('"') ? JSON.parse(before) : before
    const value = create('textarea', { rows: 2, title: 'Enter saves; Shift and Enter begin a new line.' })
    value.value = text
    // The field writes line ends in its own way.
    const shown = value.value
    const isEmpty = create('input', { type: 'checkbox', checked: before === 'null' })
    value.addEventListener('input', () => {
      isEmpty.checked = false
    })
    this.open(
      `Row ${row}, ${column.name}`,
      [
        createField(isJson ? 'Value, as JSON' : 'Value', value),
        create('label', {}, isEmpty, ' No value'),
        createCellHistory(this.fid, column, row, this),
      ],
      async (message) => {
        const isKept = value.value === shown && before !== 'null'
        const after = isEmpty.checked ? 'null' : isKept ? before : toJson(value.value, column.type)
        if (after === before) return 'stay'
        // A column can be shorter than others.
        while (items.length < row) items.push('null')
        items[row - 1] = after
        await this.replaceItems(column, items, message)
      },
    )
  }

  /** Loads the values of a column as JSON text: they are sent back as they are, also 1.10 and 9007199254740993. */
  async loadItems({ uid }: Column): Promise<string[]> {
    const response = await request('columns.get', { path: { fid: this.fid }, query: { uid } })
    return splitItems(await response.text())
  }

  openColumn(column: Column): void {
    const name = create('input', { value: column.name, maxlength: 500 })
    const action = createSelect([
      ['rename', 'rename it'],
      ...(column.type === 'number' ? [] : ([['number', 'read its texts as numbers']] as const)),
      // The texts of dates are dates.
      ...(IS_KEPT_AS_TEXT.has(column.type) ? ([['text', 'keep its values as texts']] as const) : []),
      ['hide', 'hide it on this page'],
      ['remove', 'remove it, with its data'],
    ])
    const convert = async (type: 'number' | 'text', message: string): Promise<unknown> => {
      const items = (await this.loadItems(column)).map((item) => convertItem(item, type))
      return this.replaceItems(column, items, message, true)
    }
    const act: Record<string, (message: string) => Promise<unknown>> = {
      rename: (message) => this.update(column, JSON.stringify({ name: name.value.trim() }), message),
      number: (message) => convert('number', message),
      text: (message) => convert('text', message),
      hide: async () => hideColumn(column.name),
      remove: (message) =>
        call('columns.delete', {
          path: { fid: this.fid },
          query: { uid: column.uid },
          headers: this.headers(message),
        }),
    }
    this.open(
      `The column ${column.name}`,
      [createField('What happens', action), createField('Name', name)],
      (message) => act[action.value](message),
    )
  }

  openRow(): void {
    const fields = this.columns.map((column) => ({ column, field: create('input') }))
    this.open(
      'Add a row',
      fields.map(({ column, field }) => createField(`${column.name} (${column.type})`, field)),
      async (message) => {
        const row = fields.map(({ column, field }) =>
          field.value === '' ? 'null' : toJson(field.value, column.type),
        )
        await request('rows.append', {
          path: { fid: this.fid },
          body: `{"rows":[[${row.join(',')}]]}`,
          headers: { ...this.headers(message), ...JSON_TYPE, 'Gridline-Allow-Type-Change': 'false' },
        })
      },
    )
  }

  /** Replaces the values of a column; asks if its type would change. */
  private async replaceItems(
    column: Column,
    items: readonly string[],
    message: string,
    isTypeChange = false,
  ): Promise<unknown> {
    const change = `{"data":[${items.join(',')}]}`
    if (!isTypeChange) {
      const dry = await this.update(column, change, message, { 'Gridline-Dry-Run': 'true' })
      const { cols } = (await dry.json()) as { cols: Column[] }
      const type = cols.find(({ uid }) => uid === column.uid)?.type
      const question = `The column ${column.name} would no longer be ${column.type}, but ${type}. Save it like this?`
      if (type !== undefined && type !== column.type && !confirm(question)) return 'stay'
    }
    return this.update(column, change, message)
  }

  /** Changes a column; `change`: JSON text. */
  private update({ uid }: Column, change: string, message: string, more = {}): Promise<Response> {
    return request('columns.update', {
      path: { fid: this.fid },
      query: { uid },
      body: `{"cols":[${change}]}`,
      headers: { ...this.headers(message), ...JSON_TYPE, ...more },
    })
  }
}

/** Returns the JSON text of each value of the only column in a response. */
function splitItems(text: string): string[] {
  const items: string[] = []
  // The values are the innermost array that follows the name `data`, outside of texts.
  const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g
  let depth = 0
  let name = ''
  let start = -1
  let dataDepth = -1
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (dataDepth < 0) {
      if (token === '[' && name === '"data"' && depth === 3) {
        dataDepth = depth
        start = index + 1
      }
      if (token !== ':') name = token
    } else if (depth === dataDepth + 1 && (token === ',' || token === ']')) {
      const item = text.slice(start, index).trim()
      if (item !== '') items.push(item)
      start = index + 1
      if (token === ']') return items
    }
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
  }
  return items
}

/** Returns a value as JSON text of a type. Throws if it is not one. */
function convertItem(item: string, type: 'number' | 'text'): string {
  if (item === 'null') return item
  const text = item.startsWith('"') ? (JSON.parse(item) as string) : item
  return type === 'text' ? JSON.stringify(text) : toJson(text, 'number')
}

/** Hides a column of the table until the page is loaded again. */
function hideColumn(name: string): 'stay' {
  const table = document.querySelector<HTMLTableElement>('main .scroll table')!
  const index = [...table.tHead!.rows[0].cells].findIndex(
    (head) => head.querySelector('a')?.textContent === name,
  )
  for (const row of table.rows) row.cells[index].hidden = true
  return 'stay'
}

/** Returns a text as the JSON text of a value of a column type. Throws if it is not one. */
function toJson(text: string, type: string): string {
  const trimmed = text.trim()
  if (type === 'number') {
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(trimmed)) return trimmed
    throw new Error(`${text} is not a number such as 1234.5, with a point`)
  }
  if ((type === 'date' || type === 'datetime') && !isDayOrTime(trimmed))
    throw new Error(`${text} is not a date such as 2024-12-31`)
  if (type === 'json') {
    try {
      JSON.parse(trimmed)
    } catch {
      throw new Error('JSON is expected: 1, "a text", true or {"key": 1}')
    }
    return trimmed
  }
  if (type === 'boolean') {
    if (!/^(?:true|false)$/i.test(trimmed)) throw new Error('true or false is expected')
    return trimmed.toLowerCase()
  }
  return JSON.stringify(text)
}

/** Returns whether a text begins with a day that exists, before a time or nothing else. */
function isDayOrTime(text: string): boolean {
  const [, day] = /^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$/.exec(text) ?? []
  const midnight = new Date(`${day}T00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
}
