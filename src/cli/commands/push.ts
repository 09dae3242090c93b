// `gridline push`: copies files, and what plots and boards show, to another server.
import type { Client } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { confirm } from '../core/prompt.ts'
import { runEach } from '../files/batch.ts'
import { listBoardFiles } from '../files/board-file.ts'
import { listTree, type TreeEntry } from '../files/list-tree.ts'
import { resolveTargets } from '../files/targets.ts'
import type { TableView } from '../output/view.ts'
import { CONFLICT_RULES, Push } from '../upload/push.ts'

const view: TableView = {
  id: 'fid',
  columns: [
    { field: 'file', title: 'FILE' },
    { field: 'fid', title: 'FID' },
    { field: 'web_url', title: 'LINK' },
    { field: 'action', title: 'ACTION' },
  ],
}

export const command = defineCommand({
  output: arrayOf([], {
    file: 'path of the file',
    from: 'id on the source server',
    fid: 'id on the destination server',
    web_url: 'link on the destination server',
    action: 'created, replaced or skipped; unchanged for folders',
  }),
  writes: true,
  createsVersions: true,
  arguments: '<file...>',
  options: [
    {
      flags: '--to <profile>',
      description: 'profile of the destination server; see: gridline profile list',
      completion: 'profile',
    },
    { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
    { flags: '--public', description: 'make the copies public (readable by anyone)' },
    {
      flags: '--on-conflict <rule>',
      description:
        'if a name is taken: fail (default), skip (use the existing file), or replace its content (keeps id and link)',
      choices: CONFLICT_RULES,
    },
    { flags: '-y, --yes', description: 'replace grids without confirmation, even if columns are lost' },
  ],
  examples: [
    'gridline push sales --local --to work',
    'gridline push Reports --local --to work --on-conflict replace',
  ],
  async run(context, names, options) {
    if (options.to === undefined)
      throw new Problem('usage', '--to is missing', {
        hint: 'Use --to PROFILE; see: gridline profile list',
      })
    const { client: source, server: from } = await context.connect()
    const { client: target, server: to } = await context.connectTo(options.to)
    if (from === to)
      throw new Problem('usage', `source and destination are the same: ${to ?? 'this machine'}`, {
        hint: 'Name the source with --profile or --local.',
      })
    const { files, failures } = await resolveTargets(source, names)
    const entries = await addReferences(
      source,
      await listWithDescendants(
        source,
        files.map(({ fid }) => fid),
      ),
    )
    const base = (options.folder ?? '').split('/').filter((name) => name !== '')
    const push = new Push(source, target, {
      base,
      isPublic: options.public === true,
      rule: options.onConflict ?? 'fail',
      warn: (text) => context.messages.warning(text),
      confirm: (question) => confirm(question, options.yes === true || context.flags.dryRun === true),
    })
    // Files before those that show them.
    const order = ['fold', 'grid', 'plot', 'dashboard', 'extra']
    const sorted = [...entries].sort(
      (a, b) => order.indexOf(a.file.filetype) - order.indexOf(b.file.filetype),
    )
    const items = sorted.map((entry) => ({
      ...entry,
      subject: [...entry.folders, entry.file.filename].join('/'),
    }))
    target.isMultiple = true
    const result = await runEach(items, async (entry) => ({
      file: entry.subject,
      ...(await push.copyFile(entry)),
    }))
    const allFailures = [...failures, ...result.failures]
    if (result.items.length === 0 && allFailures.length === 1) throw allFailures[0].problem
    return { items: result.items, view, failures: allFailures }
  },
})

/** Lists files and everything below folders. */
async function listWithDescendants(client: Client, fids: readonly string[]): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = []
  for (const fid of fids) entries.push(...(await listTree(client, await client.call('files.get', { fid }))))
  return entries
}

/** Adds the charts and grids that boards show, and the grids of charts, in the folders of those. */
async function addReferences(client: Client, entries: readonly TreeEntry[]): Promise<TreeEntry[]> {
  const found = new Map(entries.map((entry) => [entry.file.fid, entry]))
  // The map grows meanwhile: plots of boards refer to grids.
  for (const { file, folders } of found.values()) {
    if (file.filetype !== 'plot' && file.filetype !== 'dashboard') continue
    const fids =
      file.filetype === 'plot'
        ? (await client.call('files.get', { fid: file.fid })).references
        : listBoardFiles((await client.call('dashboards.get', { fid: file.fid })).content)
    for (const fid of fids) {
      if (found.has(fid)) continue
      const shown = await undefinedIfNotFound(client.call('files.get', { fid }))
      if (!shown) continue
      if (shown.filetype === 'grid' || shown.filetype === 'plot') found.set(fid, { file: shown, folders })
    }
  }
  return [...found.values()]
}
