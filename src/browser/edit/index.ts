/// <reference lib="dom" />
// The form that changes a chart, beside it. Nothing is stored before Save: the chart shows each change at once.
import type { Figure } from '../../charts/figure/figure.ts'
import { ApiError, createChartClient, findElement, formatError, request } from '../api.ts'
import { createButton, onAction, openDialog, runOnce } from '../dom.ts'
import { ChartFrame } from './chart-frame.ts'
import { type ColoredSeries, listSeries } from './colors.ts'
import { FigureData } from './figure-data.ts'
import { COLOR_FIELD, EditForm } from './form.ts'
import { type Changes, OpenChart } from './open-chart.ts'
import { UndoHistory } from './undo.ts'

const panel = findElement('#edit', HTMLElement)
const workbench = findElement('.workbench', HTMLElement)
const frameElement = findElement('iframe.chart', HTMLIFrameElement)
const heading = findElement('h1', HTMLElement)
const { fid = '', theme } = panel.dataset

/** Width of a phone, in pixels. */
const PHONE_PIXELS = 360

/** Undefined until it is loaded. */
let opened!: OpenChart
let client = createChartClient()
const data = new FigureData()
let changes: Changes = { fields: {}, colors: {}, notes: {} }
let history = new UndoHistory(JSON.stringify(changes))
/** Series whose colors can be changed. */
let series: ColoredSeries[] = []

const edit = new EditForm({ undo, redo, comparePublished, close })
const form = edit.element
panel.append(form)

const frame = new ChartFrame(frameElement, true, {
  onPart: (part) => edit.focusPart(part, opened.chart?.options.by !== undefined),
  onMoved: ({ index, ax, ay }) => {
    changes = { ...changes, notes: { ...changes.notes, [index]: [Math.round(ax), Math.round(ay)] } }
    takeStep(`note ${index}`)
  },
})

form.addEventListener('input', ({ target }) => {
  if (target === edit.scheme || target === edit.phone) {
    resizeFrame()
    showPreview()
    return
  }
  const { name, value } = target as HTMLInputElement
  if (name.startsWith(COLOR_FIELD))
    changes.colors = { ...changes.colors, [name.slice(COLOR_FIELD.length)]: value }
  else changes.fields = edit.readChanges(opened.readFields())
  takeStep(name)
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  runOnce([edit.saveButton], save)
})
addEventListener('keydown', (event) => {
  if (panel.hidden || form.inert || !(event.ctrlKey || event.metaKey) || event.altKey) return
  // Other fields of the page have steps of their own.
  const isElsewhere = event.target instanceof HTMLElement && event.target.closest('input, textarea, dialog')
  if (isElsewhere && !form.contains(isElsewhere)) return
  const key = event.key.toLowerCase()
  if (key === 's') runOnce([edit.saveButton], save)
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
    edit.showStatus('')
    openDialog('Change the chart').say(formatError(error))
  })
}

/** Hides the form, and shows the chart as it was. */
function stopEditing(): void {
  workbench.classList.remove('editing')
  panel.hidden = true
  document.querySelector<HTMLElement>('[data-action="edit"]')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}

/** Forgets the part of the address that opened the form, to which the browser has scrolled. */
function closeHash(): void {
  globalThis.history.replaceState(null, '', location.pathname + location.search)
  scrollTo(0, 0)
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
  edit.fillChoices(opened)
  writeFields()
  // It can be used before the chart is drawn.
  form.inert = false
  // The button that opened the form is hidden.
  if (document.activeElement === document.body) edit.focusFirst()
  if (!opened.chart)
    edit.showStatus(`${opened.restriction} Only its title, theme and size can be changed here.`)
  await showPreview()
}

