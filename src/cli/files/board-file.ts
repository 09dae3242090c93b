// Reads board files: YAML that names charts and grids by path, id or link.
import { Problem } from '../../contract/errors.ts'
import { findClosest, withSuggestion } from '../../contract/message-texts.ts'
import type { Board, BoardFilter, BoardItem, DashboardMeta } from '../../contract/resources/index.ts'
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

/**
 * Describes the files of a board that not all of its readers may see, with the command that shows them; undefined without
 * any, and for others than its owner. Notes those that it shows to all of its readers.
 */
export function describePrivateItems({ messages }: Context, board: DashboardMeta): string | undefined {
  const { fid, filename, private_items: items = [], share_items } = board
  if (items.length === 0) return undefined
  const names = items.map((file) => `${file.filename} (${file.fid})`).join(', ')
  if (!share_items)
    return `not all readers of the board can see ${names}. To show them on the board: gridline share ${fid} --with-items`
  messages.note(
    `${filename}: its readers see what it shows of these private files: ${names}. To end that: gridline unshare ${fid} --with-items`,
  )
  return undefined
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
    const key = member === 'plot' ? shareKeyOf(String(name)) : undefined
    if (key !== undefined) resolved.share_key ??= key
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

/** Returns the share key of a link. */
function shareKeyOf(text: string): string | undefined {
  return /^https?:/i.test(text) && URL.canParse(text)
    ? (new URL(text).searchParams.get('share_key') ?? undefined)
    : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Members of the content of a board that name a file. */
const FILE_IDS: ReadonlySet<string> = new Set(['plot', 'table', 'number', 'fileId'])

/** Lists the files in the content of a board. */
export function listBoardFiles(content: string): string[] {
  const fids = new Set<string>()
  JSON.parse(content, (name, value) => {
    if (FILE_IDS.has(name) && typeof value === 'string') fids.add(value)
  })
  return [...fids]
}

/** Returns the content of a board with other ids of its files; those that `resolve` does not know are unchanged. */
export function replaceBoardFiles(content: string, resolve: (fid: string) => string | undefined): string {
  return JSON.stringify(
    JSON.parse(content, (name, value) =>
      FILE_IDS.has(name) && typeof value === 'string' ? (resolve(value) ?? value) : value,
    ),
  )
}
