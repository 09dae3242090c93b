import { Chalk } from 'chalk'
import Table from 'cli-table3'
import type { TableView } from './view.ts'
import { visible } from './visible.ts'

const plain = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/** Formats rows as a table, or a single item as a list of fields. For terminals. */
export function table(single: boolean, view: TableView, cells: string[][], color: boolean): string {
  const chalk = new Chalk({ level: color ? 1 : 0 })
  const style = { 'padding-left': 0, 'padding-right': 0, head: [], border: [] }
  const clean = cells.map((row) => row.map(visible))
  if (single) {
    const shown = view.columns
      .map(({ title }, k) => [visible(title).toLowerCase(), clean[0][k]])
      .filter(([, text]) => text !== '')
    const width = Math.max(...shown.map(([title]) => title.length))
    return shown.map(([title, text]) => `${chalk.dim(title.padEnd(width))}  ${text}\n`).join('')
  }
  const rows = new Table({
    chars: plain,
    style,
    head: view.columns.map(({ title }) => chalk.dim(visible(title))),
    colAligns: view.columns.map(({ align }) => align ?? 'left'),
  })
  rows.push(...clean)
  return `${String(rows).replace(/[ \t]+$/gm, '')}\n`
}
