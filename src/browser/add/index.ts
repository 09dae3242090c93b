/// <reference lib="dom" />
// Adding data: files, folders, or cells of a spreadsheet that are pasted. First what would be stored, then the upload.
import { quoteShellWord } from '../../contract/shell.ts'
import { create, createButton, createCommand, onAction, openDialog } from '../dom.ts'
import { FileDialog } from './file-dialog.ts'
import type { Chosen, Target } from './send.ts'
import { addSeveral } from './several-files.ts'

onAction({
  add: () => chooseFiles(document.querySelector('main')!.dataset.folder ?? '', undefined),
  'add-to': ({ dataset }) => chooseFiles('', { fid: dataset.fid ?? '', name: dataset.name ?? '' }),
})

// A page passes on what is dropped or pasted.
addEventListener('gridline:files', (event) => {
  const { files, text } = (event as CustomEvent<{ files?: Chosen[]; text?: string }>).detail
  const { folder = '', grid, name = '' } = document.querySelector('main')!.dataset
  const target = grid === undefined ? undefined : { fid: grid, name }
  if (text !== undefined) addFiles([{ file: fileOfCells(text), folder: '' }], folder, target)
  else if (files && files.length > 0) addFiles(files, folder, target)
})
/** Returns cells as a file: they are separated by tabs when they are copied from a spreadsheet. */
function fileOfCells(text: string): File {
  return new File([text], text.includes('\t') ? 'pasted.tsv' : 'pasted.csv')
}

/** Asks for files. */
function chooseFiles(folder: string, target: Target | undefined): void {
  const dialog = openDialog(target ? `Change the data of ${target.name}` : 'Add data')
  const start = (files: Chosen[]): void => {
    if (files.length === 0) return
    dialog.close()
    addFiles(files, folder, target)
  }
  const pick = (isFolder: boolean): void => {
    const input = create('input', { type: 'file', multiple: !target })
    if (isFolder) input.webkitdirectory = true
    input.addEventListener('change', () => start([...(input.files ?? [])].map(withFolder)))
    input.click()
  }
  const cells = create('textarea', {
    rows: 4,
    'aria-label': 'Cells of a spreadsheet',
    placeholder: 'Or paste cells of a spreadsheet here',
  })
  const useCells = (): void => {
    if (cells.value.trim() === '') dialog.say('Paste cells first.')
    else start([{ file: fileOfCells(cells.value), folder: '' }])
  }
  cells.addEventListener('paste', () => setTimeout(useCells))
  dialog.body.append(
    create(
      'div',
      { class: 'drop' },
      create('p', {}, 'Drop files here: CSV, Excel, JSON, Parquet, and archives of them.'),
      createButton(target ? 'Choose a file' : 'Choose files', () => pick(false), { class: 'primary' }),
      ' ',
      !target && createButton('Choose a folder', () => pick(true)),
    ),
    create('div', { class: 'fields' }, create('div', { class: 'whole' }, cells)),
    create('div', { class: 'actions' }, createButton('Use these cells', useCells)),
    createCommand(
      target
        ? `gridline upload FILE --name ${quoteShellWord(target.name)} --on-conflict replace`
        : 'gridline upload FILE',
    ),
  )
}

function withFolder(file: File): Chosen {
  return { file, folder: file.webkitRelativePath.split('/').slice(0, -1).join('/') }
}

function addFiles(files: Chosen[], folder: string, target: Target | undefined): void {
  if (files.length === 1) new FileDialog(files[0], folder, target).open()
  else addSeveral(files, folder, target)
}
