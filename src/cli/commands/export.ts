// `gridline export`: writes an account, or a site of files, into a directory, and checks exports.
import { join } from 'node:path'
import type { Client } from '../../client/index.ts'
import { Problem } from '../../contract/errors.ts'
import { formatCount, formatList } from '../../contract/message-texts.ts'
import type { Context } from '../core/context.ts'
import { type CommandEntry, type CommandResult, defineCommand, subcommand } from '../core/define.ts'
import { arrayOf, objectOf } from '../core/output-schema.ts'
import { confirm } from '../core/prompt.ts'
import { AccountExport } from '../export/account.ts'
import { ExportFolder, hashFile, listFiles, readSums } from '../export/export-folder.ts'
import { SiteExport } from '../export/site.ts'
import { runEach } from '../files/batch.ts'
import { listTree, type TreeEntry } from '../files/list-tree.ts'
import { listChildren } from '../files/pages.ts'
import { resolveTargets } from '../files/targets.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'directory',
  columns: [
    { field: 'directory', title: 'DIRECTORY' },
    { field: 'files', title: 'FILES', align: 'right' },
    { field: 'written', title: 'WRITTEN', align: 'right' },
    { field: 'unchanged', title: 'UNCHANGED', align: 'right' },
    { field: 'removed', title: 'REMOVED', align: 'right' },
  ],
}

const COUNTS = {
  directory: 'the directory',
  files: 'number of exported files',
  written: 'number of local files that were written',
  unchanged: 'number of local files that were already there',
  removed: 'number of local files of an earlier export that were removed',
}

const account = defineCommand({
  output: objectOf([], COUNTS),
  arguments: '<directory>',
  completion: ['local'],
  examples: ['gridline export account backup', 'gridline import backup --profile other'],
  async run(context, [directory]) {
    const client = await context.client()
    const { username } = await client.call('users.current')
    const folder = ExportFolder.open(directory, 'account')
    const note = (text: string): void => context.messages.warning(text)
    const { files, failures } = await new AccountExport(client, username, folder, note).run()
    const left = await listLeftOut(client)
    if (left.length > 0) context.messages.note(`Not exported: ${left.join(', ')}.`)
    return toResult(context, directory, folder, { files, failures })
  },
})

/** Lists what an account has and its export does not. */
async function listLeftOut(client: Client): Promise<string[]> {
  const { results, next } = (await client.call('folders.trashed', { query: { page_size: 1 } })).children
  const { alerts } = await client.call('alerts.list')
  const { mailings } = await client.call('mailings.list')
  const { refreshes } = await client.call('refreshes.list')
  return [
    ...(results.length > 0 || next !== null ? ['files in the trash'] : []),
    ...(alerts.length > 0 ? [formatCount(alerts.length, 'alert')] : []),
    ...(mailings.length > 0 ? [formatCount(mailings.length, 'mailing')] : []),
    ...(refreshes.length > 0
      ? [`how ${formatCount(refreshes.length, 'grid')} ${refreshes.length === 1 ? 'is' : 'are'} refreshed`]
      : []),
  ]
}

/** Returns the result of an export. */
function toResult(
  context: Context,
  directory: string,
  { written, unchanged, removed }: ExportFolder,
  { files, failures }: { files: number; failures: Failure[] },
): CommandResult {
  if (failures.length > 0) context.messages.warning('the export is not complete: run it again')
  return { item: { directory, files, written, unchanged, removed }, view, failures }
}

const MAX_NAMED_FILES = 5

