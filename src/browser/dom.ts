/// <reference lib="dom" />
// Elements of page scripts.
import { formatError } from './api.ts'

/** Attributes, properties and listeners of an element. */
type Attributes = Readonly<Record<string, unknown>>

/**
 * Creates an element. Functions are listeners (`onclick`), booleans and values are properties or attributes;
 * undefined ones are left out. Texts never become HTML.
 */
export function create<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string | undefined | false)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener)
    else if (name in element && typeof value !== 'string')
      (element as unknown as Record<string, unknown>)[name] = value
    else element.setAttribute(name, String(value))
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

/** Returns a table that scrolls sideways. `label`: what it has; numbers are aligned to the right. */
export function createTable(
  label: string,
  columns: readonly { name: string; isNumber: boolean }[],
  rows: readonly (readonly string[])[],
): HTMLElement {
  const alignments = columns.map(({ isNumber }) => ({ class: isNumber ? 'n' : undefined }))
  const heads = columns.map(({ name }, k) => create('th', { scope: 'col', ...alignments[k] }, name))
  const body = rows.map((cells) =>
    create('tr', {}, ...cells.map((text, k) => create('td', alignments[k], text))),
  )
  return create(
    'div',
    { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': label },
    create('table', {}, create('thead', {}, create('tr', {}, ...heads)), create('tbody', {}, ...body)),
  )
}

/** Returns a number of things: 1 row, 1,234 rows. */
export function formatNumberOf(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`
}

/** Returns a button. */
export function createButton(
  label: string,
  onclick: () => unknown,
  more: Attributes = {},
): HTMLButtonElement {
  return create('button', { type: 'button', onclick, ...more }, label)
}

/** Returns a field with its label. */
export function createField(label: string, field: HTMLElement, hint?: string): HTMLLabelElement {
  return create('label', { title: hint }, `${label} `, field)
}

/** Returns a select field. Choices are values, or values with labels. */
export function createSelect(
  choices: readonly (string | readonly [value: string, label: string])[],
  attributes: Attributes = {},
): HTMLSelectElement {
  const options = choices.map((choice) => {
    const [value, label] = typeof choice === 'string' ? [choice, choice] : choice
    return new Option(label, value)
  })
  const { value, ...others } = attributes
  const field = create('select', others, ...options)
  if (value !== undefined) field.value = String(value)
  return field
}

/** A dialog that is open. */
export interface OpenDialog {
  element: HTMLDialogElement
  body: HTMLElement
  /** Shows a message at the end: what happens, or an error. */
  say(text: string): void
  close(): void
}

/** Loads the page again, and says there what was done. */
export function reloadSaying(text: string): void {
  try {
    sessionStorage.setItem('gridline:said', text)
  } catch {
    // Without storage, the page only shows the result.
  }
  location.reload()
}

let dialogs = 0

/** Opens a dialog with a heading. Escape and its button close it; the focus then returns to where it was. */
export function openDialog(
  title: string,
  options: { isWide?: boolean; onClose?: () => void } = {},
): OpenDialog {
  const body = create('div')
  const status = create('p', { role: 'status' })
  const id = `dialog-${++dialogs}`
  const heading = create('h2', { id }, title)
  const element: HTMLDialogElement = create(
    'dialog',
    { class: options.isWide ? 'wide' : undefined, 'aria-labelledby': id },
    create(
      'div',
      { class: 'dialog-head' },
      heading,
      createButton('Close', () => element.close()),
    ),
    body,
    status,
  )
  element.addEventListener('close', () => {
    element.remove()
    options.onClose?.()
  })
  // The key that opened the dialog may be down still: its repetitions press nothing.
  element.addEventListener('keydown', (event) => {
    if (event.repeat && event.key === 'Enter' && event.target instanceof HTMLButtonElement)
      event.preventDefault()
  })
  document.body.append(element)
  element.showModal()
  return {
    element,
    body,
    say: (text) => {
      status.textContent = text
    },
    close: () => element.close(),
  }
}

/** Lets Enter in a field press a button, once for each time it is pressed, but not when it ends the input of a word. */
export function pressOnEnter(field: HTMLElement, button: HTMLButtonElement): HTMLButtonElement {
  field.addEventListener('keydown', ({ key, isComposing, repeat }) => {
    if (key === 'Enter' && !isComposing && !repeat) button.click()
  })
  return button
}

/** Returns the name in a field, without spaces around it, unless it is a known one: that may begin or end with spaces. */
export function readName({ value }: HTMLInputElement, known: readonly string[]): string {
  return known.includes(value) ? value : value.trim()
}

/** Runs an action once at a time: its buttons are disabled meanwhile, so that a second click does nothing. */
export async function runOnce(
  buttons: readonly HTMLButtonElement[],
  action: () => Promise<void>,
): Promise<void> {
  if (buttons.some(({ disabled }) => disabled)) return
  for (const button of buttons) button.disabled = true
  try {
    await action()
  } finally {
    for (const button of buttons) button.disabled = false
  }
}

/**
 * Returns a button that acts once at a time, and says its error. Buttons of one `group` exclude each other.
 */
export function createAction(
  label: string,
  action: () => Promise<unknown>,
  say: (text: string) => void,
  attributes: Attributes = {},
  group: HTMLButtonElement[] = [],
): HTMLButtonElement {
  const act = async (): Promise<void> => {
    try {
      await action()
    } catch (error) {
      say(formatError(error))
    }
  }
  const button = createButton(label, () => runOnce(group, act), attributes)
  group.push(button)
  return button
}

/** Returns the line that shows the command of the command line for the same. */
export function createCommand(command: string): HTMLParagraphElement {
  return create('p', {}, 'On the command line: ', create('code', {}, command))
}

/** Returns a button that copies the text of a field; without permission, it selects the text. */
export function createCopyButton(field: HTMLInputElement | HTMLTextAreaElement): HTMLButtonElement {
  const button = createButton('Copy', async () => {
    const isCopied = await navigator.clipboard?.writeText(field.value).then(
      () => true,
      () => false,
    )
    if (!isCopied) field.select()
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C to copy'
  })
  return button
}

/** Returns a field that takes the whole width of a dialog. */
export function createWideField(label: string, field: HTMLElement, hint?: string): HTMLElement {
  return create(
    'div',
    { class: 'fields' },
    create('div', { class: 'whole' }, createField(label, field, hint)),
  )
}

/** Handles buttons with `data-action`. The page loads a script when one of its buttons is first pressed. */
export function onAction(handlers: Readonly<Record<string, (button: HTMLElement) => unknown>>): void {
  const running = new Set<HTMLElement>()
  document.addEventListener('gridline:action', async ({ target }) => {
    const button = target as HTMLElement
    const act = handlers[button.dataset.action ?? '']
    // A second click, before the dialog of the first one was open.
    const dialog = document.querySelector('dialog[open]')
    if (!act || running.has(button) || (dialog && !dialog.contains(button))) return
    running.add(button)
    try {
      await act(button)
    } catch (error) {
      openDialog(button.textContent ?? '').say(formatError(error))
    } finally {
      running.delete(button)
    }
  })
}

/** Returns the element with an id. Throws if it is missing. */
export function findSection(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (!element) throw new Error(`no element #${id}`)
  return element
}
