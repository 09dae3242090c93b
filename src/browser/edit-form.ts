/// <reference lib="dom" />
// Form that changes a chart, with the code of `gridline plot set`.

import { applyOptions, findGridId } from '../charts/change/apply-options.ts'
import { readSpec } from '../charts/change/read-spec.ts'
import type { Figure } from '../charts/figure/figure.ts'
import { DEFAULT_THEME, listBuiltInThemes, setTheme, type Theme } from '../charts/figure/themes.ts'
import {
  type ChartGrid,
  type ChartOptions,
  flagOf,
  getOption,
  isOptionName,
  OPTION_NAMES,
  optionKindOf,
} from '../charts/spec/options.ts'
import {
  acceptsOption,
  CHART_TYPES,
  type ChartType,
  isChartType,
  TYPE_SPECIFIC_OPTIONS,
} from '../charts/spec/types.ts'
import { Problem } from '../contract/errors.ts'
import { quoteShellWord } from '../contract/shell.ts'
import { apiUrl, createChartClient, findElement, formatError, loadJson, sendRequest } from './api.ts'
import { fillColorFields, loadSeriesNames, readChangedColors, withChangedColors } from './edit-colors.ts'

const panel = findElement('#edit', HTMLElement)
const { fid = '', content = '', update = '', grids = '' } = panel.dataset
const client = createChartClient(panel.dataset)
/** Themes by name: the built-in ones, and the default theme of the server. */
const themes = new Map(listBuiltInThemes().map((theme) => [theme.name, theme]))
if (panel.dataset.theme) {
  const serverTheme: Theme = JSON.parse(panel.dataset.theme)
  themes.set(serverTheme.name, serverTheme)
}
const form = findElement('.edit', HTMLFormElement)
const status = findElement('#edit [role=status]', HTMLElement)
const command = findElement('#edit-command', HTMLElement)
/** Color scheme of the preview; empty for that of the page. */
const colorsField = findElement('select[name=colors]', HTMLSelectElement)

/** Layout fields that hold sizes, in pixels. */
const SIZE_FIELDS = ['width', 'height'] as const
const MIN_PIXELS = 100
const MAX_PIXELS = 4000
/** Options without a generated field: a local file, and the theme, which is part of the figure. */
const OPTIONS_WITHOUT_FIELD: ReadonlySet<string> = new Set(['geojson', 'theme'])
/** Options with a generated field. */
const OPTIONS_WITH_FIELD = OPTION_NAMES.filter((name) => !OPTIONS_WITHOUT_FIELD.has(name))
/** Options at the top of the form, in this order. */
const TOP_OPTIONS: readonly (keyof ChartOptions)[] = [
  ...(['title', 'subtitle', 'source', 'x', 'y', 'by'] as const),
  ...(['aggregate', 'per', 'where', 'sort', 'top', 'stack'] as const),
]
type Field = keyof ChartOptions | 'type' | (typeof SIZE_FIELDS)[number]
const FIELDS: readonly Field[] = ['type', ...OPTIONS_WITH_FIELD, 'theme', ...SIZE_FIELDS]
/** Fields that any figure has. */
const COMMON_FIELDS: ReadonlySet<string> = new Set(['title', 'theme', ...SIZE_FIELDS])

interface OpenChart {
  figure: Figure
  etag: string | null
  /** Names of the series of `--by`, from the data. */
  seriesNames?: string[]
  /** Undefined for a figure that is not a chart of a grid: only title and theme can be changed. */
  gridChart?: { grid: ChartGrid; type: ChartType; options: ChartOptions }
}

let chart: OpenChart | undefined

// The first fields are above, others behind a summary.
findElement('#edit-fields', HTMLElement).append(...TOP_OPTIONS.map(createField))
findElement('#edit-more', HTMLElement).append(
  ...OPTIONS_WITH_FIELD.filter((name) => !TOP_OPTIONS.includes(name)).map(createField),
)

/** Creates the field of an option, with a label and a tooltip. */
function createField(name: keyof ChartOptions): HTMLElement {
  const { kind, description, choices: choiceTexts } = getOption(name)
  const label = document.createElement('label')
  const isChoice = kind === 'column' || kind === 'flag' || choiceTexts !== undefined
  const isLong = kind === 'texts' || kind === 'where'
  const input = document.createElement(isChoice ? 'select' : isLong ? 'textarea' : 'input')
  input.name = name
  if (isLong) input.setAttribute('rows', '1')
  if (kind === 'columns') input.setAttribute('list', 'edit-columns')
  if (kind === 'number') input.setAttribute('type', 'number')
  label.title = description
  label.append(`${optionLabelOf(name)} `, input)
  return label
}

