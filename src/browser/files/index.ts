/// <reference lib="dom" />
// Actions on files and folders, alone and several at once.
import { ApiError, call, formatError, request } from '../api.ts'
import {
  create,
  createAction,
  createButton,
  createCommand,
  createField,
  createSelect,
  createWideField,
  type OpenDialog,
  onAction,
  openDialog,
  pressOnEnter,
  readName,
} from '../dom.ts'
import { listNames, type PageFile, showFollowers } from './followers.ts'

/** Returns the file that a button belongs to. */
function fileOf(element: Element): PageFile {
  const { fid = '', name = '', type = '', owner = '' } = element.closest<HTMLElement>('[data-fid]')!.dataset
  return { fid, name, type, owner }
}

onAction({
  rename: (button) => renameFile(fileOf(button)),
  move: (button) => moveFiles([fileOf(button)]),
  copy: (button) => copyFiles([fileOf(button)]),
  star: (button) => toggleStar(button, fileOf(button)),
  trash: (button) => trashFiles([fileOf(button)]),
  restore: (button) => restoreFiles([fileOf(button)]),
  delete: (button) => deleteFiles([fileOf(button)]),
  select: (button) => startSelecting(button),
  'new-folder': () => createFolder(),
})

/** Adds a button that acts, and shows errors in the dialog. */
function addAction(
  dialog: OpenDialog,
  label: string,
  action: () => Promise<void>,
  className = 'primary',
): void {
  const button = createAction(label, action, dialog.say, { class: className })
  dialog.body.append(create('div', { class: 'actions' }, button))
  const field = dialog.body.querySelector<HTMLElement>('input, select')
  ;(field ?? button).focus()
  if (field) pressOnEnter(field, button)
}

/** Changes a file, if it is still as it was when the dialog was opened. */
async function openUpdate(fid: string): Promise<(json: object) => Promise<void>> {
  const response = await request('files.get', { path: { fid } })
  const etag = response.headers.get('etag')
  return async (json) => {
    try {
      await call('files.update', { path: { fid }, json, headers: { 'if-match': etag ?? undefined } })
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error
      throw new Error('Somebody else has changed this file. Load the page again to see how it is now.')
    }
  }
}

async function renameFile({ fid, name }: PageFile): Promise<void> {
  const update = await openUpdate(fid)
  const dialog = openDialog('Rename')
  const field = create('input', { value: name, maxlength: 255, required: true })
  dialog.body.append(createWideField('Name', field))
  dialog.body.append(createCommand(`gridline rename ${fid} NAME`))
  addAction(dialog, 'Rename', async () => {
    if (field.value.trim() === '') return dialog.say('A name is needed.')
    if (field.value !== name) await update({ filename: field.value.trim() })
    location.reload()
  })
  field.select()
}

const fidsOf = (files: readonly PageFile[]): string => files.map(({ fid }) => fid).join(' ')

/** Lists the paths of the caller's folders. */
async function listFolders(): Promise<string[]> {
  const folders = new Map<number, { name: string; parent: number }>()
  const query = { filetype: ['fold'] as const, page_size: 500 }
  const { children } = await call('folders.all', { query: query as never })
  for (const { fid, filename, parent } of children.results)
    folders.set(Number(fid.split(':')[1]), { name: filename, parent })
  const pathOf = (id: number): string => {
    const folder = folders.get(id)
    if (!folder) return ''
    const above = pathOf(folder.parent)
    return above === '' ? folder.name : `${above}/${folder.name}`
  }
  return [...folders.keys()].map(pathOf).sort((a, b) => a.localeCompare(b))
}

async function moveFiles(files: readonly PageFile[]): Promise<void> {
  const dialog = openDialog(files.length === 1 ? `Move ${files[0].name}` : `Move ${files.length} files`)
  const list = create('datalist', { id: 'folders' })
  const field = create('input', { list: 'folders', placeholder: 'home folder', maxlength: 1000 })
  dialog.body.append(createWideField('Folder', field, 'A new one is created.'), list)
  dialog.body.append(createCommand(`gridline mv ${fidsOf(files)} FOLDER/`))
  listFolders().then(
    (paths) => list.replaceChildren(...paths.map((path) => new Option(path, path))),
    () => {},
  )
  addAction(dialog, 'Move', async () => {
    const path = readName(
      field,
      Array.from(list.options, ({ value }) => value),
    )
    const place = path === '' ? { parent: -1 } : { parent_path: path }
    await forEachFile(dialog, files, (file) => call('files.update', { path: { fid: file.fid }, json: place }))
    location.reload()
  })
}

