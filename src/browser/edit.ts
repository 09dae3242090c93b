/// <reference lib="dom" />
// Form that changes a chart, with the code of `gridline plot set`.

import { gridIn, rechart } from '../charts/change/rechart.ts'
import { specOf } from '../charts/change/stored.ts'
import { COLORS } from '../charts/figure/colors.ts'
import type { Figure } from '../charts/figure/figure.ts'
import { colorKey, groupingsIn, withStyle } from '../charts/figure/series-color.ts'
import { builtInThemes, DEFAULT_THEME, dressed, type Theme } from '../charts/figure/themes.ts'
import {
  type ChartGrid,
  type ChartOptions,
  flagOf,
  kindOfOption,
  optionNames,
  rowOf,
} from '../charts/spec/options.ts'
import { type ChartType, chartTypes, takes, typedOptions } from '../charts/spec/types.ts'
import { Problem } from '../contract/errors.ts'
import { quoted } from '../contract/shell.ts'
import { address, ask, chartClient, textOf } from './service.ts'

const panel = document.getElementById('edit') as HTMLDetailsElement
const { fid = '', content = '', update = '', grids = '' } = panel.dataset
const client = chartClient(panel.dataset)
/** Themes by name: the built-in ones, and the default theme of the server. */
const themes = new Map(builtInThemes().map((theme) => [theme.name, theme]))
if (panel.dataset.theme) {
  const serverTheme = JSON.parse(panel.dataset.theme) as Theme
  themes.set(serverTheme.name, serverTheme)
}
const form = panel.querySelector('form') as HTMLFormElement
const status = panel.querySelector('[role=status]') as HTMLElement
const command = document.getElementById('edit-command') as HTMLElement

