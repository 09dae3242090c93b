// `gridline pull`: downloads files into a directory, and skips unchanged ones.
import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatCount } from '../../contract/message-texts.ts'
import { contentFormats } from '../../contract/operations/index.ts'
import type { FileMeta } from '../../contract/resources/index.ts'
import { sortOption, whereOption } from '../../contract/row-options.ts'
import type { FormattedDefinition } from '../charts/format-definition.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { runEach } from '../files/batch.ts'
import { DownloadRecords } from '../files/download-records.ts'
import { listTree, type TreeEntry } from '../files/list-tree.ts'
import { assertNoLink, toSafeFileName } from '../files/local-names.ts'
import { wholeNameOf, withPart } from '../files/parts.ts'
import { resolveTargets } from '../files/targets.ts'
import { makeFolder, toWriteProblem } from '../files/write-file.ts'
import type { TableView } from '../output/view.ts'

/** Default number of parallel downloads. */
const DEFAULT_JOBS = 4

const view: TableView = {
  id: 'path',
  columns: [
    { field: 'path', title: 'PATH' },
    { field: 'fid', title: 'FID' },
    { field: 'action', title: 'ACTION' },
  ],
}

type Format = (typeof contentFormats)[number]
/** Format of grids without --format. */
const DEFAULT_FORMAT: Format = 'csv'

export const command = defineCommand({
  output: arrayOf([], {
    path: 'path of the local file',
    fid: 'id of the file',
    action: 'downloaded, unchanged or would download',
  }),
  arguments: '<file...>',
  usage: '<file...> <directory>',
  completion: ['file', ['file', 'local']],
  options: [
    { flags: '--format <format>', description: 'format of grids (default: csv)', choices: contentFormats },
    {
      flags: '--jobs <n>',
      integer: { max: 64 },
      description: 'number of parallel downloads (default: 4)',
    },
    {
      flags: '--force',
      description: 'download all files again, and overwrite local changes',
    },
    {
      flags: '--definitions',
      description:
        'write derived grids as queries, charts as chart files and boards as board files, as gridline upload reads them',
    },
    whereOption,
    sortOption,
    { flags: '--dry-run', description: 'show what would be downloaded, without writing anything' },
  ],
  examples: [
    'gridline pull sales .',
    'gridline pull Reports backup',
    "gridline pull 'Reports/2024*' data --format ndjson --jobs 8",
    'gridline pull Reports . --definitions',
  ],
  async run(context, words, options) {
    const directory = words.at(-1)!
    if (words.length < 2)
      throw new Problem('usage', 'expected files and a directory', {
        hint: `For example: gridline pull ${directory} .`,
      })
    if (existsSync(directory) && !statSync(directory).isDirectory())
      throw new Problem('usage', `${directory} is not a directory`)
    const client = await context.client()
    const { files, failures } = await resolveTargets(client, words.slice(0, -1), { read: true })
    const entries: TreeEntry[] = []
    for (const { fid } of files)
      entries.push(...(await listTree(client, await client.call('files.get', { fid }))))
    const items = await selectItems(context, client, entries, directory, options)
    if (!options.dryRun) {
      if (items.length > 0) makeFolder(directory)
      makeFolders(entries, directory)
    }
    const records = new DownloadRecords(directory)
    const result = await runEach(
      items,
      (item) => pullItem({ client, directory, records, options }, item),
      options.jobs ?? DEFAULT_JOBS,
    )
    if (!options.dryRun) {
      if (result.items.length > 0) records.save()
      removeLeftParts(items.map(({ path }) => path))
    }
    const allFailures = [...failures, ...result.failures]
    if (result.items.length === 0 && allFailures.length === 1) throw allFailures[0].problem
    return { items: result.items, view, failures: allFailures, empty: 'Nothing to download.' }
  },
})

interface PullOptions {
  format?: Format
  where?: string
  sort?: string
  force?: boolean
  definitions?: boolean
  dryRun?: boolean
}

/** A file to download. */
interface Item {
  file: FileMeta
  /** Names below the directory. */
  subject: string
  /** Path of the local file. */
  path: string
  /** Its text if it is written as a definition. */
  text?: string
}

