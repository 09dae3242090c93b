/// <reference lib="dom" />
// Form that changes a chart, with the code of `gridline plot set`.

import { applyOptions, findGridId } from '../charts/change/apply-options.ts'
import { readSpec } from '../charts/change/read-spec.ts'
import { COLORS } from '../charts/figure/colors.ts'
import type { Figure } from '../charts/figure/figure.ts'
import { colorAttributeOf, findGroupings, replaceStyle } from '../charts/figure/series-color.ts'
import { DEFAULT_THEME, listBuiltInThemes, setTheme, type Theme } from '../charts/figure/themes.ts'
import {
  type ChartGrid,
  type ChartOptions,
  flagOf,
  getOption,
  OPTION_NAMES,
  optionKindOf,
} from '../charts/spec/options.ts'
import { acceptsOption, CHART_TYPES, type ChartType, TYPE_SPECIFIC_OPTIONS } from '../charts/spec/types.ts'
import { Problem } from '../contract/errors.ts'
import { quoteShellWord } from '../contract/shell.ts'
import { apiUrl, createChartClient, formatError, sendRequest } from './api.ts'

const panel = document.getElementById('edit') as HTMLDetailsElement
const { fid = '', content = '', update = '', grids = '' } = panel.dataset
const client = createChartClient(panel.dataset)
/** Themes by name: the built-in ones, and the default theme of the server. */
const themes = new Map(listBuiltInThemes().map((theme) => [theme.name, theme]))
if (panel.dataset.theme) {
  const serverTheme = JSON.parse(panel.dataset.theme) as Theme
  themes.set(serverTheme.name, serverTheme)
}
const form = panel.querySelector('form') as HTMLFormElement
const status = panel.querySelector('[role=status]') as HTMLElement
const command = document.getElementById('edit-command') as HTMLElement

/** Layout fields that hold sizes, in pixels. */
const SIZE_FIELDS = ['width', 'height'] as const
const MIN_PIXELS = 100
const MAX_PIXELS = 4000
/** Options without a generated field: a local file, and the theme, which is part of the figure. */
const OPTIONS_WITHOUT_FIELD: ReadonlySet<string> = new Set(['geojson', 'theme'])
/** Options with a generated field. */
const OPTIONS_WITH_FIELD = OPTION_NAMES.filter((name) => !OPTIONS_WITHOUT_FIELD.has(name))
/** Options at the top of the form, in this order. */
const TOP_OPTIONS = [
  'title',
  'subtitle',
  'source',
  'x',
  'y',
  'by',
  'aggregate',
  'per',
  'where',
  'sort',
  'top',
  'stack',
] as const
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

createFields()

/** Creates the fields of the options: the first ones above, others behind a summary. */
function createFields(): void {
  const rest = OPTIONS_WITH_FIELD.filter((name) => !(TOP_OPTIONS as readonly string[]).includes(name))
  document.getElementById('edit-fields')!.append(...TOP_OPTIONS.map(createField))
  document.getElementById('edit-more')!.append(...rest.map(createField))
}

