import { type Client, resolveVersion } from '../../client/index.ts'
import { ifFound, Problem } from '../../contract/errors.ts'
import type { Version } from '../../contract/resources/index.ts'
import { quoted } from '../../contract/shell.ts'
import { parseVersionRef } from '../../contract/version-ref.ts'
import { changedAttributes } from '../charts/differences.ts'
import { defineCommand } from '../core/define.ts'
import { array } from '../core/prints.ts'
import { confirm } from '../core/prompt.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'version',
  namesLeft: true,
  columns: [
    { field: 'version', title: 'VERSION', align: 'right' },
    { field: 'made_at', title: 'MADE', time: true },
    { field: 'made_by', title: 'BY' },
    {
      field: 'operation',
      title: 'CHANGE',
      format: (operation: string, { of_version }: Version) =>
        of_version === null ? operation : `${operation} to ${of_version}`,
    },
    {
      field: 'kept',
      title: 'KEPT',
      format: (kept: boolean, { name }: Version) => (kept ? (name ?? 'yes') : ''),
    },
    { field: 'row_count', title: 'ROWS', align: 'right' },
    {
      field: 'rows_added',
      title: 'CHANGED',
      isOptional: true,
      format: (_: unknown, version: Compared) => changes(version),
    },
    {
      field: 'source',
      title: 'SOURCE',
      isOptional: true,
      // The hash of a file, by which `upload` skips what has not changed, says nothing to people.
      format: (source: string | null) => (source === null || source.startsWith('sha256:') ? '' : source),
    },
    { field: 'message', title: 'MESSAGE', least: 20 },
  ],
}

/** Versions of a plot that are compared with those before them. */
const MAX_COMPARED = 20

type Compared = Version & { changed?: string }

/** The versions of a plot, with what each changed of the figure before it: `title, type`. */
async function compared(client: Client, fid: string, versions: readonly Version[]): Promise<Compared[]> {
  const few = versions.slice(0, MAX_COMPARED + 1)
  const figures = await Promise.all(
    few.map(async ({ version }) =>
      (await client.response('plots.content', { fid, version: String(version) })).json(),
    ),
  )
  return versions.map((version, k) => {
    if (k + 1 >= few.length) return version
    const parts = changedAttributes(figures[k + 1], figures[k]).map(({ attribute }) => partOf(attribute))
    return { ...version, changed: [...new Set(parts.filter((part) => part !== 'meta'))].join(', ') }
  })
}

/** `layout.title.text` → `title`, `data[0].xsrc` → `x`. */
function partOf(attribute: string): string {
  const [, name = attribute] = /^(?:layout|data\[\d+\])\.(\w+)/.exec(attribute) ?? []
  return PARTS[name] ?? name.replace(/src$/, '')
}

const PARTS: Readonly<Record<string, string>> = { template: 'theme', transforms: 'rows' }

/** `+12 −3 rows, +1 column`, or what changed of a figure; nothing where it has not been counted. */
function changes(version: Compared): string {
  if (version.changed !== undefined) return version.changed
  const parts: string[] = []
  for (const [what, added, removed, changed] of [
    ['rows', version.rows_added, version.rows_removed, version.rows_changed],
    ['columns', version.columns_added, version.columns_removed, version.columns_changed],
  ] as const) {
    const counts = [
      added ? `+${added}` : '',
      removed ? `−${removed}` : '',
      changed ? `~${changed}` : '',
    ].filter(Boolean)
    const sum = (added ?? 0) + (removed ?? 0) + (changed ?? 0)
    if (counts.length > 0) parts.push(`${counts.join(' ')} ${sum === 1 ? what.slice(0, -1) : what}`)
  }
  return parts.join(', ')
}

/** Charts that are looked at. */
const MAX_CHARTS = 100

/** Whether a version is kept, and the kept versions of charts that show the grid: these have data of their own. */
async function keptWith(
  client: Client,
  fid: string,
  version: string,
): Promise<{ version: boolean; name?: string; charts: string[] }> {
  const listOf = async (of: string): Promise<Version[]> =>
    (await ifFound(client.call('versions.list', { fid: of, query: { page_size: 1000 } })))?.versions ?? []
  const own = (await listOf(fid)).find((one) => String(one.version) === version || one.name === version)
  const { filetype, referencers } = await client.call('files.get', { fid })
  const charts: string[] = []
  if (filetype === 'grid')
    for (const chart of (referencers as string[]).slice(0, MAX_CHARTS))
      for (const one of await listOf(chart)) if (one.kept) charts.push(`${chart}@${one.name ?? one.version}`)
  return { version: own?.kept === true, name: own?.name ?? undefined, charts }
}

export const command = defineCommand({
  prints: array('Version', { changed: 'of plots: the parts of the figure that the last versions changed' }),
  arguments: '<file>',
  writes: true,
  lists: { limit: 100 },
  options: [
    {
      flags: '--forget <version>',
      description: 'remove this version permanently, with the data that only it has',
    },
    { flags: '-y, --yes', description: 'skip the confirmation prompt' },
  ],
  examples: [
    'gridline history sales',
    "gridline history sales --jq '.[].rows_added'",
    'gridline history sales --forget 3 --yes',
  ],
  async run(context, [file], { forget, yes, dryRun, limit = 100 }) {
    const client = await context.client()
    const { fid, version: upTo } = await resolveVersion(client, file)
    if (forget !== undefined) {
      if (!parseVersionRef(forget)) throw new Problem('usage', `--forget: ${forget} names no version`)
      if (dryRun) await client.call('files.get', { fid, version: forget })
      const kept = await keptWith(client, fid, forget)
      const what = kept.version ? `, which is kept${kept.name ? ` as ${kept.name}` : ''}` : ''
      await confirm(`Remove version ${forget} of ${file}${what} permanently?`, yes === true)
      const { version } = await client.call('versions.forget', { fid, query: { version: forget } })
      context.messages.aside(`Removed version ${version}`)
      for (const chart of kept.charts)
        context.messages.warning(
          `a kept version of a chart has data of its own, of ${file} at some time: ${chart}; to remove that: gridline keep ${quoted(chart)} --undo`,
        )
      return undefined
    }
    const many: Version[] = []
    // Of a version, it and those before.
    const last = upTo === undefined ? undefined : await client.call('files.get', { fid, version: upTo })
    const first = (last as { version?: number } | undefined)?.version
    for (let before = first === undefined ? undefined : first + 1; many.length < limit; ) {
      const page = await client.call('versions.list', {
        fid,
        query: { before, page_size: Math.min(1000, limit - many.length) },
      })
      many.push(...page.versions)
      if (page.next === null) break
      before = page.next
    }
    const { filetype } = await client.call('files.get', { fid })
    return {
      many: filetype === 'plot' ? await compared(client, fid, many) : many,
      view,
      empty: 'No versions.',
    }
  },
})
