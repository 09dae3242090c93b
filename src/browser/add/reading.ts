/// <reference lib="dom" />
// How a file is read: the controls, and what the hints of warnings say, as flags of `gridline upload`.
import { create, createField, createSelect } from '../dom.ts'

/** Options of reading by flag: header of the upload, and label. */
const OPTIONS = {
  delimiter: ['Delimiter', 'Delimiter'],
  header: ['Header', 'First row'],
  decimal: ['Decimal', 'Decimal separator'],
  thousands: ['Thousands', 'Thousands separator'],
  locale: ['Locale', 'Language of numbers and dates'],
  null: ['Null-Text', 'Text of missing values'],
  skip: ['Skip', 'Lines to skip at the start'],
  'skip-last': ['Skip-Last', 'Lines to skip at the end'],
  comment: ['Comment', 'Lines to skip begin with'],
  encoding: ['Encoding', 'Encoding'],
  quote: ['Quote', 'Quote'],
  escape: ['Escape', 'Escape'],
  sheet: ['Sheet', 'Sheet of a workbook'],
  range: ['Range', 'Cells of the sheet'],
  flatten: ['Flatten', 'Nested JSON'],
  unpivot: ['Unpivot', 'Columns that become rows'],
  into: ['Into', 'Names of their two columns'],
  'as-written': ['As-Written', 'Dates and booleans'],
  'allow-type-change': ['Allow-Type-Change', 'Types of the columns of the grid'],
} as const satisfies Record<string, readonly [header: string, label: string]>

type Flag = keyof typeof OPTIONS

/** Choices of the options that have few; others are texts. */
const CHOICES: Partial<Record<Flag, readonly (readonly [value: string, label: string])[]>> = {
  delimiter: [
    ['', 'detected'],
    ['comma', 'comma'],
    ['semicolon', 'semicolon'],
    ['tab', 'tab'],
    ['pipe', '|'],
    ['space', 'space'],
  ],
  header: [
    ['', 'detected'],
    ['true', 'has the names of columns'],
    ['false', 'is data'],
  ],
  decimal: [
    ['', 'detected'],
    ['.', 'point'],
    [',', 'comma'],
  ],
  flatten: [
    ['', 'as JSON text'],
    ['true', 'as columns'],
  ],
  'as-written': [
    ['', 'as dates and booleans'],
    ['true', 'as they are written'],
  ],
  'allow-type-change': [
    ['', 'stay'],
    ['true', 'may change'],
  ],
}

/** Names of the columns of names and of values, if none are given. */
const DEFAULT_INTO = 'name,value'

/** Examples of options whose effect is not clear from their labels. */
const EXAMPLES: Partial<Record<Flag, string>> = { unpivot: '2019-2023 or temp_*', into: DEFAULT_INTO }

/** Options that can change the names of columns. */
const RENAMING: ReadonlySet<Flag> = new Set<Flag>([
  'delimiter',
  'header',
  'skip',
  'comment',
  'encoding',
  'quote',
  'escape',
  'sheet',
  'range',
  'flatten',
])

/** Types that a column can be given. */
const COLUMN_TYPES = ['number', 'text', 'boolean', 'date', 'datetime', 'date-dmy', 'date-mdy'] as const

/** A change of how a file is read. `column`: value is `name:type`. */
export interface ReadingChange {
  flag: string
  value: string
}

/** How a file is read. Options that are not set are detected. */
export class Reading {
  private readonly values = new Map<Flag, string>()
  private readonly types = new Map<string, string>()

  /** Returns the headers of an upload. */
  toHeaders(): Record<string, string> {
    const values = new Map(this.values)
    if (!values.has('unpivot')) values.delete('into')
    else if (!values.has('into')) values.set('into', DEFAULT_INTO)
    const headers = Object.fromEntries(
      [...values].map(([flag, value]) => [
        `Gridline-${OPTIONS[flag][0]}`,
        flag === 'delimiter' ? value : encodeURIComponent(value),
      ]),
    )
    if (this.types.size === 0) return headers
    return {
      ...headers,
      'Gridline-Columns': encodeURIComponent(JSON.stringify(Object.fromEntries(this.types))),
    }
  }

  /** Changes an option; an empty value is detected again. Ignores flags that pages do not have. */
  change({ flag, value }: ReadingChange): void {
    if (flag === 'column') {
      const [, name, type] = /^(.*):([^:]*)$/s.exec(value) ?? []
      if (name === undefined) return
      if (type === '') this.types.delete(name)
      else this.types.set(name, type)
    } else if (flag === 'no-header') this.values.set('header', 'false')
    else if (isFlag(flag) && value === '') this.values.delete(flag)
    else if (isFlag(flag)) this.values.set(flag, value)
  }