/** Returns the files to download. Throws `conflict` if two have one path. Says which are left out. */
async function selectItems(
  context: Context,
  client: Client,
  entries: readonly TreeEntry[],
  directory: string,
  options: PullOptions,
): Promise<Item[]> {
  const { definitions, leftOut } = options.definitions
    ? await formatDefinitions(context, client, entries)
    : NO_DEFINITIONS
  const items = entries
    .filter(({ file: { fid, filetype } }) => {
      const isData = filetype === 'grid' || filetype === 'plot'
      return (isData && !leftOut.has(fid)) || definitions.has(fid)
    })
    .map(({ file, folders }) => {
      const extension = file.filetype === 'grid' ? (options.format ?? DEFAULT_FORMAT) : 'json'
      const definition = definitions.get(file.fid)
      const names = [...folders, definition?.file ?? `${file.filename}.${extension}`].map(toSafeFileName)
      return { file, subject: names.join('/'), path: join(directory, ...names), text: definition?.text }
    })
  const boards = entries.filter(({ file }) => file.filetype === 'dashboard').length
  if (boards > 0 && !options.definitions)
    context.messages.note(
      `left out: ${formatCount(boards, 'board')}; --definitions writes boards, charts and queries as the files that upload reads`,
    )
  const paths = new Set<string>()
  const duplicate = items.find(({ path }) => paths.size === paths.add(path).size)
  if (duplicate) throw new Problem('conflict', `two files have the same path ${duplicate.path}`)
  return items
}

/** Creates the folders of the server, also empty ones. */
function makeFolders(entries: readonly TreeEntry[], directory: string): void {
  for (const { file, folders } of entries) {
    if (file.filetype !== 'fold') continue
    const folder = join(directory, ...[...folders, file.filename].map(toSafeFileName))
    assertNoLink(folder, directory)
    makeFolder(folder)
  }
}

interface Pull {
  client: Client
  directory: string
  records: DownloadRecords
  options: PullOptions
}

/** Downloads a file, or says what would happen to it. Throws `conflict` if that would replace a changed file. */
async function pullItem(
  { client, directory, records, options }: Pull,
  { file, path, text }: Item,
): Promise<{ path: string; fid: string; action: string }> {
  const { fid } = file
  const { where, sort, force = false, dryRun } = options
  const content = { fid, ...(text === undefined && { version: client.versionOf(fid), where, sort }) }
  const isSame = text === undefined ? records.isCurrent(path, file, content) : hasText(path, text)
  if (!force && isSame) {
    if (text !== undefined) records.record(path, content)
    return { path, fid, action: 'unchanged' }
  }
  const read = (): Promise<AsyncIterable<Uint8Array>> =>
    download(client, file, { format: options.format ?? DEFAULT_FORMAT, where, sort })
  const checkOurs = (): void => {
    if (!force && !records.isOurs(path)) throw changedError(path)
  }
  if (dryRun) {
    // A pull that was interrupted has left files that are not recorded: with the same bytes, they are ours.
    const isUnknown = records.mayBeCurrent(path, content) || !records.isOurs(path)
    const isKept = !force && text === undefined && isUnknown && (await hasBytes(path, await read()))
    if (!isKept) checkOurs()
    return { path, fid, action: isKept ? 'unchanged' : 'would download' }
  }
  const bytes = text === undefined ? await read() : [text]
  const begin = (part: string): void => records.begin(path, part, content)
  const hasChanged = await writeDownload(bytes, file, path, directory, checkOurs, begin)
  records.record(path, content)
  return { path, fid, action: hasChanged || force ? 'downloaded' : 'unchanged' }
}

/** Creates the error for a local file that would be lost. */
function changedError(path: string): Problem {
  return new Problem('conflict', `${path} was changed locally, or not downloaded by pull`, {
    hint: 'Move it away, or use --force to replace it.',
  })
}

/** Files that have a definition, by id, and the ids of those that are left out. */
interface Definitions {
  definitions: ReadonlyMap<string, FormattedDefinition>
  leftOut: ReadonlySet<string>
}