/** Creates the field of an option, with a label and a tooltip. */
function createField(name: keyof ChartOptions): HTMLElement {
  const { kind, description, choices: choiceTexts } = getOption(name)
  const label = document.createElement('label')
  const isChoice = kind === 'column' || kind === 'flag' || choiceTexts !== undefined
  const isLong = kind === 'texts' || kind === 'where'
  const input = document.createElement(isChoice ? 'select' : isLong ? 'textarea' : 'input')
  input.name = name
  if (isLong) (input as HTMLTextAreaElement).rows = 1
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
  if ((event.target as HTMLInputElement).name === 'colors') reloadChart()
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
  const body = (await response.json()) as Partial<Figure>
  const figure: Figure = { ...body, data: body.data ?? [], layout: body.layout ?? {} }
  chart = { figure, etag: response.headers.get('etag') }
  try {
    const grid = (await (await sendRequest(apiUrl(grids, findGridId(figure)))).json()) as ChartGrid
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
  opened.seriesNames = await loadSeriesNames(figure).catch(() => [])
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
  ;(getField('y') as HTMLInputElement).required = gridChart?.options.y !== undefined
  fillChoices('theme', [...new Set([...themes.keys(), themeNameOf(figure)])])
  const list = document.getElementById('edit-columns') as HTMLDataListElement
  list.replaceChildren(...names.map((name) => new Option(name, name)))
  const values = readChartValues()
  for (const name of FIELDS) getField(name).value = values[name]
  fillColorFields(chart!)
}

/** Creates a color field for each series. */
function fillColorFields({ figure }: OpenChart): void {
  const colors = document.getElementById('edit-colors') as HTMLElement
  colors.replaceChildren(...listSeries(figure).map(({ name, color }) => createColorField(name, color)))
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

/** Returns the named series of a chart with their colors. */
function listSeries({ data }: Figure): { name: string; color: string }[] {
  const traceSeries = data.flatMap((trace, index) => {
    if (typeof trace.name !== 'string' || Array.isArray(trace.transforms)) return []
    return [
      { name: trace.name, color: hexColorOf(trace[colorAttributeOf(trace)]?.color) ?? defaultColorOf(index) },
    ]
  })
  const [grouping] = findGroupings(data)
  if (!grouping) return traceSeries
  const styles = data[grouping.trace].transforms[grouping.transform].styles ?? []
  const colorOf = (name: string): unknown =>
    // biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
    styles.find(({ target }: any) => target === name)?.value?.marker?.color
  return (chart?.seriesNames ?? []).map((name, k) => ({
    name,
    color: hexColorOf(colorOf(name)) ?? defaultColorOf(k),
  }))
}

/** Returns a color that a color field accepts (#rrggbb); undefined for others. */
function hexColorOf(color: unknown): string | undefined {
  return typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined
}

/** Maximum number of color fields; more series are hard to tell apart. */
const MAX_COLOR_FIELDS = 12

/** Loads the names of the series of `--by`. */
async function loadSeriesNames({ data }: Figure): Promise<string[]> {
  if (findGroupings(data).length === 0) return []
  const figure = (await (await sendRequest(`${content}?inline_data=true`)).json()) as Figure
  return [...new Set(figure.data.map(({ name }) => String(name ?? '')))].slice(0, MAX_COLOR_FIELDS)
}

/** Returns the default color of a trace. */
function defaultColorOf(index: number): string {
  const colorway: unknown = chart?.figure.layout.template?.layout?.colorway
  const colors: readonly string[] = Array.isArray(colorway) && colorway.length > 0 ? colorway : COLORS
  return colors[index % colors.length]
}

function createColorField(name: string, color: string): HTMLElement {
  const label = document.createElement('label')
  const input = document.createElement('input')
  Object.assign(input, { type: 'color', name: `color ${name}`, value: color })
  input.dataset.before = input.value
  label.append(input, ` ${name}`)
  return label
}

/** Returns the changed colors, by series. */
function readChangedColors(): Map<string, string> {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('#edit-colors input')]
  return new Map(
    inputs
      .filter((input) => input.value !== input.dataset.before)
      .map((input) => [input.name.slice('color '.length), input.value]),
  )
}

/** Returns the changed fields. */
function readChanges(): Partial<Record<Field, string>> {
  const unchanged = readChartValues()
  return Object.fromEntries(
    FIELDS.map((name) => [name, getField(name).value.trim()]).filter(
      // Line ends differ between a field and the figure.
      ([name, value]) => value !== unchanged[name as Field].replace(/\r\n?/g, '\n').trim(),
    ),
  )
}

/** Shows the fields that the type accepts, and the equivalent command. */
function updateForm(): void {
  if (!chart) return
  const type = getField('type').value as ChartType
  for (const name of FIELDS) {
    const isTyped = (TYPE_SPECIFIC_OPTIONS as readonly string[]).includes(name)
    const isOpen = chart.gridChart
      ? !isTyped || acceptsOption(type, name as keyof ChartOptions)
      : COMMON_FIELDS.has(name)
    ;(getField(name).closest('label') as HTMLElement).hidden = !isOpen
  }
  const flags = [
    ...Object.entries(readChanges()).map(([name, value]) => formatChange(name as Field, value)),
    ...[...readChangedColors()].map(([name, color]) => `--color-of ${quoteShellWord(`${name}=${color}`)}`),
  ]
  command.textContent =
    flags.length > 0 ? `gridline plot set ${fid} ${flags.join(' ')}` : `gridline plot options ${fid}`
}

/** Returns the command-line flag of a changed field. */
function formatChange(name: Field, value: string): string {
  const kind = optionKindOf(name)
  if (kind === 'flag') return value === 'yes' ? flagOf(name) : `--no-${flagOf(name).slice(2)}`
  if (kind === 'texts')
    return (value || 'none')
      .split('\n')
      .map((line) => `${flagOf(name)} ${quoteShellWord(line)}`)
      .join(' ')
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
  url.searchParams.set('theme', (form.elements.namedItem('colors') as HTMLSelectElement).value || PAGE_SCHEME)
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
  const options = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, parseFieldValue(name, value)]),
  ) as ChartOptions
  const note = (text: string): number => notes.push(`${text}.`)
  return applyOptions(
    client,
    gridChart.grid,
    figure,
    { type: type as ChartType | undefined, options, theme },
    note,
  )
}

/** Returns the figure with the changed colors of series. */
function withChangedColors(figure: Figure, colors: ReadonlyMap<string, string>): Figure {
  const data = figure.data.map((trace) => {
    const color = Array.isArray(trace.transforms) ? undefined : colors.get(trace.name)
    const key = colorAttributeOf(trace)
    return color === undefined ? trace : { ...trace, [key]: { ...trace[key], color } }
  })
  for (const { trace, transform } of findGroupings(data)) {
    const transforms = [...data[trace].transforms]
    for (const [name, color] of colors)
      transforms[transform] = {
        ...transforms[transform],
        styles: replaceStyle(transforms[transform].styles, name, color),
      }
    data[trace] = { ...data[trace], transforms }
  }
  return { ...figure, data }
}
