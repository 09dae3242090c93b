/// <reference lib="dom" />
// The dialog of one file: how it is read, what would be stored, and where.
import { filterYearNames } from '../../charts/spec/column-names.ts'
import { gridNameOf, isNotice, uploadNameOf } from '../../contract/formats.ts'
import {
  ApiError,
  ExactNumber,
  formatError,
  parseExactly,
  request,
  textOfValue,
  toHeaderText,
} from '../api.ts'
import {
  create,
  createButton,
  createField,
  createSelect,
  formatNumberOf,
  type OpenDialog,
  openDialog,
  readName,
  runOnce,
} from '../dom.ts'
import { showDifference } from './difference.ts'
import { findSuggestions, Reading, textOfWarning } from './reading.ts'
import { type Chosen, previewBody, previewUpload, sendFile, type Target, type UploadResult } from './send.ts'

/** Number of first rows in a preview. */
const MAX_ROWS = 8
/** Number of columns in a preview. */
const MAX_COLUMNS = 60

/** The dialog of one file. */
export class FileDialog {
  private readonly reading = new Reading()
  private dialog!: OpenDialog
  private readonly result = create('div')
  private readonly controls = create('details', {}, create('summary', {}, 'How the file is read'))
  private readonly name: HTMLInputElement
  private readonly place: HTMLInputElement
  private readonly givenPlace: string
  private readonly isPublic = create('input', { type: 'checkbox' })
  private readonly conflict: HTMLSelectElement
  private readonly key = create('input', { list: 'key-columns', placeholder: 'columns, comma-separated' })
  private readonly keyColumns = create('datalist', { id: 'key-columns' })
  private readonly button: HTMLButtonElement
  private readonly abort = new AbortController()
  private number = 0
  private isStoring = false
  private isPreviewWhole = true

  constructor(
    private readonly chosen: Chosen,
    folder: string,
    private readonly target: Target | undefined,
  ) {
    this.name = create('input', {
      value: target?.name ?? gridNameOf(chosen.file.name),
      required: true,
      maxlength: 200,
    })
    this.givenPlace = [folder, chosen.folder].filter((part) => part !== '').join('/')
    this.place = create('input', { value: this.givenPlace, placeholder: 'home folder' })
    this.conflict = createSelect(
      target
        ? [
            ['replace', 'replace all rows'],
            ['append', 'add the rows at the end'],
            ['key', 'update rows by key'],
          ]
        : [
            ['rename', 'choose a free name'],
            ['replace', 'replace the data of that grid'],
            ['append', 'add the rows to that grid'],
          ],
    )
    this.button = createButton(
      target ? 'Compare with the grid' : 'Store',
      () => runOnce([this.button], () => this.store()),
      {
        class: 'primary',
        disabled: true,
      },
    )
  }

  open(): void {
    const { file } = this.chosen
    this.dialog = openDialog(this.target ? `New data for ${this.target.name}` : `Add ${file.name}`, {
      isWide: true,
      onClose: () => this.abort.abort(),
    })
    // A page that is left stops the upload.
    const { signal } = this.abort
    addEventListener('beforeunload', (event) => this.isStoring && event.preventDefault(), { signal })
    // The button that was pressed is disabled, so the key is not pressed inside of the dialog.
    addEventListener(
      'keydown',
      (event) => {
        if (event.key !== 'Escape' || !this.isStoring) return
        event.preventDefault()
        this.dialog.say('The file is being sent. The button Close stops that.')
      },
      { signal },
    )
    this.controls.addEventListener('toggle', () => this.showControls())
    const keyField = createField('Key', this.key, 'Rows with the same values in these columns are updated.')
    const showKey = (): void => {
      keyField.hidden = this.conflict.value !== 'key'
    }
    this.conflict.addEventListener('change', showKey)
    showKey()
    const fields = this.target
      ? [createField('What happens', this.conflict), keyField]
      : [
          createField('Name', this.name),
          createField('Folder', this.place),
          createField('If the name is taken', this.conflict),
          create('label', {}, this.isPublic, ' Anyone can see it'),
        ]
    this.dialog.body.append(
      this.result,
      this.controls,
      create('div', { class: 'fields' }, ...fields, this.keyColumns),
      create('div', { class: 'actions' }, this.button),
    )
    ;(this.target ? this.conflict : this.name).focus()
    this.preview()
  }

  private showControls(): void {
    if (!this.controls.open) return
    this.controls.replaceChildren(
      this.controls.firstElementChild!,
      this.reading.createControls(() => this.preview()),
    )
  }