/** Layout fields that hold sizes, in pixels. */
const SIZES = ['width', 'height'] as const
const MIN_PIXELS = 100
const MAX_PIXELS = 4000
/** Options without a generated field: a local file, and the theme, which is part of the figure. */
const WITHOUT_FIELD: ReadonlySet<string> = new Set(['geojson', 'theme'])
/** Options with a generated field. */
const OPTIONS = optionNames.filter((name) => !WITHOUT_FIELD.has(name))
/** Options at the top of the form, in this order. */
const FIRST = [
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
type Field = keyof ChartOptions | 'type' | (typeof SIZES)[number]
const FIELDS: readonly Field[] = ['type', ...OPTIONS, 'theme', ...SIZES]
/** Fields that any figure has. */
const OF_ALL: ReadonlySet<string> = new Set(['title', 'theme', ...SIZES])

interface Chart {
  figure: Figure
  etag: string | null
  /** Names of the series of `--by`, from the data. */
  names?: string[]
  /** Undefined for a figure that is not a chart of a grid: only title and theme can be changed. */
  made?: { grid: ChartGrid; type: ChartType; options: ChartOptions }
}

let chart: Chart | undefined

makeFields()

/** Creates the fields of the options: the first ones above, others behind a summary. */
function makeFields(): void {
  const rest = OPTIONS.filter((name) => !(FIRST as readonly string[]).includes(name))
  document.getElementById('edit-fields')!.append(...FIRST.map(fieldOf))
  document.getElementById('edit-more')!.append(...rest.map(fieldOf))
}

/** Creates the field of an option, with a label and a tooltip. */
function fieldOf(name: keyof ChartOptions): HTMLElement {
  const { kind, description, choices: choiceTexts } = rowOf(name)
  const label = document.createElement('label')
  const isChoice = kind === 'column' || kind === 'flag' || choiceTexts !== undefined
  const isLong = kind === 'texts' || kind === 'where'
  const input = document.createElement(isChoice ? 'select' : isLong ? 'textarea' : 'input')
  input.name = name
  if (isLong) (input as HTMLTextAreaElement).rows = 1
  if (kind === 'columns') input.setAttribute('list', 'edit-columns')
  if (kind === 'number') input.setAttribute('type', 'number')
  label.title = description
  label.append(`${wordOf(name)} `, input)
  return label
}

/** Returns the label of an option: `rangeX` → `Range x`. */
function wordOf(name: string): string {
  const words = flagOf(name).slice(2).replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

open().catch((error) => say(textOf(error)))
form.addEventListener('input', (event) => {
  say('')
  if ((event.target as HTMLInputElement).name === 'colors') showAgain()
  else show()
})
form.addEventListener('submit', (event) => {
  event.preventDefault()
  save().catch((error) => say(`Not saved: ${textOf(error)}`))
})

function say(text: string): void {
  status.textContent = text
}

/** Loads the chart and fills the form. */
async function open(): Promise<void> {
  const response = await ask(content)
  const body = (await response.json()) as Partial<Figure>
  const figure: Figure = { ...body, data: body.data ?? [], layout: body.layout ?? {} }
  chart = { figure, etag: response.headers.get('etag') }
  try {
    const grid = (await (await ask(address(grids, gridIn(figure)))).json()) as ChartGrid
    const { spec, options } = specOf(figure, grid)
    chart.made = { grid, type: spec.type, options }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'usage') throw error
    say(
      'This figure is not a chart of the columns of one grid. Only its title and theme can be changed here.',
    )
  }
  const opened = chart
  fill(opened)
  show()
  // The form is usable before the data is loaded.
  opened.names = await namesOf(figure).catch(() => [])
  if (opened.names.length > 0 && chart === opened) fillColors(opened)
}

function field(name: Field): HTMLInputElement | HTMLSelectElement {
  return form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement
}

/** Fills a select field; `empty` labels the empty choice. */
function choices(name: Field, values: readonly string[], empty?: string): void {
  const all = [...(empty === undefined ? [] : [['', empty]]), ...values.map((value) => [value, value])]
  field(name).replaceChildren(...all.map(([value, text]) => new Option(text, value)))
}

/** Fills the form with the options of the chart. */
function fill({ figure, made }: Chart): void {
  const names = made?.grid.cols.map(({ name }) => name) ?? []
  choices('type', chartTypes)
  for (const name of OPTIONS) {
    const { kind, choices: words } = rowOf(name)
    if (kind === 'flag') choices(name, ['yes'], 'no')
    else if (words)
      choices(name, name === 'stack' ? words : words.filter((word) => word !== 'none'), 'default')
    else if (kind === 'column') choices(name, names, 'none')
  }
  // The x column can be changed, but not removed.
  const x = made?.options.x
  choices(
    'x',
    [...names, ...(x === undefined || names.includes(x) ? [] : [x])],
    x === undefined ? 'none' : undefined,
  )
  ;(field('y') as HTMLInputElement).required = made?.options.y !== undefined
  choices('theme', [...new Set([...themes.keys(), themeOf(figure)])])
  const list = document.getElementById('edit-columns') as HTMLDataListElement
  list.replaceChildren(...names.map((name) => new Option(name, name)))
  const values = before()
  for (const name of FIELDS) field(name).value = values[name]
  fillColors(chart!)
}

/** Creates a color field for each series. */
function fillColors({ figure }: Chart): void {
  const colors = document.getElementById('edit-colors') as HTMLElement
  colors.replaceChildren(...seriesOf(figure).map(({ name, color }) => colorField(name, color)))
}

function themeOf({ layout }: Figure): string {
  return layout.meta?.theme ?? DEFAULT_THEME
}

/** Returns the field values of the unchanged chart. */
function before(): Record<Field, string> {
  const { figure, made } = chart!
  const title = typeof figure.layout.title === 'string' ? figure.layout.title : figure.layout.title?.text
  const options = OPTIONS.map((name) => [name, textIn(made?.options[name])])
  return {
    ...Object.fromEntries(options),
    type: made?.type ?? '',
    title: title ?? '',
    theme: themeOf(figure),
    width: String(figure.layout.width ?? ''),
    height: String(figure.layout.height ?? ''),
  }
}

/** Returns the field value of an option value. */
function textIn(value: ChartOptions[keyof ChartOptions]): string {
  if (value === true) return 'yes'
  return value === undefined || value === false ? '' : [value].flat().join('\n')
}

/** Returns the option value of a field value. */
function valueIn(name: string, text: string): unknown {
  const kind = kindOfOption(name)
  if (kind === 'flag') return text === 'yes'
  if (kind === 'texts') return text === '' ? ['none'] : text.split('\n').filter((line) => line.trim() !== '')
  return kind === 'number' && text !== '' ? Number(text) : text || 'none'
}

/** Returns the named series of a chart with their colors. */
function seriesOf({ data }: Figure): { name: string; color: string }[] {
  const traceSeries = data.flatMap((trace, index) => {
    if (typeof trace.name !== 'string' || Array.isArray(trace.transforms)) return []
    return [{ name: trace.name, color: hexOf(trace[colorKey(trace)]?.color) ?? usual(index) }]
  })
  const [grouping] = groupingsIn(data)
  if (!grouping) return traceSeries
  const styles = data[grouping.trace].transforms[grouping.transform].styles ?? []
  const colorOf = (name: string): unknown =>
    // biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
    styles.find(({ target }: any) => target === name)?.value?.marker?.color
  return (chart?.names ?? []).map((name, k) => ({ name, color: hexOf(colorOf(name)) ?? usual(k) }))
}

/** Returns a color that a color field accepts (#rrggbb); undefined for others. */
function hexOf(color: unknown): string | undefined {
  return typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined
}

/** Maximum number of color fields; more series are hard to tell apart. */
const MAX_SERIES = 12

/** Loads the names of the series of `--by`. */
async function namesOf({ data }: Figure): Promise<string[]> {
  if (groupingsIn(data).length === 0) return []
  const figure = (await (await ask(`${content}?inline_data=true`)).json()) as Figure
  return [...new Set(figure.data.map(({ name }) => String(name ?? '')))].slice(0, MAX_SERIES)
}

/** Returns the default color of a trace. */
function usual(index: number): string {
  const colorway: unknown = chart?.figure.layout.template?.layout?.colorway
  const colors: readonly string[] = Array.isArray(colorway) && colorway.length > 0 ? colorway : COLORS
  return colors[index % colors.length]
}

function colorField(name: string, color: string): HTMLElement {
  const label = document.createElement('label')
  const input = document.createElement('input')
  Object.assign(input, { type: 'color', name: `color ${name}`, value: color })
  input.dataset.before = input.value
  label.append(input, ` ${name}`)
  return label
}

/** Returns the changed colors, by series. */
function chosenColors(): Map<string, string> {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('#edit-colors input')]
  return new Map(
    inputs
      .filter((input) => input.value !== input.dataset.before)
      .map((input) => [input.name.slice('color '.length), input.value]),
  )
}

