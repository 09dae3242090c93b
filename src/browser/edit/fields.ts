/// <reference lib="dom" />
// The fields of the form, generated from the table of chart options.
import {
  type ChartOptions,
  flagOf,
  getOption,
  OPTION_NAMES,
  optionKindOf,
} from '../../charts/spec/options.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { readLineEnds, showLineEnds } from '../../contract/web/line-ends.ts'
import { create, createSelect } from '../dom.ts'

/** Layout members that hold sizes, in pixels. */
export const SIZE_FIELDS = ['width', 'height'] as const

/** A field: an option, the type, or a size. The file of a map's regions has none. */
export type FieldName = Exclude<keyof ChartOptions, 'geojson'> | 'type' | (typeof SIZE_FIELDS)[number]

/** Groups of fields, in the order of the form. `more`: data options that few charts need. */
export const GROUPS = {
  data: 'Data',
  more: 'More about the data',
  notes: 'Titles and notes',
  look: 'Look',
  axes: 'Axes',
} as const

type Group = keyof typeof GROUPS

/** Group of each field, and the order within it. */
export const GROUP_BY_FIELD: Readonly<Record<FieldName, Group>> = {
  ...{ type: 'data', x: 'data', y: 'data', z: 'data', lat: 'data', lon: 'data', by: 'data' },
  ...{ parent: 'data', to: 'data', aggregate: 'data', per: 'data', where: 'data', sort: 'data', top: 'data' },
  ...{ color: 'more', size: 'more', text: 'more', facet: 'more', y2: 'more', trend: 'more' },
  ...{ error: 'more', bandOf: 'more', symbol: 'more', dash: 'more', angle: 'more', id: 'more' },
  ...{ animate: 'more', order: 'more', zone: 'more' },
  ...{ title: 'notes', subtitle: 'notes', source: 'notes', note: 'notes', mark: 'notes', band: 'notes' },
  ...{ theme: 'look', stack: 'look', horizontal: 'look', labels: 'look', highlight: 'look', scale: 'look' },
  ...{ locale: 'look', width: 'look', height: 'look' },
  ...{ rangeX: 'axes', rangeY: 'axes', logX: 'axes', logY: 'axes', formatY: 'axes', unit: 'axes' },
}

/** All fields, in the order of the form. */
export const FIELD_NAMES = Object.keys(GROUP_BY_FIELD) as FieldName[]

function isSizeField(name: FieldName): name is (typeof SIZE_FIELDS)[number] {
  return name === 'width' || name === 'height'
}

/** Options with generated fields: all but the theme, which is part of the figure. */
export const FORM_OPTIONS = OPTION_NAMES.filter((name) => name !== 'geojson' && name !== 'theme')

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Creates the field of a name, with its label; what it means is its tooltip and its description. */
export function createOptionField(name: FieldName): HTMLElement {
  if (name === 'type') return labelled(name, createSelect([]))
  if (isSizeField(name))
    return labelled(
      name,
      create('input', { type: 'number', min: 100, max: 4000, placeholder: 'as the page' }),
    )
  const { kind, description, choices } = getOption(name)
  // The description has an example.
  const placeholder = kind === 'where' ? 'temp > 20' : /'([^']{3,})'/.exec(description)?.[1]
  const help = `${description} (${flagOf(name)})`
  if (kind === 'flag') return labelled(name, create('input', { type: 'checkbox' }), help, true)
  if (kind === 'column' || choices || name === 'theme') return labelled(name, createSelect([]), help)
  if (kind === 'texts' || kind === 'where')
    return labelled(name, create('textarea', { rows: 1, placeholder }), help)
  const type = kind === 'number' ? 'number' : 'text'
  const list = kind === 'columns' ? 'edit-columns' : undefined
  return labelled(name, create('input', { type, list, placeholder }), help)
}

function labelled(name: FieldName, field: Field, help?: string, isFirst = false): HTMLElement {
  field.name = name
  field.id = `edit-${name}`
  const label = create('label', { title: help })
  label.append(...(isFirst ? [field, ` ${labelOf(name)}`] : [`${labelOf(name)} `, field]))
  return label
}

/** Returns the label of a field: `rangeX` → `Range x`. */
function labelOf(name: FieldName): string {
  const words = flagOf(name).slice(2).replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Returns the value of a field as text: `yes` for a checked flag. */
export function readField(field: Element): string {
  if (field instanceof HTMLInputElement && field.type === 'checkbox') return field.checked ? 'yes' : ''
  const text = (field as Field).value.trim()
  return field instanceof HTMLInputElement ? readLineEnds(text) : text
}

export function writeField(field: Element, value: string): void {
  if (!(field instanceof HTMLInputElement)) (field as Field).value = value
  else if (field.type === 'checkbox') field.checked = value === 'yes'
  else field.value = showLineEnds(value)
}

/** Returns the text in the field of an option value. */
export function formatFieldValue(value: ChartOptions[keyof ChartOptions]): string {
  if (value === true) return 'yes'
  return value === undefined || value === false ? '' : [value].flat().join('\n')
}

/** Returns the option value of the text in a field. */
export function parseFieldValue(name: string, text: string): unknown {
  const kind = optionKindOf(name)
  if (kind === 'flag') return text === 'yes'
  if (kind === 'texts') return text === '' ? ['none'] : text.split('\n').filter((line) => line.trim() !== '')
  return kind === 'number' && text !== '' ? Number(text) : text || 'none'
}

/** Returns the command-line flags of changed fields. */
export function formatChanges(changes: Readonly<Partial<Record<FieldName, string>>>): string[] {
  return (Object.entries(changes) as [FieldName, string][]).flatMap(([name, value]) => {
    const kind = optionKindOf(name)
    if (kind === 'flag') return value === 'yes' ? flagOf(name) : `--no-${flagOf(name).slice(2)}`
    if (kind === 'texts')
      return (value || 'none').split('\n').map((line) => `${flagOf(name)} ${quoteShellWord(line)}`)
    if (!isSizeField(name)) return `${flagOf(name)} ${quoteShellWord(value || 'none')}`
    return value === '' ? `--unset layout.${name}` : `--${name} ${value}`
  })
}
