/// <reference lib="dom" />
// The form beside a chart, for those who may change it: what `gridline plot set` does, with the same code.

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
/** Themes by name: the built-in ones, and that of the server. */
const themes = new Map(builtInThemes().map((theme) => [theme.name, theme]))
if (panel.dataset.theme) {
  const own = JSON.parse(panel.dataset.theme) as Theme
  themes.set(own.name, own)
}
const form = panel.querySelector('form') as HTMLFormElement
const status = panel.querySelector('[role=status]') as HTMLElement
const command = document.getElementById('edit-command') as HTMLElement

/** Fields that are sizes of the layout, and what they can be, in pixels. */
const SIZES = ['width', 'height'] as const
const MIN_PIXELS = 100
const MAX_PIXELS = 4000
/** Options that have no field of their own: a file of this machine, and the theme, which is a part of the figure. */
const WITHOUT_FIELD: ReadonlySet<string> = new Set(['geojson', 'theme'])
/** The options that have a field, by their table. */
const OPTIONS = optionNames.filter((name) => !WITHOUT_FIELD.has(name))
/** Those that stand above the others, in this order. */
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
  /** The names of the series of `--by`, which are in the data. */
  names?: string[]
  /** Undefined for a figure that options do not make: it has a title and a theme only. */
  made?: { grid: ChartGrid; type: ChartType; options: ChartOptions }
}

let chart: Chart | undefined

makeFields()

/** Makes the fields of the options: the first ones, and the others behind a summary. */
function makeFields(): void {
  const rest = OPTIONS.filter((name) => !(FIRST as readonly string[]).includes(name))
  document.getElementById('edit-fields')!.append(...FIRST.map(fieldOf))
  document.getElementById('edit-more')!.append(...rest.map(fieldOf))
}

/** The field of an option, with its name and what it does. */
function fieldOf(name: keyof ChartOptions): HTMLElement {
  const { kind, description, choices: words } = rowOf(name)
  const label = document.createElement('label')
  const isChoice = kind === 'column' || kind === 'flag' || words !== undefined
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

/** `rangeX` → `Range x`. */
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

/** Reads the chart, and fills the form with what it is. */
async function open(): Promise<void> {
  const response = await ask(content)
  const given = (await response.json()) as Partial<Figure>
  const figure: Figure = { ...given, data: given.data ?? [], layout: given.layout ?? {} }
  chart = { figure, etag: response.headers.get('etag') }
  try {
    const grid = (await (await ask(address(grids, gridIn(figure)))).json()) as ChartGrid
    const { spec, options } = specOf(figure, grid)
    chart.made = { grid, type: spec.type, options }
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'usage') throw error
    say(
      'This figure is not a chart of the columns of one grid: only its title and its theme can be changed here.',
    )
  }
  const opened = chart
  fill(opened)
  show()
  // The form can be used before the data is read.
  opened.names = await namesOf(figure).catch(() => [])
  if (opened.names.length > 0 && chart === opened) fillColors(opened)
}

function field(name: Field): HTMLInputElement | HTMLSelectElement {
  return form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement
}

function choices(name: Field, values: readonly string[], empty?: string): void {
  const all = [...(empty === undefined ? [] : [['', empty]]), ...values.map((value) => [value, value])]
  field(name).replaceChildren(...all.map(([value, text]) => new Option(text, value)))
}

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
  // What a chart has on an axis can be another column, but not none.
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

function fillColors({ figure }: Chart): void {
  const colors = document.getElementById('edit-colors') as HTMLElement
  colors.replaceChildren(...seriesOf(figure).map(({ name, color }) => colorField(name, color)))
}

function themeOf({ layout }: Figure): string {
  return layout.meta?.theme ?? DEFAULT_THEME
}

/** What the chart is now, as the fields have it. */
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

/** The value of an option as its field has it. */
function textIn(value: ChartOptions[keyof ChartOptions]): string {
  if (value === true) return 'yes'
  return value === undefined || value === false ? '' : [value].flat().join('\n')
}

/** The value of a field as its option has it. */
function valueIn(name: string, text: string): unknown {
  const kind = kindOfOption(name)
  if (kind === 'flag') return text === 'yes'
  if (kind === 'texts') return text === '' ? ['none'] : text.split('\n').filter((line) => line.trim() !== '')
  return kind === 'number' && text !== '' ? Number(text) : text || 'none'
}

