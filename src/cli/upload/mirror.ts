// Finds the grids that `upload --delete` moves to the trash: those without a local file.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import { formatCount } from '../../contract/message-texts.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { confirm } from '../core/prompt.ts'
import { DEFINITION_KEY } from '../files/definitions.ts'
import { listTree } from '../files/list-tree.ts'
import { resolveDestinationHeaders } from './destination.ts'
import { createMatcher, type Expanded, type LocalFile } from './expand.ts'

/** Maximum percentage of grids that are removed without confirmation. */
const MAX_UNCONFIRMED_PERCENT = 50

export interface RemovalOptions {
  folder?: string
  include?: readonly string[]
  exclude?: readonly string[]
  maxDelete?: string
  yes?: boolean
  /** True with --dry-run. */
  isDry?: boolean
}

/** Grid, or chart or board made from a definition file, without a local file. */
export interface Removal {
  file: FileMeta
  /** Path below the destination folder. */
  path: string
}

/**
 * Lists grids, and charts and boards made from definition files, in the destination folders of directories, without a
 * local file: --delete moves them to the trash. Keeps those that --exclude matches, or --include does not. Throws `row_loss` above --max-delete, and
 * `usage` for a directory without data files.
 */
export async function listRemovals(
  client: Client,
  directories: readonly string[],
  { files, excluded }: Expanded,
  options: RemovalOptions,
): Promise<Removal[]> {
  const { exclude = [], include = [] } = options
  const localPaths = new Set([...files, ...excluded].map(storedPathOf))
  const isExcluded = createMatcher(exclude.flatMap(withGridNames))
  const isIncluded = createMatcher(include.flatMap(withGridNames))
  const removals: Removal[] = []
  let total = 0
  for (const directory of directories) {
    const root = folderNameOf(directory)
    const isEmpty = !files.some(({ folders }) => folders[0] === root)
    if (isEmpty) throw noDataFilesProblem(directory)
    const folder = await findFolder(client, options.folder, root)
    for (const { file, folders } of folder ? await listTree(client, folder) : []) {
      const definition = definitionOf(file)
      if (file.filetype !== 'grid' && definition === undefined) continue
      total++
      const names = [...folders, file.filename]
      const relativePath = definition ?? names.slice(1).join('/')
      const hasLocalFile = names.some((_, k) => localPaths.has(names.slice(0, k + 1).join('/')))
      if (hasLocalFile || isExcluded(relativePath) || (include.length > 0 && !isIncluded(relativePath)))
        continue
      removals.push({ file, path: names.join('/') })
    }
  }
  await confirmRemovals(removals, total, options)
  return removals
}

/** Returns the path in its directory of the definition file from which a chart or a board is made. */
function definitionOf({ filetype, metadata }: FileMeta): string | undefined {
  const definition = filetype === 'plot' || filetype === 'dashboard' ? metadata[DEFINITION_KEY] : undefined
  return typeof definition === 'string' ? definition.split('/').slice(1).join('/') : undefined
}

/** Returns the error for a directory without data files. */
export function noDataFilesProblem(directory: string): Problem {
  return new Problem('usage', `--delete: ${directory} has no data files to upload`, {
    hint: 'An empty directory does not empty the folder. To remove the folder: gridline trash FOLDER',
  })
}

/** Returns the path of what a local file makes, below the destination folder. */
export function storedPathOf({ file, folders, name = gridNameOf(basename(file)) }: LocalFile): string {
  return [...folders, name].join('/')
}

/** Returns the name of a directory's destination folder. Throws `usage` without a name. */
function folderNameOf(directory: string): string {
  const name = basename(directory.replace(/[/\\]+$/, ''))
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (!stats) throw new Problem('no_such_file', `${directory}: no such file or directory`)
  const isDirectory = stats.isDirectory()
  if (!isDirectory || name === '.' || name === '..' || name === '')
    throw new Problem('usage', `--delete needs a directory with a name, not ${directory}`, {
      hint: 'Run the command in the parent directory: gridline upload data --delete',
    })
  return name
}

/** Returns the destination folder of a directory; undefined if it does not exist. */
async function findFolder(
  client: Client,
  folder: string | undefined,
  root: string,
): Promise<FileMeta | undefined> {
  const { 'Parent-Path': path } = await resolveDestinationHeaders(client, folder, [root])
  const file = await lookupOrUndefined(client, path!)
  return file?.filetype === 'fold' ? file : undefined
}

/** Returns a pattern for file names, and the same for grid names. */
function withGridNames(pattern: string): string[] {
  const at = pattern.lastIndexOf('/') + 1
  return [pattern, pattern.slice(0, at) + gridNameOf(pattern.slice(at))]
}

/** Asks for confirmation if more than half of the grids are removed. Throws `row_loss` above --max-delete. */
async function confirmRemovals(
  removals: readonly Removal[],
  total: number,
  { maxDelete, yes, isDry }: RemovalOptions,
): Promise<void> {
  const count = removals.length
  if (count === 0) return
  const proportion = `${formatCount(count, 'grid')} of ${total} would be moved to the trash`
  const examples = removals.slice(0, 3).map(({ path }) => path)
  const summary = `--delete: ${proportion}: ${examples.join(', ')}${count > 3 ? ' …' : ''}`
  if (maxDelete !== undefined) {
    if (isWithin(count, total, maxDelete)) return
    throw new Problem('row_loss', `${summary} (--max-delete ${maxDelete})`, {
      hint: 'If that is intended, use a higher --max-delete.',
    })
  }
  if (count * 100 > total * MAX_UNCONFIRMED_PERCENT && !isDry)
    await confirm(`${summary}. Move them to the trash?`, yes === true)
}

/** Returns whether a count is within `limit`: a number or percentage. Throws `usage`. */
function isWithin(count: number, total: number, limit: string): boolean {
  const [, number, percent] = /^\s*(\d{1,9})\s*(%?)\s*$/.exec(limit) ?? []
  if (number === undefined || (percent && Number(number) > 100))
    throw new Problem('usage', `--max-delete ${limit}: must be a number, or a percentage from 0% to 100%`)
  return percent ? count * 100 <= total * Number(number) : count <= Number(number)
}
