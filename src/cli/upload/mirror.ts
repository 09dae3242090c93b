// Finds the grids that `upload --delete` moves to the trash: those without a local file.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { confirm } from '../core/prompt.ts'
import { definitionKindOf, definitionPathOf, parseMarker } from '../files/definitions.ts'
import { listTree } from '../files/list-tree.ts'
import { isAtOrBelow } from '../files/patterns.ts'
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
 * local file: --delete moves them to the trash. Keeps those that --exclude matches, or --include does not. Throws
 * `row_loss` above --max-delete, and `usage` for a directory without data files.
 */
export async function listRemovals(
  client: Client,
  directories: readonly string[],
  expanded: Expanded,
  options: RemovalOptions,
): Promise<Removal[]> {
  const { grids, made } = await listMirrored(client, directories, expanded, options)
  for (const directory of directories) {
    const root = folderNameOf(directory)
    const hasData = expanded.files.some(
      ({ file, folders }) => folders[0] === root && definitionKindOf(file) === undefined,
    )
    if (!hasData && grids.removals.some(({ path }) => path.startsWith(`${root}/`)))
      throw noDataFilesProblem(directory)
  }
  await confirmRemovals(grids, 'grid', options)
  await confirmRemovals(made, 'chart or board', options)
  return [...grids.removals, ...made.removals]
}

/** Lists the grids of mirrored directories, and what is made from definition files, that have no local file. */
export async function listMirrored(
  client: Client,
  directories: readonly string[],
  { files, excluded }: Pick<Expanded, 'files' | 'excluded'>,
  options: Pick<RemovalOptions, 'folder' | 'include' | 'exclude'>,
): Promise<{ grids: Mirrored; made: Mirrored }> {
  const { exclude = [], include = [] } = options
  const isLeftOut = (patterns: { exclude: readonly string[]; include: readonly string[] }) => {
    const [isExcluded, isIncluded] = [createMatcher(patterns.exclude), createMatcher(patterns.include)]
    return (path: string): boolean => isExcluded(path) || (patterns.include.length > 0 && !isIncluded(path))
  }
  const isGridLeftOut = isLeftOut({
    exclude: exclude.flatMap(withGridNames),
    include: include.flatMap(withGridNames),
  })
  const isFileLeftOut = isLeftOut({ exclude, include })
  const localPaths = new Set([...files, ...excluded].map(storedPathOf))
  const keptDefinitions = new Set(excluded.map(definitionPathOf))
  const grids: Mirrored = { removals: [], total: 0 }
  const made: Mirrored = { removals: [], total: 0 }
  for (const directory of directories) {
    const root = folderNameOf(directory)
    const own = files.filter(({ folders }) => folders[0] === root)
    if (own.length === 0) throw noDataFilesProblem(directory)
    const folder = await findFolder(client, options.folder, root)
    for (const { file, folders } of folder ? await listTree(client, folder) : []) {
      const names = [...folders, file.filename]
      const path = names.join('/')
      const definition = definitionOf(file, folders)
      if (file.filetype !== 'grid' && definition === undefined) continue
      const group = file.filetype === 'grid' ? grids : made
      group.total++
      if (isAtOrBelow(path, localPaths)) continue
      const isLeft =
        definition === undefined
          ? isGridLeftOut(path.slice(root.length + 1))
          : keptDefinitions.has(definition) || isFileLeftOut(definition.slice(root.length + 1))
      if (!isLeft) group.removals.push({ file, path })
    }
  }
  return { grids, made }
}

/** Files of one kind in the folders of a mirror, and those without a local file. */
interface Mirrored {
  removals: Removal[]
  total: number
}

/** Returns the path of the file from which a chart or a board in this folder is made; undefined if none is. */
function definitionOf(file: FileMeta, folders: readonly string[]): string | undefined {
  const path = file.filetype === 'plot' || file.filetype === 'dashboard' ? parseMarker(file)?.path : undefined
  // Moved or copied from another directory, it is not of this one.
  return path?.slice(0, path.lastIndexOf('/')) === folders.join('/') ? path : undefined
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

/** Asks for confirmation if more than half of the files are removed. Throws `row_loss` above --max-delete. */
async function confirmRemovals(
  { removals, total }: Mirrored,
  noun: string,
  { maxDelete, yes, isDry }: RemovalOptions,
): Promise<void> {
  const count = removals.length
  if (count === 0) return
  const proportion = `${count === 1 ? `1 ${noun}` : `${count} ${noun.replace(/\b(grid|chart|board)\b/g, '$1s')}`} of ${total} would be moved to the trash`
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
