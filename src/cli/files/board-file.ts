// Reads board files: YAML that names charts and grids by path, id or link.
import type { Client } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import type { Board, BoardFilter, BoardItem } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import type { Definition } from './definitions.ts'

/** Members of an item that name a file, and its type. */
const FILE_MEMBERS = { plot: 'plot', table: 'grid', number: 'grid' } as const

/** Members of a board file. */
const MEMBERS = ['title', 'filters', 'rows']

/** Finds the file of a name in a board file. Throws `not_found`. */
export type FindFile = (name: string, filetype: 'plot' | 'grid') => Promise<string>

/** Returns the board of a definition, with ids in place of names. Throws `bad_data` with the item at fault. */
export async function resolveBoard(
  file: string,
  { text: source, document = {} }: Pick<Definition, 'text' | 'document'>,
  find: FindFile,
): Promise<Board> {
  if (!Array.isArray(document.rows))
    throw new Problem('bad_data', `${file}: expected rows, a list`, {
      hint: 'For example: rows: [{ text: Hello }, { plot: sales chart }]. More: docs/boards.md',
    })
  const unknown = Object.keys(document).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined)
    throw new Problem('bad_data', `${file}: ${unknown} is none of ${MEMBERS.join(', ')}`, {
      hint: withSuggestion(findClosest(unknown, MEMBERS), 'See docs/boards.md.'),
    })
  const rows: Board['rows'] = []
  for (const [k, row] of document.rows.entries()) {
    const { items, ...more } = toRow(row)
    const resolved: BoardItem[] = []
    for (const [n, item] of items.entries())
      resolved.push(await resolveItem(find, item, `${file}: row ${k + 1}, item ${n + 1}`))
    rows.push({ ...more, items: resolved })
  }
  const { filters } = document
  return { source, ...(filters !== undefined && { filters: toFilters(file, filters) }), rows }
}

/** Warns about the files that a board shows and others cannot see, with the command that publishes them. */
export async function notePrivateItems(
  { messages }: Context,
  client: Client,
  fid: string,
  name: string,
): Promise<void> {
  const { content } = await client.call('dashboards.get', { fid })
  const { settings } = JSON.parse(content) as { settings: { board?: Board } }
  const items = (settings.board?.rows ?? []).flatMap((row) => row.items)
  const fids = new Set(items.flatMap(({ plot, table, number }) => plot ?? table ?? number ?? []))
  const hidden: { fid: string; filename: string }[] = []
  for (const one of fids) {
    const file = await undefinedIfNotFound(client.call('files.get', { fid: one }))
    if (file?.world_readable === false) hidden.push(file)
  }
  if (hidden.length === 0) return
  const names = hidden.map((file) => `${file.filename} (${file.fid})`).join(', ')
  const command = `gridline publish ${hidden.map((file) => file.fid).join(' ')}`
  messages.warning(
    `${name}: readers of the board cannot see these files: ${names}. To publish them: ${command}`,
  )
}

/** A filter is a column, or an object with a column. Values are texts. */
function toFilters(file: string, filters: unknown): BoardFilter[] {
  if (!Array.isArray(filters))
    throw new Problem('bad_data', `${file}: filters: expected a list of columns, such as [city, year]`)
  return filters.map((filter) => {
    if (!isObject(filter)) return { column: String(filter) }
    const { default: preset } = filter
    return { ...filter, ...(preset !== undefined && { default: String(preset) }) } as BoardFilter
  })
}

/** A row is an item, a list of items, or an object with `items` and a height. */
function toRow(row: unknown): { items: unknown[]; height?: number } {
  if (Array.isArray(row)) return { items: row }
  if (isObject(row) && Array.isArray(row.items)) return row as { items: unknown[] }
  return { items: [row] }
}

/** Returns an item with ids in place of names. The service checks everything else. */
async function resolveItem(find: FindFile, item: unknown, where: string): Promise<BoardItem> {
  if (!isObject(item)) throw new Problem('bad_data', `${where}: expected plot, table, number or text`)
  const resolved = { ...item }
  for (const [member, filetype] of Object.entries(FILE_MEMBERS)) {
    const name = item[member]
    if (name === undefined) continue
    try {
      resolved[member] = await find(String(name), filetype)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      throw new Problem(error.code, `${where}: ${error.message}`, { hint: error.hint })
    }
  }
  // Columns can be written as in options: city, amount.
  if (Array.isArray(resolved.sort)) resolved.sort = resolved.sort.join(',')
  if (typeof resolved.columns === 'string')
    resolved.columns = resolved.columns.split(',').map((name) => name.trim())
  return resolved as BoardItem
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
