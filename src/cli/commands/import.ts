// `gridline import`: creates plots and grids from notebooks, pages, figures and grids of a former chart host.
import { Problem } from '../../contract/errors.ts'
import { isUsername } from '../../contract/fid.ts'
import { formatCount, formatList } from '../../contract/message-texts.ts'
import type { Context } from '../core/context.ts'
import { defineCommand } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { readSums } from '../export/export-folder.ts'
import { type Manifest, readManifest } from '../export/manifest.ts'
import { runEach } from '../files/batch.ts'
import { AccountImporter } from '../import/account.ts'
import { DocumentLister } from '../import/documents.ts'
import { Importer, type ImportItem, ImportPlan, type ImportRow } from '../import/importer.ts'
import type { Failure } from '../output/failure.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'path',
  columns: [
    { field: 'path', title: 'NAME' },
    { field: 'kind', title: 'KIND' },
    { field: 'action', title: 'ACTION' },
    { field: 'was', title: 'WAS', format: (was: string | null) => was ?? '' },
    {
      field: 'web_url',
      title: 'LINK OR REASON',
      format: (url: string | null, { note, file }: ImportRow) =>
        [url, note, note !== null && url === null && `(${file})`].filter(Boolean).join(' '),
    },
  ],
}

/** Number of files that are created at once. */
const JOBS = 4

export const command = defineCommand({
  output: arrayOf([], {
    file: 'document that contains it',
    kind: 'plot, grid, chart (lost) or file (skipped); of an account also folder or extra',
    action: 'created, updated, unchanged, lost or skipped; with --dry-run: would create, would update',
    path: 'path of the file; of a lost chart, its name',
    fid: 'id of the file',
    web_url: 'link to the file',
    was: 'number on the former server, if known',
    note: 'why it is lost, or what is missing',
  }),
  arguments: '<source...>',
  completion: ['local'],
  writes: true,
  options: [
    { flags: '--folder <path>', description: 'destination folder; missing folders are created' },
    { flags: '--public', description: 'make the files public (readable by anyone)' },
    {
      flags: '--keep-ids',
      description: 'keep the numbers of the former server where they are free, so that its links work',
    },
    {
      flags: '--map-user <old=new>',
      repeatable: true,
      description: 'your name on the former server, if it was another one',
    },
  ],
  examples: [
    'gridline import analysis.ipynb',
    'gridline import report.html figures/ export.zip --folder Archive',
    'gridline import export.zip --keep-ids --map-user ada=alice --dry-run',
    'gridline import https://example.com/post.html',
    'gridline import takeout',
  ],
  async run(context, sources, options) {
    const client = await context.client()
    const { username } = await client.call('users.current')
    const base = (options.folder ?? '').split('/').filter((name) => name !== '' && name !== '.')
    const exported = sources.map((source) => readAccount(source))
    if (exported.some((manifest) => manifest !== undefined)) {
      const [manifest] = exported
      if (!manifest || sources.length > 1)
        throw new Problem('usage', 'an exported account is imported alone', {
          hint: 'Run the command once for each source.',
        })
      if (options.public || options.mapUser)
        throw new Problem('usage', 'an exported account keeps its names, and who may read its files', {
          hint: 'Leave out --public and --map-user.',
        })
      const importer = new AccountImporter(client, sources[0], manifest, {
        base,
        username,
        isDryRun: context.flags.dryRun === true,
      })
      client.isMultiple = true
      return { ...(await importer.run()), view, empty: 'nothing to import' }
    }
    const plan = new ImportPlan(base)
    const lister = new DocumentLister()
    const failures: Failure[] = []
    try {
      for (const source of sources) {
        try {
          for await (const document of lister.list(source))
            await plan.add(document).catch((problem) => {
              failures.push({ subject: document.path, problem: toDocumentProblem(problem, document.path) })
            })
        } catch (problem) {
          if (!(problem instanceof Problem)) throw problem
          failures.push({ subject: source, problem })
        }
      }
      noteOthers(context, lister.others)
      if (plan.items.length === 0 && failures.length === 1) throw failures[0].problem
      const importer = new Importer(client, plan.items, {
        username,
        isPublic: options.public === true,
        keepsIds: options.keepIds === true,
        isDryRun: context.flags.dryRun === true,
        formerNames: new Set([username, ...listFormerNames(options.mapUser ?? [], username)]),
      })
      client.isMultiple = true
      await importer.takeNumbers()
      // Grids before the figures that refer to them, and what is lost at the end.
      const rankOf = ({ kind }: ImportItem): number => (kind === 'grid' ? 0 : kind === 'plot' ? 1 : 2)
      const results: Awaited<ReturnType<typeof runEach>>[] = []
      for (const rank of [0, 1, 2]) {
        const items = plan.items.filter((item) => rankOf(item) === rank)
        results.push(await runEach(items, (item) => importer.importItem(item), JOBS))
      }
      const items = results.flatMap((result) => result.items) as ImportRow[]
      const lost = items.filter(({ action }) => action === 'lost').length
      if (lost > 0)
        context.messages.warning(`${lost} ${lost === 1 ? 'chart is' : 'charts are'} lost: see the reasons`)
      return {
        items,
        view,
        failures: [...failures, ...results.flatMap((result) => result.failures)],
        empty: 'nothing to import',
      }
    } finally {
      await lister.close()
    }
  },
})

/** Returns the problem of a document. Documents that are nested too deep exceed the stack. */
function toDocumentProblem(error: unknown, path: string): Problem {
  if (error instanceof Problem) return error
  if (error instanceof RangeError) return new Problem('bad_data', `${path}: too large, or nested too deep`)
  throw error
}

/** Reads the manifest of an exported account; undefined for other sources. Throws `bad_data` for unusable exports. */
function readAccount(directory: string): Manifest | undefined {
  const sums = readSums(directory)
  const manifest = readManifest(directory)
  if (sums?.kind === 'site')
    throw new Problem('bad_data', `${directory} is an exported site, which cannot be imported`, {
      hint: 'Import an exported account: gridline export account DIRECTORY.',
    })
  if (sums && (!sums.isComplete || !manifest))
    throw new Problem('bad_data', `${directory}: the export of the account is not complete`, {
      hint: 'Export it again into the same directory, or copy it again.',
    })
  return manifest
}

/** Maximum number of files that are named in a note. */
const MAX_NAMED_FILES = 5

/** Notes files that are neither notebooks, pages nor JSON. */
function noteOthers(context: Context, names: readonly string[]): void {
  if (names.length === 0) return
  const files = `${formatCount(names.length, 'file')} skipped: ${formatList(names, MAX_NAMED_FILES)}`
  context.messages.note(`${files}. To upload data files: gridline upload`)
}

/** Returns the former names of the user from `old=new` pairs. Throws `usage` for other users. */
function listFormerNames(pairs: readonly string[], username: string): string[] {
  return pairs.map((pair) => {
    const [, old, current] = /^([^=]+)=([^=]+)$/.exec(pair) ?? []
    if (old === undefined || !isUsername(old))
      throw new Problem('usage', `--map-user ${pair}: must be OLD=NEW, two usernames`)
    if (current !== username)
      throw new Problem(
        'usage',
        `--map-user ${pair}: you are ${username}; files can be imported only for yourself`,
        {
          hint: `Log in as ${current}, then import their files.`,
        },
      )
    return old
  })
}
