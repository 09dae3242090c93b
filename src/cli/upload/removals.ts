import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { type Client, lookupIfThere } from '../../client/index.ts'
import { counted } from '../../contract/closest.ts'
import { Problem } from '../../contract/errors.ts'
import { gridName } from '../../contract/formats.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { confirm } from '../core/prompt.ts'
import { filesBelow } from '../files/tree.ts'
import { type Expanded, type LocalFile, matcher } from './expand.ts'
import { placeOf } from './send.ts'

/** Percent of the grids of a folder that are removed without a question. */
const MAX_REMOVED = 50

export interface RemovalOptions {
  folder?: string
  include?: readonly string[]
  exclude?: readonly string[]
  maxDelete?: string
  yes?: boolean
  /** Nothing is removed now. */
  isDry?: boolean
}

/** A grid that no file of a directory makes. */
export interface Removal {
  file: FileMeta
  /** Below the destination folder. */
  path: string
}

/**
 * The grids in the folders of directories that no file of theirs makes: those that --delete moves to the trash. Spares what
 * --exclude names, and what --include does not. Throws `row_loss` above --max-delete, and `usage` for a directory without
 * data files.
 */
export async function removalsOf(
  client: Client,
  given: readonly string[],
  { files, left }: Expanded,
  options: RemovalOptions,
): Promise<Removal[]> {
  const { exclude = [], include = [] } = options
  const made = new Set([...files, ...left].map(pathOf))
  const isExcluded = matcher(exclude.flatMap(ofGrids))
  const isIncluded = matcher(include.flatMap(ofGrids))
  const removals: Removal[] = []
  let total = 0
  for (const directory of given) {
    const root = rootOf(directory)
    const isEmpty = !files.some(({ folders }) => folders[0] === root)
    if (isEmpty) throw noDataFiles(directory)
    const folder = await folderAt(client, options.folder, root)
    for (const { file, folders } of folder ? await filesBelow(client, folder) : []) {
      if (file.filetype !== 'grid') continue
      total++
      const names = [...folders, file.filename]
      const inside = names.slice(1).join('/')
      const isMade = names.some((_, k) => made.has(names.slice(0, k + 1).join('/')))
      if (isMade || isExcluded(inside) || (include.length > 0 && !isIncluded(inside))) continue
      removals.push({ file, path: names.join('/') })
    }
  }
  await allow(removals, total, options)
  return removals
}

/** The error for a mirror of nothing. */
export function noDataFiles(directory: string): Problem {
  return new Problem('usage', `--delete: ${directory} has no data files to upload`, {
    hint: 'A folder is not emptied because a directory is empty. To remove the folder: gridline trash FOLDER',
  })
}

/** The path of the grid that a local file becomes, below the destination folder. */
function pathOf({ file, folders }: LocalFile): string {
  return [...folders, gridName(basename(file))].join('/')
}

/** The folder that a directory goes to. Throws `usage` unless it has one of its own. */
function rootOf(directory: string): string {
  const name = basename(directory.replace(/[/\\]+$/, ''))
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (!stats) throw new Problem('no_such_file', `${directory}: no such file or directory`)
  const isDirectory = stats.isDirectory()
  if (!isDirectory || name === '.' || name === '..' || name === '')
    throw new Problem('usage', `--delete is for directories with a name, and ${directory} is none`, {
      hint: 'Name the directory from above: gridline upload data --delete',
    })
  return name
}

async function folderAt(
  client: Client,
  folder: string | undefined,
  root: string,
): Promise<FileMeta | undefined> {
  const { 'Parent-Path': path } = await placeOf(client, folder, [root])
  const found = await lookupIfThere(client, path!)
  return found?.filetype === 'fold' ? found : undefined
}

/** A pattern for file names, and for the names of the grids that these become. */
function ofGrids(pattern: string): string[] {
  const at = pattern.lastIndexOf('/') + 1
  return [pattern, pattern.slice(0, at) + gridName(pattern.slice(at))]
}

async function allow(
  removals: readonly Removal[],
  total: number,
  { maxDelete, yes, isDry }: RemovalOptions,
): Promise<void> {
  const count = removals.length
  if (count === 0) return
  const share = `${counted(count, 'grid')} of ${total} would be moved to the trash`
  const named = removals.slice(0, 3).map(({ path }) => path)
  const what = `--delete: ${share}: ${named.join(', ')}${count > 3 ? ' …' : ''}`
  if (maxDelete !== undefined) {
    if (isWithin(count, total, maxDelete)) return
    throw new Problem('row_loss', `${what} (--max-delete ${maxDelete})`, {
      hint: 'If that is right, give a higher --max-delete.',
    })
  }
  if (count * 100 > total * MAX_REMOVED && !isDry) await confirm(`${what}. Move them?`, yes === true)
}

/** `limit`: a number, or a percentage of all. */
function isWithin(count: number, total: number, limit: string): boolean {
  const [, number, percent] = /^\s*(\d{1,9})\s*(%?)\s*$/.exec(limit) ?? []
  if (number === undefined || (percent && Number(number) > 100))
    throw new Problem('usage', `--max-delete ${limit}: must be a number, or a percentage from 0% to 100%`)
  return percent ? count * 100 <= total * Number(number) : count <= Number(number)
}