/** Returns the changed fields. */
function changes(): Partial<Record<Field, string>> {
  const unchanged = before()
  return Object.fromEntries(
    FIELDS.map((name) => [name, field(name).value.trim()]).filter(
      // Line ends differ between a field and the figure.
      ([name, value]) => value !== unchanged[name as Field].replace(/\r\n?/g, '\n').trim(),
    ),
  )
}

/** Shows the fields that the type accepts, and the equivalent command. */
function show(): void {
  if (!chart) return
  const type = field('type').value as ChartType
  for (const name of FIELDS) {
    const isTyped = (typedOptions as readonly string[]).includes(name)
    const isOpen = chart.made ? !isTyped || takes(type, name as keyof ChartOptions) : OF_ALL.has(name)
    ;(field(name).closest('label') as HTMLElement).hidden = !isOpen
  }
  const flags = [
    ...Object.entries(changes()).map(([name, value]) => wordsOf(name as Field, value)),
    ...[...chosenColors()].map(([name, color]) => `--color-of ${quoted(`${name}=${color}`)}`),
  ]
  command.textContent =
    flags.length > 0 ? `gridline plot set ${fid} ${flags.join(' ')}` : `gridline plot options ${fid}`
}

/** Returns the command-line flag of a changed field. */
function wordsOf(name: Field, value: string): string {
  const kind = kindOfOption(name)
  if (kind === 'flag') return value === 'yes' ? flagOf(name) : `--no-${flagOf(name).slice(2)}`
  if (kind === 'texts')
    return (value || 'none')
      .split('\n')
      .map((line) => `${flagOf(name)} ${quoted(line)}`)
      .join(' ')
  if (!isSize(name)) return `${flagOf(name)} ${quoted(value || 'none')}`
  return value === '' ? `--unset layout.${name}` : `--${name} ${value}`
}

