/// <reference lib="dom" />
// The dialog of several files: each is stored as it is detected.
import { formatError, toHeaderText } from '../api.ts'
import { create, createButton, createField, formatNumberOf, openDialog, readName, runOnce } from '../dom.ts'
import { type Chosen, previewBody, previewUpload, sendFile, type Target, type UploadResult } from './send.ts'

/** Number of files that are previewed; others are uploaded alike. */
const MAX_PREVIEWED = 20

/** Adds several files, each as it is detected. */
export function addSeveral(files: Chosen[], folder: string, target: Target | undefined): void {
  const abort = new AbortController()
  const dialog = openDialog(`Add ${files.length.toLocaleString('en')} files`, {
    isWide: true,
    onClose: () => abort.abort(),
  })
  const place = create('input', { value: folder, placeholder: 'home folder' })
  const isPublic = create('input', { type: 'checkbox' })
  const states = files.map(() => create('td', {}, ''))
  const button: HTMLButtonElement = createButton('Store all', () => runOnce([button], store), {
    class: 'primary',
  })
  if (target)
    dialog.body.append(
      create('p', { class: 'note' }, `They become new grids. To change ${target.name}, add one file.`),
    )
  dialog.body.append(
    createFileTable(files, states),
    create(
      'div',
      { class: 'fields' },
      createField('Folder', place),
      create('label', {}, isPublic, ' Anyone can see them'),
    ),
    create('div', { class: 'actions' }, button),
  )
  let isStoring = false
  previewAll()

  async function previewAll(): Promise<void> {
    for (const [k, { file }] of files.slice(0, MAX_PREVIEWED).entries()) {
      let text: string
      try {
        const beginning = await previewBody(file)
        const result =
          beginning && (await previewUpload(file.name, beginning.body, { 'Gridline-On-Conflict': 'rename' }))
        text = result ? describe(result) : 'read while it is sent'
      } catch (error) {
        text = `cannot be read: ${formatError(error)}`
      }
      // Now the rows say what is stored.
      if (isStoring || abort.signal.aborted) return
      states[k].textContent = text
    }
  }

  async function store(): Promise<void> {
    isStoring = true
    let stored = 0
    for (const [k, { file, folder: inner }] of files.entries()) {
      const state = states[k]
      const path = [readName(place, [folder]), inner].filter((part) => part !== '').join('/')
      try {
        const { file: grid } = await sendFile(
          file,
          {
            'Gridline-On-Conflict': 'rename',
            ...(path !== '' && { 'Gridline-Parent-Path': toHeaderText(path) }),
            ...(isPublic.checked && { 'Gridline-World-Readable': 'true' }),
          },
          {
            onSent: (bytes) => {
              state.textContent = `sent ${Math.floor((bytes / file.size) * 100)} %`
            },
            onWaiting: () => {
              state.textContent = 'waits for the connection'
            },
          },
          abort.signal,
        )
        state.replaceChildren(create('a', { href: new URL(grid.web_url).pathname }, 'stored'))
        stored++
      } catch (error) {
        if (abort.signal.aborted) return
        state.textContent = `not stored: ${formatError(error)}`
      }
      dialog.say(`${stored} of ${files.length} stored`)
    }
    button.remove()
    dialog.body.append(
      create(
        'p',
        {},
        createButton('Done', () => location.reload(), { class: 'primary' }),
      ),
    )
  }
}

/** Creates the table of the files. `states`: the cells that say what has become of each. */
function createFileTable(files: readonly Chosen[], states: readonly HTMLElement[]): HTMLElement {
  const nameOf = ({ file, folder }: Chosen): string => (folder === '' ? file.name : `${folder}/${file.name}`)
  const sizeOf = ({ file }: Chosen): string => `${Math.ceil(file.size / 1000).toLocaleString('en')} kB`
  const heads = ['File', 'Size', 'Result'].map((title) => create('th', {}, title))
  const rows = files.map((chosen, k) =>
    create(
      'tr',
      {},
      create('td', {}, nameOf(chosen)),
      create('td', { class: 'n' }, sizeOf(chosen)),
      states[k],
    ),
  )
  const table = create(
    'table',
    {},
    create('thead', {}, create('tr', {}, ...heads)),
    create('tbody', {}, ...rows),
  )
  return create('div', { class: 'scroll' }, table)
}

function describe({ file, warnings }: UploadResult): string {
  const shape =
    'cols' in file
      ? `${formatNumberOf(file.row_count, 'row')}, ${formatNumberOf(file.cols.length, 'column')}`
      : 'several tables'
  return warnings.length === 0 ? shape : `${shape}; ${warnings.join('; ')}`
}