/** Acts on each file; a failure stops, and says which file it was. */
async function forEachFile(
  dialog: OpenDialog,
  files: readonly PageFile[],
  act: (file: PageFile) => Promise<unknown>,
): Promise<void> {
  for (const [k, file] of files.entries()) {
    if (files.length > 1) dialog.say(`${k + 1} of ${files.length}: ${file.name}`)
    try {
      await act(file)
    } catch (error) {
      throw new Error(files.length > 1 ? `${file.name}: ${formatError(error)}` : formatError(error))
    }
  }
}

async function copyFiles(files: readonly PageFile[]): Promise<void> {
  const dialog = openDialog(files.length === 1 ? `Copy ${files[0].name}` : `Copy ${files.length} files`)
  const deep = create('input', { type: 'checkbox' })
  dialog.body.append(
    create('p', {}, 'The copy is private. It is beside a file of yours, or else in your home folder.'),
    ...(files.some(({ type }) => type === 'dashboard')
      ? [create('p', {}, 'A copied board shows the charts and grids that you can open yourself.')]
      : []),
    ...(files.some(({ type }) => type === 'plot')
      ? [
          create(
            'p',
            {},
            create(
              'label',
              {},
              deep,
              ' Also copy the data of the chart; otherwise the copy follows the same data',
            ),
          ),
        ]
      : []),
  )
  dialog.body.append(createCommand(`gridline cp ${fidsOf(files)}`))
  addAction(dialog, 'Copy', async () => {
    let copied = ''
    await forEachFile(dialog, files, async ({ fid, type }) => {
      const { new_fid } = await call('files.copy', {
        path: { fid },
        json: { deep_copy: type === 'plot' && deep.checked },
      })
      copied = new_fid
    })
    location.assign(`/~${copied.replace(':', '/')}/`)
  })
}

async function toggleStar(button: HTMLElement, { fid }: PageFile): Promise<void> {
  const isStarred = button.getAttribute('aria-pressed') === 'true'
  try {
    await call(isStarred ? 'stars.remove' : 'stars.add', { path: { fid } })
    button.setAttribute('aria-pressed', String(!isStarred))
    button.textContent = isStarred ? 'Star' : 'Starred'
  } catch (error) {
    openDialog('Star').say(formatError(error))
  }
}

async function trashFiles(files: readonly PageFile[]): Promise<void> {
  const dialog = openDialog('Move to trash')
  dialog.body.append(
    create(
      'p',
      {},
      files.length === 1
        ? `${files[0].name} can be restored from the trash.`
        : 'They can be restored from the trash:',
    ),
    ...(files.length > 1 ? [listNames(files.map(({ name }) => name))] : []),
  )
  dialog.body.append(createCommand(`gridline trash ${fidsOf(files)}`))
  await showFollowers(dialog, files, 'meanwhile').catch((error) => dialog.say(formatError(error)))
  addAction(dialog, 'Move to trash', async () => {
    await forEachFile(dialog, files, ({ fid }) => call('files.trash', { path: { fid } }))
    leave(files)
  })
}

/** Leaves the page of a file that is gone; loads a list again. */
function leave([{ owner, fid }]: readonly PageFile[]): void {
  if (location.pathname === `/~${fid.replace(':', '/')}/`) location.assign(`/~${owner}/`)
  else location.reload()
}

function restoreFiles(files: readonly PageFile[]): void {
  const dialog = openDialog('Restore')
  dialog.body.append(listNames(files.map(({ name }) => name)))
  addAction(dialog, 'Restore', async () => {
    await forEachFile(dialog, files, ({ fid }) => call('files.restore', { path: { fid } }))
    location.reload()
  })
}