function isSize(name: Field): name is (typeof SIZES)[number] {
  return name === 'width' || name === 'height'
}

/** Saves the changes; fails if someone else changed the plot. */
async function save(): Promise<void> {
  if (!chart) return
  const changed = changes()
  const colors = chosenColors()
  if (Object.keys(changed).length === 0 && colors.size === 0) {
    say('Nothing has changed.')
    return
  }
  for (const name of SIZES) {
    const pixels = Number(changed[name] || MIN_PIXELS)
    if (!(pixels >= MIN_PIXELS && pixels <= MAX_PIXELS)) {
      say(`Not saved: ${name} is ${MIN_PIXELS} to ${MAX_PIXELS} pixels.`)
      return
    }
  }
  say('Saving …')
  const notes: string[] = []
  const figure = colored(sized(await figureWith(changed, notes), changed), colors)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (chart.etag !== null) headers['if-match'] = chart.etag
  await ask(address(update, fid), { method: 'PATCH', headers, body: JSON.stringify({ figure }) })
  showAgain()
  chart = undefined
  await open()
  const title = field('title').value
  const heading = document.querySelector('h1')
  if (heading && title !== '' && changed.title !== undefined) heading.textContent = title
  say(['Saved.', ...notes].join(' '))
}

/** Color scheme that the page gave to its chart. */
const pageColors =
  new URLSearchParams(document.querySelector<HTMLIFrameElement>('iframe.chart')?.src.split('?')[1]).get(
    'theme',
  ) ?? 'auto'

/** Reloads the chart on the page, with the selected size and color scheme. */
function showAgain(): void {
  const frame = document.querySelector<HTMLIFrameElement>('iframe.chart')
  if (!frame) return
  for (const name of SIZES) {
    const value = field(name).value
    frame.style[name] = value === '' ? '' : `${value}px`
  }
  const url = new URL(frame.src)
  url.searchParams.set('theme', (form.elements.namedItem('colors') as HTMLSelectElement).value || pageColors)
  frame.src = url.href
}

/** Returns a figure with the changed size. */
function sized(figure: Figure, changed: Partial<Record<Field, string>>): Figure {
  const layout = { ...figure.layout }
  for (const name of SIZES) {
    if (changed[name] === '') delete layout[name]
    else if (changed[name] !== undefined) layout[name] = Number(changed[name])
  }
  return { ...figure, layout }
}

/** Returns the figure with the changed options, and collects notes. */
async function figureWith(changed: Partial<Record<Field, string>>, notes: string[]): Promise<Figure> {
  const { figure, made } = chart!
  const theme = changed.theme === undefined ? undefined : themes.get(changed.theme)
  if (!made) {
    const title = {
      ...(typeof figure.layout.title === 'object' ? figure.layout.title : {}),
      text: changed.title,
    }
    const next = { ...figure, layout: { ...figure.layout, ...(changed.title !== undefined && { title }) } }
    return theme ? dressed(next, theme) : next
  }
  const { type, theme: _, width: __, height: ___, ...rest } = changed
  const options = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, valueIn(name, value)]),
  ) as ChartOptions
  const note = (text: string): number => notes.push(`${text}.`)
  return rechart(client, made.grid, figure, type as ChartType | undefined, options, theme, note)
}

/** Returns the figure with the changed colors of series. */
function colored(figure: Figure, colors: ReadonlyMap<string, string>): Figure {
  const data = figure.data.map((trace) => {
    const color = Array.isArray(trace.transforms) ? undefined : colors.get(trace.name)
    const key = colorKey(trace)
    return color === undefined ? trace : { ...trace, [key]: { ...trace[key], color } }
  })
  for (const { trace, transform } of groupingsIn(data)) {
    const transforms = [...data[trace].transforms]
    for (const [name, color] of colors)
      transforms[transform] = {
        ...transforms[transform],
        styles: withStyle(transforms[transform].styles, name, color),
      }
    data[trace] = { ...data[trace], transforms }
  }
  return { ...figure, data }
}