/** Returns the label of an option: `rangeX` → `Range x`. */
function optionLabelOf(name: string): string {
  const words = flagOf(name).slice(2).replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

loadChart().catch((error) => showStatus(formatError(error)))
form.addEventListener('input', (event) => {
  showStatus('')
  if (event.target === colorsField) reloadChart()
  else updateForm()
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  saveChart().catch((error) => showStatus(`Not saved: ${formatError(error)}`))
})

function showStatus(text: string): void {
  status.textContent = text
}

/** Loads the chart and fills the form. */
async function loadChart(): Promise<void> {
  const response = await sendRequest(content)
  const body: Partial<Figure> = await response.json()
  const figure: Figure = { ...body, data: body.data ?? [], layout: body.layout ?? {} }
  chart = { figure, etag: response.headers.get('etag') }
  try {
    const grid: ChartGrid = await loadJson(apiUrl(grids, findGridId(figure)))
    const { spec, options } = readSpec(figure, grid)
    chart.gridChart = { grid, type: spec.type, options }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'usage') throw error
    showStatus(
      'This figure is not a chart of the columns of one grid. Only its title and theme can be changed here.',
    )
  }
  const opened = chart
  fillForm(opened)
  updateForm()
  // The form is usable before the data is loaded.
  opened.seriesNames = await loadSeriesNames(figure, content).catch(() => [])
  if (opened.seriesNames.length > 0 && chart === opened) fillColorFields(opened)
}

function getField(name: Field): HTMLInputElement | HTMLSelectElement {
  return form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement
}

/** Fills a select field; `empty` labels the empty choice. */
function fillChoices(name: Field, values: readonly string[], empty?: string): void {
  const all = [...(empty === undefined ? [] : [['', empty]]), ...values.map((value) => [value, value])]
  getField(name).replaceChildren(...all.map(([value, text]) => new Option(text, value)))
}

/** Fills the form with the options of the chart. */
function fillForm({ figure, gridChart }: OpenChart): void {
  const names = gridChart?.grid.cols.map(({ name }) => name) ?? []
  fillChoices('type', CHART_TYPES)
  for (const name of OPTIONS_WITH_FIELD) {
    const { kind, choices: words } = getOption(name)
    if (kind === 'flag') fillChoices(name, ['yes'], 'no')
    else if (words)
      fillChoices(name, name === 'stack' ? words : words.filter((word) => word !== 'none'), 'default')
    else if (kind === 'column') fillChoices(name, names, 'none')
  }
  // The x column can be changed, but not removed.
  const x = gridChart?.options.x
  fillChoices(
    'x',
    [...names, ...(x === undefined || names.includes(x) ? [] : [x])],
    x === undefined ? 'none' : undefined,
  )
  getField('y').required = gridChart?.options.y !== undefined
  fillChoices('theme', [...new Set([...themes.keys(), themeNameOf(figure)])])
  const columns = names.map((name) => new Option(name, name))
  findElement('#edit-columns', HTMLElement).replaceChildren(...columns)
  const values = readChartValues()
  for (const name of FIELDS) getField(name).value = values[name]
  fillColorFields(chart!)
}

function themeNameOf({ layout }: Figure): string {
  return layout.meta?.theme ?? DEFAULT_THEME
}

/** Returns the field values of the unchanged chart. */
function readChartValues(): Record<Field, string> {
  const { figure, gridChart } = chart!
  const title = typeof figure.layout.title === 'string' ? figure.layout.title : figure.layout.title?.text
  const options = OPTIONS_WITH_FIELD.map((name) => [name, formatFieldValue(gridChart?.options[name])])
  return {
    ...Object.fromEntries(options),
    type: gridChart?.type ?? '',
    title: title ?? '',
    theme: themeNameOf(figure),
    width: String(figure.layout.width ?? ''),
    height: String(figure.layout.height ?? ''),
  }
}

/** Returns the field value of an option value. */
function formatFieldValue(value: ChartOptions[keyof ChartOptions]): string {
  if (value === true) return 'yes'
  return value === undefined || value === false ? '' : [value].flat().join('\n')
}

/** Returns the option value of a field value. */
function parseFieldValue(name: string, text: string): unknown {
  const kind = optionKindOf(name)
  if (kind === 'flag') return text === 'yes'
  if (kind === 'texts') return text === '' ? ['none'] : text.split('\n').filter((line) => line.trim() !== '')
  return kind === 'number' && text !== '' ? Number(text) : text || 'none'
}

/** Returns the changed fields. */
function readChanges(): Partial<Record<Field, string>> {
  const unchanged = readChartValues()
  const changes: Partial<Record<Field, string>> = {}
  for (const name of FIELDS) {
    const value = getField(name).value.trim()
    // Line ends differ between a field and the figure.
    if (value !== unchanged[name].replace(/\r\n?/g, '\n').trim()) changes[name] = value
  }
  return changes
}

