// `gridline cp`: copies files.
import { type Client, lookupOrUndefined } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { parseFid, ROOT } from '../../contract/fid.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runOnFiles } from '../files/batch.ts'
import { isPattern } from '../files/patterns.ts'
import { resolveFolderId } from '../files/targets.ts'
import { linkView } from '../output/view.ts'

export const command = defineCommand({
  output: arrayOf(['File', 'Grid', 'Folder', 'Plot'], {
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
        ? await parseDestination(client, words, options.name)
        : {
            files: words,
            parent: to === undefined ? undefined : await resolveFolderId(client, to),
            name: options.name,
          }
    if (name !== undefined && (files.length > 1 || (await matchesSeveral(client, files[0]))))
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
          const change: FileChange = {
            ...(parent === undefined || file.parent === parent ? {} : { parent }),
            filename:
              file.fid === new_fid
                ? (name ?? original?.filename)
                : parent === undefined
                  ? undefined
                  : file.filename,
          }
          const isInPlace = change.parent === undefined && change.filename === undefined
          copies.push(
            isInPlace ? file : await moveCopy(c, file, change, name === undefined ? 0 : MAX_NAME_ATTEMPTS),
          )
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
async function parseDestination(
  client: Client,
  words: string[],
  nameOption: string | undefined,
): Promise<Destination> {
  const files = words.slice(0, -1)
  const last = words[words.length - 1]
  const folder = await findFolderId(client, last)
  if (folder !== undefined) return { files, parent: folder, name: nameOption }
  const target =
    files.length === 1 && nameOption === undefined && !(await matchesSeveral(client, files[0]))
      ? await parseNewName(client, last)
      : undefined
  if (target) return { files, ...target }
  throw new Problem('not_found', `no folder at ${last}`, {
    hint: 'The last argument is the destination folder. Create it with: gridline mkdir',
  })
}

/** Returns whether a word is a pattern, and not the name of a file. */
async function matchesSeveral(client: Client, file: string): Promise<boolean> {
  return isPattern(file) && !(await lookupOrUndefined(client, file))
}

interface FileChange {
  parent?: number
  filename?: string
}

/** Returns name and folder for a copy; undefined if the name is taken or is not a valid target. */
async function parseNewName(
  client: Client,
  target: string,
): Promise<{ name: string; parent: number | undefined } | undefined> {
  if (parseFid(target) || isPattern(target) || /^https?:/i.test(target)) return undefined
  const slash = target.lastIndexOf('/')
  const name = target.slice(slash + 1)
  if (name === '' || (await lookupOrUndefined(client, target))) return undefined
  return { name, parent: slash === -1 ? undefined : await resolveFolderId(client, target.slice(0, slash)) }
}

/** Maximum number of names to try if the original name is taken. */
const MAX_NAME_ATTEMPTS = 50

/** Moves and renames a new copy. On failure, the copy stays in its folder, and the message says which. */
async function moveCopy(
  client: Client,
  file: FileMeta,
  change: FileChange,
  attempt: number,
): Promise<FileMeta> {
  try {
    const filename =
      attempt > 0 && attempt < MAX_NAME_ATTEMPTS ? `${change.filename} (${attempt})` : change.filename
    return await client.call('files.update', { fid: file.fid, json: { ...change, filename } })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (error.code === 'already_exists' && change.filename !== undefined && attempt < MAX_NAME_ATTEMPTS - 1)
      return moveCopy(client, file, change, attempt + 1)
    throw new Problem(
      error.code,
      `copied as ${file.fid} (${file.filename}), but the copy could not be moved or renamed: ${error.message}`,
      { hint: `Choose another name with: gridline rename ${file.fid} NAME` },
    )
  }
}

/** Returns the id of a folder; undefined if it is not a folder or does not exist. */
async function findFolderId(client: Client, name: string): Promise<number | undefined> {
  if (name === '/') return ROOT
  if (/^https?:/i.test(name)) return undefined
  const fid = parseFid(name)
  if (fid?.idlocal === ROOT) return resolveFolderId(client, name)
  const file = await (fid ? findFile(client, name) : lookupOrUndefined(client, name))
  return file?.filetype === 'fold' ? resolveFolderId(client, file.fid) : undefined
}

async function findFile(client: Client, fid: string): Promise<FileMeta | undefined> {
  return undefinedIfNotFound(client.call('files.get', { fid }))
}
