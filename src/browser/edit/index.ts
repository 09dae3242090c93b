/// <reference lib="dom" />
// The form that changes a chart, beside it. Nothing is stored before Save: the chart shows each change at once.
import type { Figure } from '../../charts/figure/figure.ts'
import { getOption } from '../../charts/spec/options.ts'
import { acceptsOption, CHART_TYPES, isChartType, TYPE_SPECIFIC_OPTIONS } from '../../charts/spec/types.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { ApiError, createChartClient, findElement, formatError, request } from '../api.ts'
import type { ChartPart } from '../chart-parts.ts'
import { create, createButton, createSelect, onAction, openDialog, runOnce } from '../dom.ts'
import { ChartFrame } from './chart-frame.ts'
import { type ColoredSeries, listSeries } from './colors.ts'
import {
  createOptionField,
  FIELD_NAMES,
  type FieldName,
  FORM_OPTIONS,
  formatChanges,
  GROUP_BY_FIELD,
  GROUPS,
  readField,
  writeField,
} from './fields.ts'
import { FigureData } from './figure-data.ts'
import { type Changes, OpenChart } from './open-chart.ts'
import { UndoHistory } from './undo.ts'

const panel = findElement('#edit', HTMLElement)
const workbench = findElement('.workbench', HTMLElement)
const frameElement = findElement('iframe.chart', HTMLIFrameElement)
const heading = findElement('h1', HTMLElement)
const { fid = '', theme } = panel.dataset

/** Fields that any figure has. */
const COMMON_FIELDS: ReadonlySet<string> = new Set(['title', 'theme', 'width', 'height'])
/** Width of a phone, in pixels. */
const PHONE_PIXELS = 360
/** Groups that are closed at first. */
const CLOSED_GROUPS: ReadonlySet<string> = new Set(['more', 'look', 'axes'])

/** Undefined until it is loaded. */
let opened!: OpenChart
let client = createChartClient()
const data = new FigureData()
let changes: Changes = { fields: {}, colors: {}, notes: {} }
let history = new UndoHistory(JSON.stringify(changes))
/** Series whose colors can be changed. */
let series: ColoredSeries[] = []

const status = create('p', { role: 'status' })
const command = create('pre', { tabIndex: 0, id: 'edit-command' })
const colorFields = create('div', { class: 'actions', id: 'edit-colors' })
const columnList = create('datalist', { id: 'edit-columns' })
const scheme = createSelect([['', 'Colors of the page'], 'light', 'dark'], {
  'aria-label': 'Colors of the preview',
  name: 'colors',
})
const phone = create('input', { type: 'checkbox', name: 'phone' })
const undoButton = createButton('↶', undo, { 'aria-label': 'Undo', title: 'Undo (Ctrl+Z)' })
const redoButton = createButton('↷', redo, { 'aria-label': 'Redo', title: 'Redo (Ctrl+Y)' })
const published = createButton('Compare', togglePublished, {
  'aria-pressed': 'false',
  title: 'Shows the chart as it is published',
})
const saveButton = create('button', { type: 'submit', class: 'primary' }, 'Save')
const fieldByName = new Map(FIELD_NAMES.map((name) => [name, createOptionField(name)]))
const groups = Object.entries(GROUPS).map(([group, title]) =>
  create(
    'details',
    { open: !CLOSED_GROUPS.has(group), class: 'group' },
    create('summary', {}, title),
    create(
      'div',
      { class: 'fields' },
      ...FIELD_NAMES.filter((name) => GROUP_BY_FIELD[name] === group).map((name) => fieldByName.get(name)!),
      group === 'look' && colorFields,
    ),
  ),
)
const form = create(
  'form',
  // Browsers must not restore what was typed but not saved.
  { class: 'edit', 'aria-label': 'Change the chart', autocomplete: 'off' },
  create(
    'div',
    { class: 'toolbar' },
    create(
      'div',
      { class: 'actions' },
      saveButton,
      undoButton,
      redoButton,
      published,
      createButton('Close', close),
    ),
    status,
  ),
  ...groups,
  create('div', { class: 'actions' }, scheme, create('label', {}, phone, ' Phone width')),
  columnList,
  create('p', {}, 'The same on the command line:'),
  command,
)
panel.append(form)

