/** Compares the grids of two folders, directories or archives by their paths. */
import { basename } from 'node:path'
import { Problem } from '../../contract/errors.ts'
import { gridName } from '../../contract/formats.ts'
import type { GridDiff } from '../../contract/resources/index.ts'
import type { Context } from '../core/context.ts'
import type { CommandResult } from '../core/define.ts'
import { readHere } from '../files/local-data.ts'
import type { ReadingOptions } from '../files/parse-options.ts'
import { onOneService, type Side } from '../files/sides.ts'
import { filesBelow } from '../files/tree.ts'
import { hasColor } from '../output/color.ts'
import { diffText } from '../output/diff.ts'
import { expand } from '../upload/expand.ts'

/** Exit code of --exit-code for differences. */
const DIFFERS = 10

/** Difference of one grid between two folders. */
interface Change {
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
export async function diffOfFolders(
  context: Context,
  [before, after]: readonly [Side, Side],
  options: Options,
  diffOf: (sides: readonly [Side, Side]) => Promise<GridDiff>,
): Promise<CommandResult> {
  const { format = 'table', stat, exitCode } = options
  if (format !== 'table' && format !== 'md')
    throw new Problem('usage', `--format ${format}: for folders, use table, md or --json`)
  const [oldGrids, newGrids] = [
    await gridsIn(context, before, options),
    await gridsIn(context, after, options),
  ]
  const changes: Change[] = []
  for (const path of [...new Set([...oldGrids.keys(), ...newGrids.keys()])].sort()) {
    const [a, b] = [oldGrids.get(path), newGrids.get(path)]
    if (!a || !b) changes.push({ path, change: a ? 'removed' : 'added' })
    else {
      const diff = await diffOf(await onOneService(context, [await a(), await b()]))
      if (!diff.is_same) changes.push({ path, change: 'changed', diff })
    }
  }
  const exit = exitCode && changes.length > 0 ? DIFFERS : 0
  const { flags, environment } = context
  if (flags.json !== undefined || flags.jq !== undefined)
    return { many: changes, view: { columns: [] }, exit }
  const printOptions = {
    isStat: stat === true,
    color: hasColor(process.stdout, environment),
    width: widthOf(),
  }
  const texts = changes.map(({ path, change, diff }) =>
    diff
      ? diffText(diff, format, {
          ...printOptions,
          names: { before: `${before.name}: ${path}`, after: after.name },
        })
      : `${change === 'added' ? '+' : '−'} ${path}: ${change}\n`,
  )
  const sameText = `${before.name} → ${after.name}: no differences in ${newGrids.size} grids\n`
  return { text: texts.length > 0 ? texts.join('\n') : sameText, exit }
}

/** Returns the width of the terminal, in characters; Infinity for other output. */
function widthOf(): number {
  const { isTTY, columns = 80 } = process.stdout
  return isTTY ? columns : Number.POSITIVE_INFINITY
}

/** Returns loaders of the grids in a folder, by path. Local files are read only when needed. */
async function gridsIn(
  context: Context,
  side: Side,
  options: Options,
): Promise<Map<string, () => Promise<Side>>> {
  const { client, fid, isLocal, name } = side
  const grids = new Map<string, () => Promise<Side>>()
  const add = (path: string, load: () => Promise<Side>): void => {
    if (grids.has(path)) throw new Problem('usage', `${name}: two files have the path ${path}`)
    grids.set(path, load)
  }
  if (fid !== '') {
    for (const { file, folders } of await filesBelow(
      client,
      (await client.call('files.get', { fid })) as never,
    ))
      if (file.filetype === 'grid')
        add([...folders.slice(1), file.filename].join('/'), async () => ({
          ...side,
          name: file.filename,
          fid: file.fid,
          filetype: 'grid',
        }))
    return grids
  }
  for (const { file } of expand([name], {}).files) {
    const segments = file.slice(name.replace(/[/\\]+$/, '').length + 1).split(/[/\\]/)
    const path = [...segments.slice(0, -1), gridName(basename(file))].join('/')
    add(path, async () => {
      const { made } = await readHere(context, file, options)
      if (made.file.filetype !== 'grid')
        throw new Problem('usage', `${file} contains several tables`, {
          hint: 'Compare the file alone, or choose a sheet with --sheet.',
        })
      return { name: path, client, fid: made.file.fid, version: undefined, isLocal, filetype: 'grid' }
    })
  }
  return grids
}