const site = defineCommand({
  output: objectOf([], COUNTS),
  arguments: '<folder...>',
  usage: '<folder...> <directory>',
  completion: ['file', ['file', 'local']],
  options: [
    { flags: '--include-private', description: 'also export private files: whoever sees the site sees them' },
    { flags: '--title <title>', description: 'title of the site (default: the names of the folders)' },
    {
      flags: '--url <url>',
      description: 'URL at which the site will be: its pages offer blocks for embedding',
    },
    { flags: '-y, --yes', description: 'export private files without confirmation' },
  ],
  examples: [
    'gridline export site Reports public',
    'gridline export site / public',
    'gridline export site Reports public --title Figures --url https://charts.example.com',
  ],
  async run(context, words, { includePrivate, title, url, yes }) {
    const directory = words.at(-1)!
    if (words.length < 2)
      throw new Problem('usage', 'expected folders and a directory', {
        hint: 'For example: gridline export site Reports public',
      })
    if (url !== undefined && !/^https?:\/\/[^/]/.test(url))
      throw new Problem('usage', `--url ${url}: must be a URL such as https://charts.example.com`)
    const client = await context.client()
    const isHome = (word: string): boolean => word === '/' || word === '.'
    const names = words.slice(0, -1).filter((word) => !isHome(word))
    const { files, failures } = await resolveTargets(client, names, { read: true })
    if (failures.length > 0) throw failures[0].problem
    if (names.length < words.length - 1)
      files.push(...(await listChildren(client, undefined)).map(({ fid }) => ({ subject: fid, fid })))
    // A folder and a file in it can both be named.
    const entryByFid = new Map<string, TreeEntry>()
    for (const { fid } of files)
      for (const entry of await listTree(client, await client.call('files.get', { fid })))
        if (!entryByFid.has(entry.file.fid)) entryByFid.set(entry.file.fid, entry)
    const entries = [...entryByFid.values()]
    const isExportable = ({ file }: TreeEntry): boolean =>
      file.filetype === 'plot' || file.filetype === 'grid' || file.filetype === 'dashboard'
    const hidden = entries.filter((entry) => isExportable(entry) && !entry.file.world_readable)
    const hiddenNames = formatList(
      hidden.map(({ file, folders }) => [...folders, file.filename].join('/')),
      MAX_NAMED_FILES,
    )
    if (hidden.length > 0 && !includePrivate)
      context.messages.warning(
        `${formatCount(hidden.length, 'private file')} not exported: ${hiddenNames}. To export them: --include-private`,
      )
    if (hidden.length > 0 && includePrivate) {
      context.messages.warning(`${formatCount(hidden.length, 'private file')} in the site: ${hiddenNames}`)
      await confirm(`Export ${formatCount(hidden.length, 'private file')}?`, yes === true)
    }
    const shown = entries.filter((entry) => includePrivate || !hidden.includes(entry))
    if (!shown.some(isExportable)) throw new Problem('not_found', 'there is no public file in these folders')
    const folder = ExportFolder.open(directory, 'site')
    const siteTitle = title ?? (names.join(', ') || (await client.call('users.current')).username)
    const result = await new SiteExport(client, folder, shown, {
      title: siteTitle,
      showsPrivate: includePrivate === true,
      url: url?.replace(/\/+$/, ''),
      note: (text) => context.messages.note(text),
    }).run()
    return toResult(context, directory, folder, result)
  },
})

const verify = defineCommand({
  output: arrayOf([], {
    directory: 'the directory',
    kind: 'account or site',
    files: 'number of files',
    state: 'unchanged; changed and missing files are errors',
  }),
  arguments: '<directory...>',
  completion: ['local'],
  examples: ['gridline export verify backup', 'cd backup && sha256sum --check SHA256SUMS'],
  async run(context, directories) {
    const { items, failures } = await runEach(directories, async (directory) => {
      const sums = readSums(directory)
      if (!sums)
        throw new Problem(
          'not_found',
          `${directory} contains no export of gridline, or its SHA256SUMS is missing`,
        )
      if (!sums.isComplete)
        throw new Problem('bad_data', `${directory}: the export was interrupted`, {
          hint: 'Run it again with the same directory.',
        })
      const changed: string[] = []
      const missing: string[] = []
      for (const [path, expected] of sums.hashes) {
        const hash = await hashFile(join(directory, ...path.split('/')))
        if (hash === undefined) missing.push(path)
        else if (hash !== expected) changed.push(path)
      }
      const others = listFiles(directory).filter((path) => !sums.hashes.has(path) && path !== 'SHA256SUMS')
      if (others.length > 0)
        context.messages.note(
          `${directory}: ${formatCount(others.length, 'file')} not of the export: ${formatList(others, MAX_NAMED_FILES)}`,
        )
      const wrong = [
        ...(changed.length > 0 ? [`changed: ${formatList(changed, MAX_NAMED_FILES)}`] : []),
        ...(missing.length > 0 ? [`missing: ${formatList(missing, MAX_NAMED_FILES)}`] : []),
      ]
      if (wrong.length > 0)
        throw new Problem('bad_data', `${directory}: ${wrong.join('; ')}`, {
          hint: 'Run the export again, or copy it again.',
        })
      return { directory, kind: sums.kind, files: sums.hashes.size, state: 'unchanged' }
    })
    if (items.length === 0 && failures.length === 1) throw failures[0].problem
    const columns = [
      { field: 'directory', title: 'DIRECTORY' },
      { field: 'kind', title: 'KIND' },
      { field: 'files', title: 'FILES', align: 'right' as const },
      { field: 'state', title: 'STATE' },
    ]
    return { items, view: { id: 'directory', columns }, failures }
  },
})

export const commands: readonly CommandEntry[] = [
  subcommand(
    'account',
    'Write all your files, with their kept versions and access, into a directory',
    account,
  ),
  subcommand('site', 'Write charts and grids as a site of files, at their paths on the server', site),
  subcommand('verify', 'Check that the files of an export are as they were written', verify),
]