async function deleteFiles(files: readonly PageFile[]): Promise<void> {
  const dialog = openDialog('Delete for good')
  const asked = create('input', { type: 'checkbox' })
  dialog.body.append(
    create('p', {}, 'This cannot be undone: the files, their versions and their links end.'),
    listNames(files.map(({ name }) => name)),
  )
  await showFollowers(dialog, files, 'after').catch((error) => dialog.say(formatError(error)))
  dialog.body.append(create('p', {}, create('label', {}, asked, ' I want to delete this for good')))
  dialog.body.append(createCommand(`gridline delete ${fidsOf(files)}`))
  addAction(
    dialog,
    'Delete for good',
    async () => {
      if (!asked.checked) return dialog.say('Confirm it first.')
      await forEachFile(dialog, files, ({ fid }) => call('files.permanent_delete', { path: { fid } }))
      leave(files)
    },
    'danger',
  )
}

function createFolder(): void {
  const dialog = openDialog('New folder')
  const { folder = '' } = document.querySelector('main')!.dataset
  const field = create('input', { maxlength: 255 })
  dialog.body.append(createWideField('Name', field))
  dialog.body.append(createCommand('gridline mkdir PATH'))
  addAction(dialog, 'Create', async () => {
    const name = field.value.trim()
    if (name === '') return dialog.say('A name is needed.')
    const { file } = await call('folders.create', {
      json: { path: folder === '' ? name : `${folder}/${name}` },
    })
    location.assign(new URL(file.web_url).pathname)
  })
}

async function setAccess(files: readonly PageFile[], dialogTitle: string): Promise<void> {
  const dialog = openDialog(dialogTitle)
  const field = createSelect([
    ['false', 'private: you and collaborators'],
    ['true', 'public: anyone'],
  ])
  dialog.body.append(createField('Access', field))
  addAction(dialog, 'Set', async () => {
    const json = { world_readable: field.value === 'true' }
    await forEachFile(dialog, files, ({ fid }) => call('files.update', { path: { fid }, json }))
    location.reload()
  })
}

/** Lets the reader choose several files of the page, and act on them. */
function startSelecting(button: HTMLElement): void {
  const items = [...document.querySelectorAll<HTMLElement>('.cards [data-fid], table.files [data-fid]')]
  const boxes = items.map((item) => {
    const box = create('input', { type: 'checkbox', 'aria-label': `Select ${item.dataset.name}` })
    const mark = create('span', { class: 'mark' }, box)
    if (item instanceof HTMLTableRowElement) item.cells[0].prepend(mark)
    else item.prepend(mark)
    return box
  })
  const chosen = (): PageFile[] => items.filter((_, k) => boxes[k].checked).map(fileOf)
  const count = create('span', { role: 'status' })
  const act = (label: string, action: (files: PageFile[]) => unknown): HTMLButtonElement =>
    createButton(label, async () => {
      const files = chosen()
      try {
        if (files.length === 0) count.textContent = 'Select files first.'
        else await action(files)
      } catch (error) {
        count.textContent = formatError(error)
      }
    })
  const all = createButton('All', () => {
    const isAll = boxes.every(({ checked }) => checked)
    for (const box of boxes) box.checked = !isAll
    showCount()
  })
  const showCount = (): void => {
    const number = boxes.filter(({ checked }) => checked).length
    count.textContent = number === 0 ? '' : `${number} selected`
  }
  for (const box of boxes) box.addEventListener('change', showCount)
  // A click on a file selects it.
  for (const [k, item] of items.entries())
    item.addEventListener('click', (event) => {
      if (event.target === boxes[k]) return
      event.preventDefault()
      boxes[k].checked = !boxes[k].checked
      showCount()
    })
  const actions =
    button.dataset.actions === 'trash'
      ? [act('Restore', restoreFiles), act('Delete for good', deleteFiles)]
      : [
          act('Move', moveFiles),
          act('Copy', copyFiles),
          act('Access', (files) => setAccess(files, `Access to ${files.length} files`)),
          act('Star', async (files) => {
            let starred = 0
            for (const { fid } of files) {
              await call('stars.add', { path: { fid } })
              count.textContent = `${++starred} starred`
            }
          }),
          act('Move to trash', trashFiles),
        ]
  const done = createButton('Done', () => location.reload())
  // The actions on the folder itself have the same names.
  document.querySelector('.actions[data-fid]')?.remove()
  button.replaceWith(create('span', { class: 'actions' }, all, ...actions, done, count))
  boxes[0]?.focus()
}