  /** Returns the controls of all options. `onChange` is called after each change. */
  createControls(onChange: () => void): HTMLElement {
    const fields = (Object.keys(OPTIONS) as Flag[]).map((flag) => {
      const value = this.values.get(flag) ?? ''
      const choices = CHOICES[flag]
      const field = choices
        ? createSelect(withValue(choices, value), { value })
        : create('input', { value, placeholder: EXAMPLES[flag] ?? 'detected', maxlength: 200 })
      field.addEventListener('change', () => {
        this.change({ flag, value: field.value })
        // The columns may have other names now.
        if (RENAMING.has(flag)) this.types.clear()
        onChange()
      })
      return createField(OPTIONS[flag][1], field)
    })
    return create('div', { class: 'fields' }, ...fields)
  }

  /** Returns the control of the type of a column. `detected`: the type in words. */
  createTypeControl(name: string, detected: string, onChange: () => void): HTMLSelectElement {
    const value = this.types.get(name) ?? ''
    const choices = [['', value === '' ? detected : 'detected'], ...COLUMN_TYPES.map((type) => [type, type])]
    const field = createSelect(choices as [string, string][], {
      value,
      'aria-label': `Type of ${name}`,
      class: 'short',
    })
    field.addEventListener('change', () => {
      this.change({ flag: 'column', value: `${name}:${field.value}` })
      onChange()
    })
    return field
  }
}

const isFlag = (flag: string): flag is Flag => Object.hasOwn(OPTIONS, flag)

function withValue(
  choices: readonly (readonly [string, string])[],
  value: string,
): readonly (readonly [string, string])[] {
  return choices.some(([choice]) => choice === value) ? choices : [...choices, [value, value]]
}

/** Flags with their values, one after another: `--decimal , --thousands .` is one suggestion. */
const FLAGS =
  /--[a-z-]+(?: (?!--)(?:"(?:[^"\\]|\\.)*"|[^\s;)]+))?(?: --[a-z-]+(?: (?!--)(?:"(?:[^"\\]|\\.)*"|[^\s;)]+))?)*/g
/** Flags without a value. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set([
  'header',
  'no-header',
  'flatten',
  'as-written',
  'allow-type-change',
])

/** Returns what a warning suggests: the changes of each suggestion, and its text. */
export function findSuggestions(warning: string): { text: string; changes: ReadingChange[] }[] {
  return (warning.match(FLAGS) ?? []).flatMap((text) => {
    const changes = [...text.matchAll(/--([a-z-]+)(?: (?!--)("(?:[^"\\]|\\.)*"|\S+))?/g)].map(
      ([, flag, given = '']): ReadingChange => {
        const value = given.startsWith('"') ? parseText(given) : given
        return {
          flag,
          value: WITHOUT_VALUE.has(flag)
            ? 'true'
            : value.replace(/[.,](?=$)/, (end) => (value.length > 1 ? '' : end)),
        }
      },
    )
    const isUsable = changes.every(
      ({ flag, value }) =>
        (isFlag(flag) || flag === 'column' || flag === 'no-header') &&
        value !== '' &&
        !/^[A-Z]+$/.test(value),
    )
    return isUsable ? [{ text: changes.map(describeChange).join(' · '), changes }] : []
  })
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  'date-dmy': 'dates with the day first',
  'date-mdy': 'dates with the month first',
}

/** Describes a change in words. */
function describeChange({ flag, value }: ReadingChange): string {
  if (flag === 'column') {
    const [, name, type = ''] = /^(.*):([^:]*)$/s.exec(value) ?? []
    return `Read ${name} as ${TYPE_WORDS[type] ?? type}`
  }
  if (flag === 'no-header') return 'First row: is data'
  const label = isFlag(flag) ? OPTIONS[flag][1] : flag
  const choice = isFlag(flag) ? CHOICES[flag]?.find(([one]) => one === value)?.[1] : undefined
  return `${label}: ${choice ?? value}`
}

/** Returns a warning without the flags that its buttons stand for. */
export function textOfWarning(warning: string): string {
  if (findSuggestions(warning).length === 0) return warning
  const end = warning.search(/ --[a-z]/)
  return warning
    .slice(0, end)
    .replace(/(?:[;,.] [^;:.]*:?|\s*\([^()]*)$/, '')
    .trim()
}

function parseText(json: string): string {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
