/** Compares the grids of two folders, directories or archives by their paths. */
import { basename } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { gridNameOf } from '../../contract/formats.ts'
import type { GridDiff } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import type { CommandResult } from '../core/define.ts'
import { type DiffInput, moveToOneService } from '../files/diff-inputs.ts'
import { listTree } from '../files/list-tree.ts'
import { loadLocalFile } from '../files/local-data.ts'
import type { ReadingOptions } from '../files/parse-options.ts'
import { isAtOrBelow } from '../files/patterns.ts'
import { hasColor } from '../output/color.ts'
import { formatDiff } from '../output/diff.ts'
import { expandFiles, noteLinks } from '../upload/expand.ts'

/** Exit code of --exit-code for differences. */
const DIFFERENCE_EXIT = 10

/** Difference of one grid between two folders. */
interface GridChange {
  path: string
  change: 'added' | 'removed' | 'changed'
  diff?: GridDiff
}

interface Options extends ReadingOptions {
  format?: string
  stat?: boolean
  exitCode?: boolean
}

/** Compares two folders, and prints the differences. */
export async function diffFolders(
  context: Context,
  [before, after]: readonly [DiffInput, DiffInput],
  options: Options,
  diffOf: (sides: readonly [DiffInput, DiffInput]) => Promise<GridDiff>,
): Promise<CommandResult> {
  const { format = 'table', stat, exitCode } = options
  if (format !== 'table' && format !== 'md')
    throw new Problem('usage', `--format ${format}: for folders, use table, md or --json`)
  const links = new Set<string>()
  const [oldGrids, newGrids] = [
    await listGrids(context, before, options, links),
    await listGrids(context, after, options, links),
  ]
  const changes: GridChange[] = []
  for (const path of [...new Set([...oldGrids.keys(), ...newGrids.keys()])].sort()) {
    const [a, b] = [oldGrids.get(path), newGrids.get(path)]
    if (isAtOrBelow(path, links)) continue
    if (!a || !b) changes.push({ path, change: a ? 'removed' : 'added' })
    else {
      const diff = await diffOf(await moveToOneService(context, [await a(), await b()]))
      if (!diff.is_same) changes.push({ path, change: 'changed', diff })
    }
  }
  const exit = exitCode && changes.length > 0 ? DIFFERENCE_EXIT : 0
  const { flags, environment } = context
  if (flags.json !== undefined || flags.jq !== undefined)
    return { items: changes, view: { columns: [] }, exit }
  const printOptions = {
    isStat: stat === true,
    color: hasColor(process.stdout, environment),
    width: terminalWidth(),
  }
  const texts = changes.map(({ path, change, diff }) =>
    diff
      ? formatDiff(diff, format, {
          ...printOptions,
          names: { before: `${before.name}: ${path}`, after: after.name },
        })
      : `${change === 'added' ? '+' : '−'} ${path}: ${change}\n`,
  )
  const sameText = `${before.name} → ${after.name}: no differences in ${newGrids.size} grids\n`
  return { text: texts.length > 0 ? texts.join('\n') : sameText, exit }
}

/** Returns the width of the terminal, in characters; Infinity for other output. */
function terminalWidth(): number {
  const { isTTY, columns = 80 } = process.stdout
  return isTTY ? columns : Number.POSITIVE_INFINITY
}

/**
 * Returns loaders of the grids in a folder, by path. Local files are read only when needed. Adds the paths of symbolic
 * links to `links`: what they lead to is not compared.
 */
async function listGrids(
  context: Context,
  side: DiffInput,
  options: Options,
  links: Set<string>,
): Promise<Map<string, () => Promise<DiffInput>>> {
  const { client, fid, isLocal, name } = side
  const grids = new Map<string, () => Promise<DiffInput>>()
  const add = (path: string, load: () => Promise<DiffInput>): void => {
    if (grids.has(path)) throw new Problem('usage', `${name}: two files have the path ${path}`)
    grids.set(path, load)
  }
  if (fid !== '') {
    for (const { file, folders } of await listTree(client, await client.call('files.get', { fid })))
      if (file.filetype === 'grid')
        add([...folders.slice(1), file.filename].join('/'), async () => ({
          ...side,
          name: file.filename,
          fid: file.fid,
          filetype: 'grid',
        }))
    return grids
  }
  const expanded = expandFiles([name], {})
  noteLinks(context.messages, expanded)
  const pathOf = (file: string): string => {
    const segments = file.slice(name.replace(/[/\\]+$/, '').length + 1).split(/[/\\]/)
    return [...segments.slice(0, -1), gridNameOf(basename(file))].join('/')
  }
  for (const link of expanded.links) links.add(pathOf(link))
  for (const { file } of expanded.files) {
    const path = pathOf(file)
    add(path, async () => {
      const { uploaded } = await loadLocalFile(context, file, options)
      if (uploaded.file.filetype !== 'grid')
        throw new Problem('usage', `${file} contains several tables`, {
          hint: 'Compare the file alone, or choose a sheet with --sheet.',
        })
      return { name: path, client, fid: uploaded.file.fid, version: undefined, isLocal, filetype: 'grid' }
    })
  }
  return grids
}
