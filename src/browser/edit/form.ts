/// <reference lib="dom" />
// The fields and buttons of the form that changes a chart.
import { getOption } from '../../charts/spec/options.ts'
import { acceptsOption, CHART_TYPES, isChartType, TYPE_SPECIFIC_OPTIONS } from '../../charts/spec/types.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { showLineEnds } from '../../contract/web/line-ends.ts'
import type { ChartPart } from '../chart-parts.ts'
import { create, createButton, createSelect } from '../dom.ts'
import type { ColoredSeries } from './colors.ts'
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
import type { Changes, OpenChart } from './open-chart.ts'
import type { UndoHistory } from './undo.ts'

/** Fields that any figure has. */
const COMMON_FIELDS: ReadonlySet<string> = new Set(['title', 'theme', 'width', 'height'])
/** Groups that are closed at first. */
const CLOSED_GROUPS: ReadonlySet<string> = new Set(['more', 'look', 'axes'])
/** Beginning of the names of the fields of colors. */
export const COLOR_FIELD = 'color '

/** Actions of the buttons of the form. */
export interface FormActions {
  undo(): void
  redo(): void
  comparePublished(): void
  close(): void
}

/** The form. It knows no chart: what it shows is given to it. */
export class EditForm {
  readonly status = create('p', { role: 'status' })
  readonly scheme = createSelect([['', 'Colors of the page'], 'light', 'dark'], {
    'aria-label': 'Colors of the preview',
    name: 'colors',
  })
  readonly phone = create('input', { type: 'checkbox', name: 'phone' })
  readonly saveButton = create('button', { type: 'submit', class: 'primary' }, 'Save')
  readonly element: HTMLFormElement
  private readonly command = create('pre', { tabIndex: 0, id: 'edit-command' })
  private readonly colorFields = create('div', { class: 'actions', id: 'edit-colors' })
  private readonly columnList = create('datalist', { id: 'edit-columns' })
  private readonly undoButton: HTMLButtonElement
  private readonly redoButton: HTMLButtonElement
  private readonly compareButton: HTMLButtonElement
  private readonly fieldByName = new Map(FIELD_NAMES.map((name) => [name, createOptionField(name)]))
  private readonly groups = Object.entries(GROUPS).map(([group, title]) =>
    create(
      'details',
      { open: !CLOSED_GROUPS.has(group), class: 'group' },
      create('summary', {}, title),
      create(
        'div',
        { class: 'fields' },
        ...FIELD_NAMES.filter((name) => GROUP_BY_FIELD[name] === group).map(
          (name) => this.fieldByName.get(name)!,
        ),
        group === 'look' && this.colorFields,
      ),
    ),
  )

  constructor({ undo, redo, comparePublished, close }: FormActions) {
    this.undoButton = createButton('↶', undo, { 'aria-label': 'Undo', title: 'Undo (Ctrl+Z)' })
    this.redoButton = createButton('↷', redo, { 'aria-label': 'Redo', title: 'Redo (Ctrl+Y)' })
    this.compareButton = createButton('Compare', comparePublished, {
      'aria-pressed': 'false',
      title: 'Shows the chart as it is published',
    })
    const buttons = [this.saveButton, this.undoButton, this.redoButton, this.compareButton]
    this.element = create(
      'form',
      // Browsers must not restore what was typed but not saved.
      { class: 'edit', 'aria-label': 'Change the chart', autocomplete: 'off' },
      create(
        'div',
        { class: 'toolbar' },
        create('div', { class: 'actions' }, ...buttons, createButton('Close', close)),
        this.status,
      ),
      ...this.groups,
      create('div', { class: 'actions' }, this.scheme, create('label', {}, this.phone, ' Phone width')),
      this.columnList,
      create('p', {}, 'The same on the command line:'),
      this.command,
    )
  }

  showStatus(text: string): void {
    this.status.textContent = text
  }

  get comparesPublished(): boolean {
    return this.compareButton.getAttribute('aria-pressed') === 'true'
  }

  set comparesPublished(isPressed: boolean) {
    this.compareButton.setAttribute('aria-pressed', String(isPressed))
  }

  /** Fills the select fields with types, columns and themes. */
  fillChoices(opened: OpenChart): void {
    const { chart } = opened
    const names = chart?.grid.cols.map(({ name }) => name) ?? []
    this.setChoices('type', CHART_TYPES)
    for (const name of FORM_OPTIONS) {
      const { kind, choices } = getOption(name)
      if (choices)
        this.setChoices(
          name,
          name === 'stack' ? choices : choices.filter((word) => word !== 'none'),
          'default',
        )
      else if (kind === 'column') this.setChoices(name, names, 'none')
    }
    // The x column can be changed, but not removed.
    const x = chart?.options.x
    this.setChoices(
      'x',
      [...new Set([...names, ...(x === undefined ? [] : [x])])],
      x === undefined ? 'none' : undefined,
    )
    this.setChoices('theme', opened.listThemes())
    this.columnList.replaceChildren(
      ...names.map((name) => new Option(showLineEnds(name), showLineEnds(name))),
    )
  }

