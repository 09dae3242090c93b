// `gridline cp`: copies files.
import { type Client, lookupIfThere } from '../../client/index.ts'
import { ifFound, Problem } from '../../contract/errors.ts'
import { parseFid, ROOT } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { runOnFiles } from '../files/batch.ts'
import { isPattern } from '../files/patterns.ts'
import { idOfFolder } from '../files/targets.ts'
import { linkView } from '../output/view.ts'

export const command = defineCommand({
  prints: array(['File', 'Grid', 'Folder', 'Plot'], {
    files: 'all created files',
    new_fid: 'the id of the copy',
    warnings: 'an array of texts',
  }),
  writes: true,
  arguments: '<source...>',
  usage: '<source...> [destination]',
  options: [
    { flags: '--to <folder>', description: 'destination folder, owned by you (/ is the home folder)' },
    { flags: '--name <name>', description: 'name of the copy' },
    { flags: '--deep', description: 'for plots: also copy the grids they use' },
    { flags: '--public', description: 'make the copy public (readable by anyone)' },
  ],
  examples: [
    'gridline cp sales',
    'gridline cp sales "sales 2024"',
    "gridline cp 'Reports/2024*' Archive",
    'gridline cp bob:7 --deep',
    'gridline cp https://charts.example.com/~bob/7/',
  ],
  async run(context, words, options) {
    const { to, deep } = options
    const client = await context.client()
    const { files, parent, name } =
      to === undefined && words.length > 1
        ? await destination(client, words, options.name as string | undefined)
        : {
            files: words,
            parent: to === undefined ? undefined : await idOfFolder(client, to),
            name: options.name as string | undefined,
          }
    if (name !== undefined && (files.length > 1 || (await standsForSeveral(client, files[0]))))
      throw new Problem('usage', 'a name can only be given for one file', {
        hint: 'To copy several files, use --to FOLDER.',
      })
    const json = { deep_copy: deep === true, make_public: options.public === true }
    return runOnFiles(
      context,
      files,
      async (c, fid) => {
        // The copy is next to the original, under another name. In another folder it can have the original
        // name.
        const original =
          parent === undefined || name !== undefined ? undefined : await c.call('files.get', { fid })
        const { files: created, new_fid, warnings } = await c.call('files.copy', { fid, json })
        const copies = []
        for (const file of created) {
          const change: Change = {
            ...(parent === undefined || file.parent === parent ? {} : { parent }),
            filename:
              file.fid === new_fid
                ? (name ?? original?.filename)
                : parent === undefined
                  ? undefined
                  : file.filename,
          }
          const isInPlace = change.parent === undefined && change.filename === undefined
          copies.push(isInPlace ? file : await placed(c, file, change, name === undefined ? 0 : FREE_NAMES))
        }
        return { ...copies.find((file) => file.fid === new_fid), files: copies, new_fid, warnings }
      },
      linkView,
    )
  },
})

/** Interpreted arguments. */
interface Destination {
  files: string[]
  parent: number | undefined
  name: string | undefined
}

/**
 * Interprets the last argument: the destination folder or, with two arguments, the name of the copy. Throws
 * `not_found` otherwise.
 */
async function destination(
  client: Client,
  words: string[],
  nameOption: string | undefined,
): Promise<Destination> {
  const files = words.slice(0, -1)
  const last = words[words.length - 1]
  const folder = await folderAt(client, last)
  if (folder !== undefined) return { files, parent: folder, name: nameOption }
  const target =
    files.length === 1 && nameOption === undefined && !(await standsForSeveral(client, files[0]))
      ? await newName(client, last)
      : undefined
  if (target) return { files, ...target }
  throw new Problem('not_found', `no folder at ${last}`, {
    hint: 'The last argument is the destination folder. Create it with: gridline mkdir',
  })
}

/** Returns whether a word is a pattern, and not the name of a file. */
async function standsForSeveral(client: Client, file: string): Promise<boolean> {
  return isPattern(file) && !(await lookupIfThere(client, file))
}

interface Change {
  parent?: number
  filename?: string
}

/** Returns name and folder for a copy; undefined if the name is taken or is not a valid target. */
async function newName(
  client: Client,
  target: string,
): Promise<{ name: string; parent: number | undefined } | undefined> {
  if (parseFid(target) || isPattern(target) || /^https?:/i.test(target)) return undefined
  const slash = target.lastIndexOf('/')
  const name = target.slice(slash + 1)
  if (name === '' || (await lookupIfThere(client, target))) return undefined
  return { name, parent: slash === -1 ? undefined : await idOfFolder(client, target.slice(0, slash)) }
}

/** Maximum number of names to try if the original name is taken. */
const FREE_NAMES = 50

/** Moves and renames a new copy. On failure, the copy stays in its folder, and the message says which. */
async function placed(client: Client, file: FileMeta, change: Change, attempt: number): Promise<FileMeta> {
  try {
    const filename = attempt > 0 && attempt < FREE_NAMES ? `${change.filename} (${attempt})` : change.filename
    return await client.call('files.update', { fid: file.fid, json: { ...change, filename } })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (error.code === 'already_exists' && change.filename !== undefined && attempt < FREE_NAMES - 1)
      return placed(client, file, change, attempt + 1)
    throw new Problem(
      error.code,
      `copied as ${file.fid} (${file.filename}), but the copy could not be moved or renamed: ${error.message}`,
      { hint: `Choose another name with: gridline rename ${file.fid} NAME` },
    )
  }
}

/** Returns the id of a folder; undefined if it is not a folder or does not exist. */
async function folderAt(client: Client, name: string): Promise<number | undefined> {
  if (name === '/') return ROOT
  if (/^https?:/i.test(name)) return undefined
  const fid = parseFid(name)
  if (fid?.idlocal === ROOT) return idOfFolder(client, name)
  const file = await (fid ? fileIfThere(client, name) : lookupIfThere(client, name))
  return file?.filetype === 'fold' ? idOfFolder(client, file.fid) : undefined
}

async function fileIfThere(client: Client, fid: string): Promise<FileMeta | undefined> {
  return ifFound(client.call('files.get', { fid }))
}