  /** Reads the file, or its beginning, without storing it, and shows what it would become. */
  private async preview(): Promise<void> {
    const number = ++this.number
    this.dialog.say('Reading the file …')
    try {
      const beginning = await previewBody(this.chosen.file)
      if (!beginning) {
        this.dialog.say('This file is large, and is read while it is sent.')
        this.button.disabled = this.isStoring
        return
      }
      // A free name, since the name of the target is taken.
      const { name } = this.chosen.file
      const freeName = this.target ? uploadNameOf(`preview ${Date.now()}`, name)! : name
      this.isPreviewWhole = beginning.isWhole
      const headers = { ...this.reading.toHeaders(), 'Gridline-On-Conflict': 'rename' }
      const result = await previewUpload(freeName, beginning.body, headers)
      if (number !== this.number) return
      this.show(result, beginning.isWhole)
      this.dialog.say('')
      this.button.disabled = this.isStoring
    } catch (error) {
      if (number !== this.number) return
      this.result.replaceChildren(...this.createWarnings([formatError(error)]))
      // The beginning of a file may say less than the whole.
      this.button.disabled = this.isStoring || this.isPreviewWhole
      this.controls.open = true
      this.dialog.say('The file cannot be read like this.')
    }
  }

  /** Shows columns, first rows and warnings. */
  private show({ file, warnings }: UploadResult, isWhole: boolean): void {
    if (!('cols' in file)) {
      this.result.replaceChildren(
        create('p', {}, 'This file has several tables: they become a folder of grids.'),
        ...this.createWarnings(warnings),
      )
      return
    }
    this.keyColumns.replaceChildren(...file.cols.map(({ name }) => new Option(name, name)))
    const columns = file.cols.slice(0, MAX_COLUMNS)
    const rows = readFirstRows(
      file.preview,
      columns.map(({ name }) => name),
    )
    const count = `${isWhole ? '' : 'The beginning: '}${formatNumberOf(file.row_count, 'row')}, ${formatNumberOf(file.cols.length, 'column')}`
    this.result.replaceChildren(
      create('p', {}, count),
      create(
        'div',
        { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'First rows' },
        create(
          'table',
          {},
          create(
            'thead',
            {},
            create(
              'tr',
              {},
              ...columns.map(({ name, type }) =>
                create(
                  'th',
                  { scope: 'col' },
                  name,
                  create('br'),
                  this.reading.createTypeControl(name, type, () => this.preview()),
                ),
              ),
            ),
          ),
          create('tbody', {}, ...rows.map((row) => create('tr', {}, ...row.map(createCell)))),
        ),
      ),
      ...this.createWarnings([...warnings, ...hintsOf(file.cols)]),
    )
  }

  /** Shows warnings, each with buttons that do what it suggests. */
  private createWarnings(warnings: readonly string[]): HTMLElement[] {
    // Facts first, then what can be decided.
    const isFact = (warning: string): boolean => isNotice(warning)
    return [...warnings.filter(isFact), ...warnings.filter((warning) => !isFact(warning))].map((warning) =>
      create(
        'p',
        { class: isFact(warning) ? undefined : 'note' },
        textOfWarning(warning),
        ...findSuggestions(warning).flatMap(({ text, changes }) => [
          ' ',
          createButton(text, () => {
            for (const change of changes) this.reading.change(change)
            this.showControls()
            this.preview().then(() => this.focusNext())
          }),
        ]),
      ),
    )
  }

  /** Focuses what can be decided next: a suggestion, or storing the file. */
  private focusNext(): void {
    const next = this.result.querySelector<HTMLButtonElement>('.note button') ?? this.button
    next.focus()
  }

  private async store(): Promise<void> {
    const name = this.target?.name ?? this.name.value.trim()
    if (name === '') return this.dialog.say('A name is needed.')
    if (!this.target && /[/\\]/.test(name))
      return this.dialog.say('A name cannot have / or \\. Name the folder in its own field.')
    if (this.conflict.value === 'key' && this.key.value.trim() === '')
      return this.dialog.say('Name the columns that identify a row.')
    const file = new File([this.chosen.file], uploadNameOf(name, this.chosen.file.name)!)
    this.isStoring = true
    const bar = create('progress', { max: Math.max(1, file.size), value: 0, 'aria-label': 'Sent' })
    this.button.before(bar)
    const send = (headers: Record<string, string>): Promise<UploadResult> =>
      sendFile(
        file,
        { ...this.reading.toHeaders(), ...headers },
        {
          onSent: (bytes) => {
            bar.value = bytes
            this.dialog.say(`Sent ${Math.floor((bytes / file.size) * 100)} %`)
          },
          onWaiting: () => this.dialog.say('The connection is lost. The upload goes on when it is back.'),
        },
        this.abort.signal,
      )
    try {
      this.dialog.say('Sending …')
      if (this.target) await this.compare(file, send)
      else {
        const { file: stored } = await send(this.newHeaders())
        this.isStoring = false
        location.assign(`${new URL(stored.web_url).pathname}${'cols' in stored ? '#make' : ''}`)
      }
    } catch (error) {
      if (!this.abort.signal.aborted) this.showFailure(formatError(error))
    } finally {
      bar.remove()
      this.isStoring = false
    }
  }