const frame = new ChartFrame(frameElement, true, {
  onPart: focusPart,
  onMoved: ({ index, ax, ay }) => {
    changes = { ...changes, notes: { ...changes.notes, [index]: [Math.round(ax), Math.round(ay)] } }
    takeStep(`note ${index}`)
  },
})

form.addEventListener('input', ({ target }) => {
  if (target === scheme || target === phone) {
    resizeFrame()
    showPreview()
    return
  }
  const { name, value } = target as HTMLInputElement
  if (name.startsWith('color ')) changes.colors = { ...changes.colors, [name.slice('color '.length)]: value }
  else changes.fields = readChanges()
  takeStep(name)
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  runOnce([saveButton], save)
})
addEventListener('keydown', (event) => {
  if (panel.hidden || form.inert || !(event.ctrlKey || event.metaKey) || event.altKey) return
  // Other fields of the page have steps of their own.
  const isElsewhere = event.target instanceof HTMLElement && event.target.closest('input, textarea, dialog')
  if (isElsewhere && !form.contains(isElsewhere)) return
  const key = event.key.toLowerCase()
  if (key === 's') runOnce([saveButton], save)
  else if (key === 'y' || (key === 'z' && event.shiftKey)) redo()
  else if (key === 'z') undo()
  else return
  event.preventDefault()
})
addEventListener('beforeunload', (event) => {
  if (isChanged()) event.preventDefault()
})
onAction({ edit: openForm })

function openForm(): void {
  if (!panel.hidden) return
  workbench.classList.add('editing')
  panel.hidden = false
  if (location.hash === '#edit') closeHash()
  scrollTo(0, 0)
  form.inert = true
  start().catch((error) => {
    // Its button tries again.
    stopEditing()
    status.textContent = ''
    openDialog('Change the chart').say(formatError(error))
  })
}

/** Hides the form, and shows the chart as it was. */
function stopEditing(): void {
  workbench.classList.remove('editing')
  panel.hidden = true
  scrollTo(0, 0)
}

/** Forgets the part of the address that opened the form, to which the browser has scrolled. */
function closeHash(): void {
  globalThis.history.replaceState(null, '', location.pathname + location.search)
  scrollTo(0, 0)
}

function showStatus(text: string): void {
  status.textContent = text
}

function isChanged(): boolean {
  return [changes.fields, changes.colors, changes.notes].some((part) => Object.keys(part).length > 0)
}

/** Loads the chart as it is stored. */
function loadStored(): Promise<OpenChart> {
  return OpenChart.load(fid, theme ? JSON.parse(theme) : undefined)
}

/** Loads the chart and fills the form. */
async function start(): Promise<void> {
  client = createChartClient()
  data.clear()
  opened = await loadStored()
  changes = { fields: {}, colors: {}, notes: {} }
  history = new UndoHistory(JSON.stringify(changes))
  fillChoices()
  writeFields()
  // It can be used before the chart is drawn.
  form.inert = false
  if (!opened.chart)
    showStatus(
      'This figure is not a chart of the columns of one grid. Only its title, theme and size can be changed here.',
    )
  await showPreview()
}

/** Fills the select fields with types, columns and themes. */
function fillChoices(): void {
  const names = opened.chart?.grid.cols.map(({ name }) => name) ?? []
  setChoices('type', CHART_TYPES)
  for (const name of FORM_OPTIONS) {
    const { kind, choices } = getOption(name)
    if (choices)
      setChoices(name, name === 'stack' ? choices : choices.filter((word) => word !== 'none'), 'default')
    else if (kind === 'column') setChoices(name, names, 'none')
  }
  // The x column can be changed, but not removed.
  const x = opened.chart?.options.x
  setChoices(
    'x',
    [...new Set([...names, ...(x === undefined ? [] : [x])])],
    x === undefined ? 'none' : undefined,
  )
  setChoices('theme', opened.listThemes())
  columnList.replaceChildren(...names.map((name) => new Option(name, name)))
}

/** Fills a select field; `empty` labels the empty choice. */
function setChoices(name: FieldName, values: readonly string[], empty?: string): void {
  const all = [...(empty === undefined ? [] : [['', empty]]), ...values.map((value) => [value, value])]
  ;(fieldOf(name) as HTMLSelectElement).replaceChildren(
    ...all.map(([value, text]) => new Option(text, value)),
  )
}

function fieldOf(name: FieldName): HTMLElement {
  return form.elements.namedItem(name) as HTMLElement
}

