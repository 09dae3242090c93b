// `gridline ls`: lists files.
import { type Client, lookupOrUndefined, resolveFid } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { ROOT } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { loadPages } from '../files/pages.ts'
import { isPattern, listMatchingFiles } from '../files/patterns.ts'
import { listTrashedFiles, type TrashedFile } from '../files/trash.ts'
import { fileView, type TableView } from '../output/view.ts'

/** Number of files per request. */
const PAGE_ITEMS = 500
const ORDERS = ['filename', '-filename', 'date_modified', '-date_modified'] as const

const trashedView: TableView = {
  id: 'fid',
  columns: [
    ...fileView.columns.slice(0, 2),
    { field: 'folder', title: 'FORMER FOLDER', format: (path: string | null) => path ?? '(deleted folder)' },
    ...fileView.columns.slice(2),
  ],
}

/** View of files in several folders. */
const pathView: TableView = {
  id: 'fid',
  columns: fileView.columns.map((column) =>
    column.field === 'filename' ? { field: 'path', title: 'PATH' } : column,
  ),
}

/** Adds paths to files. Loads all folders of the user at once. */
async function withPaths(client: Client, files: readonly FileMeta[]): Promise<object[]> {
  const folders = await loadPages(
    async (cursor) =>
      (await client.call('folders.all', { query: { page_size: PAGE_ITEMS, cursor, filetype: ['fold'] } }))
        .children,
  )
  const folderById = new Map(folders.map((folder) => [Number(folder.fid.split(':')[1]), folder]))
  const pathOf = ({ filename, parent }: FileMeta): string => {
    const folder = parent === null || parent === undefined ? undefined : folderById.get(parent)
    return folder ? `${pathOf(folder)}/${filename}` : filename
  }
  return files.map((file) => ({ ...file, path: pathOf(file) }))
}

/** Compares files in the server's order: bytewise, by name by default. */
function compareFiles(a: FileMeta, b: FileMeta, order: string = 'filename'): number {
  const field = order.replace('-', '') as 'filename' | 'date_modified'
  const comparison = Buffer.compare(Buffer.from(a[field]), Buffer.from(b[field]))
  return order.startsWith('-') ? -comparison : comparison
}

/** Adds the former folder to a trashed file. */
function withFolder({ file, folder }: TrashedFile): object {
  return { ...file, folder: folder === undefined ? null : `${folder}/` }
}

/** Types of the API that have other names here. */
const TYPES = { folder: 'fold', board: 'dashboard' } as const

export const command = defineCommand({
  output: arrayOf('File', {
    folder: 'with --trashed: path of the former folder',
    path: 'with --all, --search or a pattern: path of the file',
  }),
  arguments: '[folder]',
  lists: {},
  options: [
    { flags: '--all', description: 'list files in all folders' },
    { flags: '--shared', description: 'list files shared with you' },
    { flags: '--starred', description: 'list starred files' },
    { flags: '--trashed', description: 'list files in the trash' },
    {
      flags: '--search <text>',
      description:
        'list your files with this text in their name, a column name or the title of a chart; in old files, at the beginning of a word',
    },
    {
      flags: '--type <type>',
      description: 'list only files of this type',
      choices: ['grid', 'plot', 'folder', 'board'],
    },
    {
      flags: '--order <field>',
      description: 'sort by filename (default) or date_modified; prefix with - for descending order',
      choices: ORDERS,
    },
  ],
  examples: [
    'gridline ls',
    'gridline ls Reports --order -date_modified --limit 10',
    'gridline ls --all --type grid --json fid,filename',
    "gridline ls 'Reports/2024*'",
    'gridline ls --search price',
  ],
  async run(context, [folder], options) {
    const { all, shared, starred, trashed, search, type: typeOption, order } = options
    // Request one more than printed, to detect further files.
    const limit = options.limit === undefined ? undefined : options.limit + 1
    const type = TYPES[typeOption as keyof typeof TYPES] ?? typeOption
    const scopeCount = [all, shared, starred, trashed, search].filter((option) => option).length
    if (scopeCount > 1 || (scopeCount === 1 && folder !== undefined))
      throw new Problem('usage', 'use only one of: a folder, --all, --shared, --starred, --trashed, --search')
    if (search?.trim() === '') throw new Problem('usage', '--search needs a text')
    if (scopeCount === 1 && !all && (type ?? order) !== undefined)
      throw new Problem('usage', '--type and --order can only be used with a folder or --all')
    const client = await (folder === undefined ? context.client() : context.clientFor(folder))
    if (trashed) {
      const trashedList = await listTrashedFiles(client, undefined, limit)
      return { items: trashedList.map(withFolder), view: trashedView, empty: 'No files.' }
    }
    if (search !== undefined) {
      const query = { q: search, page_size: Math.min(PAGE_ITEMS, limit ?? PAGE_ITEMS) }
      const { children } = await client.call('folders.search', { query })
      return { items: await withPaths(client, children.results), view: pathView, empty: 'No files.' }
    }
    if (folder !== undefined && isPattern(folder) && !(await lookupOrUndefined(client, folder))) {
      const matches = (await listMatchingFiles(client, folder, type)).sort((a, b) =>
        compareFiles(a.file, b.file, order),
      )
      if (matches.length === 0) throw new Problem('not_found', `no files match ${folder}`)
      return {
        items: matches.slice(0, limit).map(({ file, path }) => ({ ...file, path })),
        view: pathView,
      }
    }
    const fid = folder === undefined || folder === '/' ? undefined : await resolveFid(client, folder, 'fold')
    const maxFiles = limit ?? Number.POSITIVE_INFINITY
    const files: FileMeta[] = await loadPages(async (cursor) => {
      const page = { page_size: Math.min(PAGE_ITEMS, Math.max(1, maxFiles)), cursor }
      if (shared) return (await client.call('folders.shared', { query: page })).children
      if (starred) return (await client.call('folders.starred', { query: page })).children
      const query = { ...page, filetype: type ? [type] : undefined, order_by: order }
      if (all) return (await client.call('folders.all', { query })).children
      const isHome = fid === undefined || fid.endsWith(`:${ROOT}`)
      const listing = isHome
        ? await client.call('folders.home', { query: { ...query, user: fid?.split(':')[0] } })
        : await client.call('folders.get', { fid, query })
      return listing.children!
    }, maxFiles)
    return {
      items: all ? await withPaths(client, files) : files,
      view: all ? pathView : fileView,
      empty: scopeCount === 1 && !all ? 'No files.' : 'No files yet. Upload one with: gridline upload FILE',
    }
  },
})