  /** Fills a select field; `empty` labels the empty choice. */
  private setChoices(name: FieldName, values: readonly string[], empty?: string): void {
    const all = [...(empty === undefined ? [] : [['', empty]]), ...values.map((value) => [value, value])]
    ;(this.fieldOf(name) as HTMLSelectElement).replaceChildren(
      ...all.map(([value, text]) => new Option(text, value)),
    )
  }

  private fieldOf(name: FieldName): HTMLElement {
    return this.element.elements.namedItem(name) as HTMLElement
  }

  read(name: FieldName): string {
    return readField(this.fieldOf(name))
  }

  write(values: Record<FieldName, string>): void {
    for (const name of FIELD_NAMES) writeField(this.fieldOf(name), values[name])
  }

  /** Returns the fields that differ from those of the stored chart. */
  readChanges(stored: Record<FieldName, string>): Changes['fields'] {
    const changed: Changes['fields'] = {}
    for (const name of FIELD_NAMES) {
      const value = this.read(name)
      // Line ends differ between a field and the figure.
      const lines = (text: string): string => showLineEnds(text.replace(/\r\n?/g, '\n').trim())
      if (lines(value) !== lines(stored[name])) changed[name] = value
    }
    return changed
  }

  /** Fills the fields of the colors of series. */
  fillColors(series: readonly ColoredSeries[], colors: Changes['colors']): void {
    this.colorFields.replaceChildren(
      ...series.map(({ name, color }) =>
        create(
          'label',
          {},
          create('input', { type: 'color', name: `${COLOR_FIELD}${name}`, value: colors[name] ?? color }),
          ` ${name}`,
        ),
      ),
    )
  }

  /** Shows the fields that the type accepts, what can be undone, and the same on the command line. */
  update(fid: string, isChart: boolean, { fields, colors }: Changes, history: UndoHistory): void {
    const type = this.read('type')
    const isAccepted = (name: FieldName): boolean => {
      if (!isChart) return COMMON_FIELDS.has(name)
      const specific = TYPE_SPECIFIC_OPTIONS.find((option) => option === name)
      return specific === undefined || (isChartType(type) && acceptsOption(type, specific))
    }
    for (const [name, label] of this.fieldByName) label.hidden = !isAccepted(name)
    for (const group of this.groups)
      group.hidden = [...group.querySelectorAll('label')].every((label) => label.hidden)
    this.undoButton.disabled = !history.canUndo
    this.redoButton.disabled = !history.canRedo
    const flags = [
      ...formatChanges(fields),
      ...Object.entries(colors).map(([name, color]) => `--color-of ${quoteShellWord(`${name}=${color}`)}`),
    ]
    this.command.textContent =
      flags.length > 0 ? `gridline plot set ${fid} ${flags.join(' ')}` : `gridline plot options ${fid}`
  }

  /** Focuses the first field that is shown. */
  focusFirst(): void {
    const fields = [...this.element.querySelectorAll<HTMLElement>('select, input')]
    fields.find(({ offsetParent }) => offsetParent !== null)?.focus({ preventScroll: true })
  }

  /** Focuses the field of a part of the chart. */
  focusPart({ kind, name, index = 0 }: ChartPart, isGrouped: boolean): void {
    const field =
      kind === 'series'
        ? (this.element.elements.namedItem(`${COLOR_FIELD}${name}`) ?? this.fieldOf(isGrouped ? 'by' : 'y'))
        : this.fieldOf(kind === 'by' && this.fieldByName.get('by')!.hidden ? 'y' : kind)
    if (!(field instanceof HTMLElement)) return
    const group = field.closest('details')
    if (group) group.open = true
    field.scrollIntoView({ block: 'nearest' })
    field.focus()
    if (kind === 'note' && field instanceof HTMLTextAreaElement) selectLine(field, index)
  }
}

/** Selects a line of a text field. */
function selectLine(field: HTMLTextAreaElement, number: number): void {
  const lines = field.value.split('\n')
  const start = lines.slice(0, number).join('\n').length + (number > 0 ? 1 : 0)
  field.setSelectionRange(start, start + (lines[number]?.length ?? 0))
}
