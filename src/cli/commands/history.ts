// `gridline history`: lists versions, or removes one.
import { type Client, resolveVersion } from '../../client/index.ts'
import { Problem, undefinedIfNotFound } from '../../contract/errors.ts'
import { findClosest, formatList, withSuggestion } from '../../contract/message-texts.ts'
import type { FileMeta, RowChange, Version } from '../../contract/resources/index.ts'
import { quoteShellWord } from '../../contract/shell.ts'
import { parseVersionRef } from '../../contract/version-ref.ts'
import { listChangedAttributes } from '../charts/changed-attributes.ts'
import { defineCommand, yesOption } from '../core/define.ts'
import { arrayOf } from '../core/output-schema.ts'
import { confirm } from '../core/prompt.ts'
import type { TableView } from '../output/view.ts'

const view: TableView = {
  id: 'version',
  namesOmitted: true,
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
      minCharacters: 12,
      format: (_: unknown, version: ComparedVersion) => formatChanges(version),
    },
    {
      field: 'source',
      title: 'SOURCE',
      isOptional: true,
      // Hide the hash by which `upload` detects unchanged files.
      format: (source: string | null) => (source === null || source.startsWith('sha256:') ? '' : source),
    },
    { field: 'message', title: 'MESSAGE', minCharacters: 20 },
  ],
}

/** Maximum number of versions of a plot that are compared with their predecessors. */
const MAX_COMPARED_VERSIONS = 20

/** Version with the changed parts of the figure. */
type ComparedVersion = Version & { changed?: string }

/**
 * Adds to versions of a plot, newest first, what each changed (`title, type`). Those after
 * `MAX_COMPARED_VERSIONS` and the first version stay as they are.
 */
async function withChanges(
  client: Client,
  fid: string,
  versions: readonly Version[],
): Promise<ComparedVersion[]> {
  const recent = versions.slice(0, MAX_COMPARED_VERSIONS + 1)
  const figures = await Promise.all(
    recent.map(async ({ version }) =>
      (await client.response('plots.content', { fid, version: String(version) })).json(),
    ),
  )
  return versions.map((version, k) => {
    if (k + 1 >= recent.length) return version
    const parts = listChangedAttributes(figures[k + 1], figures[k]).map(({ attribute }) =>
      figurePartOf(attribute),
    )
    return { ...version, changed: [...new Set(parts.filter((part) => part !== 'meta'))].join(', ') }
  })
}

/** Returns the changed part of a figure: `layout.title.text` → `title`, `data[0].xsrc` → `x`. */
function figurePartOf(attribute: string): string {
  const [, name = attribute] = /^(?:layout|data\[\d+\])\.(\w+)/.exec(attribute) ?? []
  return PART_NAMES[name] ?? name.replace(/src$/, '')
}

/** Names of parts that differ from their attributes. */
const PART_NAMES: Readonly<Record<string, string>> = { template: 'theme', transforms: 'rows' }

/** Formats changes: `+12 −3 rows, +1 column`, or parts of a figure. Empty if not counted. */
function formatChanges(version: ComparedVersion): string {
  if (version.changed !== undefined) return version.changed
  const parts: string[] = []
  for (const [noun, added, removed, changed] of [
    ['rows', version.rows_added, version.rows_removed, version.rows_changed],
    ['columns', version.columns_added, version.columns_removed, version.columns_changed],
  ] as const) {
    const counts = [
      added ? `+${added}` : '',
      removed ? `−${removed}` : '',
      changed ? `~${changed}` : '',
    ].filter(Boolean)
    const sum = (added ?? 0) + (removed ?? 0) + (changed ?? 0)
    if (counts.length > 0) parts.push(`${counts.join(' ')} ${sum === 1 ? noun.slice(0, -1) : noun}`)
  }
  return parts.join(', ')
}

/** Maximum number of charts that are searched for kept versions. */
const MAX_SEARCHED_CHARTS = 100

/**
 * Returns whether a version is kept, and the kept versions of charts of the grid, which have their own copy
 * of the data.
 */
async function findKeptVersions(
  client: Client,
  fid: string,
  version: string,
): Promise<{ version: boolean; name?: string; charts: string[] }> {
  const listVersions = async (file: string): Promise<Version[]> =>
    (await undefinedIfNotFound(client.call('versions.list', { fid: file, query: { page_size: 1000 } })))
      ?.versions ?? []
  const target = (await listVersions(fid)).find(
    (candidate) => String(candidate.version) === version || candidate.name === version,
  )
  const { filetype, referencers } = await client.call('files.get', { fid })
  const charts: string[] = []
  if (filetype === 'grid')
    for (const chart of referencers.slice(0, MAX_SEARCHED_CHARTS))
      for (const chartVersion of await listVersions(chart))
        if (chartVersion.kept) charts.push(`${chart}@${chartVersion.name ?? chartVersion.version}`)
  return { version: target?.kept === true, name: target?.name ?? undefined, charts }
}