  /** Says why nothing was stored, with what can be done. */
  private showFailure(message: string): void {
    const isHelped = findSuggestions(message).length > 0
    this.dialog.say(isHelped ? 'Nothing was stored.' : `Nothing was stored: ${message}`)
    if (isHelped) this.result.prepend(...this.createWarnings([message]))
  }

  private newHeaders(): Record<string, string> {
    const place = readName(this.place, [this.givenPlace])
    return {
      'Gridline-On-Conflict': this.conflict.value,
      ...(place !== '' && { 'Gridline-Parent-Path': toHeaderText(place) }),
      ...(this.isPublic.checked && { 'Gridline-World-Readable': 'true' }),
    }
  }

  /** Headers that change the target: its folder, and what happens to its rows. */
  private async targetHeaders(fileName: string): Promise<Record<string, string>> {
    const { fid, name } = this.target!
    const response = await request('grids.get', { path: { fid } })
    const { filename, parent } = (await response.json()) as { filename: string; parent: number }
    if (filename !== name) throw new Error('the grid has been renamed; load the page again')
    if (gridNameOf(fileName) !== name)
      throw new Error('no file can have the name of this grid; rename it first')
    const mode = this.conflict.value
    return {
      // What is stored is what was compared.
      'if-match': response.headers.get('etag') ?? '*',
      'Gridline-Parent': String(parent),
      'Gridline-On-Conflict': mode === 'key' ? 'append' : mode,
      ...(mode === 'key' && { 'Gridline-Key': encodeNames(this.key.value) }),
    }
  }

  /** Throws if an upload did not reach the target, but another grid. */
  private assertTarget({ file }: UploadResult): void {
    if (file.fid !== this.target!.fid)
      throw new Error(`the file would become ${file.filename}, not this grid`)
  }

  /** Shows what the file would change: as a draft if it replaces all rows, otherwise by a dry run. */
  private async compare(
    file: File,
    send: (headers: Record<string, string>) => Promise<UploadResult>,
  ): Promise<void> {
    const headers = await this.targetHeaders(file.name)
    const { fid } = this.target!
    const store = async (): Promise<void> => {
      this.isStoring = true
      try {
        await send(headers)
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 412)) throw error
        throw new Error('somebody else has changed this grid. Nothing was stored: choose the file again')
      } finally {
        this.isStoring = false
      }
    }
    if (this.conflict.value === 'replace') {
      const draft = `browser-${Date.now().toString(36)}`
      const result = await send({ ...headers, 'Gridline-Draft': draft })
      this.assertTarget(result)
      await showDifference(this.dialog, { fid, result, draft, store })
    } else {
      const result = await previewUpload(file.name, file, { ...this.reading.toHeaders(), ...headers })
      this.assertTarget(result)
      await showDifference(this.dialog, { fid, result, store })
    }
  }
}

/** Returns how columns that are years become rows. */
function hintsOf(cols: readonly { name: string }[]): string[] {
  const years = filterYearNames(cols.map(({ name }) => name))
  if (years.length === 0) return []
  return [
    `columns are years; to have a row for each: --unpivot ${years[0]}-${years.at(-1)} --into year,value`,
  ]
}

/** Returns the names of columns, comma-separated, as a header has them. */
function encodeNames(text: string): string {
  return text
    .split(',')
    .map((name) => encodeURIComponent(name.trim()))
    .join(',')
}

/** Returns the first rows of a preview: JSON text of the first values by column. */
function readFirstRows(preview: string, names: readonly string[]): unknown[][] {
  let columns: Record<string, unknown[]>
  try {
    columns = parseExactly(preview)
  } catch {
    return []
  }
  const count = Math.min(MAX_ROWS, Math.max(0, ...names.map((name) => columns[name]?.length ?? 0)))
  return Array.from({ length: count }, (_, row) => names.map((name) => columns[name]?.[row] ?? null))
}

function createCell(value: unknown): HTMLTableCellElement {
  const isNumber = typeof value === 'number' || value instanceof ExactNumber
  return create('td', { class: isNumber ? 'n' : undefined }, textOfValue(value).slice(0, 100))
}