/** Writes the stored values and the changes into the fields. */
function writeFields(): void {
  const values = { ...opened.readFields(), ...changes.fields }
  for (const name of FIELD_NAMES) writeField(fieldOf(name), values[name])
  fillColors()
  updateForm()
}

function fillColors(): void {
  colorFields.replaceChildren(
    ...series.map(({ name, color }) =>
      create(
        'label',
        {},
        create('input', { type: 'color', name: `color ${name}`, value: changes.colors[name] ?? color }),
        ` ${name}`,
      ),
    ),
  )
}

/** Returns the changed fields. */
function readChanges(): Changes['fields'] {
  const stored = opened.readFields()
  const changed: Changes['fields'] = {}
  for (const name of FIELD_NAMES) {
    const value = readField(fieldOf(name))
    // Line ends differ between a field and the figure.
    if (value !== stored[name].replace(/\r\n?/g, '\n').trim()) changed[name] = value
  }
  return changed
}

/** Adds the changes to the history, and shows them. */
function takeStep(field: string): void {
  history.add(JSON.stringify(changes), field)
  updateForm()
  showPreview()
}

function undo(): void {
  restore(history.undo())
}

function redo(): void {
  restore(history.redo())
}

function restore(state: string): void {
  changes = JSON.parse(state)
  writeFields()
  showPreview()
}

/** Shows the fields that the type accepts, what can be undone, and the same on the command line. */
function updateForm(): void {
  const type = readField(fieldOf('type'))
  const isAccepted = (name: FieldName): boolean => {
    if (!opened.chart) return COMMON_FIELDS.has(name)
    const specific = TYPE_SPECIFIC_OPTIONS.find((option) => option === name)
    return specific === undefined || (isChartType(type) && acceptsOption(type, specific))
  }
  for (const [name, label] of fieldByName) label.hidden = !isAccepted(name)
  for (const group of groups)
    group.hidden = [...group.querySelectorAll('label')].every((label) => label.hidden)
  undoButton.disabled = !history.canUndo
  redoButton.disabled = !history.canRedo
  const flags = [
    ...formatChanges(changes.fields),
    ...Object.entries(changes.colors).map(
      ([name, color]) => `--color-of ${quoteShellWord(`${name}=${color}`)}`,
    ),
  ]
  command.textContent =
    flags.length > 0 ? `gridline plot set ${fid} ${flags.join(' ')}` : `gridline plot options ${fid}`
}

/** Compares the published chart with the changes. */
function togglePublished(): void {
  const isPressed = published.getAttribute('aria-pressed') !== 'true'
  published.setAttribute('aria-pressed', String(isPressed))
  showPreview()
}

let lastPreview = 0
/** Whether the chart was saved since the form was opened. */
let isSaved = false

/** Shows the chart with the changes, or as it is published. Invalid changes keep what is shown. */
async function showPreview(): Promise<void> {
  const number = ++lastPreview
  const isPublished = published.getAttribute('aria-pressed') === 'true'
  const notes: string[] = []
  try {
    const none: Changes = { fields: {}, colors: {}, notes: {} }
    const figure = await opened.apply(client, isPublished ? none : changes, notes)
    const drawn = await data.evaluate(figure)
    if (number !== lastPreview) return
    frame.show(drawn, scheme.value || undefined)
    const title = readTitle(figure)
    if (title !== '') heading.textContent = title
    if (data.sampledRows !== undefined)
      notes.push(
        `This preview shows a sample of ${data.sampledRows.toLocaleString('en')} rows; the saved chart shows all.`,
      )
    if (isPublished) notes.push('This is the chart as it is published. Press Compare again for yours.')
    if (opened.chart) showStatus(notes.join(' '))
    showSeries(listSeries(figure, drawn))
  } catch (error) {
    if (number === lastPreview) showStatus(formatError(error))
  }
}

function readTitle({ layout }: Figure): string {
  return String((typeof layout.title === 'string' ? layout.title : layout.title?.text) ?? '')
}

/** Offers the colors of the series that are drawn. */
function showSeries(next: ColoredSeries[]): void {
  const isSame = next.length === series.length && next.every(({ name }, k) => name === series[k].name)
  series = next
  if (!isSame) fillColors()
}

/** Gives the frame the size of the chart, or of a phone. */
function resizeFrame(): void {
  const [width, height] = (['width', 'height'] as const).map((name) => readField(fieldOf(name)))
  frameElement.style.width = phone.checked ? `${PHONE_PIXELS}px` : width && `${width}px`
  frameElement.style.height = height && `${height}px`
}

