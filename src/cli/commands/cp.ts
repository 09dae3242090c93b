import { type Client, lookupIfThere } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { parseFid, ROOT } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources.ts'
import type { Command } from '../command.ts'
import { idOfFolder, isPattern, overFiles } from '../files.ts'
import { linkView } from '../output/view.ts'

export const command: Command = {
  arguments: '<file...>',
  options: [
    { flags: '--to <folder>', description: 'folder of yours to put the copies in; / is the home folder' },
    { flags: '--name <name>', description: 'name of the copy' },
    { flags: '--deep', description: 'of a plot: copy its data too, instead of using the same grids' },
    { flags: '--public', description: 'let anyone read the copy' },
  ],
  examples: [
    'gridline cp sales',
    'gridline cp sales "sales 2024"',
    "gridline cp 'Reports/2024*' Archive",
    'gridline cp bob:7 --deep',
    'gridline cp https://charts.example.com/~bob/7/',
  ],
  async run(context, given, options) {
    const { to, deep } = options as { to?: string; deep?: boolean }
    const client = await context.client()
    // As the last of several, a folder is where the copies go: it could not be copied itself.
    const last =
      to === undefined && given.length > 1 ? await folderAt(client, given[given.length - 1]) : undefined
    // As the second of two, a name that nothing has is that of the copy.
    const called =
      last === undefined && to === undefined && options.name === undefined && given.length === 2
        ? await newName(client, given[1])
        : undefined
    const name = called?.name ?? (options.name as string | undefined)
    const parent = last ?? called?.parent ?? (to === undefined ? undefined : await idOfFolder(client, to))
    const files = last === undefined && called === undefined ? given : given.slice(0, -1)
    if (name !== undefined && files.length > 1) throw new Problem('usage', '--name goes with one file')
    const json = { deep_copy: deep === true, make_public: options.public === true }
    return overFiles(
      context,
      files,
      async (c, fid) => {
        // Beside the original the copy gets another name; elsewhere it can have the same.
        const original =
          parent === undefined || name !== undefined ? undefined : await c.call('files.get', { fid })
        const { files: made, new_fid, warnings } = await c.call('files.copy', { fid, json })
        const copies = []
        for (const file of made) {
          const change: Change = {
            ...(parent === undefined || file.parent === parent ? {} : { parent }),
            ...(file.fid === new_fid ? { filename: name ?? original?.filename } : {}),
          }
          const same = change.parent === undefined && change.filename === undefined
          copies.push(same ? file : await placed(c, file, change, name !== undefined))
        }
        return { ...copies.find((file) => file.fid === new_fid), files: copies, new_fid, warnings }
      },
      linkView,
    )
  },
}

interface Change {
  parent?: number
  filename?: string
}

/** Where a copy goes that is to have this name; undefined where something has it, or it is none. */
async function newName(
  client: Client,
  given: string,
): Promise<{ name: string; parent: number | undefined } | undefined> {
  if (parseFid(given) || isPattern(given) || /^https?:/i.test(given)) return undefined
  const slash = given.lastIndexOf('/')
  const name = given.slice(slash + 1)
  if (name === '' || (await lookupIfThere(client, given))) return undefined
  return { name, parent: slash === -1 ? undefined : await idOfFolder(client, given.slice(0, slash)) }
}

/** The copy is made: where it cannot go, it stays, and the message says where. */
async function placed(client: Client, file: FileMeta, change: Change, named: boolean): Promise<FileMeta> {
  try {
    return await client.call('files.update', { fid: file.fid, json: change })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    // Only the name it would have anyway is taken there: it keeps the one it got.
    if (error.code === 'already_exists' && !named && change.filename !== undefined)
      return placed(client, file, { parent: change.parent }, true)
    throw new Problem(
      error.code,
      `copied as ${file.fid} (${file.filename}), which stays as it is: ${error.message}`,
      { hint: `Give another name with: gridline rename ${file.fid} NAME` },
    )
  }
}

/** The id of the folder a name stands for; undefined where it is something else, or nothing. */
async function folderAt(client: Client, given: string): Promise<number | undefined> {
  if (given === '/') return ROOT
  if (/^https?:/i.test(given)) return undefined
  const fid = parseFid(given)
  if (fid?.idlocal === ROOT) return idOfFolder(client, given)
  const file = await (fid ? fileIfThere(client, given) : lookupIfThere(client, given))
  return file?.filetype === 'fold' ? idOfFolder(client, file.fid) : undefined
}

async function fileIfThere(client: Client, fid: string): Promise<FileMeta | undefined> {
  try {
    return await client.call('files.get', { fid })
  } catch (error) {
    if (error instanceof Problem && error.code === 'not_found') return undefined
    throw error
  }
}