/** Shows the fields that the type accepts, and the equivalent command. */
function updateForm(): void {
  if (!chart) return
  const type = getField('type').value
  const isAccepted = (name: Field): boolean =>
    !TYPE_SPECIFIC_OPTIONS.some((option) => option === name) ||
    (isChartType(type) && isOptionName(name) && acceptsOption(type, name))
  for (const name of FIELDS)
    getField(name)
      .closest('label')
      ?.toggleAttribute('hidden', !(chart.gridChart ? isAccepted(name) : COMMON_FIELDS.has(name)))
  const changes = readChanges()
  const flags = [
    ...FIELDS.flatMap((name) => formatChange(name, changes[name])),
    ...[...readChangedColors()].map(([name, color]) => `--color-of ${quoteShellWord(`${name}=${color}`)}`),
  ]
  command.textContent =
    flags.length > 0 ? `gridline plot set ${fid} ${flags.join(' ')}` : `gridline plot options ${fid}`
}

/** Returns the command-line flags of a changed field; none for an unchanged one. */
function formatChange(name: Field, value: string | undefined): string | readonly string[] {
  if (value === undefined) return []
  const kind = optionKindOf(name)
  if (kind === 'flag') return value === 'yes' ? flagOf(name) : `--no-${flagOf(name).slice(2)}`
  if (kind === 'texts')
    return (value || 'none').split('\n').map((line) => `${flagOf(name)} ${quoteShellWord(line)}`)
  if (!isSizeField(name)) return `${flagOf(name)} ${quoteShellWord(value || 'none')}`
  return value === '' ? `--unset layout.${name}` : `--${name} ${value}`
}

function isSizeField(name: Field): name is (typeof SIZE_FIELDS)[number] {
  return name === 'width' || name === 'height'
}

/** Saves the changes; fails if someone else changed the plot. */
async function saveChart(): Promise<void> {
  if (!chart) return
  const changed = readChanges()
  const colors = readChangedColors()
  if (Object.keys(changed).length === 0 && colors.size === 0) {
    showStatus('Nothing has changed.')
    return
  }
  for (const name of SIZE_FIELDS) {
    const pixels = Number(changed[name] || MIN_PIXELS)
    if (!(pixels >= MIN_PIXELS && pixels <= MAX_PIXELS)) {
      showStatus(`Not saved: ${name} is ${MIN_PIXELS} to ${MAX_PIXELS} pixels.`)
      return
    }
  }
  showStatus('Saving …')
  const notes: string[] = []
  const figure = withChangedColors(withChangedSize(await applyChanges(changed, notes), changed), colors)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (chart.etag !== null) headers['if-match'] = chart.etag
  await sendRequest(apiUrl(update, fid), { method: 'PATCH', headers, body: JSON.stringify({ figure }) })
  reloadChart()
  chart = undefined
  await loadChart()
  const title = getField('title').value
  const heading = document.querySelector('h1')
  if (heading && title !== '' && changed.title !== undefined) heading.textContent = title
  showStatus(['Saved.', ...notes].join(' '))
}

/** Color scheme that the page gave to its chart. */
const PAGE_SCHEME =
  new URLSearchParams(document.querySelector<HTMLIFrameElement>('iframe.chart')?.src.split('?')[1]).get(
    'theme',
  ) ?? 'auto'

/** Reloads the chart on the page, with the selected size and color scheme. */
function reloadChart(): void {
  const frame = document.querySelector<HTMLIFrameElement>('iframe.chart')
  if (!frame) return
  for (const name of SIZE_FIELDS) {
    const value = getField(name).value
    frame.style[name] = value === '' ? '' : `${value}px`
  }
  const url = new URL(frame.src)
  url.searchParams.set('theme', colorsField.value || PAGE_SCHEME)
  frame.src = url.href
}

/** Returns a figure with the changed size. */
function withChangedSize(figure: Figure, changed: Partial<Record<Field, string>>): Figure {
  const layout = { ...figure.layout }
  for (const name of SIZE_FIELDS) {
    if (changed[name] === '') delete layout[name]
    else if (changed[name] !== undefined) layout[name] = Number(changed[name])
  }
  return { ...figure, layout }
}

/** Returns the figure with the changed options, and collects notes. */
async function applyChanges(changed: Partial<Record<Field, string>>, notes: string[]): Promise<Figure> {
  const { figure, gridChart } = chart!
  const theme = changed.theme === undefined ? undefined : themes.get(changed.theme)
  if (!gridChart) {
    const title = {
      ...(typeof figure.layout.title === 'object' ? figure.layout.title : {}),
      text: changed.title,
    }
    const next = { ...figure, layout: { ...figure.layout, ...(changed.title !== undefined && { title }) } }
    return theme ? setTheme(next, theme) : next
  }
  const { type, theme: _, width: __, height: ___, ...rest } = changed
  const options: ChartOptions = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, parseFieldValue(name, value)]),
  )
  const note = (text: string): number => notes.push(`${text}.`)
  return applyOptions(
    client,
    gridChart.grid,
    figure,
    { type: isChartType(type) ? type : undefined, options, theme },
    note,
  )
}