/** Writes the stored values and the changes into the fields. */
function writeFields(): void {
  edit.write({ ...opened.readFields(), ...changes.fields })
  edit.fillColors(series, changes.colors)
  updateForm()
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

function updateForm(): void {
  edit.update(fid, opened.chart !== undefined, changes, history)
}

/** Compares the published chart with the changes. */
function comparePublished(): void {
  edit.comparesPublished = !edit.comparesPublished
  showPreview()
}

let lastPreview = 0
/** Whether the chart was saved since the form was opened. */
let isSaved = false

/** Shows the chart with the changes, or as it is published. Invalid changes keep what is shown. */
async function showPreview(): Promise<void> {
  const number = ++lastPreview
  const isPublished = edit.comparesPublished
  const notes: string[] = []
  try {
    const none: Changes = { fields: {}, colors: {}, notes: {} }
    const { figure, drawn } = await opened.draw(client, isPublished ? none : changes, notes, data)
    if (number !== lastPreview) return
    frame.show(drawn, edit.scheme.value || undefined)
    const title = readTitle(figure)
    if (title !== '') heading.textContent = title
    if (data.sampledRows !== undefined)
      notes.push(
        `This preview shows a sample of ${data.sampledRows.toLocaleString('en')} rows; the saved chart shows all.`,
      )
    if (isPublished) notes.push('This is the chart as it is published. Press Compare again for yours.')
    if (opened.chart) edit.showStatus(notes.join(' '))
    showSeries(listSeries(figure, drawn))
  } catch (error) {
    if (number === lastPreview) edit.showStatus(formatError(error))
  }
}

function readTitle({ layout }: Figure): string {
  return String((typeof layout.title === 'string' ? layout.title : layout.title?.text) ?? '')
}

/** Offers the colors of the series that are drawn. */
function showSeries(next: ColoredSeries[]): void {
  const isSame = next.length === series.length && next.every(({ name }, k) => name === series[k].name)
  series = next
  if (!isSame) edit.fillColors(series, changes.colors)
}

/** Gives the frame the size of the chart, or of a phone. */
function resizeFrame(): void {
  const [width, height] = (['width', 'height'] as const).map((name) => edit.read(name))
  frameElement.style.width = edit.phone.checked ? `${PHONE_PIXELS}px` : width && `${width}px`
  frameElement.style.height = height && `${height}px`
}

/** Saves the changes; asks if someone else has changed the plot meanwhile. */
async function save(): Promise<void> {
  if (!isChanged()) {
    edit.showStatus('Nothing has changed.')
    return
  }
  if (!form.reportValidity()) return
  // A preview that is not drawn yet says nothing more.
  lastPreview++
  edit.showStatus('Saving …')
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
    edit.showStatus(`Not saved: ${formatError(error)}`)
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
    createButton(label, () => action().catch((error) => edit.showStatus(formatError(error))))
  edit.status.replaceChildren(
    'Not saved: somebody else has changed this chart meanwhile. ',
    act('Make my changes to theirs', async () => {
      const mine = changes
      await start()
      changes = mine
      history.add(JSON.stringify(changes), 'theirs')
      writeFields()
      await showPreview()
      edit.showStatus('This is their chart with your changes. Save it, or undo.')
    }),
    ' ',
    act('Drop my changes', () => reload('This is their chart.')),
  )
}

/** Loads the stored chart again. */
async function reload(message: string): Promise<void> {
  await start()
  resizeFrame()
  edit.showStatus(message)
}

/** Closes the form. The chart is shown as it is published. */
function close(): void {
  if (isChanged() && !confirm('Close without saving the changes?')) return
  changes = { fields: {}, colors: {}, notes: {} }
  const title = readTitle(opened.figure)
  if (title !== '') heading.textContent = title
  stopEditing()
  edit.phone.checked = false
  edit.scheme.value = ''
  edit.comparesPublished = false
  for (const side of ['width', 'height'] as const) {
    const pixels = opened.readFields()[side]
    frameElement.style[side] = pixels && `${pixels}px`
  }
  // The frame has the chart of the time when it was loaded.
  if (isSaved) frameElement.src = frameElement.getAttribute('src')!
  else frame.show(undefined)
  isSaved = false
}