const NO_DEFINITIONS: Definitions = { definitions: new Map(), leftOut: new Set() }

/** Errors of a file that cannot have a definition: it has no options, or its grid is gone or private. */
const WITHOUT_DEFINITION: ReadonlySet<string> = new Set(['usage', 'not_found', 'forbidden', 'bad_data'])

/** Formats files as definitions. Warns about those that cannot have one. */
async function formatDefinitions(
  { messages }: Context,
  client: Client,
  entries: readonly TreeEntry[],
): Promise<Definitions> {
  const { DefinitionFormatter } = await import('../charts/format-definition.ts')
  const formatter = await DefinitionFormatter.open(client, entries)
  const definitions = new Map<string, FormattedDefinition>()
  const leftOut = new Set<string>()
  for (const entry of entries) {
    const { fid, filename, filetype } = entry.file
    try {
      const definition = await formatter.format(entry)
      if (!definition) continue
      definitions.set(fid, definition)
      for (const note of definition.notes) messages.warning(note, filename)
    } catch (error) {
      if (!(error instanceof Problem) || !WITHOUT_DEFINITION.has(error.code)) throw error
      if (filetype !== 'grid') leftOut.add(fid)
      const instead = filetype === 'grid' ? 'its rows are written' : 'it is left out'
      messages.warning(`${error.message}: ${instead}`, filename)
    }
  }
  return { definitions, leftOut }
}

function hasText(path: string, text: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path, 'utf8') === text
}

/** Returns whether a file has the bytes of another one, or of a download; false if it is missing. */
async function hasBytes(path: string, other: string | AsyncIterable<Uint8Array>): Promise<boolean> {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isFile() || (typeof other === 'string' && statSync(other).size !== stats.size)) return false
  const [own, others] = await Promise.all(
    [createReadStream(path), typeof other === 'string' ? createReadStream(other) : Readable.from(other)].map(
      async (stream) => {
        const hash = createHash('sha256')
        await pipeline(stream, hash)
        return hash.digest('hex')
      },
    ),
  )
  return own === others
}

/** Starts the download of a grid or a figure. */
async function download(
  client: Client,
  { fid, filetype }: FileMeta,
  query: { format: Format; where?: string; sort?: string },
): Promise<AsyncIterable<Uint8Array>> {
  const response =
    filetype === 'grid'
      ? await client.response('grids.content', { fid, query })
      : await client.response('plots.content', { fid, query: { inline_data: true } })
  return response.bytes()
}

/**
 * Writes a part first: a failed download leaves the previous file. Returns whether the content differs from that file.
 * `checkPath`: throws if that file must stay, unless it has the same bytes. `begin`: called with the complete part.
 */
async function writeDownload(
  bytes: AsyncIterable<Uint8Array> | Iterable<string>,
  { date_modified }: FileMeta,
  path: string,
  directory: string,
  checkPath: () => void,
  begin: (part: string) => void,
): Promise<boolean> {
  try {
    assertNoLink(dirname(path), directory)
    makeFolder(dirname(path))
    return await withPart(path, async (part) => {
      await pipeline(Readable.from(bytes), createWriteStream(part))
      const modified = new Date(date_modified)
      utimesSync(part, modified, modified)
      const hasChanged = !(await hasBytes(path, part))
      if (hasChanged) checkPath()
      begin(part)
      renameSync(part, path)
      return hasChanged
    })
  } catch (error) {
    if (error instanceof Problem) throw error
    throw toWriteProblem(path, error)
  }
}

/** Age of a part that no pull writes to any more, in ms: one hour. */
const LEFT_PART_MS = 3600 * 1000

/** Removes the parts of files that interrupted runs have left. */
function removeLeftParts(paths: readonly string[]): void {
  const whole = new Set(paths)
  for (const folder of new Set(paths.map((path) => dirname(path))))
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const file = wholeNameOf(name)
      if (file === undefined || !whole.has(join(folder, file))) continue
      const part = join(folder, name)
      const stats = statSync(part, { throwIfNoEntry: false })
      if (stats?.isFile() && Date.now() - stats.mtimeMs > LEFT_PART_MS) rmSync(part, { force: true })
    }
}