/** Focuses the field of a part of the chart. */
function focusPart({ kind, name, index = 0 }: ChartPart): void {
  const field =
    kind === 'series'
      ? (form.elements.namedItem(`color ${name}`) ?? fieldOf(opened.chart?.options.by ? 'by' : 'y'))
      : fieldOf(kind === 'by' && fieldByName.get('by')!.hidden ? 'y' : kind)
  if (!(field instanceof HTMLElement)) return
  const group = field.closest('details')
  if (group) group.open = true
  field.scrollIntoView({ block: 'nearest' })
  field.focus()
  if (kind === 'note' && field instanceof HTMLTextAreaElement) selectLine(field, index)
}

/** Selects a line of a text field. */
function selectLine(field: HTMLTextAreaElement, number: number): void {
  const lines = field.value.split('\n')
  const start = lines.slice(0, number).join('\n').length + (number > 0 ? 1 : 0)
  field.setSelectionRange(start, start + (lines[number]?.length ?? 0))
}

/** Saves the changes; asks if someone else has changed the plot meanwhile. */
async function save(): Promise<void> {
  if (!isChanged()) {
    showStatus('Nothing has changed.')
    return
  }
  if (!form.reportValidity()) return
  // A preview that is not drawn yet says nothing more.
  lastPreview++
  showStatus('Saving …')
  const focused = document.activeElement as HTMLElement | null
  // What is typed now would be lost when the saved chart is loaded.
  form.inert = true
  try {
    const notes: string[] = []
    const isStored = await storeChanges(notes)
    isSaved ||= isStored
    if (isStored) await reload(['Saved.', ...notes].join(' '))
    else offerOverwrite()
  } catch (error) {
    showStatus(`Not saved: ${formatError(error)}`)
  } finally {
    form.inert = false
    focused?.focus()
  }
}

/**
 * Stores the changes. Returns false if somebody else has changed the figure. Sharing or renaming a chart changes
 * its entity tag too: then it is stored with the new one.
 */
async function storeChanges(notes: string[]): Promise<boolean> {
  try {
    await store(await opened.apply(client, changes, notes), opened.etag)
    return true
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412)) throw error
  }
  const latest = await loadStored()
  if (JSON.stringify(latest.figure) !== JSON.stringify(opened.figure)) return false
  opened = latest
  await store(await opened.apply(client, changes, []), opened.etag)
  return true
}

function store(figure: Figure, etag: string | null): Promise<Response> {
  const headers: Record<string, string> = etag === null ? {} : { 'if-match': etag }
  return request('plots.update', {
    path: { fid },
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ figure }),
  })
}

/** Somebody else has saved the chart: the changes can be made to theirs, or dropped. */
function offerOverwrite(): void {
  const act = (label: string, action: () => Promise<void>): HTMLButtonElement =>
    createButton(label, () => action().catch((error) => showStatus(formatError(error))))
  status.replaceChildren(
    'Not saved: somebody else has changed this chart meanwhile. ',
    act('Make my changes to theirs', async () => {
      const mine = changes
      await start()
      changes = mine
      history.add(JSON.stringify(changes), 'theirs')
      writeFields()
      await showPreview()
      showStatus('This is their chart with your changes. Save it, or undo.')
    }),
    ' ',
    act('Drop my changes', () => reload('This is their chart.')),
  )
}

/** Loads the stored chart again. */
async function reload(message: string): Promise<void> {
  await start()
  resizeFrame()
  showStatus(message)
}

/** Closes the form. The chart is shown as it is published. */
function close(): void {
  if (isChanged() && !confirm('Close without saving the changes?')) return
  changes = { fields: {}, colors: {}, notes: {} }
  const title = readTitle(opened.figure)
  if (title !== '') heading.textContent = title
  stopEditing()
  phone.checked = false
  scheme.value = ''
  published.setAttribute('aria-pressed', 'false')
  for (const side of ['width', 'height'] as const) {
    const pixels = opened.readFields()[side]
    frameElement.style[side] = pixels && `${pixels}px`
  }
  // The frame has the chart of the time when it was loaded.
  if (isSaved) frameElement.src = frameElement.getAttribute('src')!
  else frame.show(undefined)
  isSaved = false
}
