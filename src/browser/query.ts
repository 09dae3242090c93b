/// <reference lib="dom" />
// The box for queries of a grid: SQL, the columns of the grid beside it, and the result.
import { toSqlCondition } from '../query/index.ts'
import { call, formatError, isNumber, parseExactly, request, textOfValue } from './api.ts'
import {
  create,
  createAction,
  createButton,
  createCommand,
  createTable,
  formatNumberOf,
  onAction,
  openDialog,
} from './dom.ts'

/** Number of rows of a result that are shown. */
const MAX_ROWS = 200

onAction({
  query: (button) => openQuery(button.dataset.fid ?? '', button.dataset.where),
})

/** The columns of a result, by name. `order`: position of the column. */
type Columns = Record<string, { order: unknown; data: unknown[] }>

async function openQuery(fid: string, where: string | undefined): Promise<void> {
  const dialog = openDialog('Query', { isWide: true })
  dialog.say('Loading …')
  const { cols } = await call('grids.get', { path: { fid } })
  const condition = where ? `\nWHERE ${toSqlCondition(where)}` : ''
  const field = create('textarea', {
    rows: 6,
    spellcheck: false,
    class: 'code',
    'aria-label': 'SQL',
    maxlength: 100_000,
  })
  field.value = `SELECT *\nFROM "${fid}"${condition}\nLIMIT 20`
  const result = create('div')
  const keep = create('div')
  const command = create('div')
  const run = createAction(
    'Run',
    async () => {
      try {
        await showResult(field.value, result, command, dialog.say)
        keep.replaceChildren(createKeepForm(field.value, dialog.say))
      } catch (error) {
        // The last result is of another query.
        for (const part of [result, command, keep]) part.replaceChildren()
        throw error
      }
    },
    dialog.say,
    { class: 'primary' },
  )
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run.click()
  })
  const insert = (name: string): void => {
    field.setRangeText(quoteName(name), field.selectionStart, field.selectionEnd, 'end')
    field.focus()
  }
  const schema = cols.map(({ name, type }) =>
    create(
      'li',
      {},
      createButton(name, () => insert(name), { class: 'plain', title: `Insert ${name}` }),
      ` ${type}`,
    ),
  )
  dialog.body.append(
    create(
      'div',
      { class: 'beside' },
      create('div', {}, field, create('div', { class: 'actions' }, run), command),
      create('ul', { class: 'schema', 'aria-label': 'Columns' }, ...schema),
    ),
    result,
    keep,
  )
  dialog.say('')
  field.focus()
}

/** Quotes a name where SQL needs it. */
function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}

async function showResult(
  sql: string,
  place: HTMLElement,
  command: HTMLElement,
  say: (text: string) => void,
): Promise<void> {
  say('Running …')
  const started = performance.now()
  const response = await request('queries.run', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
  })
  const { cols } = parseExactly<{ cols: Columns }>(await response.text())
  // Names that are integers come first in objects.
  const placeOf = (name: string): number => Number(textOfValue(cols[name].order))
  const names = Object.keys(cols).sort((a, b) => placeOf(a) - placeOf(b))
  const count = names.length > 0 ? cols[names[0]].data.length : 0
  const rows = Array.from({ length: Math.min(count, MAX_ROWS) }, (_, row) =>
    names.map((name) => textOfValue(cols[name].data[row]).slice(0, 200)),
  )
  const columns = names.map((name) => ({ name, isNumber: cols[name].data.some(isNumber) }))
  place.replaceChildren(
    createTable('Result', columns, rows),
    create(
      'p',
      { class: 'actions' },
      createButton('Download as CSV', () => download(sql).catch((error) => say(formatError(error)))),
    ),
  )
  command.replaceChildren(createCommand(`gridline query '${sql.replaceAll("'", "'\\''")}'`))
  const shown = count > MAX_ROWS ? `; the first ${MAX_ROWS} are shown` : ''
  say(`${formatNumberOf(count, 'row')} in ${((performance.now() - started) / 1000).toFixed(1)} s${shown}.`)
}

/** Creates the form that stores a query as a derived grid. */
function createKeepForm(sql: string, say: (text: string) => void): HTMLElement {
  const name = create('input', { maxlength: 100, 'aria-label': 'Name of the new grid', placeholder: 'Name' })
  const keep = createAction(
    'Keep as a grid',
    async () => {
      const filename = name.value.trim()
      if (filename === '') {
        name.focus()
        return say('Give the new grid a name.')
      }
      const { file } = await call('grids.derive', { json: { filename, sql } })
      const link = create('a', { href: file.web_url }, file.filename)
      form.replaceChildren(create('p', {}, link, ' follows the grids that the query reads.'))
      say('Stored.')
    },
    say,
  )
  const form = create('div', { class: 'actions' }, name, keep)
  return form
}

async function download(sql: string): Promise<void> {
  const response = await request('queries.run', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql, format: 'csv' }),
  })
  const url = URL.createObjectURL(await response.blob())
  create('a', { href: url, download: 'query.csv' }).click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