/** The series of a chart that have names of their own, with the attribute that colors each. */
function seriesOf({ data }: Figure): { name: string; color: string }[] {
  const ofTraces = data.flatMap((trace, index) => {
    if (typeof trace.name !== 'string' || Array.isArray(trace.transforms)) return []
    return [{ name: trace.name, color: hexOf(trace[colorKey(trace)]?.color) ?? usual(index) }]
  })
  const [grouping] = groupingsIn(data)
  if (!grouping) return ofTraces
  const styles = data[grouping.trace].transforms[grouping.transform].styles ?? []
  const colorOf = (name: string): unknown =>
    // biome-ignore lint/suspicious/noExplicitAny: a figure can have any attribute
    styles.find(({ target }: any) => target === name)?.value?.marker?.color
  return (chart?.names ?? []).map((name, k) => ({ name, color: hexOf(colorOf(name)) ?? usual(k) }))
}

/** A color that a field can show. */
function hexOf(color: unknown): string | undefined {
  return typeof color === 'string' && /^#[0-9a-f]{6}$/i.test(color) ? color : undefined
}

/** Series of which the form shows colors: more cannot be told apart. */
const MAX_SERIES = 12

/** The names of the series of `--by`. */
async function namesOf({ data }: Figure): Promise<string[]> {
  if (groupingsIn(data).length === 0) return []
  const shown = (await (await ask(`${content}?inline_data=true`)).json()) as Figure
  return [...new Set(shown.data.map(({ name }) => String(name ?? '')))].slice(0, MAX_SERIES)
}

/** The color of a trace that has none of its own. */
function usual(index: number): string {
  const own: unknown = chart?.figure.layout.template?.layout?.colorway
  const colors: readonly string[] = Array.isArray(own) && own.length > 0 ? own : COLORS
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

/** Colors that are chosen, by series. */
function chosenColors(): Map<string, string> {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('#edit-colors input')]
  return new Map(
    inputs
      .filter((input) => input.value !== input.dataset.before)
      .map((input) => [input.name.slice('color '.length), input.value]),
  )
}

/** The fields that are changed. */
function changes(): Partial<Record<Field, string>> {
  const was = before()
  return Object.fromEntries(
    FIELDS.map((name) => [name, field(name).value.trim()]).filter(
      // A field has other line ends than the figure.
      ([name, value]) => value !== was[name as Field].replace(/\r\n?/g, '\n').trim(),
    ),
  )
}

/** Shows which fields the type has, and the command that does the same. */
function show(): void {
  if (!chart) return
  const type = field('type').value as ChartType
  for (const name of FIELDS) {
    const isTyped = (typedOptions as readonly string[]).includes(name)
    const isOpen = chart.made ? !isTyped || takes(type, name as keyof ChartOptions) : OF_ALL.has(name)
    ;(field(name).closest('label') as HTMLElement).hidden = !isOpen
  }
  const words = [
    ...Object.entries(changes()).map(([name, value]) => wordsOf(name as Field, value)),
    ...[...chosenColors()].map(([name, color]) => `--color-of ${quoted(`${name}=${color}`)}`),
  ]
  command.textContent =
    words.length > 0 ? `gridline plot set ${fid} ${words.join(' ')}` : `gridline plot options ${fid}`
}

/** A change, as it is typed. */
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

/** Saves what is changed, unless somebody else has changed the plot meanwhile. */
async function save(): Promise<void> {
  if (!chart) return
  const changed = changes()
  const colors = chosenColors()
  if (Object.keys(changed).length === 0 && colors.size === 0) {
    say('Nothing is changed.')
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

/** The colors that the page gave its chart. */
const pageColors =
  new URLSearchParams(document.querySelector<HTMLIFrameElement>('iframe.chart')?.src.split('?')[1]).get(
    'theme',
  ) ?? 'auto'

/** Draws the chart of the page again, in its size and in the colors that are chosen. */
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

/** A figure in the size that is chosen. */
function sized(figure: Figure, changed: Partial<Record<Field, string>>): Figure {
  const layout = { ...figure.layout }
  for (const name of SIZES) {
    if (changed[name] === '') delete layout[name]
    else if (changed[name] !== undefined) layout[name] = Number(changed[name])
  }
  return { ...figure, layout }
}

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