const rowView: TableView = {
  id: 'version',
  namesOmitted: true,
  columns: [
    { field: 'version', title: 'VERSION', align: 'right' },
    { field: 'made_at', title: 'MADE', time: true },
    { field: 'made_by', title: 'BY' },
    { field: 'change', title: 'ROW' },
    {
      field: 'cells',
      title: 'CHANGES',
      minCharacters: 20,
      format: (cells: RowChange['cells']) =>
        cells
          .map(({ column, before, after }) => `${column}: ${formatJson(before)} → ${formatJson(after)}`)
          .join(', '),
    },
    { field: 'message', title: 'MESSAGE', isOptional: true },
  ],
}

/** Formats the JSON of a value; a missing one as a dash. */
function formatJson(json: string | null): string {
  if (json === null || json === 'null') return '–'
  return json.startsWith('"') ? String(JSON.parse(json)) : json
}

/** Lists the changes of the row that values identify. Throws `usage`. */
async function listRowChanges(
  client: Client,
  fid: string,
  row: readonly string[],
  { limit, first }: { limit: number; first: number | undefined },
) {
  const { cols } = await client.call('grids.get', { fid })
  const conditions = row.map((text) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
    if (name === undefined)
      throw new Problem('usage', `--row ${text}: expected COLUMN=VALUE`, { hint: 'For example: --row id=5' })
    const type = cols.find((column) => column.name === name)?.type
    if (type === undefined) {
      const names = cols.map((column) => column.name)
      throw new Problem('unknown_column', `--row ${text}: the grid has no column ${name}`, {
        hint: withSuggestion(findClosest(name, names), `Columns: ${formatList(names)}.`),
      })
    }
    const isPlain = type === 'number' || type === 'boolean'
    if (isPlain && !/^(?:true|false|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(value))
      throw new Problem('usage', `--row ${text}: ${name} is a ${type}`)
    return `"${name.replaceAll('"', '""')}" = ${isPlain ? value : `'${value.replaceAll("'", "''")}'`}`
  })
  const changes: RowChange[] = []
  for (let before = first; changes.length < limit; ) {
    const page = await client.call('rows.history', {
      fid,
      query: { where: conditions.join(' and '), before },
    })
    changes.push(...page.changes)
    if (page.next === null) break
    before = page.next
  }
  return { items: changes.slice(0, limit), view: rowView, empty: 'No version has this row.' }
}

export const command = defineCommand({
  output: arrayOf('Version', { changed: 'for plots: changed parts of the figure, in the latest versions' }),
  arguments: '<file>',
  writes: true,
  lists: { limit: 100 },
  options: [
    {
      flags: '--forget <version>',
      description: 'remove this version permanently, with data used only by it',
    },
    {
      flags: '--row <column=value>',
      repeatable: true,
      description: 'list the changes of one row, which these values identify: id=5 (repeatable)',
    },
    yesOption,
  ],
  examples: [
    'gridline history sales',
    "gridline history sales --jq '.[].rows_added'",
    'gridline history sales --row id=5',
    'gridline history sales --forget 3 --yes',
  ],
  async run(context, [file], { forget, row, yes, dryRun, limit = 100 }) {
    const client = await context.client()
    const { fid, version: upToVersion } = await resolveVersion(client, file)
    if (forget !== undefined) {
      if (!parseVersionRef(forget)) throw new Problem('usage', `--forget: ${forget} is not a version`)
      if (dryRun) await client.call('files.get', { fid, version: forget })
      const keptVersions = await findKeptVersions(client, fid, forget)
      const keptNote = keptVersions.version
        ? `, which is kept${keptVersions.name ? ` as ${keptVersions.name}` : ''}`
        : ''
      await confirm(`Remove version ${forget} of ${file}${keptNote} permanently?`, yes === true)
      const { version } = await client.call('versions.forget', { fid, query: { version: forget } })
      context.messages.aside(`Removed version ${version}`)
      for (const chart of keptVersions.charts)
        context.messages.warning(
          `the kept chart version ${chart} still contains data of ${file}; to remove it: gridline keep ${quoteShellWord(chart)} --undo`,
        )
      return undefined
    }
    const newest: (FileMeta & { version?: number }) | undefined =
      upToVersion === undefined ? undefined : await client.call('files.get', { fid, version: upToVersion })
    const first = newest?.version === undefined ? undefined : newest.version + 1
    if (row !== undefined) return listRowChanges(client, fid, row, { limit, first })
    const versions: Version[] = []
    // With a version: list it and earlier ones.
    for (let before = first; versions.length < limit; ) {
      const page = await client.call('versions.list', {
        fid,
        query: { before, page_size: Math.min(1000, limit - versions.length) },
      })
      versions.push(...page.versions)
      if (page.next === null) break
      before = page.next
    }
    const { filetype } = await client.call('files.get', { fid })
    return {
      items: filetype === 'plot' ? await withChanges(client, fid, versions) : versions,
      view,
      empty: 'No versions.',
    }
  },
})
